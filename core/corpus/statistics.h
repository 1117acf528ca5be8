// What is said of a number over sequences: mean and spread, and two intervals that take documents, not sequences, for
// what is independent. Definitions: core/corpus/CORPUS.md#statistics. Immutable after construction; safe from any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/io/corpus_schema.h"

namespace headroom {

// kStatisticNames as the axis of a file has them.
[[nodiscard]] const std::vector<std::string>& statistic_names();

using StatisticValues = std::array<double, kStatistics>;  // by Statistic
[[nodiscard]] inline double& of(StatisticValues& values, Statistic which) {
  return values[static_cast<std::size_t>(which)];
}
[[nodiscard]] inline double of(const StatisticValues& values, Statistic which) {
  return values[static_cast<std::size_t>(which)];
}

// Results [columns] as a dataset has them: [statistic, columns].
[[nodiscard]] std::vector<double> by_statistic(std::span<const StatisticValues> results);

class SequenceStatistics {
 public:
  static constexpr std::int64_t kResamples = 2000;
  static constexpr std::int64_t kMostDocuments = 20000;  // with more there is no bootstrap

  // `documents`: of each sequence, in any numbering; the order of the numbers is that of the draws.
  SequenceStatistics(std::span<const std::int64_t> documents, std::uint64_t bootstrap_seed);
  // Without a bootstrap, which takes most of the time.
  explicit SequenceStatistics(std::span<const std::int64_t> documents);

  // Values [sequences, columns] row-major; NaN is left out. One result for each column.
  [[nodiscard]] std::vector<StatisticValues> compute(std::span<const double> values, std::size_t columns) const;

  [[nodiscard]] std::int64_t documents() const { return documents_; }

 private:
  void bootstrap(std::span<const double> sums, std::span<const double> counts, std::size_t columns, bool complete,
                 std::span<StatisticValues> results) const;
  // Of the columns from `from` on for which there are results.
  void resample_plain(std::span<const double> sums, std::size_t columns, std::size_t from,
                      std::span<StatisticValues> results) const;
  void resample(std::span<const double> sums, std::span<const double> counts, std::size_t columns, std::size_t from,
                bool complete, std::span<StatisticValues> results) const;

  std::int64_t documents_ = 0;
  std::vector<std::size_t> document_of_;     // by sequence, from 0
  std::vector<std::uint16_t> multiplicity_;  // [resamples, documents]
};

// The draws of resample b: ⌊corpus_key(seed, b, k) · documents / 2⁶⁴⌋ for k = 0 … documents − 1.
[[nodiscard]] std::vector<std::int64_t> bootstrap_draws(std::uint64_t seed, std::uint64_t b, std::int64_t documents);

}  // namespace headroom
