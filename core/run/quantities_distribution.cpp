// The groups /keys, /hist, /maps and /weights: columns, histograms, pooled maps and sink logits of a head.
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
  kernels::HeadProblem<double> mask;
  mask.length = c.head.length;
  mask.causal = c.head.layer.causal;
  mask.window = c.head.layer.window;
  mask.hidden_keys = c.head.head.program.hidden_keys;
  const std::vector<std::int64_t> counts = pooled_counts(mask, s.pool_size, s.pool_blocks);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double visible = static_cast<double>(counts[i]);
    out[i] = counts[i] == 0 ? kNaN : divided ? cells[i] / visible : cells[i];
  }
}

const std::vector<std::string_view> kCells = {axis::kQueryBlock, axis::kKeyBlock};
const std::vector<std::string_view> kComponentCells = {axis::kComponent, axis::kQueryBlock, axis::kKeyBlock};

template <std::vector<double> kernels::HeadStatistics::* Member, bool Divided>
Quantity pooled_map(std::string_view name, std::string_view long_name, std::string_view definition) {
  return {"maps",     name,
          kCells,     ElementType::Float32,
          "1",        long_name,
          definition, "§5.5 (5)",
          "all",      [](const Context& c, Out out) { pooled(c, c.head.head.statistics.*Member, Divided, out); }};
}

template <std::vector<double> MapStatistics::* Member, bool Divided>
Quantity pooled_component(std::string_view name, std::string_view long_name, std::string_view definition) {
  return {"maps",
          name,
          kComponentCells,
          ElementType::Float32,
          "1",
          long_name,
          definition,
          "§5.5 (5)",
          "all",
          [](const Context& c, Out out) {
            for (std::size_t m = 0; m < 2; ++m)
              if (c.head.has[m]) pooled(c, map(c, m).*Member, Divided, part(out, m, 2));
          }};
}

}  // namespace

std::vector<Quantity> distribution_quantities() {
  using kernels::HeadStatistics;
  return {
      {"keys", "attention_received", kByComponentPosition, ElementType::Float32, "1", "attention received by a key",
       "α_k: mean of a_ik over the rows that can see key k; NaN where a what-if hides it", "M1; formats reading 10",
       "all",
       [](const Context& c, Out out) {
         for (std::size_t m = 0; m < 2; ++m)
           if (c.head.has[m]) mean_received(c, map(c, m).column_sum, part(out, m, 2));
       }},
      {"keys", "attention_received_net", kByPosition, ElementType::Float32, "1", "net attention received by a key",
       "mean of w_ik over the rows that can see key k; NaN where a what-if hides it", "M1(d)", "all",
       [](const Context& c, Out out) { mean_received(c, c.head.head.statistics.column_sum, out); }},
      {"hist",
       "context_rms_relative",
       {"context_rms_relative_bin"},
       ElementType::Int64,
       "1",
       "histogram of ρ",
       "number of rows with ρ_i in each bin; the outer bins hold what lies beyond them",
       "§4.4",
       "all",
       [](const Context& c, Out out) {
         count(log10_rho_bins(), c.head.length, [&](std::int64_t i) { return std::log10(at(c.head.rho, i)); }, out);
       }},
      {"hist",
       "lambda",
       {"lambda_bin"},
       ElementType::Int64,
       "1",
       "histogram of λ",
       "number of rows with λ_i in each bin; the outer bins hold what lies beyond them",
       "M14",
       "all",
       [](const Context& c, Out out) {
         if (c.head.has[1]) count(lambda_bins(), c.head.length, [&](std::int64_t i) { return c.head.lambda(i); }, out);
       }},
      {"hist",
       "logit",
       {axis::kComponent, "logit_bin"},
       ElementType::Int64,
       "1",
       "histogram of the logits",
       "number of visible entries with z_ij in each bin; the outer bins hold what lies beyond them",
       "M6",
       "all",
       [](const Context& c, Out out) { copy_counts(c, out, &MapStatistics::logit_histogram); }},
      {"hist",
       "attention_weight",
       {axis::kComponent, "attention_weight_bin"},
       ElementType::Int64,
       "1",
       "histogram of the attention weights",
       "number of visible entries with a_ij in each bin; the outer bins hold what lies beyond them",
       "M9",
       "all",
       [](const Context& c, Out out) { copy_counts(c, out, &MapStatistics::weight_histogram); }},
      pooled_map<&HeadStatistics::pooled_sum, true>("pooled_mean", "pooled net map, mean",
                                                    "mean of w over the visible entries of a block"),
      pooled_map<&HeadStatistics::pooled_max_abs, false>("pooled_max_abs", "pooled net map, largest magnitude",
                                                         "max of |w| over the visible entries of a block"),
      pooled_map<&HeadStatistics::pooled_positive, true>("pooled_positive", "pooled net map, positive part",
                                                         "Σ max(w, 0) over a block ÷ its visible entries"),
      pooled_map<&HeadStatistics::pooled_negative, true>("pooled_negative", "pooled net map, negative part",
                                                         "Σ max(−w, 0) over a block ÷ its visible entries"),
      pooled_component<&MapStatistics::pooled_sum, true>("pooled_mean_components", "pooled first and second map, mean",
                                                         "mean of a over the visible entries of a block"),
      pooled_component<&MapStatistics::pooled_max, false>("pooled_max_components",
                                                          "pooled first and second map, largest",
                                                          "max of a over the visible entries of a block"),
      {"weights", "sink_logit", kNoAxes, ElementType::Float32, "1", "sink logit",
       "logit of the implicit key: learned, or 0 for softmax-off-by-one; NaN without one", "M21", "",
       [](const Context& c, Out out) { out[0] = c.head.head.sink_logit; }},
  };
}

}  // namespace headroom
