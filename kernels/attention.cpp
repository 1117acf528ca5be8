#include "kernels/attention.h"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <vector>

namespace headroom::kernels {

template <typename Input>
void resize_statistics(const HeadProblem<Input>& problem, const StatisticsRequest& request,
                       HeadStatistics& statistics) {
  statistics = {};
  if (request.wanted == 0) return;
  const auto rows = static_cast<std::size_t>(problem.mask.length), keys = static_cast<std::size_t>(problem.mask.keys());
  const auto assign = [&](StatisticSet kind, std::initializer_list<std::vector<double>*> arrays) {
    if (request.wanted & kind)
      for (std::vector<double>* array : arrays) array->assign(kind == kColumnSums ? keys : rows, 0.0);
  };
  std::size_t cells = 0;
  const std::int64_t extent = std::max(request.pool_extent, problem.mask.longer());
  if (request.pool_blocks > 0 && extent > 0) {
    statistics.pool_size = (extent + request.pool_blocks - 1) / request.pool_blocks;
    statistics.pool_blocks = (extent + statistics.pool_size - 1) / statistics.pool_size;
    cells = static_cast<std::size_t>(statistics.pool_blocks * statistics.pool_blocks);
  }
  for (std::size_t m = 0; m < 2; ++m) {
    if (!problem.maps[m].present()) continue;
    MapStatistics& map = statistics.maps[m];
    assign(kRowStatistics, {&map.lse, &map.logit_max, &map.logit_min, &map.entropy, &map.weight_max,
                            &map.weight_l2_squared, &map.weight_sum, &map.mean_distance, &map.context_energy});
    assign(kNamedKeys, {&map.first_key_weight, &map.self_weight, &map.previous_weight, &map.induction_weight});
    assign(kColumnSums, {&map.column_sum});
    if (request.wanted & kRoundsToOne) map.rounds_to_one.assign(rows, 0);
    map.logit_max_raw = -std::numeric_limits<double>::infinity();
    map.logit_histogram.assign(static_cast<std::size_t>(request.logit_bins.bins), 0);
    map.weight_histogram.assign(static_cast<std::size_t>(request.log10_weight_bins.bins), 0);
    map.pooled_sum.assign(cells, 0.0);
    map.pooled_max.assign(cells, 0.0);
  }
  assign(kRowStatistics, {&statistics.weight_sum, &statistics.weight_l1, &statistics.weight_l2_squared,
                          &statistics.uncorrelated_energy});
  if (problem.maps[0].present() && problem.maps[1].present()) assign(kRowStatistics, {&statistics.cross});
  assign(kNamedKeys, {&statistics.first_key_net, &statistics.first_key_absolute});
  assign(kColumnSums, {&statistics.column_sum});
  for (auto* pooled : {&statistics.pooled_sum, &statistics.pooled_positive, &statistics.pooled_negative,
                       &statistics.pooled_highest, &statistics.pooled_lowest})
    pooled->assign(cells, 0.0);
}

std::vector<double> nothing_negative(const std::vector<double>& pooled_sum) {
  std::vector<double> negative = pooled_sum;
  for (double& sum : negative) sum -= sum;
  return negative;
}

template void resize_statistics<BFloat16>(const HeadProblem<BFloat16>&, const StatisticsRequest&, HeadStatistics&);
template void resize_statistics<float>(const HeadProblem<float>&, const StatisticsRequest&, HeadStatistics&);
template void resize_statistics<double>(const HeadProblem<double>&, const StatisticsRequest&, HeadStatistics&);

}  // namespace headroom::kernels
