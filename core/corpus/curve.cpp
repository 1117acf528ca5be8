#include "core/corpus/curve.h"

#include <algorithm>
#include <cmath>

#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr double kBinsOfOctave = 8.0;
constexpr std::int64_t kOwnBins = 11;      // n = 1 … 11; the bin of 12 is the first that is not narrower than 1
constexpr std::int64_t kFirstEighth = 28;  // ⌊8 log₂ 12⌋

double curve_row(const std::vector<double>& values, std::int64_t row) {
  return values.empty() ? kNaN : values[static_cast<std::size_t>(row)];
}

// Ends of bins that are whole numbers are powers of two, which log2 has exactly.
std::int64_t eighth_of(std::int64_t n) {
  return static_cast<std::int64_t>(std::floor(kBinsOfOctave * std::log2(static_cast<double>(n))));
}

}  // namespace

std::int64_t curve_bin(std::int64_t visible) {
  return visible <= kOwnBins ? visible - 1 : kOwnBins + eighth_of(visible) - kFirstEighth;
}

std::int64_t curve_bins(std::int64_t length) { return curve_bin(length) + 1; }

CurveBin curve_bin_range(std::int64_t bin) {
  if (bin < kOwnBins) return {bin + 1, bin + 1};
  const auto end = [](std::int64_t eighth) {
    return static_cast<std::int64_t>(std::ceil(std::exp2(static_cast<double>(eighth) / kBinsOfOctave)));
  };
  const std::int64_t eighth = bin - kOwnBins + kFirstEighth;
  return {end(eighth), end(eighth + 1) - 1};
}

std::span<const CurveQuantity> curve_quantities() {
  static const std::vector<CurveQuantity> table = {
      {"context_rms_relative", false, "1", "relative RMS of the context", "ρ_i",
       [](const HeadView& head, std::size_t, std::int64_t row) { return curve_row(head.rho, row); }},
      {"context_rms", false, "1", "RMS of the context", "RMS_i",
       [](const HeadView& head, std::size_t, std::int64_t row) { return curve_row(head.head.context_rms, row); }},
      {"weight_l2", false, "1", "norm of the net weights", "‖w_i‖₂",
       [](const HeadView& head, std::size_t, std::int64_t row) {
         return std::sqrt(curve_row(head.head.statistics.weight_l2_squared, row));
       }},
      {"entropy", true, "nat", "entropy of a row", "−Σ_j a_ij ln a_ij",
       [](const HeadView& head, std::size_t map, std::int64_t row) {
         return curve_row(head.head.statistics.maps[map].entropy, row);
       }},
      {"first_key_weight", true, "1", "weight of key 0, of rows that see it", "a_i0",
       [](const HeadView& head, std::size_t map, std::int64_t row) {
         return head.mask.sees(row, 0) ? curve_row(head.head.statistics.maps[map].first_key_weight, row) : kNaN;
       }},
      {"lambda", false, "1", "λ of a row", "λ_i",
       [](const HeadView& head, std::size_t, std::int64_t row) { return head.has[1] ? head.lambda(row) : kNaN; }},
  };
  return table;
}

void curve_values(const HeadView& head, const CurveQuantity& curve, std::span<float> out) {
  const std::size_t components = curve.by_component ? 2 : 1, bins = out.size() / components;
  std::vector<double> sums(bins);
  std::vector<std::int64_t> rows(bins);
  for (std::size_t m = 0; m < components; ++m) {
    sums.assign(bins, 0.0);
    rows.assign(bins, 0);
    if (curve.by_component && !head.has[m]) {
      std::fill_n(out.data() + m * bins, bins, static_cast<float>(kNaN));
      continue;
    }
    for (std::int64_t row = 0; row < head.length; ++row) {
      const std::int64_t visible = head.visible[static_cast<std::size_t>(row)];
      if (visible < 1) continue;
      const double value = curve.value(head, m, row);
      if (std::isnan(value)) continue;
      const auto bin = static_cast<std::size_t>(curve_bin(visible));
      sums[bin] += value;
      ++rows[bin];
    }
    for (std::size_t bin = 0; bin < bins; ++bin)
      out[m * bins + bin] = static_cast<float>(rows[bin] > 0 ? sums[bin] / static_cast<double>(rows[bin]) : kNaN);
  }
}

}  // namespace headroom
