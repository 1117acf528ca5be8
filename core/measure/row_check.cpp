#include "core/measure/row_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headroom {
namespace {

// λ follows from a key that the second map gives this much to.
constexpr double kLeastForLambda = 1e-6;

}  // namespace

void RowCheck::compare_sums(std::int64_t layer, std::int64_t head, std::int64_t row, const char* what, double sum,
                            double wanted, double size) {
  const double error = std::abs(sum - wanted) / size;
  check_.worst_row_sum = std::max(check_.worst_row_sum, error);
  if (error > tolerance_) add_violation(check_, layer, head, row, what, sum, wanted);
}

void RowCheck::add(const HeadProgram& program, std::int64_t layer, std::int64_t head, int component, std::int64_t row,
                   std::int64_t rows, std::span<const double> weights) {
  const std::size_t keys = weights.size() / static_cast<std::size_t>(std::max<std::int64_t>(rows, 1));
  if (component >= 0) maps_[static_cast<std::size_t>(component)].assign(static_cast<std::size_t>(rows), {});
  for (std::int64_t i = row; i < row + rows; ++i) {
    const auto r = static_cast<std::size_t>(i - row);
    const std::span<const double> of_row = weights.subspan(r * keys, keys);
    const double sum = std::accumulate(of_row.begin(), of_row.end(), 0.0);
    if (!std::isfinite(sum)) {
      if (component < 0) ++check_.rows_not_finite;
      if (component >= 0) maps_[static_cast<std::size_t>(component)][r].sum = sum;
      continue;
    }
    if (component >= 0) {
      const auto [least, largest] = std::ranges::minmax_element(of_row);
      MapRow& map = maps_[static_cast<std::size_t>(component)][r];
      map.sum = sum;
      map.key =
          component == 1 && program.has_first() ? maps_[0][r].key : static_cast<std::size_t>(largest - of_row.begin());
      map.weight = of_row[map.key];
      const bool first = component == 0;
      if (program.sums_to_one())
        compare_sums(layer, head, i, first ? "the row sum of the first map" : "the row sum of the second map", sum, 1.0,
                     1.0);
      if (*least < 0.0)
        add_violation(check_, layer, head, i, first ? "a weight of the first map" : "a weight of the second map",
                      *least, 0.0);
      continue;
    }
    ++check_.rows;
    const MapRow first = program.has_first() ? maps_[0][r] : MapRow(),
                 second = program.has_second() ? maps_[1][r] : MapRow();
    if (!std::isfinite(first.sum + second.sum)) continue;
    if (!program.has_second()) {
      compare_sums(layer, head, i, "the row sum of the net map", sum, first.sum, 1.0);
    } else if (second.weight >= kLeastForLambda) {
      const double lambda = (first.weight - of_row[second.key]) / second.weight;
      compare_sums(layer, head, i, "the row sum of the net map", sum, first.sum - lambda * second.sum,
                   1.0 + std::abs(lambda));
    }
  }
}

}  // namespace headroom
