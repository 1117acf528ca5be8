// The root group: what weights in bfloat16 do to a head.
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/measure/quantity_tools.h"

namespace headroom {

using namespace quantity;

std::vector<Quantity> rounding_quantities() {
  return {
      {.name = "rounds_to_one_mean",
       .axes = kByComponent,
       .long_name = "weights that round to the largest",
       .formula = "mean_i N₁, N₁ = #{j ∈ V_i : max_k z_ik − z_ij ≤ −ln(1 − 2⁻⁹)}",
       .remark = "1 where only the largest itself does; see rows/rounds_to_one",
       .range = "[0, n]",
       .rows = "eligible",
       .sources = {source::kRounding},
       .compute = [](const Context& c, Out out) { component_means(c, out, rounded_to_one); }},
      {.name = "rounds_to_one_several",
       .axes = kByComponent,
       .long_name = "rows with several weights that round to the largest",
       .formula = "mean_i [N₁ ≥ 2]",
       .remark = "of such rows the rounded sum may be biased: one weight of 1 is exact, several are seldom so",
       .range = "[0, 1]",
       .rows = "eligible",
       .sources = {source::kRounding},
       .compute =
           [](const Context& c, Out out) {
             component_means(c, out, [](const MapStatistics& m, std::int64_t i) {
               const double count = rounded_to_one(m, i);
               return std::isnan(count) ? count : count >= 2.0 ? 1.0 : 0.0;
             });
           }},
      {.name = "rounding_bias",
       .axes = kByComponent,
       .long_name = "mean error with weights in bfloat16",
       .formula = "√(mean_f (mean_i e_if)²) / RMS(c), e_i = (b(Σ_j b(p̄_ij)·v_j) − Σ_j p̄_ij·v_j) / l_i, "
                  "p̄_ij = e^{z_ij − max_k z_ik}, l_i = Σ_j p̄_ij and the sink's term, b the nearest bfloat16",
       .remark = "f: channels of c_i = Σ_j a_ij·v_j, RMS(c) over rows and channels; only p̄ and the sum over keys are "
                 "rounded, each row in one block",
       .range = "[0, ∞)",
       .rows = "all",
       .where = "that see a key",
       .heads = "with a softmax, in runs with --rounding",
       .option = "rounding",
       .sources = {source::kRounding},
       .compute = [](const Context& c, Out out) { rounding_errors(c, out, &RoundingErrors::bias); }},
      {.name = "rounding_noise",
       .axes = kByComponent,
       .long_name = "error with weights in bfloat16",
       .formula = "√(mean_i,f e_if²) / RMS(c)",
       .remark = "e of rounding_bias; the nearest bfloat16 of a number is off by 1.7e-3 of it, RMS",
       .range = "[0, ∞)",
       .rows = "all",
       .where = "that see a key",
       .heads = "with a softmax, in runs with --rounding",
       .option = "rounding",
       .sources = {source::kRounding},
       .compute = [](const Context& c, Out out) { rounding_errors(c, out, &RoundingErrors::noise); }},
      {.name = "rounding_bias_t",
       .axes = kByComponent,
       .long_name = "mean error with weights in bfloat16 in standard errors",
       .formula = "√(mean_f t_f²), t_f = mean_i e_if / (sd_i e_if / √n)",
       .remark = "e of rounding_bias; about 1 where errors of independent rows have no sign. Rows share their keys' "
                 "values, so that more is a hint and no test",
       .range = "[0, ∞)",
       .rows = "all",
       .where = "that see a key",
       .heads = "with a softmax, in runs with --rounding",
       .option = "rounding",
       .sources = {source::kRounding},
       .compute = [](const Context& c, Out out) { rounding_errors(c, out, &RoundingErrors::bias_t); }},
  };
}

}  // namespace headroom
