// What the numbers of heads are held against, and how they lie: levels that a quantity has, quantiles by layer, the
// points at the ends of a plot. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/run/quantity_info.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// Lines across a plot of a quantity.
struct HeadLevels {
  std::optional<double> threshold;  // over which heads are counted: the quantity's own; ε for shares of a sink
  bool own = false;                 // the threshold is the quantity's own
  std::optional<double> uniform;    // what uniform attention has
  std::optional<double> reference;  // a value with a meaning: 1 of the value drain
};
// None without a quantity.
[[nodiscard]] HeadLevels head_levels(const RunSnapshot& run, const QuantityRef& ref, double epsilon);

// By point and layer: the quantiles (type 7) of the finite values of each layer's heads; NaN where there are none.
// `values`: [layers, heads].
[[nodiscard]] std::vector<std::vector<double>> layer_quantiles(std::span<const double> values, std::size_t heads,
                                                               std::span<const double> points);

// Places of the points at the ends of both axes, in turn: the largest of x and y, the smallest of y and x, then the
// next; at most ten. All are finite.
[[nodiscard]] std::vector<std::size_t> points_at_ends(std::span<const double> x, std::span<const double> y);

// Whether a bin of logits is a bar: the outer ones also hold what lies beyond them.
[[nodiscard]] inline bool is_whole_bin(std::size_t bin, std::size_t bins, bool beyond_low, bool beyond_high) {
  return !(bin == 0 && beyond_low) && !(bin + 1 == bins && beyond_high);
}

}  // namespace headroom
