// The range of values that the colours of a map span. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/panels/map/map_subject.h"
#include "app/panels/parts/data_range.h"
#include "app/plot/theme.h"
#include "app/session/state.h"

namespace headroom {

// How values become colours, and the sentence that says which range that is.
struct MapRange {
  ColorScale scale;
  bool clips_low = false, clips_high = false;
  bool automatic = true;
  std::string statement;  // "range fixed, 10⁻⁴ … 1"
};
[[nodiscard]] ScaleKind shown_scale(const MapSubject& subject, const MapView& view);
// Whether the range depends on the values: it does where it is automatic.
[[nodiscard]] bool needs_data_range(const MapSubject& subject, const MapView& view);
// From values of texels. On a log scale at least one decade and at most four, up to the largest value.
[[nodiscard]] DataRange data_range(const MapSubject& subject, const MapView& view, std::span<const float> values);
[[nodiscard]] std::vector<std::int64_t> excluded_keys(const MapView& view, const Selection& selection);
[[nodiscard]] MapRange map_range(const MapSubject& subject, const MapView& view, const std::optional<DataRange>& data,
                                 const Theme& theme);
// The usual scale of the map whatever the view asks for: a small picture of the whole must not be dark.
[[nodiscard]] MapRange overview_range(const MapSubject& subject, const MapView& view, const Theme& theme);
// The floor of the log scale for weights of `length` tokens: 10⁻⁴, lower where 1/n is.
[[nodiscard]] double log_floor(std::int64_t length);

}  // namespace headroom
