#include "core/corpus/sketch.h"

#include <algorithm>
#include <cmath>

#include "core/base/numbers.h"

namespace headroom {
namespace {

const double kLogGamma = std::log((1.0 + kSketchAccuracy) / (1.0 - kSketchAccuracy));

double row_of(const std::vector<double>& values, std::int64_t row) {
  return values.empty() ? kNaN : values[static_cast<std::size_t>(row)];
}

}  // namespace

SketchBins log_bins(double low, double high) {
  SketchBins bins;
  bins.logarithmic = true;
  bins.low = low, bins.high = high;
  bins.first = static_cast<std::int64_t>(std::ceil(std::log(low) / kLogGamma));
  bins.bins = static_cast<std::int64_t>(std::ceil(std::log(high) / kLogGamma)) - bins.first + 1;
  return bins;
}

SketchBins linear_bins(double low, double high, double width) {
  SketchBins bins;
  bins.low = low, bins.high = high, bins.width = width;
  bins.bins = static_cast<std::int64_t>(std::ceil((high - low) / width));
  return bins;
}

std::int64_t SketchBins::bin_of(double x) const {
  // What has no logarithm lies below all bins.
  const double place = logarithmic ? (x > 0.0 ? std::ceil(std::log(x) / kLogGamma) - static_cast<double>(first) : -1.0)
                                   : std::floor((x - low) / width);
  return static_cast<std::int64_t>(std::clamp(place, 0.0, static_cast<double>(bins - 1)));
}

double SketchBins::value_of(std::int64_t bin) const {
  if (!logarithmic) return low + (static_cast<double>(bin) + 0.5) * width;
  return 2.0 * std::exp(static_cast<double>(first + bin) * kLogGamma) / (std::exp(kLogGamma) + 1.0);
}

double SketchBins::low_end(std::int64_t bin) const {
  if (!logarithmic) return low + static_cast<double>(bin) * width;
  return std::exp(static_cast<double>(first + bin - 1) * kLogGamma);
}

double sketch_quantile(const SketchBins& bins, std::span<const std::int64_t> counts, double least, double most,
                       double probability) {
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  if (all == 0) return kNaN;
  if (probability <= 0.0) return least;
  if (probability >= 1.0) return most;
  const auto rank = static_cast<std::int64_t>(std::floor(probability * static_cast<double>(all - 1)));
  std::int64_t before = 0;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    before += counts[bin];
    if (before > rank) return std::clamp(bins.value_of(static_cast<std::int64_t>(bin)), least, most);
  }
  return most;
}

std::span<const SketchedQuantity> sketched_quantities() {
  static const SketchBins log = log_bins(1e-5, 1e5), logit = linear_bins(-256.0, 256.0, 0.125);
  static const std::vector<SketchedQuantity> table = {
      {"context_rms", false, log, "1", "RMS of the context", "RMS_i",
       [](const HeadView& head, std::size_t, std::int64_t row) { return row_of(head.head.context_rms, row); }},
      {"context_rms_relative", false, log, "1", "relative RMS of the context", "ρ_i",
       [](const HeadView& head, std::size_t, std::int64_t row) { return row_of(head.rho, row); }},
      {"weight_l2", false, log, "1", "norm of the net weights", "‖w_i‖₂",
       [](const HeadView& head, std::size_t, std::int64_t row) {
         return std::sqrt(row_of(head.head.statistics.weight_l2_squared, row));
       }},
      {"effective_keys", true, log, "1", "effective number of keys", "1/‖a_i‖₂²",
       [](const HeadView& head, std::size_t map, std::int64_t row) {
         return 1.0 / row_of(head.head.statistics.maps[map].weight_l2_squared, row);
       }},
      {"entropy", true, linear_bins(0.0, 20.0, 1.0 / 128.0), "nat", "entropy of a row", "−Σ_j a_ij ln a_ij",
       [](const HeadView& head, std::size_t map, std::int64_t row) {
         return row_of(head.head.statistics.maps[map].entropy, row);
       }},
      {"lambda", false, linear_bins(-2.0, 3.0, 1.0 / 512.0), "1", "λ of a row", "λ_i",
       [](const HeadView& head, std::size_t, std::int64_t row) { return head.has[1] ? head.lambda(row) : kNaN; }},
      {"logit_max", true, logit, "1", "largest logit of a row", "max_j z_ij",
       [](const HeadView& head, std::size_t map, std::int64_t row) {
         return row_of(head.head.statistics.maps[map].logit_max, row);
       }},
      {"logit_min", true, logit, "1", "smallest logit of a row", "min_j z_ij",
       [](const HeadView& head, std::size_t map, std::int64_t row) {
         return row_of(head.head.statistics.maps[map].logit_min, row);
       }},
  };
  return table;
}

}  // namespace headroom
