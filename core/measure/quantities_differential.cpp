// The root group, continued: what only a second map, a norm or a gate gives. NaN for heads without it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/measure/quantity_tools.h"

namespace headroom {

using namespace quantity;

namespace {

const kernels::HeadStatistics& statistics(const Context& c) { return c.head.head.statistics; }

// Mean over eligible rows, NaN where the head has no pair of maps.
template <typename Value>
double pair_mean(const Context& c, const Value& value) {
  return c.head.pair ? c.head.mean(value) : kNaN;
}

double energy_cancellation(const Context& c, std::int64_t i) {
  const double l = c.head.lambda(i);
  const double apart = at(map(c, 0).weight_l2_squared, i) + l * l * at(map(c, 1).weight_l2_squared, i);
  return std::sqrt(at(statistics(c).weight_l2_squared, i) / apart);
}

double output_cancellation(const Context& c, std::int64_t i) {
  const double l = c.head.lambda(i);
  const double apart = at(map(c, 0).context_energy, i) + l * l * at(map(c, 1).context_energy, i);
  const double rms = at(c.head.head.context_rms, i);
  return std::sqrt(rms * rms * static_cast<double>(c.head.layer.context_dim) / apart);
}

double map_cosine(const Context& c, std::int64_t i) {
  return at(statistics(c).cross, i) /
         std::sqrt(at(map(c, 0).weight_l2_squared, i) * at(map(c, 1).weight_l2_squared, i));
}

}  // namespace

double quantity::norm_gain(const Context& c, std::int64_t i) {
  const double rms = at(c.head.head.context_rms, i);
  return 1.0 / std::sqrt(rms * rms + c.head.head.norm_epsilon);
}

std::vector<Quantity> differential_quantities() {
  constexpr std::string_view kTwoMaps = "with two maps", kSecondMap = "with a second map",
                             kHeadNorm = "with a head norm (DIFF V1)", kGate = "with a gate";
  return {
      {.name = "weight_l1_mean",
       .long_name = "absolute mass of the net weights",
       .formula = "mean_i ‖w_i‖₁, ‖w_i‖₁ = Σ_j |w_ij|",
       .range = "[0, 1 + |λ|]",
       .rows = "eligible",
       .sources = {source::kCancellation},
       .compute =
           [](const Context& c, Out out) {
             out[0] = c.head.mean([&](std::int64_t i) { return at(statistics(c).weight_l1, i); });
           }},
      {.name = "negative_mass_mean",
       .long_name = "negative mass of the net weights",
       .formula = "mean_i N_i, N_i = Σ_j max(−w_ij, 0) = (‖w_i‖₁ − Σ_j w_ij)/2",
       .range = "[0, |λ|]",
       .rows = "eligible",
       .sources = {source::kCancellation},
       .compute =
           [](const Context& c, Out out) {
             out[0] = c.head.mean([&](std::int64_t i) { return negative_mass(statistics(c), i); });
           }},
      {.name = "weight_cancellation_mean",
       .long_name = "weight cancellation",
       .formula = "mean_i ‖w_i‖₁ / (1 + |λ_i|)",
       .remark = "1: the maps have no key in common",
       .range = "[0, 1]",
       .rows = "eligible",
       .heads = kTwoMaps,
       .sources = {source::kCancellation},
       .compute =
           [](const Context& c, Out out) {
             out[0] = pair_mean(c, [&](std::int64_t i) {
               return at(statistics(c).weight_l1, i) / (1.0 + std::abs(c.head.lambda(i)));
             });
           }},
      {.name = "energy_cancellation_mean",
       .long_name = "energy cancellation",
       .formula = "mean_i ‖w_i‖₂ / √(‖a¹_i‖₂² + λ_i²‖a²_i‖₂²)",
       .remark = "1: the maps have no key in common; above 1 only for λ < 0",
       .range = "[0, √2]",
       .rows = "eligible",
       .heads = kTwoMaps,
       .sources = {source::kCancellation},
       .compute = [](const Context& c,
                     Out out) { out[0] = pair_mean(c, [&](std::int64_t i) { return energy_cancellation(c, i); }); }},
      {.name = "output_cancellation_mean",
       .long_name = "output cancellation",
       .formula = "mean_i ‖c_i‖₂ / √(‖c¹_i‖₂² + λ_i²‖c²_i‖₂²)",
       .remark = "c^m_i = Σ_j a^m_ij v^m_j; 1: the parts are orthogonal, 0: they cancel",
       .range = "[0, √2]",
       .rows = "eligible",
       .heads = kTwoMaps,
       .sources = {source::kCancellation},
       .compute = [](const Context& c,
                     Out out) { out[0] = pair_mean(c, [&](std::int64_t i) { return output_cancellation(c, i); }); }},
      {.name = "map_cosine_mean",
       .long_name = "cosine of the two maps",
       .formula = "mean_i Σ_j a¹_ij a²_ij / (‖a¹_i‖₂ ‖a²_i‖₂)",
       .range = "[0, 1]",
       .rows = "eligible",
       .heads = kTwoMaps,
       .sources = {source::kCancellation},
       .compute = [](const Context& c,
                     Out out) { out[0] = pair_mean(c, [&](std::int64_t i) { return map_cosine(c, i); }); }},
      {.name = "lambda_mean",
       .long_name = "λ",
       .formula = "mean_i λ_i",
       .remark = "DIFF V1: the layer's scalar",
       .range = "(−∞, ∞)",
       .rows = "eligible",
       .heads = kSecondMap,
       .sources = {source::kDiffV1, source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             out[0] = c.head.has[1] ? c.head.mean([&](std::int64_t i) { return c.head.lambda(i); }) : kNaN;
           }},
      {.name = "lambda_std",
       .long_name = "spread of λ",
       .formula = "√(mean_i (λ_i − mean_i λ_i)²)",
       .remark = "of the population: divided by the number of rows",
       .range = "[0, ∞)",
       .rows = "eligible",
       .heads = kSecondMap,
       .sources = {source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             if (!c.head.has[1]) return;
             const double mean = c.head.mean([&](std::int64_t i) { return c.head.lambda(i); });
             out[0] = std::sqrt(c.head.mean([&](std::int64_t i) {
               const double difference = c.head.lambda(i) - mean;
               return difference * difference;
             }));
           }},
      {.name = "lambda_quantile",
       .axes = {axis::kQuantile},
       .long_name = "quantiles of λ",
       .formula = "quantile of λ_i at the probability on the axis",
       .remark = "linear interpolation (type 7)",
       .range = "(−∞, ∞)",
       .rows = "eligible",
       .heads = kSecondMap,
       .sources = {source::kHyndman, source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             if (!c.head.has[1]) return;
             const auto values = c.head.eligible_values([&](std::int64_t i) { return c.head.lambda(i); });
             std::ranges::copy(quantiles(values, quantile_points()), out.begin());
           }},
      {.name = "norm_gain_median",
       .long_name = "median gain of the head norm",
       .formula = "median_i 1/√(RMS_i² + ε)",
       .remark = "ε is program/norm_epsilon; type 7, which for a median is the usual one",
       .range = "(0, 1/√ε]",
       .rows = "eligible",
       .heads = kHeadNorm,
       .sources = {source::kDiffV1, source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             if (c.head.head.norm_epsilon < 0.0) return;
             const auto values = c.head.eligible_values([&](std::int64_t i) { return norm_gain(c, i); });
             out[0] = quantiles(values, {0.5})[0];
           }},
      {.name = "norm_gain_max",
       .long_name = "largest gain of the head norm",
       .formula = "max_i 1/√(RMS_i² + ε)",
       .remark = "ε is program/norm_epsilon",
       .range = "(0, 1/√ε]",
       .rows = "all",
       .heads = kHeadNorm,
       .sources = {source::kDiffV1, source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             if (c.head.head.norm_epsilon < 0.0) return;
             out[0] = 0.0;
             for (std::int64_t i = 0; i < c.head.length; ++i) out[0] = kernels::larger_or_nan(out[0], norm_gain(c, i));
           }},
      {.name = "gate_mean",
       .long_name = "output gate",
       .formula = "mean_i g_i, g_i = mean over channels of σ(W_g x_i)",
       .remark = "x_i is the layer's normed input",
       .range = "[0, 1]",
       .rows = "eligible",
       .heads = kGate,
       .sources = {source::kGates},
       .compute =
           [](const Context& c, Out out) {
             if (!c.head.head.gate_mean.empty())
               out[0] = c.head.mean([&](std::int64_t i) { return at(c.head.head.gate_mean, i); });
           }},
  };
}

}  // namespace headroom
