// The group /rows: one number per query row.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/measure/quantity_tools.h"

namespace headroom {

using namespace quantity;

namespace {

template <typename Value>
void component_rows(const Context& c, Out out, const Value& value) {
  for (std::size_t m = 0; m < 2; ++m) {
    if (!c.head.has[m]) continue;
    const MapStatistics& statistics = map(c, m);
    for (std::int64_t i = 0; i < c.head.length; ++i)
      out[m * (out.size() / 2) + static_cast<std::size_t>(i)] = value(statistics, i);
  }
}

template <typename Value>
void head_rows(const Context& c, Out out, const Value& value) {
  for (std::int64_t i = 0; i < c.head.length; ++i) out[static_cast<std::size_t>(i)] = value(i);
}

// Entries whose values are one array of MapStatistics or HeadStatistics.
template <std::vector<double> MapStatistics::* Member>
void map_row(const Context& c, Out out) {
  component_rows(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.*Member, i); });
}

template <std::vector<double> kernels::HeadStatistics::* Member>
void net_row(const Context& c, Out out) {
  head_rows(c, out, [&](std::int64_t i) { return at(c.head.head.statistics.*Member, i); });
}

}  // namespace

std::vector<Quantity> row_quantities() {
  using kernels::HeadStatistics;
  std::vector<Quantity> table = {
      {.name = "lse",
       .axes = kByComponentPosition,
       .units = "nat",
       .long_name = "log-sum-exp of the logits",
       .formula = "LSE_i = ln(e^b + Σ_{j ∈ V_i} e^{z_ij})",
       .remark = "b is the sink's logit; without a sink its term is left out; a_ij = e^{z_ij − LSE_i} in every kind",
       .range = "(−∞, ∞)",
       .sources = {source::kLogits},
       .compute = map_row<&MapStatistics::lse>},
      {.name = "logit_max",
       .axes = kByComponentPosition,
       .long_name = "largest logit of the row",
       .formula = "max_j z_ij",
       .range = "(−∞, ∞)",
       .sources = {source::kLogits},
       .compute = map_row<&MapStatistics::logit_max>},
      {.name = "logit_min",
       .axes = kByComponentPosition,
       .long_name = "smallest logit of the row",
       .formula = "min_j z_ij",
       .range = "(−∞, ∞)",
       .sources = {source::kLogits},
       .compute = map_row<&MapStatistics::logit_min>},
      {.name = "entropy",
       .axes = kByComponentPosition,
       .units = "nat",
       .long_name = "attention entropy of the row",
       .formula = "H_i = −Σ_j a_ij ln a_ij",
       .remark = "with a sink the sum is over the real keys",
       .range = "[0, ln(n + 1)]",
       .sources = {source::kZhai},
       .compute = map_row<&MapStatistics::entropy>},
      {.name = "weight_max",
       .axes = kByComponentPosition,
       .long_name = "largest weight of the row",
       .formula = "max_j a_ij",
       .range = "[0, 1]",
       .sources = {source::kLogits},
       .compute = map_row<&MapStatistics::weight_max>},
      {.name = "weight_l2_component",
       .axes = kByComponentPosition,
       .long_name = "norm of a map's row",
       .formula = "‖a_i‖₂",
       .range = "[0, 1]",
       .sources = {source::kHill},
       .compute =
           [](const Context& c, Out out) {
             component_rows(
                 c, out, [](const MapStatistics& m, std::int64_t i) { return std::sqrt(at(m.weight_l2_squared, i)); });
           }},
      {.name = "first_key_weight",
       .axes = kByComponentPosition,
       .long_name = "attention to key 0",
       .formula = "a_i0",
       .remark = "0 where the row cannot see key 0",
       .range = "[0, 1]",
       .sources = {source::kGu, source::kSinks},
       .compute = map_row<&MapStatistics::first_key_weight>},
      {.name = "rounds_to_one",
       .axes = kByComponentPosition,
       .type = ElementType::Int32,
       .long_name = "weights that round to the largest",
       .formula = "N₁ = number of visible keys with max_j z_ij − z_ij ≤ −ln(1 − 2⁻⁹)",
       .remark = "their e^{z − max z} is 1 in bfloat16; two such keys whose values have one sign bias the rounded sum",
       .range = "[1, n]",
       .sources = {source::kRounding},
       .compute =
           [](const Context& c, Out out) {
             component_rows(c, out, [](const MapStatistics& m, std::int64_t i) {
               return static_cast<double>(m.rounds_to_one[static_cast<std::size_t>(i)]);
             });
           }},
      {.name = "lambda",
       .axes = kByPosition,
       .long_name = "λ",
       .formula = "λ_i",
       .remark = "DIFF V1: the layer's scalar; DIFF V2: σ(W_λ x_i)",
       .range = "(−∞, ∞)",
       .heads = "with a second map",
       .sources = {source::kDiffV1, source::kDiffV2, source::kHeadPrograms},
       .compute =
           [](const Context& c, Out out) {
             if (c.head.has[1]) head_rows(c, out, [&](std::int64_t i) { return c.head.lambda(i); });
           }},
      {.name = "weight_sum",
       .axes = kByPosition,
       .long_name = "sum of the net weights",
       .formula = "Σ_j w_ij",
       .remark = "1 − λ_i without a sink",
       .range = "[−|λ|, 1 + |λ|]",
       .sources = {source::kCancellation},
       .compute = net_row<&HeadStatistics::weight_sum>},
      {.name = "weight_l1",
       .axes = kByPosition,
       .long_name = "absolute mass of the net weights",
       .formula = "‖w_i‖₁ = Σ_j |w_ij|",
       .range = "[0, 1 + |λ|]",
       .sources = {source::kCancellation},
       .compute = net_row<&HeadStatistics::weight_l1>},
      {.name = "weight_l2",
       .axes = kByPosition,
       .long_name = "norm of the net weights",
       .formula = "e_i = ‖w_i‖₂",
       .range = "[0, 1 + |λ|]",
       .sources = {source::kIntervals, source::kDecomposition},
       .compute =
           [](const Context& c, Out out) {
             head_rows(c, out,
                       [&](std::int64_t i) { return std::sqrt(at(c.head.head.statistics.weight_l2_squared, i)); });
           }},
      {.name = "negative_mass",
       .axes = kByPosition,
       .long_name = "negative mass of the net weights",
       .formula = "N_i = Σ_j max(−w_ij, 0) = (‖w_i‖₁ − Σ_j w_ij)/2",
       .range = "[0, |λ|]",
       .sources = {source::kCancellation},
       .compute =
           [](const Context& c, Out out) {
             const kernels::HeadStatistics& s = c.head.head.statistics;
             head_rows(c, out, [&](std::int64_t i) { return negative_mass(s, i); });
           }},
      {.name = "context_rms",
       .axes = kByPosition,
       .long_name = "context RMS",
       .formula = "RMS_i = RMS(c_i)",
       .remark = "c_i is the context before head norm, gate and W_O",
       .range = "[0, ∞)",
       .sources = {source::kDiffV2, source::kContexts},
       .compute = [](const Context& c,
                     Out out) { head_rows(c, out, [&](std::int64_t i) { return at(c.head.head.context_rms, i); }); }},
      {.name = "context_rms_relative",
       .axes = kByPosition,
       .long_name = "context RMS in units of the values",
       .formula = "ρ_i = RMS_i / r̄_i",
       .range = "[0, ∞)",
       .sources = {source::kContexts},
       .compute = [](const Context& c,
                     Out out) { head_rows(c, out, [&](std::int64_t i) { return at(c.head.rho, i); }); }},
      {.name = "value_rms_mean",
       .axes = kByPosition,
       .long_name = "RMS of the visible values",
       .formula = "r̄_i = √(mean_{j ∈ V_i} r_j²), r_j = RMS(v_j)",
       .remark = "r_j² is the mean over both maps where a what-if gives them different values",
       .range = "[0, ∞)",
       .sources = {source::kContexts},
       .compute = [](const Context& c,
                     Out out) { head_rows(c, out, [&](std::int64_t i) { return at(c.head.value_rms_mean, i); }); }},
      {.name = "uncorrelated_rms",
       .axes = kByPosition,
       .long_name = "context RMS of uncorrelated values",
       .formula = "q_i = √(Σ_j w_ij² r_j²)",
       .remark = "√(Σ_j (a¹_ij r¹_j)² + (λ_i a²_ij r²_j)²) where a what-if gives the maps different values",
       .range = "[0, ∞)",
       .sources = {source::kDecomposition},
       .compute =
           [](const Context& c, Out out) {
             head_rows(c, out,
                       [&](std::int64_t i) { return std::sqrt(at(c.head.head.statistics.uncorrelated_energy, i)); });
           }},
      {.name = "implicit_sink_mass",
       .axes = kByPosition,
       .long_name = "mass given to nothing",
       .formula = "1 − Σ_j w_ij",
       .range = "[−|λ|, 1 + |λ|]",
       .sources = {source::kMiller, source::kOpenAi, source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             head_rows(c, out, [&](std::int64_t i) { return 1.0 - at(c.head.head.statistics.weight_sum, i); });
           }},
      {.name = "gate_mean",
       .axes = kByPosition,
       .long_name = "output gate",
       .formula = "g_i = mean over channels of σ(W_g x_i)",
       .remark = "x_i is the layer's normed input",
       .range = "[0, 1]",
       .heads = "with a gate",
       .sources = {source::kGates},
       .compute =
           [](const Context& c, Out out) {
             if (!c.head.head.gate_mean.empty())
               head_rows(c, out, [&](std::int64_t i) { return at(c.head.head.gate_mean, i); });
           }},
      {.name = "norm_gain",
       .axes = kByPosition,
       .long_name = "gain of the head norm",
       .formula = "1/√(RMS_i² + ε)",
       .remark = "ε is program/norm_epsilon",
       .range = "(0, 1/√ε]",
       .heads = "with a head norm (DIFF V1)",
       .sources = {source::kDiffV1, source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             if (c.head.head.norm_epsilon >= 0.0) head_rows(c, out, [&](std::int64_t i) { return norm_gain(c, i); });
           }},
  };
  for (Quantity& quantity : table) {
    quantity.group = "rows";
    quantity.rows = "all";
  }
  return table;
}

}  // namespace headroom
