// What a sweep of ablations says of heads: ranks of their loss changes, and whether heads that are attention sinks
// matter less. Over heads of one text: intervals are of other heads of this kind, not of other texts. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "core/run/ablation.h"

namespace headroom {

// Of a number that heads give, with its 95 % percentile interval over draws of as many heads with replacement
// (Efron 1979, doi:10.1214/aos/1176344552), always the same draws.
struct Bootstrapped {
  double value = kNaN, low = kNaN, high = kNaN;
};

// How many: 10,000, and of more than 2,000 heads fewer, at least 2,000.
[[nodiscard]] std::size_t bootstrap_draws(std::size_t heads);

// Spearman's ρ: Pearson's correlation of ranks, equal values sharing their mean rank; NaN where a side is constant.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);
// Over the same draws of pairs as any other number here; without an interval for fewer than three pairs, and where
// `stop` came before the last draw. Takes 20 ms for 270 pairs, half a second for 16,384.
[[nodiscard]] Bootstrapped bootstrapped_rank_correlation(std::span<const double> a, std::span<const double> b,
                                                         const std::stop_token& stop = {});
// The same at equal `given`: the partial correlation of the ranks.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b,
                                      std::span<const double> given);

// Attention sinks and importance.
struct SinkImportance {
  std::size_t heads = 0, sinks = 0;                // with both numbers; of them with a sink mass above `threshold`
  double threshold = 0.3;                          // Gu et al. 2024, arXiv 2410.10781, §3.1
  Bootstrapped correlation;                        // of delta_loss and sink mass over heads, by ranks
  Bootstrapped at_equal_layer;                     // the same at equal layer
  Bootstrapped of_magnitude;                       // of abs(delta_loss) and sink mass
  double sink_median = kNaN, other_median = kNaN;  // of delta_loss, nats
  Bootstrapped difference;                         // sink_median − other_median
  double sink_magnitude_median = kNaN, other_magnitude_median = kNaN;  // of abs(delta_loss)
};
[[nodiscard]] SinkImportance sink_importance(const AblationOutcome& outcome);

// How surely each change differs from none. Losses of neighbouring tokens depend on one another, so the text is cut
// into `blocks` of consecutive tokens, as equal as can be, and each is one observation (batch means: Conway 1963,
// doi:10.1287/mnsc.10.1.98). What is said is of other stretches of such a text, not of other texts.
struct TokenSpread {
  std::size_t blocks = 0;              // 20, fewer where they would have less than 8 tokens; 0: fewer than 4
  std::size_t tested = 0;              // changes; the intervals hold for all of them together (Bonferroni)
  std::vector<double> standard_error;  // nats, by result; NaN where it is not done
  double half_width = kNaN;            // of a 95 % interval, in standard errors (Student's t, blocks − 1 degrees)
  double detectable = kNaN;            // the change that is seen in 80 of 100 cases, at the median standard error; nats
  // Whether the result's interval leaves out 0.
  [[nodiscard]] bool differs(const AblationOutcome& outcome, std::size_t index) const;
};
[[nodiscard]] TokenSpread token_spread(const AblationOutcome& outcome);
inline constexpr double kIntervalLevel = 0.05;  // of all intervals together
inline constexpr double kSeenShare = 0.8;       // of cases, for a change that an interval can be relied on to see
[[nodiscard]] std::size_t token_blocks(std::size_t tokens);
// The standard error of the mean of `values` by the means of so many blocks, whose sizes differ by one at most (Cochran
// 1977, eq. 6.13).
[[nodiscard]] double error_of_blocks(std::span<const double> values, std::size_t blocks);

// A head's sink mass: sink_score of its first map, of its second where that is its only one; NaN where it has none.
[[nodiscard]] double sink_mass(const SummaryTable& table, const HeadRef& head);

// Indices of finished single heads in `results`, the largest loss change first, at equal ones by head.
[[nodiscard]] std::vector<std::size_t> by_importance(const AblationOutcome& outcome);

}  // namespace headroom
