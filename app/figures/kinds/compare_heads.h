// One quantity of the heads of two sides: means over the texts of each, and differences text by text. Pure functions;
// safe from any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/figure_kinds.h"

namespace headroom {

struct HeadDifference {
  HeadRef head;
  double a = std::numeric_limits<double>::quiet_NaN(), b = a;  // means over texts
  double mean = a, low = a, high = a;                          // of b − a over texts; 95 %, NaN with one text

  [[nodiscard]] bool has_interval() const { return low <= high; }
  [[nodiscard]] bool apart() const { return has_interval() && (low > 0.0 || high < 0.0); }
};

struct TwoSides {
  bool paired = false;  // heads are the same heads: one checkpoint, or asked for
  std::int64_t texts_a = 0, texts_b = 0;
  std::string name_a, name_b;
  std::vector<HeadDifference> heads;   // by layer and head; paired: those with a value on both sides
  std::vector<double> only_a, only_b;  // means of all heads, ascending, not paired
  std::int64_t left_out = 0;           // heads with a value that is not finite
};

// Mean over the differences, and the interval that Student's t gives it: `level` 0.05 for 95 %. NaN without enough.
struct MeanInterval {
  double mean = std::numeric_limits<double>::quiet_NaN(), low = mean, high = mean;
};
[[nodiscard]] MeanInterval mean_interval(std::span<const double> values, double level);

// Unsupported where runs of one kind of figure differ in more than their texts, or two have the same text.
[[nodiscard]] Result<void> one_model_many_texts(const std::string& kind, std::span<const FigureRun> runs);

// InvalidArgument where the lists do not match; Unsupported where runs are no pair: other tokens, other settings within
// a side.
[[nodiscard]] Result<TwoSides> compare_sides(std::span<const FigureRun> a, std::span<const FigureRun> b,
                                             const QuantityRef& quantity, const FigureChoice& choice);

}  // namespace headroom
