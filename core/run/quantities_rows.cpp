// The group /rows: one number per query row.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/run/quantity_tools.h"

namespace headroom {

using namespace quantity;

namespace {

template <typename Value>
void component_rows(const Context& c, Out out, const Value& value) {
  for (std::size_t m = 0; m < 2; ++m) {
    if (!c.head.has[m]) continue;
    const MapStatistics& statistics = map(c, m);
    for (std::int64_t i = 0; i < c.head.length; ++i)
      out[m * static_cast<std::size_t>(c.head.length) + static_cast<std::size_t>(i)] = value(statistics, i);
  }
}

template <typename Value>
void head_rows(const Context& c, Out out, const Value& value) {
  for (std::int64_t i = 0; i < c.head.length; ++i) out[static_cast<std::size_t>(i)] = value(i);
}

// A per-map entry of /rows whose values are one array of MapStatistics.
template <std::vector<double> MapStatistics::* Member>
Quantity map_row(std::string_view name, std::string_view units, std::string_view long_name, std::string_view definition,
                 std::string_view source) {
  return {"rows",
          name,
          kByComponentPosition,
          ElementType::Float32,
          units,
          long_name,
          definition,
          source,
          "all",
          [](const Context& c, Out out) {
            component_rows(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.*Member, i); });
          }};
}

// A per-head entry whose values are one array of HeadStatistics.
template <std::vector<double> kernels::HeadStatistics::* Member>
Quantity net_row(std::string_view name, std::string_view long_name, std::string_view definition,
                 std::string_view source) {
  return {"rows",
          name,
          kByPosition,
          ElementType::Float32,
          "1",
          long_name,
          definition,
          source,
          "all",
          [](const Context& c, Out out) {
            head_rows(c, out, [&](std::int64_t i) { return at(c.head.head.statistics.*Member, i); });
          }};
}

}  // namespace

