// Tables of a run's heads as `analyze` and `inspect` print them: sinks, logits, bounds, differential heads. Pure
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/analysis.h"

namespace headroom {

struct HeadPlace {
  std::size_t layer_index = 0, head_index = 0;
  std::int64_t layer = 0, head = 0;
  std::size_t map = 0;                     // 0 the first, 1 the second
  [[nodiscard]] std::string name() const;  // "L3.H5"
};
[[nodiscard]] std::vector<HeadPlace> places(const SummaryTable& table);
// Every map of every head on its own, those that a head lacks too.
[[nodiscard]] std::vector<HeadPlace> map_places(const SummaryTable& table);
// Whether the head has both maps.
[[nodiscard]] bool has_both_maps(const SummaryTable& table, const HeadPlace& place);
// The first map's number, or the second's where there is no first.
[[nodiscard]] double component(const SummaryTable& table, std::string_view name, const HeadPlace& place);
// Heads that give key 0 more than 0.3 of their attention; `heads` counts those that have a sink score.
[[nodiscard]] std::int64_t count_sinks(const SummaryTable& table, std::int64_t& heads);
// Mean shares of rows below, inside and above a bound (by its place on the axis `bound`); NaN where no row is finite.
struct BoundShares {
  double below = 0.0, inside = 0.0, above = 0.0;
};
[[nodiscard]] BoundShares bound_shares(const SummaryTable& table, std::size_t bound);

// Each begins with an empty line, or is empty where it has nothing to say. `sink_null`: that of uniform attention, NaN
// where there is none.
[[nodiscard]] std::string sink_lines(const SummaryTable& table, double sink_null);
[[nodiscard]] std::string logit_lines(const SummaryTable& table);
[[nodiscard]] std::string bound_lines(const SummaryTable& table, std::int64_t min_row);
// What --premise found, over all heads; empty where it was not asked for.
[[nodiscard]] std::string premise_lines(const SummaryTable& table);
[[nodiscard]] std::string differential_lines(const SummaryTable& table);

}  // namespace headroom
