#include "core/measure/self_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::size_t kMostSentences = 5;

// Whether the weights of a row can be finite: its logits do not overflow float32.
bool made_of_finite(const HeadView& head, std::int64_t row) {
  constexpr double kLargestLogit = 1e30;
  for (std::size_t m = 0; m < 2; ++m)
    if (head.has[m] && !(head.head.query_norm_max[m] * head.head.key_norm_max[m] < kLargestLogit)) return false;
  const bool sink = head.head.program.sink != SinkSource::None;
  return std::isfinite(head.lambda(row)) && (!sink || head.head.sink_logit < kLargestLogit);
}

}  // namespace

void add_violation(SelfCheck& check, std::int64_t layer, std::int64_t head, std::int64_t row, const char* what,
                   double found, double wanted) {
  if (check.violations.size() >= kMostSentences) return;
  check.violations.push_back(format("L%lld.H%lld row %lld: %s is %.9g, expected %.9g (a bug: please report it)",
                                    static_cast<long long>(layer), static_cast<long long>(head),
                                    static_cast<long long>(row), what, found, wanted));
}

void check_head(const HeadView& head, double tolerance, SelfCheck& check) {
  const kernels::HeadStatistics& statistics = head.head.statistics;
  const bool ones = head.head.program.sums_to_one();
  const auto report = [&](std::int64_t row, const char* what, double found, double wanted) {
    add_violation(check, head.layer.layer, head.head.head, row, what, found, wanted);
  };
  for (std::int64_t i = 0; i < head.length; ++i) {
    const auto r = static_cast<std::size_t>(i);
    if (head.visible[r] == 0) continue;
    const double sum = statistics.weight_sum[r];
    if (!std::isfinite(sum + statistics.weight_l2_squared[r]) && !made_of_finite(head, i)) {
      ++check.rows_not_finite;
      continue;
    }
    ++check.rows;
    // Only a sink and softpick take anything from a map.
    const auto mass = [&](std::size_t m) { return !head.has[m] ? 0.0 : ones ? 1.0 : statistics.maps[m].weight_sum[r]; };
    const double wanted = mass(0) - head.lambda(i) * mass(1);
    const double size = 1.0 + std::abs(head.lambda(i));
    const double error = std::abs(sum - wanted) / size;
    check.worst_row_sum = std::max(check.worst_row_sum, error);
    if (!(error <= tolerance)) report(i, "the row sum", sum, wanted);

    const double e = std::sqrt(statistics.weight_l2_squared[r]);
    const RowBounds bounds = head.bounds(i, BoundKind::Variant);
    const double excess = std::max({bounds.low - e, e - bounds.high, 0.0}) / size;
    check.worst_bound = std::max(check.worst_bound, excess);
    if (!(excess <= tolerance)) report(i, "‖w‖₂", e, e < bounds.low ? bounds.low : bounds.high);
  }
}

}  // namespace headroom
