// Every subset of the statistics that can be wanted from the CPU kernels: what it has is what all of them have, what it
// has not is empty.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/kernels/cpu_runs.h"
#include "tests/kernels/wanted_subsets.h"

namespace headroom::test {
namespace {

using kernels::HeadStatistics;
using kernels::MapStatistics;
using kernels::StatisticSet;

// Σ a and single weights, which without a second pass come another way, and are then as near as rounding allows.
void take_rounded(HeadStatistics& found, const HeadStatistics& expected) {
  for (std::size_t m = 0; m < 2; ++m)
    for (auto array : {&MapStatistics::weight_sum, &MapStatistics::first_key_weight, &MapStatistics::self_weight,
                       &MapStatistics::previous_weight, &MapStatistics::induction_weight})
      found.maps[m].*array = expected.maps[m].*array;
  for (auto array : {&HeadStatistics::weight_sum, &HeadStatistics::weight_l1, &HeadStatistics::first_key_net,
                     &HeadStatistics::first_key_absolute})
    found.*array = expected.*array;
}

}  // namespace

CATCH_TEST_CASE("cpu wanted: each subset has the bits of everything, and nothing else") {
  std::uint64_t seed = 10;
  for (const AttentionCase& shape : std::vector<AttentionCase>{
           {.name = "softmax", .heads = 1},
           {.name = "bidirectional, sink, padding", .heads = 1, .sink = 0.5, .causal = false, .first_key = 7},
           {.name = "window, soft cap", .heads = 1, .softcap = 4.0, .window = 50},
           {.name = "V2", .pairing = Pairing::V2, .heads = 1},
           {.name = "own values", .pairing = Pairing::OwnValues, .heads = 2, .kv_heads = 2},
           {.name = "second map alone", .pairing = Pairing::SecondOnly, .heads = 1}})
    for (const std::int64_t length : {50, 520}) {
      const Tensors<float> tensors(random_attention<float>(shape, length, ++seed));
      const std::vector<kernels::HeadProblem<float>> problems = {tensors.problem(0)};
      for (StatisticSet wanted = 0; wanted <= kernels::kAllStatistics; ++wanted)
        for (const bool bins : {false, true}) {
          kernels::StatisticsRequest request = bins ? full_request() : kernels::StatisticsRequest{};
          const CpuAnswer full = run_cpu(problems, request);
          if (bins && wanted != 0 && !(wanted & kernels::kRowStatistics)) continue;
          request.wanted = wanted;
          CpuAnswer part = run_cpu(problems, request);
          CATCH_INFO(shape.name << ", length " << length << ", wanted " << wanted << ", bins " << bins);
          fill_unwanted(wanted, part.statistics[0], full.statistics[0]);
          request.wanted = kernels::kAllStatistics;
          HeadStatistics exact;
          std::vector<double> context(static_cast<std::size_t>(length * problems[0].value_dim));
          if (length == 50) {
            kernels::reference_attention(tensors.wide(0), request, exact, context);
            const FloatBounds bound = float_bounds(tensors.wide(0), request, exact);
            CATCH_CHECK(beyond_bounds(part.statistics[0], exact, bound.statistics) == "");
          }
          take_rounded(part.statistics[0], full.statistics[0]);
          CATCH_CHECK(different_bits(part, full) == "");
        }
    }
}

}  // namespace headroom::test
