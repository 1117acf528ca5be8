#include "core/run/ablation_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>

#include "core/base/student.h"
#include "core/measure/head_view.h"

namespace headroom {
namespace {

constexpr std::size_t kDraws = 10000, kLeastDraws = 2000, kMostPairsDrawn = 20'000'000;
constexpr std::size_t kMostBlocks = 20, kFewestBlocks = 4, kLeastTokens = 8;

std::vector<std::size_t> ascending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  return order;
}

std::vector<double> ranks(std::span<const double> values) {
  const std::vector<std::size_t> order = ascending(values);
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + end - 1) / 2.0;
    for (; begin < end; ++begin) result[order[begin]] = rank;
  }
  return result;
}

double pearson(std::span<const double> a, std::span<const double> b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n,
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : kNaN;
}

// The ranks in a draw with replacement, of which `times` says how often it holds each value: without sorting again.
class DrawnRanks {
 public:
  explicit DrawnRanks(std::span<const double> values)
      : values_(values), order_(ascending(values)), ranks_(values.size()) {}

  // By value; of those that the draw does not hold they mean nothing.
  [[nodiscard]] const std::vector<double>& of(std::span<const std::uint32_t> times) {
    std::size_t before = 0;
    for (std::size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      std::size_t equal = 0;
      for (end = begin; end < order_.size() && values_[order_[end]] == values_[order_[begin]]; ++end)
        equal += times[order_[end]];
      const double rank = static_cast<double>(before) + (static_cast<double>(equal) - 1.0) / 2.0;
      for (std::size_t i = begin; i < end; ++i) ranks_[order_[i]] = rank;
      before += equal;
    }
    return ranks_;
  }

 private:
  std::span<const double> values_;
  std::vector<std::size_t> order_;
  std::vector<double> ranks_;
};

double median(std::vector<double> values) {
  return values.empty() ? kNaN : quantiles(std::move(values), {0.5}).front();
}

struct Head {
  double delta = 0.0, sink = 0.0, layer = 0.0;
};

std::vector<double> column(std::span<const Head> heads, const std::function<double(const Head&)>& of) {
  std::vector<double> values;
  values.reserve(heads.size());
  for (const Head& head : heads) values.push_back(of(head));
  return values;
}

// Draws with std::mt19937_64, whose numbers the standard fixes.
Bootstrapped bootstrap(const std::vector<Head>& heads, const std::function<double(std::span<const Head>)>& of) {
  Bootstrapped result;
  result.value = of(heads);
  std::mt19937_64 random(0);  // NOLINT(bugprone-random-generator-seed): the same interval every time
  std::vector<double> drawn;
  std::vector<Head> sample(heads.size());
  for (std::size_t draw = 0; draw < bootstrap_draws(heads.size()) && !heads.empty(); ++draw) {
    for (Head& head : sample) head = heads[random() % heads.size()];
    if (const double value = of(sample); std::isfinite(value)) drawn.push_back(value);
  }
  if (drawn.empty()) return result;
  const std::vector<double> ends = quantiles(std::move(drawn), {0.025, 0.975});
  result.low = ends[0];
  result.high = ends[1];
  return result;
}

}  // namespace

std::size_t bootstrap_draws(std::size_t heads) {
  return std::clamp(kMostPairsDrawn / std::max<std::size_t>(heads, 1), kLeastDraws, kDraws);
}

double rank_correlation(std::span<const double> a, std::span<const double> b) { return pearson(ranks(a), ranks(b)); }

Bootstrapped bootstrapped_rank_correlation(std::span<const double> a, std::span<const double> b,
                                           const std::stop_token& stop) {
  Bootstrapped result;
  const std::size_t n = a.size();
  if (n == 0) return result;
  result.value = rank_correlation(a, b);
  if (n < 3) return result;
  DrawnRanks ranks_a(a), ranks_b(b);
  std::mt19937_64 random(0);  // NOLINT(bugprone-random-generator-seed): the same interval every time
  std::vector<std::uint32_t> times(n);
  std::vector<double> drawn;
  const double mean = (static_cast<double>(n) - 1.0) / 2.0;
  for (std::size_t draw = 0; draw < bootstrap_draws(n); ++draw) {
    if (stop.stop_requested()) return result;
    std::ranges::fill(times, 0U);
    for (std::size_t i = 0; i < n; ++i) ++times[random() % n];
    const std::vector<double>&x = ranks_a.of(times), &y = ranks_b.of(times);
    double xy = 0.0, xx = 0.0, yy = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double weight = times[i], dx = x[i] - mean, dy = y[i] - mean;
      xy += weight * dx * dy, xx += weight * dx * dx, yy += weight * dy * dy;
    }
    if (xx > 0.0 && yy > 0.0) drawn.push_back(xy / std::sqrt(xx * yy));
  }
  if (drawn.empty()) return result;
  const std::vector<double> ends = quantiles(std::move(drawn), {0.025, 0.975});
  result.low = ends[0], result.high = ends[1];
  return result;
}

