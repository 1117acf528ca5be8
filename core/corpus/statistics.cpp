#include "core/corpus/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/all_threads.h"
#include "core/base/numbers.h"
#include "core/base/student.h"
#include "core/corpus/selection.h"
#include "core/measure/head_view.h"

namespace headroom {
namespace {

// Whose resampled means stay in a processor's cache; a thread takes so many at a time.
constexpr std::size_t kColumnsAtOnce = 64;

}  // namespace

const std::vector<std::string>& statistic_names() {
  static const std::vector<std::string> names(kStatisticNames.begin(), kStatisticNames.end());
  return names;
}

std::vector<double> by_statistic(std::span<const StatisticValues> results) {
  std::vector<double> values;
  values.reserve(kStatistics * results.size());
  for (std::size_t i = 0; i < kStatistics; ++i)
    for (const StatisticValues& result : results) values.push_back(result[i]);
  return values;
}

std::vector<std::int64_t> bootstrap_draws(std::uint64_t seed, std::uint64_t b, std::int64_t documents) {
  std::vector<std::int64_t> draws(static_cast<std::size_t>(documents));
  for (std::size_t k = 0; k < draws.size(); ++k)
    draws[k] = static_cast<std::int64_t>(
        static_cast<unsigned __int128>(corpus_key(seed, b, k)) * static_cast<unsigned __int128>(documents) >> 64);
  return draws;
}

SequenceStatistics::SequenceStatistics(std::span<const std::int64_t> documents, std::uint64_t bootstrap_seed) {
  std::map<std::int64_t, std::size_t> place;
  for (const std::int64_t document : documents) place[document] = 0;
  for (auto& [document, index] : place) index = static_cast<std::size_t>(documents_++);
  for (const std::int64_t document : documents) document_of_.push_back(place[document]);
  if (documents_ < 2 || documents_ > kMostDocuments) return;
  const auto count = static_cast<std::size_t>(documents_);
  multiplicity_.resize(static_cast<std::size_t>(kResamples) * count, 0);
  for (std::size_t b = 0; b < static_cast<std::size_t>(kResamples); ++b)
    for (const std::int64_t d : bootstrap_draws(bootstrap_seed, b, documents_))
      ++multiplicity_[b * count + static_cast<std::size_t>(d)];
}

std::vector<StatisticValues> SequenceStatistics::compute(std::span<const double> values, std::size_t columns) const {
  std::vector<StatisticValues> results(columns);
  const std::size_t sequences = document_of_.size(), documents = static_cast<std::size_t>(documents_);
  // Of each document and column: Σ x and the number of values.
  std::vector<double> sums(documents * columns, 0.0), counts(documents * columns, 0.0);
  for (std::size_t s = 0; s < sequences; ++s)
    for (std::size_t c = 0; c < columns; ++c)
      if (const double x = values[s * columns + c]; !std::isnan(x)) {
        sums[document_of_[s] * columns + c] += x;
        counts[document_of_[s] * columns + c] += 1.0;
      }
  std::map<double, double> points;  // of Student's t, by degrees of freedom
  bool complete = true;
  for (std::size_t c = 0; c < columns; ++c) {
    StatisticValues& result = results[c];
    result.fill(kNaN);
    double n = 0.0, sum = 0.0, least = kInfinity, most = -kInfinity;
    for (std::size_t s = 0; s < sequences; ++s)
      if (const double x = values[s * columns + c]; !std::isnan(x)) {
        n += 1.0, sum += x;
        least = std::min(least, x), most = std::max(most, x);
      }
    of(result, Statistic::Count) = n;
    complete = complete && n == static_cast<double>(sequences);
    if (n == 0.0) continue;
    const double mean = sum / n;
    of(result, Statistic::Mean) = mean;
    of(result, Statistic::Least) = least;
    of(result, Statistic::Most) = most;
    double squares = 0.0;
    for (std::size_t s = 0; s < sequences; ++s)
      if (const double x = values[s * columns + c]; !std::isnan(x)) squares += (x - mean) * (x - mean);
    if (n > 1.0) of(result, Statistic::Deviation) = std::sqrt(squares / (n - 1.0));
    double with_values = 0.0, between = 0.0;
    for (std::size_t d = 0; d < documents; ++d) {
      const double m = counts[d * columns + c];
      if (m == 0.0) continue;
      with_values += 1.0;
      const double distance = sums[d * columns + c] - m * mean;
      between += distance * distance;
    }
    if (with_values < 2.0) continue;
    const double error = std::sqrt(with_values / (with_values - 1.0) * between) / n;
    auto [point, missing] = points.try_emplace(with_values - 1.0, 0.0);
    if (missing) point->second = student_point(0.05, with_values - 1.0);
    const double half = point->second * error;
    of(result, Statistic::StandardError) = error;
    of(result, Statistic::CiLow) = mean - half;
    of(result, Statistic::CiHigh) = mean + half;
  }
  if (!multiplicity_.empty()) bootstrap(sums, counts, columns, complete, results);
  return results;
}

void SequenceStatistics::bootstrap(std::span<const double> sums, std::span<const double> counts, std::size_t columns,
                                   bool complete, std::span<StatisticValues> results) const {
  const auto documents = static_cast<std::size_t>(documents_), resamples = static_cast<std::size_t>(kResamples);
  const auto some_columns = [&](std::size_t from, std::size_t to) {
    std::vector<std::vector<double>> means(to - from);
    for (std::vector<double>& of_column : means) of_column.reserve(resamples);
    std::vector<double> total(means.size()), number(means.size());
    for (std::size_t b = 0; b < resamples; ++b) {
      std::ranges::fill(total, 0.0);
      std::ranges::fill(number, 0.0);
      double all = 0.0;
      for (std::size_t d = 0; d < documents; ++d) {
        const std::uint16_t drawn = multiplicity_[b * documents + d];
        if (drawn == 0) continue;
        const auto times = static_cast<double>(drawn);
        const double* const sum = sums.data() + d * columns + from;
        const double* const count = counts.data() + d * columns + from;
        for (std::size_t c = 0; c < total.size(); ++c) total[c] += times * sum[c];
        if (complete) {
          all += times * count[0];  // the same in every column
        } else {
          for (std::size_t c = 0; c < number.size(); ++c) number[c] += times * count[c];
        }
      }
      for (std::size_t c = 0; c < means.size(); ++c)
        if (const double n = complete ? all : number[c]; n > 0.0) means[c].push_back(total[c] / n);
    }
    for (std::size_t c = 0; c < means.size(); ++c) {
      StatisticValues& result = results[from + c];
      if (means[c].empty() || of(result, Statistic::Count) == 0.0) continue;
      if (std::isnan(of(result, Statistic::StandardError))) continue;
      const std::vector<double> ends = quantiles(std::move(means[c]), {0.025, 0.975});
      of(result, Statistic::BootstrapLow) = ends[0];
      of(result, Statistic::BootstrapHigh) = ends[1];
    }
  };
  const std::size_t parts = (columns + kColumnsAtOnce - 1) / kColumnsAtOnce;
  on_all_threads(static_cast<std::int64_t>(parts), [&](std::int64_t part) {
    const std::size_t from = static_cast<std::size_t>(part) * kColumnsAtOnce;
    some_columns(from, std::min(from + kColumnsAtOnce, columns));
  });
}

}  // namespace headroom
