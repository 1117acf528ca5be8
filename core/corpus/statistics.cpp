#include "core/corpus/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "core/base/all_threads.h"
#include "core/base/numbers.h"
#include "core/base/student.h"
#include "core/corpus/selection.h"
#include "core/measure/head_view.h"
#include "kernels/cpu/weighted_sums.h"

namespace headroom {
namespace {

// Whose resampled means stay in a processor's cache; a thread takes so many at a time.
constexpr std::size_t kColumnsAtOnce = 64;

// The value of rank `rank` of `all` in the order of `less`, and the one behind it, where they are among the values that
// come before `bound`: few of many, which alone are put in order. `room` is used again.
template <typename Less>
bool find_ranks(std::span<const double> all, std::size_t rank, double bound, Less less, std::vector<double>& room,
                std::array<double, 2>& found) {
  room.clear();
  for (const double value : all)
    if (less(value, bound)) room.push_back(value);
  if (room.size() < rank + 2) return false;
  const auto place = room.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(room.begin(), place, room.end(), less);
  found = {*place, *std::min_element(place + 1, room.end(), less)};
  return true;
}

// The ends of the interval, as quantiles() has them.
void set_ends(std::span<const double> means, std::vector<double>& room, StatisticValues& result) {
  constexpr double kLow = 0.025, kHigh = 0.975;
  // Of a normal distribution 5.5 % lie beyond it, twice as many as are asked for.
  constexpr double kBeyond = 1.6;
  const double mean = of(result, Statistic::Mean), far = kBeyond * of(result, Statistic::StandardError);
  const auto last = static_cast<double>(means.size() - 1);
  const auto below = static_cast<std::size_t>(kLow * last), above = static_cast<std::size_t>(kHigh * last);
  std::array<double, 2> low{}, high{};
  if (std::isfinite(far) && above + 2 <= means.size() &&
      find_ranks(means, below, mean - far, std::less<double>(), room, low) &&
      find_ranks(means, means.size() - 2 - above, mean + far, std::greater<double>(), room, high)) {
    const double low_share = kLow * last - static_cast<double>(below);
    const double high_share = kHigh * last - static_cast<double>(above);
    of(result, Statistic::BootstrapLow) = low[0] + low_share * (low[1] - low[0]);
    of(result, Statistic::BootstrapHigh) = high[1] + high_share * (high[0] - high[1]);
    return;
  }
  const std::vector<double> ends = quantiles({means.begin(), means.end()}, {kLow, kHigh});
  of(result, Statistic::BootstrapLow) = ends[0];
  of(result, Statistic::BootstrapHigh) = ends[1];
}

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

SequenceStatistics::SequenceStatistics(std::span<const std::int64_t> documents) {
  std::map<std::int64_t, std::size_t> place;
  for (const std::int64_t document : documents) place[document] = 0;
  for (auto& [document, index] : place) index = static_cast<std::size_t>(documents_++);
  for (const std::int64_t document : documents) document_of_.push_back(place[document]);
}

SequenceStatistics::SequenceStatistics(std::span<const std::int64_t> documents, std::uint64_t bootstrap_seed)
    : SequenceStatistics(documents) {
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
  // Nothing times infinity is no number.
  const bool finite = std::ranges::all_of(sums, [](double sum) { return std::isfinite(sum); });
  const auto all = static_cast<double>(document_of_.size());
  const std::size_t parts = (columns + kColumnsAtOnce - 1) / kColumnsAtOnce;
  on_all_threads(static_cast<std::int64_t>(parts), [&](std::int64_t part) {
    const std::size_t from = static_cast<std::size_t>(part) * kColumnsAtOnce;
    const std::span<StatisticValues> some = results.subspan(from, std::min(kColumnsAtOnce, columns - from));
    // A quantity that a head does not have has no value at all.
    const bool all_or_none = std::ranges::all_of(some, [&](const StatisticValues& result) {
      return of(result, Statistic::Count) == all || of(result, Statistic::Count) == 0.0;
    });
    if (finite && all_or_none)
      resample_plain(sums, columns, from, some);
    else
      resample(sums, counts, columns, from, complete, some);
  });
}

// Where a column has a value of each sequence or of none, so that all that have any have as many in a resample.
void SequenceStatistics::resample_plain(std::span<const double> sums, std::size_t columns, std::size_t from,
                                        std::span<StatisticValues> results) const {
  const auto documents = static_cast<std::size_t>(documents_), resamples = static_cast<std::size_t>(kResamples);
  std::vector<double> means(results.size() * resamples), total(results.size()), times(documents), room;
  std::vector<double> sequences(documents, 0.0);
  for (const std::size_t document : document_of_) sequences[document] += 1.0;
  for (std::size_t b = 0; b < resamples; ++b) {
    double all = 0.0;
    for (std::size_t d = 0; d < documents; ++d) {
      times[d] = static_cast<double>(multiplicity_[b * documents + d]);
      all += times[d] * sequences[d];
    }
    kernels::weighted_sums(times.data(), documents_, sums.data() + from, static_cast<std::int64_t>(columns),
                           std::ssize(results), total.data());
    for (std::size_t c = 0; c < total.size(); ++c) means[c * resamples + b] = total[c] / all;
  }
  for (std::size_t c = 0; c < results.size(); ++c)
    if (!std::isnan(of(results[c], Statistic::StandardError)))
      set_ends(std::span(means).subspan(c * resamples, resamples), room, results[c]);
}

void SequenceStatistics::resample(std::span<const double> sums, std::span<const double> counts, std::size_t columns,
                                  std::size_t from, bool complete, std::span<StatisticValues> results) const {
  const auto documents = static_cast<std::size_t>(documents_), resamples = static_cast<std::size_t>(kResamples);
  std::vector<std::vector<double>> means(results.size());
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
  std::vector<double> room;
  for (std::size_t c = 0; c < means.size(); ++c) {
    StatisticValues& result = results[c];
    if (means[c].empty() || of(result, Statistic::Count) == 0.0) continue;
    if (!std::isnan(of(result, Statistic::StandardError))) set_ends(means[c], room, result);
  }
}

}  // namespace headroom
