// Compares the statistics of two backends array by array, against the largest expected value of each. Plain functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention.h"

namespace headroom::test {

// Collects a sentence for each array that is off, with the worst element, both values and the bound.
class Match {
 public:
  explicit Match(double tolerance) : tolerance_(tolerance) {}

  // `scale`: the bound is not taken from a largest value below it.
  void values(std::string_view name, std::span<const double> found, std::span<const double> expected,
              double scale = 0.0) {
    if (!same_size(name, found.size(), expected.size())) return;
    double largest = scale;
    for (const double value : expected)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    const double bound = tolerance_ * largest;
    std::size_t worst = 0;
    double error = 0.0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      // Of rows that see nothing: −∞ is itself, NaN is NaN, and neither is near anything else.
      if (found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))) continue;
      const double difference = std::abs(found[i] - expected[i]);
      if (difference <= error) continue;  // false for NaN, which is the worst
      error = std::isnan(difference) ? INFINITY : difference;
      worst = i;
    }
    if (error > bound)
      report_ << name << "[" << worst << "] is " << found[worst] << ", expected " << expected[worst] << " within "
              << bound << "\n";
  }

  // Counts of entries in bins: at most `share` of the entries (and one) may fall on the other side of an edge.
  template <typename Count>
  void counts(std::string_view name, const std::vector<Count>& found, const std::vector<Count>& expected,
              double share) {
    if (!same_size(name, found.size(), expected.size())) return;
    std::int64_t total = 0, difference = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      total += expected[i];
      difference += std::abs(static_cast<std::int64_t>(found[i]) - static_cast<std::int64_t>(expected[i]));
    }
    const double bound = share > 0.0 ? 2.0 + 2.0 * share * static_cast<double>(total) : 0.0;
    if (static_cast<double>(difference) > bound)
      report_ << name << ": " << difference << " of " << total << " counts differ, " << bound << " may\n";
  }

  [[nodiscard]] std::string report() const { return report_.str(); }

 private:
  bool same_size(std::string_view name, std::size_t found, std::size_t expected) {
    if (found != expected) report_ << name << " has " << found << " elements, expected " << expected << "\n";
    return found == expected;
  }

  double tolerance_;
  std::ostringstream report_;
};

// Empty when every array of `found` is within tolerance · max |expected| of `expected`, else what is off. The counts of
// histograms and N₁ must be equal in double (`count_share` 0); in float32 an entry may round across an edge.
[[nodiscard]] inline std::string statistics_mismatch(const kernels::HeadStatistics& found,
                                                     const kernels::HeadStatistics& expected, double tolerance,
                                                     double count_share = 0.0) {
  Match match(tolerance);
  for (std::size_t m = 0; m < 2; ++m) {
    const kernels::MapStatistics& a = found.maps[m];
    const kernels::MapStatistics& b = expected.maps[m];
    const std::string map = "map " + std::to_string(m + 1) + " ";
    match.values(map + "lse", a.lse, b.lse);
    match.values(map + "logit_max", a.logit_max, b.logit_max);
    match.values(map + "logit_min", a.logit_min, b.logit_min);
    // Of rows near one-hot, entropy is the small difference of terms near one.
    match.values(map + "entropy", a.entropy, b.entropy, 1.0);
    match.values(map + "weight_max", a.weight_max, b.weight_max);
    match.values(map + "weight_l2_squared", a.weight_l2_squared, b.weight_l2_squared);
    match.values(map + "weight_sum", a.weight_sum, b.weight_sum);
    match.values(map + "first_key_weight", a.first_key_weight, b.first_key_weight);
    match.values(map + "self_weight", a.self_weight, b.self_weight);
    match.values(map + "previous_weight", a.previous_weight, b.previous_weight);
    match.values(map + "induction_weight", a.induction_weight, b.induction_weight);
    match.values(map + "mean_distance", a.mean_distance, b.mean_distance);
    match.values(map + "context_energy", a.context_energy, b.context_energy);
    match.values(map + "column_sum", a.column_sum, b.column_sum);
    if (!b.lse.empty()) match.values(map + "logit_max_raw", {&a.logit_max_raw, 1}, {&b.logit_max_raw, 1});
    match.values(map + "pooled_sum", a.pooled_sum, b.pooled_sum);
    match.values(map + "pooled_max", a.pooled_max, b.pooled_max);
    match.counts(map + "rounds_to_one", a.rounds_to_one, b.rounds_to_one, count_share);
    match.counts(map + "logit_histogram", a.logit_histogram, b.logit_histogram, count_share);
    match.counts(map + "weight_histogram", a.weight_histogram, b.weight_histogram, count_share);
  }
  match.values("weight_sum", found.weight_sum, expected.weight_sum);
  match.values("weight_l1", found.weight_l1, expected.weight_l1);
  match.values("weight_l2_squared", found.weight_l2_squared, expected.weight_l2_squared);
  match.values("cross", found.cross, expected.cross);
  match.values("uncorrelated_energy", found.uncorrelated_energy, expected.uncorrelated_energy);
  // A net weight may be the small difference of two.
  double first_key = 0.0;
  for (const kernels::MapStatistics& map : expected.maps)
    for (const double weight : map.first_key_weight)
      if (std::isfinite(weight)) first_key = std::max(first_key, weight);
  match.values("first_key_net", found.first_key_net, expected.first_key_net, first_key);
  match.values("first_key_absolute", found.first_key_absolute, expected.first_key_absolute, first_key);
  match.values("column_sum", found.column_sum, expected.column_sum);
  match.values("pooled_sum", found.pooled_sum, expected.pooled_sum);
  match.values("pooled_highest", found.pooled_highest, expected.pooled_highest);
  match.values("pooled_lowest", found.pooled_lowest, expected.pooled_lowest);
  match.values("pooled_positive", found.pooled_positive, expected.pooled_positive);
  match.values("pooled_negative", found.pooled_negative, expected.pooled_negative);
  return match.report();
}

// The same for one array, a context for example.
[[nodiscard]] inline std::string array_mismatch(std::string_view name, std::span<const double> found,
                                                std::span<const double> expected, double tolerance) {
  Match match(tolerance);
  match.values(name, found, expected);
  return match.report();
}

}  // namespace headroom::test
