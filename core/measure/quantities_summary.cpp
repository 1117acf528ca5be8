// The root group: one number per head and map.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "core/measure/quantity_tools.h"

namespace headroom {

using namespace quantity;

namespace {

// α_k: column mean over the rows that see key k.
double received_at(const Context& c, const std::vector<double>& column_sum, std::int64_t key) {
  return at(column_sum, key) / static_cast<double>(c.head.rows_seeing[static_cast<std::size_t>(key)]);
}

// The k < n/2 with the largest α_k among keys that some row sees; −1 where there is none, or one of them is NaN.
std::int64_t top_sink(const Context& c, const MapStatistics& m) {
  std::int64_t best = -1;
  for (std::int64_t k = 0; 2 * k < c.head.mask.keys(); ++k) {
    if (c.head.rows_seeing[static_cast<std::size_t>(k)] == 0) continue;
    if (std::isnan(received_at(c, m.column_sum, k))) return -1;
    if (best < 0 || received_at(c, m.column_sum, k) > received_at(c, m.column_sum, best)) best = k;
  }
  return best;
}

// Keys by column sum, largest first, the lower index first among equals; none where one of the sums is NaN.
std::vector<std::int64_t> top_keys(const MapStatistics& m) {
  if (std::ranges::any_of(m.column_sum, [](double sum) { return std::isnan(sum); })) return {};
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
double mean_over_seers(const Context& c, const Value& value, const std::function<bool(std::int64_t)>& also = {}) {
  if (c.head.rows_seeing.front() == 0) return kNaN;
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < c.head.length; ++i) {
    if (!c.head.mask.sees(i, 0) || (also && !also(i))) continue;
    sum += value(i);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : kNaN;
}

// Shares of eligible rows with ρ below, inside and above an interval, for each bound; of those with a finite ρ.
std::array<double, 3> bound_shares(const Context& c, BoundKind kind) {
  std::array<double, 3> counts{};
  double rows = 0.0;
  for (std::int64_t i = 0; i < c.head.length; ++i) {
    const auto r = static_cast<std::size_t>(i);
    if (!c.head.counts(i)) continue;
    counts[c.head.side(i, kind, c.head.rho[r])] += 1.0;
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

// Means of what supposes that rows and keys are places in one sequence; NaN where they are not.
template <typename Value>
void positional_means(
    const Context& c, Out out, const Value& value,
    const std::function<bool(std::int64_t)>& also = [](std::int64_t) { return true; }) {
  if (!c.head.layer.positional) return;
  per_component(c, out, [&](const MapStatistics& m) {
    return c.head.mean_if([&](std::int64_t i) { return value(m, i); }, also);
  });
}

bool induced(const Context& c, std::int64_t row) {
  return c.head.layer.causal && c.head.layer.induction_key[static_cast<std::size_t>(row)] >= 0;
}

}  // namespace

std::vector<Quantity> summary_quantities() {
  return {
      {.name = "kv_head",
       .axes = kByComponent,
       .type = ElementType::Int32,
       .long_name = "key head",
       .formula = "k₁ or k₂ of the head program",
       .remark = "the index of the key block that the map reads",
       .range = "[0, h_k − 1]",
       .sources = {source::kAinslie, source::kHeadPrograms},
       .compute =
           [](const Context& c, Out out) {
             for (std::size_t m = 0; m < 2; ++m) out[m] = static_cast<double>(c.head.head.kv_head[m]);
           }},
      {.name = "sink_score",
       .axes = kByComponent,
       .long_name = "attention-sink score of key 0",
       .formula = "α_0 = mean_i a_i0",
       .remark = "row 0, whose weight is 1, counts too; NaN where a what-if hides key 0",
       .range = "[0, 1]",
       .rows = "all",
       .where = "that see key 0",
       .sources = {source::kGu, source::kSinks},
       .compute =
           [](const Context& c, Out out) {
             per_component(c, out, [&](const MapStatistics& m) {
               return mean_over_seers(c, [&](std::int64_t i) { return at(m.first_key_weight, i); });
             });
           }},
      {.name = "sink_score_net",
       .long_name = "net attention to key 0",
       .formula = "mean_i w_i0",
       .remark = "NaN where a what-if hides key 0",
       .range = "[−|λ|, 1 + |λ|]",
       .rows = "all",
       .where = "that see key 0",
       .sources = {source::kSinks},
       .compute =
           [](const Context& c, Out out) {
             out[0] = mean_over_seers(c, [&](std::int64_t i) { return at(c.head.head.statistics.first_key_net, i); });
           }},
      {.name = "sink_score_absolute",
       .long_name = "absolute share of key 0",
       .formula = "mean_i |w_i0| / ‖w_i‖₁",
       .remark = "NaN where a what-if hides key 0",
       .range = "[0, 1]",
       .rows = "all",
       .where = "that see key 0 and weigh something",
       .sources = {source::kSinks},
       .compute =
           [](const Context& c, Out out) {
             const kernels::HeadStatistics& s = c.head.head.statistics;
             out[0] = mean_over_seers(
                 c, [&](std::int64_t i) { return at(s.first_key_absolute, i) / at(s.weight_l1, i); },
                 [&](std::int64_t i) { return at(s.weight_l1, i) != 0.0; });
           }},
      {.name = "implicit_sink_mass",
       .long_name = "mass given to nothing",
       .formula = "mean_i (1 − Σ_j w_ij)",
       .remark = "0 for softmax, p_i for off-by-one, sink logits and softpick, λ_i for DIFF V2",
       .range = "[−|λ|, 1 + |λ|]",
       .rows = "eligible",
       .sources = {source::kMiller, source::kOpenAi, source::kDiffV2},
       .compute =
           [](const Context& c, Out out) {
             out[0] = c.head.mean([&](std::int64_t i) { return 1.0 - at(c.head.head.statistics.weight_sum, i); });
           }},
      {.name = "top_sink_position",
       .axes = kByComponent,
       .type = ElementType::Int32,
       .long_name = "key with the largest sink score",
       .formula = "argmax_k α_k over 2k < n",
       .remark = "the first of equal ones; the later half of the keys is left out, since few rows see the last keys",
       .range = "[0, n − 1]",
       .rows = "all",
       .where = "that see key k",
       .sources = {source::kGu, source::kSinks},
       .compute =
           [](const Context& c, Out out) {
             for (std::size_t m = 0; m < 2; ++m)
               out[m] = c.head.has[m] ? static_cast<double>(top_sink(c, map(c, m))) : -1.0;
           }},
      {.name = "top_sink_score",
       .axes = kByComponent,
       .long_name = "largest sink score",
       .formula = "max_k α_k over 2k < n",
       .range = "[0, 1]",
       .rows = "all",
       .where = "that see key k",
       .sources = {source::kGu, source::kSinks},
       .compute =
           [](const Context& c, Out out) {
             per_component(c, out, [&](const MapStatistics& m) {
               const std::int64_t key = top_sink(c, m);
               return key < 0 ? kNaN : received_at(c, m.column_sum, key);
             });
           }},
      {.name = "top_key_mass",
       .axes = {axis::kComponent, axis::kTopK},
       .long_name = "share of the most attended keys",
       .formula = "Σ_{k ∈ K} Σ_i a_ik / Σ_j Σ_i a_ij",
       .remark = "K: as many keys as the axis top_k says, those with the largest column sums Σ_i a_ik",
       .range = "[0, 1]",
       .rows = "all",
       .sources = {source::kSinks},
       .compute = top_key_mass},
      {.name = "top_key_position",
       .axes = {axis::kComponent, axis::kRank},
       .type = ElementType::Int32,
       .long_name = "most attended keys",
       .formula = "keys k in descending order of Σ_i a_ik",
       .remark = "the lower index first among equal sums; −1 beyond the n-th",
       .range = "[0, n − 1]",
       .rows = "all",
       .sources = {source::kSinks},
       .compute = top_key_position},
      {.name = "logit_max",
       .axes = kByComponent,
       .long_name = "largest logit",
       .formula = "max_i max_j z_ij",
       .range = "(−∞, ∞)",
       .rows = "all",
       .sources = {source::kDiffV1, source::kLogits},
       .compute = [](const Context& c,
                     Out out) { per_component(c, out, [](const MapStatistics& m) { return largest(m.logit_max); }); }},
      {.name = "logit_min",
       .axes = kByComponent,
       .long_name = "smallest logit",
       .formula = "min_i min_j z_ij",
       .range = "(−∞, ∞)",
       .rows = "all",
       .sources = {source::kLogits},
       .compute = [](const Context& c,
                     Out out) { per_component(c, out, [](const MapStatistics& m) { return smallest(m.logit_min); }); }},
      {.name = "logit_abs_max",
       .axes = kByComponent,
       .long_name = "largest absolute logit",
       .formula = "max_i max_j |z_ij|",
       .range = "[0, ∞)",
       .rows = "all",
       .sources = {source::kLogits},
       .compute =
           [](const Context& c, Out out) {
             per_component(c, out, [](const MapStatistics& m) {
               return kernels::larger_or_nan(std::abs(largest(m.logit_max)), std::abs(smallest(m.logit_min)));
             });
           }},
      {.name = "logit_max_raw",
       .axes = kByComponent,
       .long_name = "largest logit before the cap",
       .formula = "S_max = max_i max_j s·q_i·k_j",
       .remark = "before soft-cap and temperature, with its sign",
       .range = "(−∞, ∞)",
       .rows = "all",
       .sources = {source::kKimi, source::kLogits},
       .compute = [](const Context& c,
                     Out out) { per_component(c, out, [](const MapStatistics& m) { return m.logit_max_raw; }); }},
      {.name = "query_norm_max",
       .axes = kByComponent,
       .long_name = "largest query norm",
       .formula = "max_i ‖q_i‖₂",
       .remark = "after qk-norm and rotation; with key_norm_max it bounds the raw logits: |s·q·k| ≤ s·‖q‖·‖k‖",
       .range = "[0, ∞)",
       .rows = "all",
       .sources = {source::kHenry, source::kLogits},
       .compute =
           [](const Context& c, Out out) {
             for (std::size_t m = 0; m < 2; ++m) out[m] = c.head.head.query_norm_max[m];
           }},
      {.name = "key_norm_max",
       .axes = kByComponent,
       .long_name = "largest key norm",
       .formula = "max_j ‖k_j‖₂",
       .remark = "over all n keys, after qk-norm and rotation",
       .range = "[0, ∞)",
       .rows = "all",
       .sources = {source::kHenry, source::kLogits},
       .compute =
           [](const Context& c, Out out) {
             for (std::size_t m = 0; m < 2; ++m) out[m] = c.head.head.key_norm_max[m];
           }},
      {.name = "entropy_mean",
       .axes = kByComponent,
       .units = "nat",
       .long_name = "attention entropy",
       .formula = "mean_i H_i, H_i = −Σ_j a_ij ln a_ij",
       .remark = "with a sink the sum is over the real keys, whose weights sum to less than 1",
       .range = "[0, ln(n + 1)]",
       .rows = "eligible",
       .sources = {source::kZhai},
       .compute =
           [](const Context& c, Out out) {
             component_means(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.entropy, i); });
           }},
      {.name = "entropy_normalized_mean",
       .axes = kByComponent,
       .long_name = "normalised attention entropy",
       .formula = "mean_i H_i / ln n_i",
       .remark = "at most 1, but for rows of two keys with a sink, which reach 2/(e ln 2) = 1.06",
       .range = "[0, 1.0615]",
       .rows = "eligible",
       .where = "with n_i > 1",
       .sources = {source::kZhai},
       .compute =
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
      {.name = "effective_keys_mean",
       .axes = kByComponent,
       .long_name = "effective number of keys",
       .formula = "mean_i 1 / Σ_j a_ij²",
       .remark = "at most n_i where rows sum to 1; what a sink or softpick takes makes it larger",
       .range = "[1, ∞)",
       .rows = "eligible",
       .where = "that weigh something",
       .sources = {source::kHill},
       .compute =
           [](const Context& c, Out out) {
             per_component(c, out, [&](const MapStatistics& m) {
               return c.head.mean_if([&](std::int64_t i) { return 1.0 / at(m.weight_l2_squared, i); },
                                     [&](std::int64_t i) { return at(m.weight_l2_squared, i) != 0.0; });
             });
           }},
      {.name = "weight_l2_mean",
       .long_name = "norm of the net weights",
       .formula = "mean_i e_i, e_i = ‖w_i‖₂",
       .remark = "what the intervals of the context are about",
       .range = "[0, 1 + |λ|]",
       .rows = "eligible",
       .sources = {source::kIntervals, source::kDecomposition},
       .compute =
           [](const Context& c, Out out) {
             out[0] = c.head.mean(
                 [&](std::int64_t i) { return std::sqrt(at(c.head.head.statistics.weight_l2_squared, i)); });
           }},
      {.name = "context_rms_mean",
       .long_name = "context RMS",
       .formula = "mean_i RMS_i, RMS_i = RMS(c_i)",
       .remark = "c_i is the context before head norm, gate and W_O",
       .range = "[0, ∞)",
       .rows = "eligible",
       .sources = {source::kDiffV2, source::kContexts},
       .compute =
           [](const Context& c, Out out) {
             out[0] = c.head.mean([&](std::int64_t i) { return at(c.head.head.context_rms, i); });
           }},
      {.name = "context_rms_min",
       .long_name = "smallest context RMS",
       .formula = "min_i RMS_i",
       .range = "[0, ∞)",
       .rows = "all",
       .sources = {source::kDiffV2, source::kContexts},
       .compute = [](const Context& c, Out out) { out[0] = smallest(c.head.head.context_rms); }},
      {.name = "context_rms_max",
       .long_name = "largest context RMS",
       .formula = "max_i RMS_i",
       .range = "[0, ∞)",
       .rows = "all",
       .sources = {source::kDiffV2, source::kContexts},
       .compute = [](const Context& c, Out out) { out[0] = largest(c.head.head.context_rms); }},
      {.name = "context_rms_quantile",
       .axes = {axis::kQuantile},
       .long_name = "quantiles of the context RMS",
       .formula = "quantile of RMS_i at the probability on the axis",
       .remark = "linear interpolation (type 7)",
       .range = "[0, ∞)",
       .rows = "eligible",
       .sources = {source::kHyndman, source::kContexts},
       .compute =
           [](const Context& c, Out out) {
             const auto values = c.head.eligible_values([&](std::int64_t i) { return at(c.head.head.context_rms, i); });
             std::ranges::copy(quantiles(values, quantile_points()), out.begin());
           }},
      {.name = "context_rms_relative_mean",
       .long_name = "context RMS in units of the values",
       .formula = "mean_i ρ_i, ρ_i = RMS_i / r̄_i",
       .remark = "r̄_i² is the mean of r_j² over the visible keys, r_j = RMS(v_j)",
       .range = "[0, ∞)",
       .rows = "eligible",
       .sources = {source::kContexts},
       .compute = [](const Context& c,
                     Out out) { out[0] = c.head.mean([&](std::int64_t i) { return at(c.head.rho, i); }); }},
      {.name = "rows_below_bound",
       .axes = {axis::kBound},
       .long_name = "rows below the interval",
       .formula = "share of the rows with ρ_i below the interval",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "with a finite ρ_i",
       .sources = {source::kDiffV2, source::kIntervals},
       .compute = bound_share<0>},
      {.name = "rows_inside_bound",
       .axes = {axis::kBound},
       .long_name = "rows inside the interval",
       .formula = "share of the rows with ρ_i in the interval",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "with a finite ρ_i",
       .sources = {source::kDiffV2, source::kIntervals},
       .compute = bound_share<1>},
      {.name = "rows_above_bound",
       .axes = {axis::kBound},
       .long_name = "rows above the interval",
       .formula = "share of the rows with ρ_i above the interval",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "with a finite ρ_i",
       .sources = {source::kDiffV2, source::kIntervals},
       .compute = bound_share<2>},
      {.name = "finite_rows",
       .type = ElementType::Int32,
       .long_name = "rows that the shares count",
       .formula = "number of the rows with a finite ρ_i",
       .remark = "the shares of rows below, inside and above the intervals are of them",
       .range = "[0, n]",
       .rows = "eligible",
       .where = "with a finite ρ_i",
       .sources = {source::kIntervals},
       .may_be_absent = false,
       .compute =
           [](const Context& c, Out out) {
             out[0] = 0.0;
             for (std::int64_t i = 0; i < c.head.length; ++i) out[0] += c.head.counts(i) ? 1.0 : 0.0;
           }},
      {.name = "coherence_mean",
       .long_name = "coherence of the values",
       .formula = "κ = Σ_i RMS_i² / Σ_i q_i²",
       .remark = "q_i² = Σ_j w_ij² r_j² is what uncorrelated values give; 1: they are, above: they add up, below: they "
                 "cancel",
       .range = "[0, ∞)",
       .rows = "eligible",
       .sources = {source::kDecomposition},
       .compute = coherence},
      {.name = "value_drain",
       .long_name = "value of key 0 against the others",
       .formula = "‖v_0‖₂ / mean_j ‖v_j‖₂",
       .remark = "over all n keys; the values of the first map where a what-if gives the maps different ones",
       .range = "[0, n]",
       .rows = "all",
       .sources = {source::kGu, source::kGuo},
       .compute = [](const Context& c, Out out) { out[0] = c.head.head.value_drain; }},
      {.name = "value_mean_share",
       .long_name = "share of the values' mean",
       .formula = "m = ‖mean_j v_j‖² / mean_j ‖v_j‖²",
       .remark = "over all n keys; the values of the first map where a what-if gives the maps different ones",
       .range = "[0, 1]",
       .rows = "all",
       .sources = {source::kContexts},
       .compute = [](const Context& c, Out out) { out[0] = c.head.head.value_mean_share; }},
      {.name = "previous_token_score",
       .axes = kByComponent,
       .long_name = "attention to the previous token",
       .formula = "mean_i a_{i,i−1}",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "with i ≥ 1",
       .sources = {source::kElhage},
       .compute =
           [](const Context& c, Out out) {
             positional_means(
                 c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.previous_weight, i); },
                 [&](std::int64_t i) { return i + c.head.mask.first_query >= 1; });
           }},
      {.name = "self_score",
       .axes = kByComponent,
       .long_name = "attention to the token itself",
       .formula = "mean_i a_ii",
       .range = "[0, 1]",
       .rows = "eligible",
       .sources = {source::kElhage},
       .compute =
           [](const Context& c, Out out) {
             positional_means(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.self_weight, i); });
           }},
      {.name = "mean_distance",
       .axes = kByComponent,
       .units = "token",
       .long_name = "mean distance of attention",
       .formula = "mean_i Σ_j a_ij abs(i − j)",
       .range = "[0, n − 1]",
       .rows = "eligible",
       .sources = {source::kDosovitskiy},
       .compute =
           [](const Context& c, Out out) {
             positional_means(c, out, [](const MapStatistics& m, std::int64_t i) { return at(m.mean_distance, i); });
           }},
      {.name = "induction_score",
       .axes = kByComponent,
       .long_name = "attention to what followed the same token",
       .formula = "mean_i a_{i,p+1}",
       .remark =
           "p < i is the latest earlier position of row i's token; NaN where no token occurs twice, and in layers that are not causal",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "whose token occurred before",
       .sources = {source::kOlsson},
       .compute =
           [](const Context& c, Out out) {
             per_component(c, out, [&](const MapStatistics& m) {
               return c.head.mean_if([&](std::int64_t i) { return at(m.induction_weight, i); },
                                     [&](std::int64_t i) { return induced(c, i); });
             });
           }},
  };
}

}  // namespace headroom
