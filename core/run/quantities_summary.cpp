// The root group: one number per head and map.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/run/quantity_tools.h"

namespace headroom {

using namespace quantity;

namespace {

// α_k: column mean over the rows that see key k.
double received_at(const Context& c, const std::vector<double>& column_sum, std::int64_t key) {
  return at(column_sum, key) / static_cast<double>(c.head.rows_seeing[static_cast<std::size_t>(key)]);
}

// The k < n/2 with the largest α_k among keys that some row sees; −1 where there is none.
std::int64_t top_sink(const Context& c, const MapStatistics& m) {
  std::int64_t best = -1;
  for (std::int64_t k = 0; 2 * k < c.head.length; ++k) {
    if (c.head.rows_seeing[static_cast<std::size_t>(k)] == 0) continue;
    if (best < 0 || received_at(c, m.column_sum, k) > received_at(c, m.column_sum, best)) best = k;
  }
  return best;
}

// Keys by column sum, largest first, the lower index first among equals.
std::vector<std::int64_t> top_keys(const MapStatistics& m) {
  std::vector<std::int64_t> order(m.column_sum.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::size_t>(order.size(), kRanks);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::int64_t a, std::int64_t b) {
                      return at(m.column_sum, a) != at(m.column_sum, b) ? at(m.column_sum, a) > at(m.column_sum, b)
                                                                        : a < b;
                    });
  order.resize(count);
  return order;
}

void top_key_mass(const Context& c, Out out) {
  const std::vector<std::int64_t>& points = top_k_points();
  for (std::size_t m = 0; m < 2; ++m) {
    if (!c.head.has[m]) continue;
    const MapStatistics& map_statistics = map(c, m);
    const std::vector<std::int64_t> keys = top_keys(map_statistics);
    const double total = std::accumulate(map_statistics.column_sum.begin(), map_statistics.column_sum.end(), 0.0);
    for (std::size_t p = 0; p < points.size(); ++p) {
      double mass = 0.0;
      for (std::size_t r = 0; r < std::min(keys.size(), static_cast<std::size_t>(points[p])); ++r)
        mass += at(map_statistics.column_sum, keys[r]);
      out[m * points.size() + p] = mass / total;
    }
  }
}

void top_key_position(const Context& c, Out out) {
  for (std::size_t m = 0; m < 2; ++m) {
    if (!c.head.has[m]) continue;
    const std::vector<std::int64_t> keys = top_keys(map(c, m));
    for (std::size_t r = 0; r < keys.size(); ++r)
      out[m * static_cast<std::size_t>(kRanks) + r] = static_cast<double>(keys[r]);
  }
}

// Mean over all rows that see key 0; NaN where a what-if hides it.
template <typename Value>
double mean_over_seers(const Context& c, const Value& value) {
  if (c.head.rows_seeing.front() == 0) return kNaN;
  double sum = 0.0;
  std::int64_t count = 0;
  kernels::HeadProblem<double> mask;
  mask.length = c.head.length;
  mask.causal = c.head.layer.causal;
  mask.window = c.head.layer.window;
  mask.hidden_keys = c.head.head.program.hidden_keys;
  std::vector<kernels::KeyRange> segments;
  for (std::int64_t i = 0; i < c.head.length; ++i) {
    visible_segments(mask, i, segments);
    if (segments.front().begin != 0) continue;
    sum += value(i);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : kNaN;
}

// Shares of eligible rows with ρ below, inside and above an interval, for each bound.
std::array<double, 3> bound_shares(const Context& c, BoundKind kind) {
  std::array<double, 3> counts{};
  double rows = 0.0;
  for (std::int64_t i = 0; i < c.head.length; ++i) {
    const auto r = static_cast<std::size_t>(i);
    if (!c.head.eligible[r]) continue;
    const RowBounds bounds = c.head.bounds(i, kind);
    const double rho = c.head.rho[r];
    // A row with one key sits on its bound: rounding must not push it over.
    const double slack = c.head.visible[r] == 1 ? 1e-5 : 0.0;
    const bool below = kind == BoundKind::DiffV2 ? rho <= 0.0 : rho < bounds.low * (1.0 - slack);
    const bool above = bounds.high_closed ? rho > bounds.high * (1.0 + slack) : rho >= bounds.high;
    counts[below ? 0 : above ? 2 : 1] += 1.0;
    rows += 1.0;
  }
  for (double& count : counts) count = rows > 0.0 ? count / rows : kNaN;
  return counts;
}

template <std::size_t Part>
void bound_share(const Context& c, Out out) {
  out[0] = bound_shares(c, BoundKind::Softmax)[Part];
  out[1] = bound_shares(c, BoundKind::DiffV2)[Part];
  out[2] = bound_shares(c, BoundKind::Variant)[Part];
}

void coherence(const Context& c, Out out) {
  double rms = 0.0, predicted = 0.0;
  for (std::int64_t i = 0; i < c.head.length; ++i) {
    if (!c.head.eligible[static_cast<std::size_t>(i)]) continue;
    rms += at(c.head.head.context_rms, i) * at(c.head.head.context_rms, i);
    predicted += at(c.head.head.statistics.uncorrelated_energy, i);
  }
  out[0] = rms / predicted;
}

bool induced(const Context& c, std::int64_t row) {
  return c.head.layer.induction_key[static_cast<std::size_t>(row)] >= 0;
}

}  // namespace

std::vector<Quantity> summary_quantities() {
  const std::vector<std::string_view> by_quantile = {axis::kQuantile};
  const std::vector<std::string_view> by_bound = {axis::kBound};
  return {
      {"", "kv_head", kByComponent, ElementType::Int32, "1", "key head", "index of the key block that the map reads",
       "formats reading 6", "",
       [](const Context& c, Out out) {
         for (std::size_t m = 0; m < 2; ++m) out[m] = static_cast<double>(c.head.head.kv_head[m]);
       }},
      {"", "sink_score", kByComponent, ElementType::Float32, "1", "attention-sink score of key 0",
       "α_0: mean of a_i0 over the rows i that see key 0; NaN where a what-if hides it",
       "M1; Gu et al. arXiv 2410.10781", "all",
       [](const Context& c, Out out) {
         per_component(c, out, [&](const MapStatistics& m) {
           return mean_over_seers(c, [&](std::int64_t i) { return at(m.first_key_weight, i); });
         });
       }},
      {"", "sink_score_net", kNoAxes, ElementType::Float32, "1", "net attention to key 0",
       "mean of w_i0 over the rows i that see key 0", "M1(d)", "all",
       [](const Context& c, Out out) {
         out[0] = mean_over_seers(c, [&](std::int64_t i) { return at(c.head.head.statistics.first_key_net, i); });
       }},
      {"", "sink_score_absolute", kNoAxes, ElementType::Float32, "1", "absolute share of key 0",
       "mean of |w_i0| / Σ_j |w_ij| over the rows i that see key 0", "M1(d)", "all",
       [](const Context& c, Out out) {
         const kernels::HeadStatistics& s = c.head.head.statistics;
         out[0] = mean_over_seers(c, [&](std::int64_t i) { return at(s.first_key_absolute, i) / at(s.weight_l1, i); });
       }},
      {"", "implicit_sink_mass", kNoAxes, ElementType::Float32, "1", "mass given to nothing",
       "mean of 1 − Σ_j w_ij (off-by-one and sink logit: the sink's share; V2: λ; softmax: 0)", "M21", "eligible",
       [](const Context& c, Out out) {
         out[0] = c.head.mean([&](std::int64_t i) { return 1.0 - at(c.head.head.statistics.weight_sum, i); });
       }},
      {"", "top_sink_position", kByComponent, ElementType::Int32, "1", "key with the largest sink score",
       "argmax of α_k over k < n/2", "M1(e)", "all",
       [](const Context& c, Out out) {
         for (std::size_t m = 0; m < 2; ++m)
           out[m] = c.head.has[m] ? static_cast<double>(top_sink(c, map(c, m))) : -1.0;
       }},
      {"", "top_sink_score", kByComponent, ElementType::Float32, "1", "largest sink score", "max of α_k over k < n/2",
       "M1(e)", "all",
       [](const Context& c, Out out) {
         per_component(c, out, [&](const MapStatistics& m) {
           const std::int64_t key = top_sink(c, m);
           return key < 0 ? kNaN : received_at(c, m.column_sum, key);
         });
       }},
      {"",
       "top_key_mass",
       {axis::kComponent, axis::kTopK},
       ElementType::Float32,
       "1",
       "share of the most attended keys",
       "share of all attention Σ_i Σ_j a_ij that falls on the k keys with the largest column sums",
       "M1",
       "all",
       top_key_mass},
      {"",
       "top_key_position",
       {axis::kComponent, axis::kRank},
       ElementType::Int32,
       "1",
       "most attended keys",
       "keys by column sum Σ_i a_ij, largest first, lower index first among equals",
       "M1",
       "all",
       top_key_position},
      {"", "logit_max", kByComponent, ElementType::Float32, "1", "largest logit",
       "max of the scaled, soft-capped, visible logits z", "M6", "all",
       [](const Context& c, Out out) {
         per_component(c, out, [](const MapStatistics& m) { return largest(m.logit_max); });
       }},
      {"", "logit_min", kByComponent, ElementType::Float32, "1", "smallest logit",
       "min of the scaled, soft-capped, visible logits z", "M6", "all",
       [](const Context& c, Out out) {
         per_component(c, out, [](const MapStatistics& m) { return smallest(m.logit_min); });
       }},
      {"", "logit_abs_max", kByComponent, ElementType::Float32, "1", "largest absolute logit",
       "max of |z| over visible entries", "M6", "all",
       [](const Context& c, Out out) {
         per_component(c, out, [](const MapStatistics& m) {
           return std::max(std::abs(largest(m.logit_max)), std::abs(smallest(m.logit_min)));
         });
       }},
      {"", "logit_max_raw", kByComponent, ElementType::Float32, "1", "largest logit before the cap",
       "S_max: signed max of scale·q·k over visible entries, before any soft-cap", "M6; Kimi K2 arXiv 2507.20534",
       "all",
       [](const Context& c, Out out) {
         per_component(c, out, [](const MapStatistics& m) { return m.logit_max_raw; });
       }},
      {"", "query_norm_max", kByComponent, ElementType::Float32, "1", "largest query norm",
       "max over rows of ‖q_i‖₂ after rotation and qk-norm", "M6", "all",
       [](const Context& c, Out out) {
         for (std::size_t m = 0; m < 2; ++m) out[m] = c.head.head.query_norm_max[m];
       }},
      {"", "key_norm_max", kByComponent, ElementType::Float32, "1", "largest key norm",
       "max over keys of ‖k_j‖₂ after rotation and qk-norm", "M6", "all",
       [](const Context& c, Out out) {
         for (std::size_t m = 0; m < 2; ++m) out[m] = c.head.head.key_norm_max[m];
       }},
      {"", "entropy_mean", kByComponent, ElementType::Float32, "nat", "attention entropy",
       "mean of H_i = −Σ_j a_ij ln a_ij", "M7; Zhai et al. arXiv 2303.06296", "eligible",
       [](const Context& c, Out out) {
         component_means(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.entropy, i); });
       }},
      {"", "entropy_normalized_mean", kByComponent, ElementType::Float32, "1", "normalised attention entropy",
       "mean of H_i / ln n_i over rows with n_i > 1", "M7", "eligible",
       [](const Context& c, Out out) {
         const auto& visible = c.head.visible;
         per_component(c, out, [&](const MapStatistics& m) {
           return c.head.mean_if(
               [&](std::int64_t i) {
                 return at(m.entropy, i) / std::log(static_cast<double>(visible[static_cast<std::size_t>(i)]));
               },
               [&](std::int64_t i) { return visible[static_cast<std::size_t>(i)] > 1; });
         });
       }},
      {"", "effective_keys_mean", kByComponent, ElementType::Float32, "1", "effective number of keys",
       "mean of 1/‖a_i‖₂²", "M8", "eligible",
       [](const Context& c, Out out) {
         component_means(c, out,
                         [](const MapStatistics& m, std::int64_t i) { return 1.0 / at(m.weight_l2_squared, i); });
       }},
      {"", "weight_l2_mean", kNoAxes, ElementType::Float32, "1", "norm of the net weights", "mean of e_i = ‖w_i‖₂",
       "§4.4", "eligible",
       [](const Context& c, Out out) {
         out[0] =
             c.head.mean([&](std::int64_t i) { return std::sqrt(at(c.head.head.statistics.weight_l2_squared, i)); });
       }},
      {"", "context_rms_mean", kNoAxes, ElementType::Float32, "1", "context RMS",
       "mean of RMS_i = √(mean over channels of c_i²), before W_O, V1's norm and the gate", "§4.1", "eligible",
       [](const Context& c, Out out) {
         out[0] = c.head.mean([&](std::int64_t i) { return at(c.head.head.context_rms, i); });
       }},
      {"", "context_rms_min", kNoAxes, ElementType::Float32, "1", "smallest context RMS", "min of RMS_i", "§4.1", "all",
       [](const Context& c, Out out) { out[0] = smallest(c.head.head.context_rms); }},
      {"", "context_rms_max", kNoAxes, ElementType::Float32, "1", "largest context RMS", "max of RMS_i", "§4.1", "all",
       [](const Context& c, Out out) { out[0] = largest(c.head.head.context_rms); }},
      {"", "context_rms_quantile", by_quantile, ElementType::Float32, "1", "quantiles of the context RMS",
       "quantiles of RMS_i, linear interpolation (type 7)", "§4.1", "eligible",
       [](const Context& c, Out out) {
         const auto values = c.head.eligible_values([&](std::int64_t i) { return at(c.head.head.context_rms, i); });
         std::ranges::copy(quantiles(values, quantile_points()), out.begin());
       }},
      {"", "context_rms_relative_mean", kNoAxes, ElementType::Float32, "1", "context RMS in units of the values",
       "mean of ρ_i = RMS_i / r̄_i, r̄_i = √(mean over visible keys of r_j²)", "§4.4", "eligible",
       [](const Context& c, Out out) { out[0] = c.head.mean([&](std::int64_t i) { return at(c.head.rho, i); }); }},
      {"", "rows_below_bound", by_bound, ElementType::Float32, "1", "rows below the interval",
       "share of rows with ρ_i below the interval", "§4.2", "eligible", bound_share<0>},
      {"", "rows_inside_bound", by_bound, ElementType::Float32, "1", "rows inside the interval",
       "share of rows with ρ_i in the interval", "§4.2", "eligible", bound_share<1>},
      {"", "rows_above_bound", by_bound, ElementType::Float32, "1", "rows above the interval",
       "share of rows with ρ_i above the interval", "§4.2", "eligible", bound_share<2>},
      {"", "coherence_mean", kNoAxes, ElementType::Float32, "1", "coherence of the values",
       "κ = Σ_i RMS_i² / Σ_i q_i², q_i² = Σ_j w_ij² r_j²", "§4.4", "eligible", coherence},
      {"", "value_drain", kNoAxes, ElementType::Float32, "1", "value of key 0 against the others",
       "‖v_0‖ / mean over keys of ‖v_j‖", "M20", "all",
       [](const Context& c, Out out) { out[0] = c.head.head.value_drain; }},
      {"", "value_mean_share", kNoAxes, ElementType::Float32, "1", "share of the values' mean",
       "m = ‖mean v‖² / mean ‖v‖² over all positions", "§4.5 T1", "all",
       [](const Context& c, Out out) { out[0] = c.head.head.value_mean_share; }},
      {"", "previous_token_score", kByComponent, ElementType::Float32, "1", "attention to the previous token",
       "mean of a_{i,i−1} over rows i ≥ 1", "M10", "eligible",
       [](const Context& c, Out out) {
         per_component(c, out, [&](const MapStatistics& m) {
           return c.head.mean_if([&](std::int64_t i) { return at(m.previous_weight, i); },
                                 [](std::int64_t i) { return i >= 1; });
         });
       }},
      {"", "self_score", kByComponent, ElementType::Float32, "1", "attention to the token itself", "mean of a_ii",
       "M10", "eligible",
       [](const Context& c, Out out) {
         component_means(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.self_weight, i); });
       }},
      {"", "mean_distance", kByComponent, ElementType::Float32, "token", "mean distance of attention",
       "mean of Σ_j a_ij (i − j)", "M10", "eligible",
       [](const Context& c, Out out) {
         component_means(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.mean_distance, i); });
       }},
      {"", "induction_score", kByComponent, ElementType::Float32, "1", "attention to what followed the same token",
       "mean of a_{i,p+1} over rows whose token occurred before, p its latest earlier position; NaN if there is none",
       "M10", "eligible",
       [](const Context& c, Out out) {
         per_component(c, out, [&](const MapStatistics& m) {
           return c.head.mean_if([&](std::int64_t i) { return at(m.induction_weight, i); },
                                 [&](std::int64_t i) { return induced(c, i); });
         });
       }},
  };
}

}  // namespace headroom
