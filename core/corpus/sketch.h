// Counts of rows in bins, from which quantiles over all rows of all sequences follow: logarithmic bins of DDSketch
// (Masson et al., arXiv 1908.10693) and linear ones. Merging is addition. Definitions: core/corpus/CORPUS.md#sketches.
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/measure/head_view.h"

namespace headroom {

// Bins of one width on x, or on ln x; the outer ones hold what lies beyond.
struct SketchBins {
  bool logarithmic = false;
  double low = 0.0, high = 0.0, width = 1.0;  // of linear bins
  std::int64_t first = 0;                     // exponent of the first logarithmic bin
  std::int64_t bins = 0;

  [[nodiscard]] std::int64_t bin_of(double x) const;  // x is not NaN
  // What stands for a bin: within 0.5 % of everything in a logarithmic bin, the centre of a linear one.
  [[nodiscard]] double value_of(std::int64_t bin) const;
  [[nodiscard]] double low_end(std::int64_t bin) const;  // of what is counted in a bin that is not the first
};

inline constexpr double kSketchAccuracy = 0.005;             // α
[[nodiscard]] SketchBins log_bins(double low, double high);  // by γ = (1 + α)/(1 − α)
[[nodiscard]] SketchBins linear_bins(double low, double high, double width);

// The value at rank ⌊p (N − 1)⌋ of the N that are counted, within their extremes; NaN for none.
[[nodiscard]] double sketch_quantile(const SketchBins& bins, std::span<const std::int64_t> counts, double least,
                                     double most, double probability);

// A number of each row that is sketched: of eligible rows, per head, or per map of it.
struct SketchedQuantity {
  std::string_view name;  // of /sketch/NAME and /pooled/NAME_quantile
  bool by_component = false;
  SketchBins bins;
  std::string_view units, long_name, formula;
  double (*value)(const HeadView& head, std::size_t map, std::int64_t row) = nullptr;  // NaN: the row has none
};
[[nodiscard]] std::span<const SketchedQuantity> sketched_quantities();

}  // namespace headroom