double rank_correlation(std::span<const double> a, std::span<const double> b, std::span<const double> given) {
  const std::vector<double> x = ranks(a), y = ranks(b), z = ranks(given);
  const double xy = pearson(x, y), xz = pearson(x, z), yz = pearson(y, z);
  if (!std::isfinite(xz) || !std::isfinite(yz)) return xy;  // `given` is the same for all
  const double rest = (1.0 - xz * xz) * (1.0 - yz * yz);
  return rest > 0.0 ? (xy - xz * yz) / std::sqrt(rest) : kNaN;
}

SinkImportance sink_importance(const AblationOutcome& outcome) {
  SinkImportance result;
  const SummaryTable& table = outcome.summary;
  std::vector<Head> heads;
  for (std::size_t l = 0; l < table.layers.size(); ++l)
    for (std::size_t h = 0; h < table.heads.size(); ++h) {
      const AblatedSet* set = outcome.find({table.layers[l], table.heads[h]});
      const double sink = sink_mass(table, {table.layers[l], table.heads[h]});
      if (set && set->done() && std::isfinite(set->delta_loss) && std::isfinite(sink))
        heads.push_back({set->delta_loss, sink, static_cast<double>(table.layers[l])});
    }
  const auto delta = [](const Head& head) { return head.delta; };
  const auto magnitude = [](const Head& head) { return std::abs(head.delta); };
  const auto sink = [](const Head& head) { return head.sink; };
  const auto layer = [](const Head& head) { return head.layer; };
  const double threshold = result.threshold;
  const auto of_group = [threshold](std::span<const Head> of, bool sinks,
                                    const std::function<double(const Head&)>& what) {
    std::vector<double> values;
    for (const Head& head : of)
      if ((head.sink > threshold) == sinks) values.push_back(what(head));
    return median(std::move(values));
  };
  result.heads = heads.size();
  result.sinks =
      static_cast<std::size_t>(std::ranges::count_if(heads, [&](const Head& head) { return head.sink > threshold; }));
  if (result.heads < 3) return result;
  result.correlation = bootstrapped_rank_correlation(column(heads, delta), column(heads, sink));
  result.at_equal_layer = bootstrap(heads, [&](std::span<const Head> of) {
    return rank_correlation(column(of, delta), column(of, sink), column(of, layer));
  });
  result.of_magnitude = bootstrapped_rank_correlation(column(heads, magnitude), column(heads, sink));
  result.sink_median = of_group(heads, true, delta);
  result.other_median = of_group(heads, false, delta);
  result.sink_magnitude_median = of_group(heads, true, magnitude);
  result.other_magnitude_median = of_group(heads, false, magnitude);
  result.difference = bootstrap(
      heads, [&](std::span<const Head> of) { return of_group(of, true, delta) - of_group(of, false, delta); });
  return result;
}

bool TokenSpread::differs(const AblationOutcome& outcome, std::size_t index) const {
  return std::abs(outcome.results[index].delta_loss) > half_width * standard_error[index];
}

std::size_t token_blocks(std::size_t tokens) {
  const std::size_t blocks = std::min(kMostBlocks, tokens / kLeastTokens);
  return blocks < kFewestBlocks ? 0 : blocks;
}

double error_of_blocks(std::span<const double> values, std::size_t blocks) {
  const double n = static_cast<double>(values.size()), count = static_cast<double>(blocks);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0.0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t begin = block * values.size() / blocks, end = (block + 1) * values.size() / blocks;
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i] - mean;
    squares += sum * sum;
  }
  return std::sqrt(squares * count / (count - 1.0)) / n;
}

TokenSpread token_spread(const AblationOutcome& outcome) {
  TokenSpread spread;
  spread.standard_error.assign(outcome.results.size(), kNaN);
  spread.blocks = token_blocks(outcome.token_loss.size());
  if (spread.blocks == 0) return spread;
  std::vector<double> errors;
  for (std::size_t i = 0; i < outcome.results.size(); ++i)
    if (outcome.results[i].done())
      errors.push_back(spread.standard_error[i] = error_of_blocks(outcome.results[i].by_token, spread.blocks));
  spread.tested = errors.size();
  if (errors.empty()) return spread;
  const double degrees = static_cast<double>(spread.blocks) - 1.0;
  const double level = kIntervalLevel / static_cast<double>(spread.tested);
  spread.half_width = student_point(level, degrees);
  spread.detectable = student_detectable(degrees, level, kSeenShare) * median(std::move(errors));
  return spread;
}

double sink_mass(const SummaryTable& table, const HeadRef& head) {
  const auto place = [](const std::vector<std::int64_t>& of, std::int64_t value) {
    return static_cast<std::size_t>(std::ranges::lower_bound(of, value) - of.begin());
  };
  const std::size_t l = place(table.layers, head.layer), h = place(table.heads, head.head);
  const double first = table.at("sink_score", l, h);
  return std::isnan(first) ? table.at("sink_score", l, h, 1) : first;
}

std::vector<std::size_t> by_importance(const AblationOutcome& outcome) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < outcome.singles; ++i)
    if (std::isfinite(outcome.results[i].delta_loss)) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return outcome.results[i].delta_loss; });
  return order;
}

}  // namespace headroom
