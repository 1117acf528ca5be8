// Subsets of the statistics that can be wanted: checks that a backend left the rest empty. Plain functions.
#pragma once

#include <cstddef>

#include "kernels/attention.h"
#include "tests/support/catch.h"

namespace headroom::test {

// Arrays of a kind that the subset lacks must be empty; they are then filled in, so that the rest can be compared.
template <typename Array>
void empty_unless(bool wanted, Array& found, const Array& expected) {
  if (wanted) return;
  CATCH_CHECK(found.empty());
  found = expected;
}

inline void fill_unwanted(kernels::StatisticSet wanted, kernels::HeadStatistics& found,
                          const kernels::HeadStatistics& expected) {
  using kernels::HeadStatistics;
  using kernels::MapStatistics;
  const bool rows = wanted & kernels::kRowStatistics, named = wanted & kernels::kNamedKeys;
  const bool columns = wanted & kernels::kColumnSums;
  for (std::size_t m = 0; m < 2; ++m) {
    MapStatistics& a = found.maps[m];
    const MapStatistics& b = expected.maps[m];
    for (auto array : {&MapStatistics::lse, &MapStatistics::logit_max, &MapStatistics::logit_min,
                       &MapStatistics::entropy, &MapStatistics::weight_max, &MapStatistics::weight_l2_squared,
                       &MapStatistics::weight_sum, &MapStatistics::mean_distance, &MapStatistics::context_energy,
                       &MapStatistics::pooled_sum, &MapStatistics::pooled_max})
      empty_unless(rows, a.*array, b.*array);
    for (auto array : {&MapStatistics::first_key_weight, &MapStatistics::self_weight, &MapStatistics::previous_weight,
                       &MapStatistics::induction_weight})
      empty_unless(named, a.*array, b.*array);
    empty_unless(columns, a.column_sum, b.column_sum);
    empty_unless((wanted & kernels::kRoundsToOne) != 0, a.rounds_to_one, b.rounds_to_one);
    empty_unless(rows, a.logit_histogram, b.logit_histogram);
    empty_unless(rows, a.weight_histogram, b.weight_histogram);
    if (!rows) a.logit_max_raw = b.logit_max_raw;
  }
  for (auto array : {&HeadStatistics::weight_sum, &HeadStatistics::weight_l1, &HeadStatistics::weight_l2_squared,
                     &HeadStatistics::cross, &HeadStatistics::uncorrelated_energy, &HeadStatistics::pooled_sum,
                     &HeadStatistics::pooled_highest, &HeadStatistics::pooled_lowest, &HeadStatistics::pooled_positive,
                     &HeadStatistics::pooled_negative})
    empty_unless(rows, found.*array, expected.*array);
  empty_unless(named, found.first_key_net, expected.first_key_net);
  empty_unless(named, found.first_key_absolute, expected.first_key_absolute);
  empty_unless(columns, found.column_sum, expected.column_sum);
}

}  // namespace headroom::test
