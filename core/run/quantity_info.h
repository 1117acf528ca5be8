// The quantities of heads as they are named and shown: every root quantity of the run file, those of circuits, and the
// loss changes of heads, which sweeps give, with a short title, a group, digits, range and scale. An element of a
// quantity with axes is named "sink_score[second]". Immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/range.h"
#include "core/base/result.h"

namespace headroom {

enum class QuantityGroup : std::uint8_t { Sinks, ContextRms, Map, Logits, Differential, Gate, Circuits, Importance };
inline constexpr std::size_t kQuantityGroups = 8;
[[nodiscard]] const char* group_title(QuantityGroup group);  // "Context RMS"

// An axis after layer and head: what its elements are called, in the order of the values.
struct QuantityAxis {
  std::string name;                 // "component"
  std::vector<std::string> labels;  // "first", "second"
};

struct QuantityInfo {
  std::string name;    // as in the run file
  std::string title;   // "sink score α₀"
  std::string column;  // shorter, for table headers: "eff. keys"
  std::string long_name, definition, units;
  QuantityGroup group = QuantityGroup::Map;
  std::vector<QuantityAxis> axes;
  std::size_t default_index = 0;  // what the name alone means, row-major
  int decimals = 3;
  bool percent = false;             // shares shown in %, `decimals` digits of these
  bool whole = false;               // indices; −1 in the file means there is none
  std::optional<Range> natural;     // what it can be, where that is bounded on both sides
  bool centred = false;             // shown with diverging colours, 0 in the middle
  bool log = false;                 // spans decades: log axes by default
  double linear_to = 0.0;           // > 0: signed and spans decades, shown linear to ± this and logarithmic beyond
  bool sink_null = false;           // uniform attention gives H_n/n
  std::optional<double> reference;  // a value with a meaning, drawn as a line: 1 for the value drain
  std::optional<double> threshold;  // over which heads are counted, in place of the one that people choose

  [[nodiscard]] bool per_component() const { return !axes.empty() && axes.front().name == "component"; }
  [[nodiscard]] std::size_t elements() const;
  // Not in run files: later work on the model gives it (RunSnapshot::beside).
  [[nodiscard]] bool beside_runs() const {
    return group == QuantityGroup::Circuits || group == QuantityGroup::Importance;
  }
};

// By group, in the order of the window.
[[nodiscard]] std::span<const QuantityInfo> quantity_infos();
[[nodiscard]] const QuantityInfo* find_quantity_info(std::string_view name);

// What only two runs beside each other have: ½ ‖B − A‖₁ of a row, mean over rows. Not in run files, so not among
// quantity_infos(), and parse_quantity() does not know it.
inline constexpr std::string_view kRowDistance = "row_distance";
[[nodiscard]] const QuantityInfo& row_distance_info();

// One number per head: a quantity and one of its elements.
struct QuantityRef {
  const QuantityInfo* info = nullptr;
  std::size_t index = 0;
  friend bool operator==(const QuantityRef&, const QuantityRef&) = default;
};

// "sink_score", "sink_score[second]", "sink_score[1]", "top_key_mass[first,4]"; one label alone picks that element of
// the axis it belongs to. InvalidArgument says what is unknown, where (offset), and what there is.
[[nodiscard]] Result<QuantityRef> parse_quantity(std::string_view text);
// The names of an element's labels, between the brackets; `parts` as written.
[[nodiscard]] Result<std::size_t> element_index(const QuantityInfo& info, std::span<const std::string> parts);
// The shortest text that parse_quantity reads back.
[[nodiscard]] std::string quantity_text(const QuantityRef& ref);
// "sink score α₀", "sink score α₀, second", "rows inside, softmax".
[[nodiscard]] std::string quantity_title(const QuantityRef& ref);
// With a capital, for combos and titles of plots.
[[nodiscard]] std::string quantity_heading(const QuantityRef& ref);
[[nodiscard]] std::string element_title(const QuantityInfo& info, std::size_t index);  // "second", "first, 4"

// How many decimals a quantity of the run file is printed with, by its name: three for what lives in [0, 1], two for κ
// and effective keys, one for logits, distances and percentages.
[[nodiscard]] int quantity_decimals(std::string_view name);
// As panels print it: digits per quantity, shares in % without the sign; "–" for not-a-number.
[[nodiscard]] std::string number_text(const QuantityInfo& info, double value);
[[nodiscard]] inline double shown_value(const QuantityInfo& info, double value) {
  return info.percent ? 100.0 * value : value;
}

}  // namespace headroom
