// The ways in which the window takes a head away, and the quantities that the loss changes of each are. Immutable; safe
// from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

enum class AblationWay : std::uint8_t { Off, Mean, HideKey0, SecondOff };
inline constexpr std::array kAblationWays{AblationWay::Off, AblationWay::Mean, AblationWay::HideKey0,
                                          AblationWay::SecondOff};
struct AblationWayInfo {
  const char* word;      // of commands: "hide-key0"
  const char* title;     // "key 0 hidden"
  const char* what;      // "rows renormalise"
  const char* mode;      // of core/run/ablation.h: "hide-key"
  const char* change;    // of a head, as a what-if: "hide-key=0"
  const char* quantity;  // "delta_loss_hide_key0"
};
[[nodiscard]] const AblationWayInfo& way_info(AblationWay way);
[[nodiscard]] std::optional<AblationWay> parse_way(std::string_view word);
// The way whose loss changes the quantity is; nothing for other quantities.
[[nodiscard]] std::optional<AblationWay> way_of_quantity(std::string_view name);

// Changes below it on one text may come from the choice of the text; up to it scales are linear. Nats.
inline constexpr double kSmallLossChange = 0.01;

}  // namespace headroom
