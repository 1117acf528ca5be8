// The groups /keys, /hist, /maps and /weights: columns, histograms, pooled maps and sink logits of a head.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/measure/quantity_tools.h"

namespace headroom {

using namespace quantity;

namespace {

void mean_received(const Context& c, const std::vector<double>& column_sum, Out out) {
  for (std::size_t k = 0; k < column_sum.size(); ++k)
    out[k] = c.head.rows_seeing[k] > 0 ? column_sum[k] / static_cast<double>(c.head.rows_seeing[k]) : kNaN;
}

Out part(Out out, std::size_t index, std::size_t parts) {
  const std::size_t size = out.size() / parts;
  return out.subspan(index * size, size);
}

// Counts of log₁₀ or plain values in uniform bins, outer bins catching what lies beyond; NaN is not counted.
template <typename Value>
void count(const kernels::UniformBins& bins, std::int64_t rows, const Value& value, Out out) {
  std::fill(out.begin(), out.end(), 0.0);
  for (std::int64_t i = 0; i < rows; ++i) {
    const double v = value(i);
    if (std::isnan(v)) continue;
    const double bin = std::clamp(std::floor((v - bins.low) / bins.width), 0.0, static_cast<double>(bins.bins - 1));
    out[static_cast<std::size_t>(bin)] += 1.0;
  }
}

void copy_counts(const Context& c, Out out, std::vector<std::int64_t> MapStatistics::* member) {
  for (std::size_t m = 0; m < 2; ++m)
    if (c.head.has[m])
      std::ranges::transform(map(c, m).*member, part(out, m, 2).begin(),
                             [](std::int64_t n) { return static_cast<double>(n); });
}

// Cells of a pooled map; `divided` by the visible entries, NaN where there are none.
void pooled(const Context& c, const std::vector<double>& cells, bool divided, Out out) {
  const kernels::HeadStatistics& s = c.head.head.statistics;
  const std::vector<std::int64_t> counts = pooled_counts(c.head.mask, s.pool_size, s.pool_blocks);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double visible = static_cast<double>(counts[i]);
    out[i] = counts[i] == 0 ? kNaN : divided ? cells[i] / visible : cells[i];
  }
}

template <std::vector<double> kernels::HeadStatistics::* Member, bool Divided>
void pooled_map(const Context& c, Out out) {
  pooled(c, c.head.head.statistics.*Member, Divided, out);
}

double largest_magnitude(double highest, double lowest) { return kernels::larger_or_nan(highest, -lowest); }

template <double Of(double, double)>
void pooled_extreme(const Context& c, Out out) {
  const kernels::HeadStatistics& s = c.head.head.statistics;
  std::vector<double> cells(s.pooled_highest.size());
  for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = Of(s.pooled_highest[i], s.pooled_lowest[i]);
  pooled(c, cells, false, out);
}

template <std::vector<double> MapStatistics::* Member, bool Divided>
void pooled_component(const Context& c, Out out) {
  for (std::size_t m = 0; m < 2; ++m)
    if (c.head.has[m]) pooled(c, map(c, m).*Member, Divided, part(out, m, 2));
}

std::vector<Quantity> key_quantities() {
  return {
      {.group = "keys",
       .name = "attention_received",
       .axes = kByComponentPosition,
       .long_name = "attention received by a key",
       .formula = "α_k = mean_i a_ik",
       .remark = "NaN where a what-if hides the key",
       .range = "[0, 1]",
       .rows = "all",
       .where = "that see key k",
       .sources = {source::kGu, source::kSinks},
       .compute =
           [](const Context& c, Out out) {
             for (std::size_t m = 0; m < 2; ++m)
               if (c.head.has[m]) mean_received(c, map(c, m).column_sum, part(out, m, 2));
           }},
      {.group = "keys",
       .name = "attention_received_net",
       .axes = kByPosition,
       .long_name = "net attention received by a key",
       .formula = "mean_i w_ik",
       .remark = "NaN where a what-if hides the key",
       .range = "[−|λ|, 1 + |λ|]",
       .rows = "all",
       .where = "that see key k",
       .sources = {source::kSinks},
       .compute = [](const Context& c, Out out) { mean_received(c, c.head.head.statistics.column_sum, out); }},
  };
}

std::vector<Quantity> histogram_quantities() {
  std::vector<Quantity> table = {
      {.name = "context_rms_relative",
       .axes = {"context_rms_relative_bin"},
       .long_name = "histogram of ρ",
       .formula = "number of rows with ρ_i in each bin",
       .compute =
           [](const Context& c, Out out) {
             count(log10_rho_bins(), c.head.length, [&](std::int64_t i) { return std::log10(at(c.head.rho, i)); }, out);
           }},
      {.name = "lambda",
       .axes = {"lambda_bin"},
       .long_name = "histogram of λ",
       .formula = "number of rows with λ_i in each bin",
       .heads = "with a second map",
       .compute =
           [](const Context& c, Out out) {
             if (c.head.has[1])
               count(lambda_bins(), c.head.length, [&](std::int64_t i) { return c.head.lambda(i); }, out);
           }},
      {.name = "logit",
       .axes = {axis::kComponent, "logit_bin"},
       .long_name = "histogram of the logits",
       .formula = "number of visible entries with z_ij in each bin",
       .compute = [](const Context& c, Out out) { copy_counts(c, out, &MapStatistics::logit_histogram); }},
      {.name = "attention_weight",
       .axes = {axis::kComponent, "attention_weight_bin"},
       .long_name = "histogram of the attention weights",
       .formula = "number of visible entries with a_ij in each bin",
       .compute = [](const Context& c, Out out) { copy_counts(c, out, &MapStatistics::weight_histogram); }},
  };
  for (Quantity& quantity : table) {
    quantity.group = "hist";
    quantity.type = ElementType::Int64;
    quantity.remark = "the outer bins hold what lies beyond them too";
    quantity.range = "[0, n²]";
    quantity.rows = "all";
    quantity.sources = {source::kHistograms};
  }
  return table;
}

std::vector<Quantity> pooled_quantities() {
  using kernels::HeadStatistics;
  const std::vector<std::string_view> cells = {axis::kQueryBlock, axis::kKeyBlock};
  const std::vector<std::string_view> component_cells = {axis::kComponent, axis::kQueryBlock, axis::kKeyBlock};
  std::vector<Quantity> table = {
      {.name = "pooled_mean",
       .axes = cells,
       .long_name = "pooled net map, mean",
       .formula = "mean of w_ij over the visible entries of a block",
       .range = "[−|λ|, 1 + |λ|]",
       .compute = pooled_map<&HeadStatistics::pooled_sum, true>},
      {.name = "pooled_max_abs",
       .axes = cells,
       .long_name = "pooled net map, largest magnitude",
       .formula = "max of |w_ij| over the visible entries of a block",
       .range = "[0, 1 + |λ|]",
       .compute = pooled_extreme<largest_magnitude>},
      {.name = "pooled_signed_extreme",
       .axes = cells,
       .long_name = "pooled net map, largest magnitude with its sign",
       .formula = "the w_ij with the largest |w_ij| among the visible entries of a block",
       .remark = "of w and −w, equal to 1e-5, the positive one; NaN where a block has none",
       .range = "[−|λ|, 1 + |λ|]",
       .compute = pooled_extreme<kernels::signed_extreme>},
      {.name = "pooled_positive",
       .axes = cells,
       .long_name = "pooled net map, positive part",
       .formula = "mean of max(w_ij, 0) over the visible entries of a block",
       .range = "[0, 1 + |λ|]",
       .compute = pooled_map<&HeadStatistics::pooled_positive, true>},
      {.name = "pooled_negative",
       .axes = cells,
       .long_name = "pooled net map, negative part",
       .formula = "mean of max(−w_ij, 0) over the visible entries of a block",
       .range = "[0, |λ|]",
       .compute = pooled_map<&HeadStatistics::pooled_negative, true>},
      {.name = "pooled_mean_components",
       .axes = component_cells,
       .long_name = "pooled first and second map, mean",
       .formula = "mean of a_ij over the visible entries of a block",
       .range = "[0, 1]",
       .compute = pooled_component<&MapStatistics::pooled_sum, true>},
      {.name = "pooled_max_components",
       .axes = component_cells,
       .long_name = "pooled first and second map, largest",
       .formula = "max of a_ij over the visible entries of a block",
       .range = "[0, 1]",
       .compute = pooled_component<&MapStatistics::pooled_max, false>},
  };
  for (Quantity& quantity : table) {
    quantity.group = "maps";
    if (quantity.remark.empty()) quantity.remark = "NaN where a block has none";
    quantity.rows = "all";
    quantity.sources = {source::kHistograms};
  }
  return table;
}

}  // namespace

std::vector<Quantity> distribution_quantities() {
  std::vector<Quantity> table = key_quantities();
  for (const auto& part : {histogram_quantities(), pooled_quantities()})
    table.insert(table.end(), part.begin(), part.end());
  table.push_back({.group = "weights",
                   .name = "sink_logit",
                   .long_name = "sink logit",
                   .formula = "b",
                   .remark = "the logit of the implicit key as the run had it: learned, or 0 for softmax-off-by-one",
                   .range = "(−∞, ∞)",
                   .heads = "with a sink",
                   .sources = {source::kMiller, source::kOpenAi},
                   .compute = [](const Context& c, Out out) { out[0] = c.head.head.sink_logit; }});
  return table;
}

}  // namespace headroom