std::vector<Quantity> row_quantities() {
  using kernels::HeadStatistics;
  return {
      map_row<&MapStatistics::lse>("lse", "nat", "log-sum-exp of the logits",
                                   "LSE_i = ln Σ_j exp(z_ij), the sink's term included", "§2.1; M21"),
      map_row<&MapStatistics::logit_max>("logit_max", "1", "largest logit of the row", "max_j z_ij", "M6"),
      map_row<&MapStatistics::logit_min>("logit_min", "1", "smallest logit of the row", "min_j z_ij over visible keys",
                                         "M6"),
      map_row<&MapStatistics::entropy>("entropy", "nat", "attention entropy of the row", "H_i = −Σ_j a_ij ln a_ij",
                                       "M7"),
      map_row<&MapStatistics::weight_max>("weight_max", "1", "largest weight of the row", "max_j a_ij", "M8"),
      {"rows", "weight_l2_component", kByComponentPosition, ElementType::Float32, "1", "norm of a map's row", "‖a_i‖₂",
       "M8", "all",
       [](const Context& c, Out out) {
         component_rows(c, out,
                        [](const MapStatistics& m, std::int64_t i) { return std::sqrt(at(m.weight_l2_squared, i)); });
       }},
      map_row<&MapStatistics::first_key_weight>("first_key_weight", "1", "attention to key 0",
                                                "a_i0; 0 where the row cannot see key 0", "M1"),
      {"rows", "rounds_to_one", kByComponentPosition, ElementType::Int32, "1", "weights that round to the largest",
       "N₁: number of visible keys with max_j z_ij − z_ij ≤ −ln(1 − 2⁻⁹)", "M18; arXiv 2510.04212", "all",
       [](const Context& c, Out out) {
         component_rows(c, out, [](const MapStatistics& m, std::int64_t i) {
           return static_cast<double>(m.rounds_to_one[static_cast<std::size_t>(i)]);
         });
       }},
      {"rows", "lambda", kByPosition, ElementType::Float32, "1", "λ", "λ_i (V1: the layer's scalar; V2: σ(W_λ x_i))",
       "M14", "all",
       [](const Context& c, Out out) {
         if (c.head.has[1]) head_rows(c, out, [&](std::int64_t i) { return c.head.lambda(i); });
       }},
      net_row<&HeadStatistics::weight_sum>("weight_sum", "sum of the net weights", "Σ_j w_ij", "M15"),
      net_row<&HeadStatistics::weight_l1>("weight_l1", "absolute mass of the net weights", "Σ_j |w_ij|", "M15"),
      {"rows", "weight_l2", kByPosition, ElementType::Float32, "1", "norm of the net weights", "e_i = ‖w_i‖₂", "§4.4",
       "all",
       [](const Context& c, Out out) {
         head_rows(c, out, [&](std::int64_t i) { return std::sqrt(at(c.head.head.statistics.weight_l2_squared, i)); });
       }},
      {"rows", "negative_mass", kByPosition, ElementType::Float32, "1", "negative mass of the net weights",
       "(‖w_i‖₁ − Σ_j w_ij)/2", "M15", "all",
       [](const Context& c, Out out) {
         const kernels::HeadStatistics& s = c.head.head.statistics;
         head_rows(c, out,
                   [&](std::int64_t i) { return std::max(0.0, at(s.weight_l1, i) - at(s.weight_sum, i)) / 2.0; });
       }},
      {"rows", "context_rms", kByPosition, ElementType::Float32, "1", "context RMS",
       "RMS_i = √(mean over channels of c_i²), before W_O, V1's norm and the gate", "§4.1", "all",
       [](const Context& c, Out out) {
         head_rows(c, out, [&](std::int64_t i) { return at(c.head.head.context_rms, i); });
       }},
      {"rows", "context_rms_relative", kByPosition, ElementType::Float32, "1", "context RMS in units of the values",
       "ρ_i = RMS_i / r̄_i", "§4.4", "all",
       [](const Context& c, Out out) { head_rows(c, out, [&](std::int64_t i) { return at(c.head.rho, i); }); }},
      {"rows", "value_rms_mean", kByPosition, ElementType::Float32, "1", "RMS of the visible values",
       "r̄_i = √(mean over visible keys of r_j²), r_j = RMS(v_j)", "§4.4", "all",
       [](const Context& c, Out out) {
         head_rows(c, out, [&](std::int64_t i) { return at(c.head.value_rms_mean, i); });
       }},
      {"rows", "uncorrelated_rms", kByPosition, ElementType::Float32, "1", "context RMS of uncorrelated values",
       "q_i = √(Σ_j w_ij² r_j²); where a what-if gives the maps different values √(Σ (a¹r¹)² + (λa²r²)²)", "§4.4",
       "all",
       [](const Context& c, Out out) {
         head_rows(c, out,
                   [&](std::int64_t i) { return std::sqrt(at(c.head.head.statistics.uncorrelated_energy, i)); });
       }},
      {"rows", "implicit_sink_mass", kByPosition, ElementType::Float32, "1", "mass given to nothing", "1 − Σ_j w_ij",
       "M21", "all",
       [](const Context& c, Out out) {
         head_rows(c, out, [&](std::int64_t i) { return 1.0 - at(c.head.head.statistics.weight_sum, i); });
       }},
      {"rows", "gate_mean", kByPosition, ElementType::Float32, "1", "output gate", "mean over channels of σ(W_g x_i)",
       "M22", "all",
       [](const Context& c, Out out) {
         if (!c.head.head.gate_mean.empty())
           head_rows(c, out, [&](std::int64_t i) { return at(c.head.head.gate_mean, i); });
       }},
      {"rows", "norm_gain", kByPosition, ElementType::Float32, "1", "gain of the head norm", "1/√(RMS_i² + ε)", "M12",
       "all",
       [](const Context& c, Out out) {
         if (c.head.head.norm_epsilon >= 0.0) head_rows(c, out, [&](std::int64_t i) { return norm_gain(c, i); });
       }},
  };
}

}  // namespace headroom
