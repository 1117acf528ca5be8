// What --premise measures: whether a head's values are what the interval of its context RMS supposes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/measure/quantity_tools.h"

namespace headroom {

using namespace quantity;

namespace {

constexpr BoundKind kBounds[] = {BoundKind::Softmax, BoundKind::DiffV2, BoundKind::Variant};

const std::vector<std::string_view> kByCentring = {axis::kCentring};
const std::vector<std::string_view> kByBound = {axis::kBound};

// compute(record) where the head has one.
template <typename Compute>
void with_premise(const Context& c, const Compute& compute) {
  if (const PremiseRecord* record = c.head.head.premise.get()) compute(*record);
}

// The same for each row of an array that may be empty.
template <typename Value>
void premise_rows(const Context& c, Out out, const std::vector<double> PremiseRecord::* array, const Value& value) {
  with_premise(c, [&](const PremiseRecord& p) {
    const std::vector<double>& values = p.*array;
    for (std::size_t i = 0; i < std::min(values.size(), static_cast<std::size_t>(c.head.length)); ++i)
      out[i] = value(p, i);
  });
}

double in_units_of_values(const Context& c, double rms, std::size_t row) { return rms / c.head.value_rms_mean[row]; }

// ρ with random signs of the values: every draw of every sampled row.
void each_drawn_rho(const Context& c, const PremiseRecord& p,
                    const std::function<void(std::int64_t row, std::span<const double>)>& take) {
  std::vector<double> drawn(PremiseRecord::kRowDraws);
  for (std::size_t k = 0; k < p.rows.size(); ++k) {
    for (std::size_t s = 0; s < drawn.size(); ++s)
      drawn[s] = in_units_of_values(c, p.sign_rms[k * drawn.size() + s], static_cast<std::size_t>(p.rows[k]));
    take(p.rows[k], drawn);
  }
}

template <std::size_t Side>
void sign_share(const Context& c, Out out) {
  with_premise(c, [&](const PremiseRecord& p) {
    for (std::size_t b = 0; b < 3; ++b) {
      double count = 0.0, all = 0.0;
      each_drawn_rho(c, p, [&](std::int64_t row, std::span<const double> drawn) {
        for (const double rho : drawn) {
          if (!std::isfinite(rho)) continue;
          all += 1.0;
          count += c.head.side(row, kBounds[b], rho) == Side ? 1.0 : 0.0;
        }
      });
      out[b] = all > 0.0 ? count / all : kNaN;
    }
  });
}

double centred_rho(const PremiseRecord& p, std::size_t row) { return p.centred_rms[row] / p.centred_value_rms[row]; }

template <std::size_t Side>
void centred_share(const Context& c, Out out) {
  with_premise(c, [&](const PremiseRecord& p) {
    for (std::size_t b = 0; b < 3; ++b) {
      double count = 0.0, all = 0.0;
      for (std::int64_t row = 0; row < c.head.length; ++row) {
        const double rho = centred_rho(p, static_cast<std::size_t>(row));
        if (c.head.eligible[static_cast<std::size_t>(row)] == 0 || !std::isfinite(rho)) continue;
        all += 1.0;
        count += c.head.side(row, kBounds[b], rho) == Side ? 1.0 : 0.0;
      }
      out[b] = all > 0.0 ? count / all : kNaN;
    }
  });
}

void sign_p(const Context& c, Out out) {
  with_premise(c, [&](const PremiseRecord& p) {
    for (std::size_t centring = 0; centring < 2; ++centring) {
      const double found = p.coherence[centring];
      if (!std::isfinite(found)) continue;
      const double slack = 1e-5 * found;  // of rounding: with one key all draws are one
      double aligned = 1.0, cancelling = 1.0;
      for (const double drawn : p.sign_coherence[centring]) {
        aligned += drawn >= found - slack ? 1.0 : 0.0;
        cancelling += drawn <= found + slack ? 1.0 : 0.0;
      }
      const auto draws = static_cast<double>(p.sign_coherence[centring].size());
      out[2 * centring] = aligned / (draws + 1.0);
      out[2 * centring + 1] = cancelling / (draws + 1.0);
    }
  });
}

void sign_interval(const Context& c, Out out) {
  with_premise(c, [&](const PremiseRecord& p) {
    for (std::size_t centring = 0; centring < 2; ++centring) {
      const std::vector<double> ends = quantiles(p.sign_coherence[centring], {0.025, 0.975});
      out[2 * centring] = ends[0];
      out[2 * centring + 1] = ends[1];
    }
  });
}

void common_mean_share(const Context& c, Out out) {
  with_premise(c, [&](const PremiseRecord& p) {
    double whole = 0.0, rest = 0.0;
    for (std::size_t row = 0; row < p.centred_rms.size(); ++row) {
      if (c.head.eligible[row] == 0) continue;
      whole += c.head.head.context_rms[row] * c.head.head.context_rms[row];
      rest += p.centred_rms[row] * p.centred_rms[row];
    }
    out[0] = 1.0 - rest / whole;
  });
}

void sign_rows(const Context& c, Out out) {
  with_premise(c, [&](const PremiseRecord& p) {
    each_drawn_rho(c, p, [&](std::int64_t row, std::span<const double> drawn) {
      const std::vector<double> ends = quantiles({drawn.begin(), drawn.end()}, {0.05, 0.95});
      out[static_cast<std::size_t>(row)] = ends[0];
      out[out.size() / 2 + static_cast<std::size_t>(row)] = ends[1];
    });
  });
}

double gated_rho(const Context& c, const PremiseRecord& p, std::int64_t row) {
  return in_units_of_values(c, p.gated_rms[static_cast<std::size_t>(row)], static_cast<std::size_t>(row));
}

// Mean over eligible rows with a number.
template <typename Value>
double mean_of_finite(const Context& c, const Value& value) {
  return c.head.mean_if(value, [&](std::int64_t row) { return std::isfinite(value(row)); });
}

}  // namespace

std::vector<Quantity> premise_quantities() {
  std::vector<Quantity> table = {
      {.name = "value_correlation",
       .long_name = "mean correlation of two values",
       .formula = "c̄ = Σ_{j≠k} v_j·v_k / ((n − 1) Σ_j ‖v_j‖²)",
       .remark =
           "over all n keys; uncorrelated values of d channels give 0 with a standard deviation of about √(2/d)/n",
       .range = "[−1, 1]",
       .compute = [](const Context& c,
                     Out out) { with_premise(c, [&](const PremiseRecord& p) { out[0] = p.correlation; }); }},
      {.name = "value_independent_count",
       .long_name = "uncorrelated values that the values count as",
       .formula = "n_eff = mean_j ‖v_j‖² / ‖mean_j v_j‖²",
       .remark = "over all n keys: n / (1 + (n − 1) c̄), n where c̄ = 0; uniform attention over them gives ρ = 1/√n_eff",
       .range = "[1, ∞)",
       .compute =
           [](const Context& c, Out out) {
             with_premise(c, [&](const PremiseRecord&) { out[0] = 1.0 / c.head.head.value_mean_share; });
           }},
      {.name = "value_effective_rank",
       .long_name = "directions that the values fill",
       .formula = "(tr G)² / tr G², G_jk = v_j·v_k / d",
       .remark = "participation ratio of the eigenvalues of G; n·d/(n + d) is what independent normal values of d "
                 "channels give",
       .range = "[1, d]",
       .compute = [](const Context& c,
                     Out out) { with_premise(c, [&](const PremiseRecord& p) { out[0] = p.effective_rank; }); }},
      {.name = "value_size_spread",
       .long_name = "spread of the values' sizes",
       .formula = "sd_j ln ‖v_j‖",
       .remark = "divided by n, without values that are 0",
       .range = "[0, ∞)",
       .compute = [](const Context& c,
                     Out out) { with_premise(c, [&](const PremiseRecord& p) { out[0] = p.size_spread; }); }},
      {.name = "common_mean_share",
       .long_name = "share of RMS² that the common mean makes",
       .formula = "1 − Σ_i RMS²(c_i − (Σ_j w_ij) μ) / Σ_i RMS_i², μ = mean_j v_j",
       .remark = "μ over all n keys, also those that come later; below 0 where the rest is larger than the whole",
       .range = "(−∞, 1]",
       .rows = "eligible",
       .compute = common_mean_share},
      {.name = "sign_coherence",
       .axes = kByCentring,
       .long_name = "coherence of the sampled rows",
       .formula = "K = Σ_i RMS_i² / Σ_i q_i²",
       .remark = "over the sampled rows; centred: with v_j − μ, μ = mean_j v_j, in place of v_j",
       .range = "[0, ∞)",
       .rows = "eligible",
       .where = "that are sampled",
       .compute =
           [](const Context& c, Out out) {
             with_premise(c, [&](const PremiseRecord& p) { std::ranges::copy(p.coherence, out.begin()); });
           }},
      {.name = "sign_coherence_interval",
       .axes = {axis::kCentring, axis::kEnd},
       .long_name = "coherence with random signs",
       .formula = "2.5 and 97.5 % quantile over 999 draws of K with ε_j v_j in place of v_j, ε_j = ±1",
       .remark = "weights as they are; what K cannot be told from. ε of draw s and key j: the top bit of splitmix64 at "
                 "2³² s + j, 1 where it is set, the same for every head",
       .range = "[0, ∞)",
       .rows = "eligible",
       .where = "that are sampled",
       .compute = sign_interval},
      {.name = "sign_p",
       .axes = {axis::kCentring, axis::kTail},
       .long_name = "p of the coherence against random signs",
       .formula = "(1 + number of draws with K' ≥ K) / 1000; cancelling: K' ≤ K",
       .remark =
           "one-sided each, of one head: 2 min is two-sided, and heads of a run are many tests. Over the values of "
           "one text; centring by their own mean makes K smaller",
       .range = "[0.001, 1]",
       .rows = "eligible",
       .where = "that are sampled",
       .compute = sign_p},
      {.name = "sign_rows_below_bound",
       .axes = kByBound,
       .long_name = "rows below the interval with random signs",
       .formula = "share of ρ' < low, ρ'_i = RMS(Σ_j w_ij ε_j v_j) / r̄_i",
       .remark = "over the sampled rows and 99 draws; what is neither below nor above is inside",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "that are sampled",
       .compute = sign_share<0>},
      {.name = "sign_rows_above_bound",
       .axes = kByBound,
       .long_name = "rows above the interval with random signs",
       .formula = "share of ρ' ≥ high, ρ'_i = RMS(Σ_j w_ij ε_j v_j) / r̄_i",
       .remark = "over the sampled rows and 99 draws",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "that are sampled",
       .compute = sign_share<2>},
      {.name = "centred_rows_below_bound",
       .axes = kByBound,
       .long_name = "rows below the interval without the common mean",
       .formula = "share of rows/centred_rms_relative < low",
       .remark = "uncorrelated values have E ρ² = e² − s²/n there, s = Σ_j w_ij, so that nearly uniform rows near the "
                 "end fall below by themselves",
       .range = "[0, 1]",
       .rows = "eligible",
       .compute = centred_share<0>},
      {.name = "centred_rows_above_bound",
       .axes = kByBound,
       .long_name = "rows above the interval without the common mean",
       .formula = "share of rows/centred_rms_relative ≥ high",
       .range = "[0, 1]",
       .rows = "eligible",
       .compute = centred_share<2>},
      {.name = "hull_distance_median",
       .long_name = "least ρ that softmax weights could reach",
       .formula = "median of rows/hull_distance",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "of which 32 are sampled",
       .compute =
           [](const Context& c, Out out) {
             with_premise(c, [&](const PremiseRecord& p) {
               std::vector<double> values;
               for (std::size_t k = 0; k < p.hull.size(); ++k)
                 values.push_back(in_units_of_values(c, p.hull[k], static_cast<std::size_t>(p.hull_rows[k])));
               out[0] = quantiles(std::move(values), {0.5})[0];
             });
           }},
      {.name = "output_cosine_mean",
       .long_name = "cosine of what the two maps put out",
       .formula = "mean_i cos(W_O c¹_i, W_O c²_i), c^m_i = Σ_j a^m_ij v_j",
       .remark = "c with the weights of a head norm; 1: what is subtracted has the direction of what it is taken from",
       .range = "[−1, 1]",
       .rows = "eligible",
       .where = "with a number",
       .heads = "with two maps",
       .compute =
           [](const Context& c, Out out) {
             with_premise(c, [&](const PremiseRecord& p) {
               if (!p.output_cosine.empty())
                 out[0] = mean_of_finite(c, [&](std::int64_t i) { return at(p.output_cosine, i); });
             });
           }},
      {.name = "gated_rms_relative_mean",
       .long_name = "mean ρ after the gate",
       .formula = "mean_i RMS(g_i ⊙ c_i) / r̄_i",
       .range = "[0, ∞)",
       .rows = "eligible",
       .where = "with a number",
       .heads = "with a gate of which each channel is known",
       .compute =
           [](const Context& c, Out out) {
             with_premise(c, [&](const PremiseRecord& p) {
               if (!p.gated_rms.empty()) out[0] = mean_of_finite(c, [&](std::int64_t i) { return gated_rho(c, p, i); });
             });
           }},
      {.name = "gated_rows_above_bound",
       .long_name = "rows at 1 and above after the gate",
       .formula = "share of RMS(g_i ⊙ c_i) / r̄_i ≥ 1",
       .remark = "against (0, 1), the interval of a gated head",
       .range = "[0, 1]",
       .rows = "eligible",
       .where = "with a number",
       .heads = "with a gate of which each channel is known",
       .compute =
           [](const Context& c, Out out) {
             with_premise(c, [&](const PremiseRecord& p) {
               if (p.gated_rms.empty()) return;
               const auto value = [&](std::int64_t i) { return gated_rho(c, p, i); };
               out[0] = c.head.mean_if([&](std::int64_t i) { return value(i) >= 1.0 ? 1.0 : 0.0; },
                                       [&](std::int64_t i) { return std::isfinite(value(i)); });
             });
           }},
      {.group = "rows",
       .name = "uniform_rms_relative",
       .axes = kByPosition,
       .long_name = "ρ that uniform attention would have",
       .formula = "RMS(mean_{j ∈ V_i} v_j) / r̄_i",
       .remark = "1/√n_i for uncorrelated values, in expectation of its square",
       .range = "[0, 1]",
       .compute =
           [](const Context& c, Out out) {
             premise_rows(c, out, &PremiseRecord::uniform_rms, [&](const PremiseRecord& p, std::size_t i) {
               return in_units_of_values(c, p.uniform_rms[i], i);
             });
           }},
      {.group = "rows",
       .name = "sign_rms_relative",
       .axes = {axis::kEnd, axis::kPosition},
       .long_name = "ρ with random signs",
       .formula = "5 and 95 % quantile over 99 draws of RMS(Σ_j w_ij ε_j v_j) / r̄_i",
       .remark = "NaN but in the sampled rows",
       .range = "[0, ∞)",
       .where = "that are sampled",
       .compute = sign_rows},
      {.group = "rows",
       .name = "centred_rms_relative",
       .axes = kByPosition,
       .long_name = "ρ without the common mean",
       .formula = "RMS(c_i − (Σ_j w_ij) μ) / √(mean_{j ∈ V_i} RMS²(v_j − μ)), μ = mean_j v_j",
       .remark = "μ over all n keys, also those that come later",
       .range = "[0, ∞)",
       .compute = [](const Context& c, Out out) { premise_rows(c, out, &PremiseRecord::centred_rms, centred_rho); }},
      {.group = "rows",
       .name = "hull_distance",
       .axes = kByPosition,
       .long_name = "least ρ that softmax weights could reach",
       .formula = "min RMS(Σ_{j ∈ V_i} a_j v_j) / r̄_i over a_j ≥ 0, Σ_j a_j = 1",
       .remark =
           "distance of 0 from the convex hull of the visible values, to 1e-5 of the largest; NaN but in 32 of the "
           "sampled rows",
       .range = "[0, 1]",
       .where = "of which 32 are sampled",
       .compute =
           [](const Context& c, Out out) {
             with_premise(c, [&](const PremiseRecord& p) {
               for (std::size_t k = 0; k < p.hull.size(); ++k) {
                 const auto row = static_cast<std::size_t>(p.hull_rows[k]);
                 out[row] = in_units_of_values(c, p.hull[k], row);
               }
             });
           }},
      {.group = "rows",
       .name = "output_cosine",
       .axes = kByPosition,
       .long_name = "cosine of what the two maps put out",
       .formula = "cos(W_O c¹_i, W_O c²_i), c^m_i = Σ_j a^m_ij v_j",
       .remark = "c with the weights of a head norm; NaN where one is 0",
       .range = "[−1, 1]",
       .heads = "with two maps",
       .compute =
           [](const Context& c, Out out) {
             premise_rows(c, out, &PremiseRecord::output_cosine,
                          [](const PremiseRecord& p, std::size_t i) { return p.output_cosine[i]; });
           }},
      {.group = "rows",
       .name = "gated_rms_relative",
       .axes = kByPosition,
       .long_name = "ρ after the gate",
       .formula = "RMS(g_i ⊙ c_i) / r̄_i, g_i = σ(W_g x_i)",
       .remark = "x_i is the layer's normed input",
       .range = "[0, ∞)",
       .heads = "with a gate of which each channel is known",
       .sources = {source::kGates},
       .compute =
           [](const Context& c, Out out) {
             premise_rows(c, out, &PremiseRecord::gated_rms, [&](const PremiseRecord& p, std::size_t i) {
               return in_units_of_values(c, p.gated_rms[i], i);
             });
           }},
  };
  for (Quantity& quantity : table) {
    quantity.option = "premise";
    quantity.sources.push_back(source::kPremise);
    if (!quantity.group.empty()) quantity.rows = "all";
    if (quantity.heads.empty()) quantity.heads = "whose maps multiply the same values";
  }
  return table;
}

}  // namespace headroom
