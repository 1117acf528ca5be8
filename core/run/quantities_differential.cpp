// The root group, continued: what only a second map, a norm or a gate gives. NaN for heads without it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/run/quantity_tools.h"

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
  return {
      {"", "weight_l1_mean", kNoAxes, ElementType::Float32, "1", "absolute mass of the net weights",
       "mean of ‖w_i‖₁ = Σ_j |w_ij|", "M15", "eligible",
       [](const Context& c, Out out) {
         out[0] = c.head.mean([&](std::int64_t i) { return at(statistics(c).weight_l1, i); });
       }},
      {"", "negative_mass_mean", kNoAxes, ElementType::Float32, "1", "negative mass of the net weights",
       "mean of (‖w_i‖₁ − Σ_j w_ij)/2", "M15", "eligible",
       [](const Context& c, Out out) {
         out[0] = c.head.mean([&](std::int64_t i) {
           return std::max(0.0, at(statistics(c).weight_l1, i) - at(statistics(c).weight_sum, i)) / 2.0;
         });
       }},
      {"", "weight_cancellation_mean", kNoAxes, ElementType::Float32, "1", "weight cancellation",
       "mean of ‖w_i‖₁ / (1 + |λ_i|); 1 = disjoint maps", "M15; formats reading 8", "eligible",
       [](const Context& c, Out out) {
         out[0] = pair_mean(
             c, [&](std::int64_t i) { return at(statistics(c).weight_l1, i) / (1.0 + std::abs(c.head.lambda(i))); });
       }},
      {"", "energy_cancellation_mean", kNoAxes, ElementType::Float32, "1", "energy cancellation",
       "mean of ‖w_i‖₂ / √(‖a¹_i‖² + λ_i²‖a²_i‖²); 1 = disjoint maps", "M15", "eligible",
       [](const Context& c, Out out) {
         out[0] = pair_mean(c, [&](std::int64_t i) { return energy_cancellation(c, i); });
       }},
      {"", "output_cancellation_mean", kNoAxes, ElementType::Float32, "1", "output cancellation",
       "mean of ‖c_i‖ / √(‖c¹_i‖² + λ_i²‖c²_i‖²)", "M15", "eligible",
       [](const Context& c, Out out) {
         out[0] = pair_mean(c, [&](std::int64_t i) { return output_cancellation(c, i); });
       }},
      {"", "map_cosine_mean", kNoAxes, ElementType::Float32, "1", "cosine of the two maps",
       "mean of ⟨a¹_i, a²_i⟩ / (‖a¹_i‖‖a²_i‖)", "M15", "eligible",
       [](const Context& c, Out out) { out[0] = pair_mean(c, [&](std::int64_t i) { return map_cosine(c, i); }); }},
      {"", "lambda_mean", kNoAxes, ElementType::Float32, "1", "λ", "mean of λ_i (V1: the layer's scalar)", "M14",
       "eligible",
       [](const Context& c, Out out) {
         out[0] = c.head.has[1] ? c.head.mean([&](std::int64_t i) { return c.head.lambda(i); }) : kNaN;
       }},
      {"", "lambda_std", kNoAxes, ElementType::Float32, "1", "spread of λ", "population standard deviation of λ_i",
       "M14", "eligible",
       [](const Context& c, Out out) {
         if (!c.head.has[1]) return;
         const double mean = c.head.mean([&](std::int64_t i) { return c.head.lambda(i); });
         out[0] = std::sqrt(c.head.mean([&](std::int64_t i) {
           const double difference = c.head.lambda(i) - mean;
           return difference * difference;
         }));
       }},
      {"",
       "lambda_quantile",
       {axis::kQuantile},
       ElementType::Float32,
       "1",
       "quantiles of λ",
       "quantiles of λ_i, linear interpolation (type 7)",
       "M14",
       "eligible",
       [](const Context& c, Out out) {
         if (!c.head.has[1]) return;
         const auto values = c.head.eligible_values([&](std::int64_t i) { return c.head.lambda(i); });
         std::ranges::copy(quantiles(values, quantile_points()), out.begin());
       }},
      {"", "norm_gain_median", kNoAxes, ElementType::Float32, "1", "median gain of the head norm",
       "median of 1/√(RMS_i² + ε)", "M12", "eligible",
       [](const Context& c, Out out) {
         if (c.head.head.norm_epsilon < 0.0) return;
         const auto values = c.head.eligible_values([&](std::int64_t i) { return norm_gain(c, i); });
         out[0] = quantiles(values, {0.5})[0];
       }},
      {"", "norm_gain_max", kNoAxes, ElementType::Float32, "1", "largest gain of the head norm",
       "max of 1/√(RMS_i² + ε)", "M12", "all",
       [](const Context& c, Out out) {
         if (c.head.head.norm_epsilon < 0.0) return;
         out[0] = 0.0;
         for (std::int64_t i = 0; i < c.head.length; ++i) out[0] = std::max(out[0], norm_gain(c, i));
       }},
      {"", "gate_mean", kNoAxes, ElementType::Float32, "1", "output gate",
       "mean of g_i = σ(W_g x_i), over rows and channels", "M22; arXiv 2505.06708", "eligible",
       [](const Context& c, Out out) {
         if (!c.head.head.gate_mean.empty())
           out[0] = c.head.mean([&](std::int64_t i) { return at(c.head.head.gate_mean, i); });
       }},
  };
}

}  // namespace headroom
