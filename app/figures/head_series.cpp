#include "app/figures/head_series.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "app/figures/row_axis.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

double finite_log(double value) { return value > 0.0 && std::isfinite(value) ? std::log(value) : kNaN; }

void fill_decomposition(HeadSeries& series) {
  if (series.rms.size() != series.rows()) return;
  LogTerms terms = log_terms(series.rms, series.weight_l2, series.uncorrelated, series.value_rms);
  if (terms.rho.empty()) return;
  series.log_rho = std::move(terms.rho), series.log_e = std::move(terms.e);
  series.log_r = std::move(terms.r), series.half_log_kappa = std::move(terms.half_kappa);
  series.terms[kRhoTerm] = row_curve(series, series.log_rho), series.terms[kETerm] = row_curve(series, series.log_e);
  series.terms[kRTerm] = row_curve(series, series.log_r);
  series.terms[kKappaTerm] = row_curve(series, series.half_log_kappa);
}

void fill_cancellation(HeadSeries& series, std::span<const float> l1, std::span<const float> l2_maps,
                       std::span<const float> output) {
  const std::size_t rows = series.rows();
  if (!series.pair || series.lambda.size() != rows) return;
  const std::span<const float> first = map_part(l2_maps, 0, rows), second = map_part(l2_maps, 1, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const double lambda = static_cast<double>(series.lambda[i]);
    if (l1.size() == rows) series.weight_cancellation.push_back(static_cast<double>(l1[i]) / (1.0 + std::abs(lambda)));
    if (!first.empty() && series.weight_l2.size() == rows) {
      const double apart = std::hypot(static_cast<double>(first[i]), lambda * static_cast<double>(second[i]));
      series.energy_cancellation.push_back(apart > 0.0 ? static_cast<double>(series.weight_l2[i]) / apart : kNaN);
    }
    if (output.size() == rows) series.output_cancellation.push_back(static_cast<double>(output[i]));
  }
  series.weight_curve = row_curve(series, series.weight_cancellation);
  series.energy_curve = row_curve(series, series.energy_cancellation);
  series.output_curve = row_curve(series, series.output_cancellation);
}

// The three queries with the largest logits. Their keys are looked for in the maps: one row each.
void fill_outliers(HeadSeries& series, const LayerSnapshot& layer, std::int64_t head, const HeadProgram& program) {
  const std::span<const float> largest = layer.row_values("rows/logit_max", head);
  const std::size_t rows = series.rows();
  for (std::size_t i = 0; i < largest.size(); ++i) {
    const double logit = static_cast<double>(largest[i]);
    if (!std::isfinite(logit) || (series.outliers.size() == 3 && logit <= series.outliers.back().logit)) continue;
    HeadSeries::Outlier one;
    one.query = static_cast<std::int64_t>(i % rows);
    one.component = static_cast<int>(i / rows);
    one.logit = logit;
    const auto after = std::ranges::find_if(series.outliers, [&](const auto& other) { return other.logit < logit; });
    series.outliers.insert(after, one);
    if (series.outliers.size() > 3) series.outliers.pop_back();
  }
  if (layer.maps == nullptr || layer.maps->find(head) == nullptr) return;
  for (HeadSeries::Outlier& one : series.outliers) {
    double best = -std::numeric_limits<double>::infinity();
    for (std::int64_t key = 0; key <= (layer.maps->causal ? one.query + layer.maps->first_query : series.length - 1);
         ++key) {
      if (std::ranges::binary_search(program.hidden_keys, key)) continue;
      const MapSource::Cell cell = layer.maps->cell(head, one.query, key);
      const double logit = one.component == 0 ? cell.first_logit : cell.second_logit;
      if (cell.visible && logit > best) best = logit, one.key = key;
    }
  }
}

// 1/gain² = RMS² + ε: told best where the RMS is smallest. One significant digit.
double epsilon_of(std::span<const float> gain, std::span<const float> rms) {
  double g = kNaN, r = kInfinity;
  for (std::size_t i = 0; i < rms.size(); ++i)
    if (static_cast<double>(rms[i]) < r && std::isfinite(gain[i]))
      r = static_cast<double>(rms[i]), g = static_cast<double>(gain[i]);
  const double epsilon = 1.0 / (g * g) - r * r;
  if (!(epsilon > 1e-9 && epsilon < 1e-2) || epsilon < 1e-5 * r * r) return 1e-5;
  const double digit = std::pow(10.0, std::floor(std::log10(epsilon) + 1e-6));
  return std::round(epsilon / digit) * digit;
}

template <typename T>
double mean_of(const HeadSeries& series, std::span<const T> values) {
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values.size() && i < series.rows(); ++i) {
    if (series.faint[i] != 0) continue;
    sum += static_cast<double>(values[i]);
    ++count;
  }
  return count > 0 && std::isfinite(sum) ? sum / static_cast<double>(count) : kNaN;
}

}  // namespace

double HeadSeries::mean(std::span<const float> values) const { return mean_of(*this, values); }
double HeadSeries::mean(std::span<const double> values) const { return mean_of(*this, values); }

LogTerms log_terms(std::span<const float> rms, std::span<const float> weight_l2, std::span<const float> uncorrelated,
                   std::span<const float> value_rms) {
  LogTerms terms;
  const std::size_t rows = rms.size();
  if (weight_l2.size() != rows || uncorrelated.size() != rows || value_rms.size() != rows) return terms;
  for (std::vector<double>* part : {&terms.rho, &terms.e, &terms.r, &terms.half_kappa}) part->resize(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const double e = static_cast<double>(weight_l2[i]), q = static_cast<double>(uncorrelated[i]);
    const double mean_r = static_cast<double>(value_rms[i]), norm = static_cast<double>(rms[i]);
    terms.e[i] = finite_log(e);
    terms.r[i] = finite_log(q / (e * mean_r));
    terms.half_kappa[i] = finite_log(norm / q);
    terms.rho[i] = finite_log(norm / mean_r);
  }
  return terms;
}

HeadSeries make_head_series(const RunSnapshot& run, const LayerSnapshot& layer, std::int64_t head) {
  HeadSeries series;
  const std::int64_t index = layer.head_index(head);
  if (index < 0 || layer.visible.empty()) return series;
  const auto at = static_cast<std::size_t>(index);
  const HeadProgram program = at < layer.programs.size() ? layer.programs[at] : HeadProgram();
  const std::vector<std::int64_t>& visible = layer.visible.size() > at ? layer.visible[at] : layer.visible.front();
  series.length = layer.length;
  series.min_row = run.min_row;
  series.pair = program.has_first() && program.has_second();
  series.v1 = program.post_norm;
  series.visible.assign(visible.begin(), visible.end());
  series.by_position = plots_by_position(visible);
  series.place = row_places(series, series.by_position);
  const double most = visible.empty() ? 0.0 : *std::ranges::max_element(series.visible);
  series.least = std::min(static_cast<double>(run.min_row), most);
  for (const double n : series.visible) series.faint.push_back(n < series.least ? 1 : 0);

  const std::size_t rows = series.rows();
  const auto read = [&](const char* name) {
    const std::span<const float> values = layer.row_values(name, head);
    return values.size() == rows ? values : std::span<const float>();
  };
  series.rho = read("rows/context_rms_relative");
  series.rms = read("rows/context_rms");
  series.weight_l2 = read("rows/weight_l2");
  series.value_rms = read("rows/value_rms_mean");
  series.uncorrelated = read("rows/uncorrelated_rms");
  series.lambda = read("rows/lambda");
  if (!program.has_second()) series.lambda = {};
  const auto finite = [](float value) { return std::isfinite(value); };
  series.gain = read("rows/norm_gain");
  if (std::ranges::none_of(series.gain, finite)) series.gain = {};
  series.gate = read("rows/gate_mean");
  if (std::ranges::none_of(series.gate, finite)) series.gate = {};
  series.implicit = read("rows/implicit_sink_mass");
  series.kept = !series.rho.empty() || !series.rms.empty() || !series.weight_l2.empty();
  for (const RmsTab tab : {RmsTab::Relative, RmsTab::Raw, RmsTab::Weights})
    series.intervals[static_cast<std::size_t>(tab)] = make_intervals(run, layer, head, program, series, tab);
  if (!series.kept) return series;

  fill_decomposition(series);
  series.relative = row_curve(series, series.rho);
  fill_cancellation(series, read("rows/weight_l1"), layer.row_values("rows/weight_l2_component", head),
                    read("rows/output_cancellation"));
  fill_outliers(series, layer, head, program);
  if (!series.gain.empty() && !series.rms.empty()) {
    series.norm_epsilon = epsilon_of(series.gain, series.rms);
    for (std::size_t i = 0; i < rows; ++i)
      series.after_norm.push_back(static_cast<double>(series.gain[i]) * static_cast<double>(series.rms[i]));
    const double cap = 1.0 / std::sqrt(series.norm_epsilon);
    for (std::size_t i = 0; i < rows; ++i) {
      if (series.faint[i] != 0 || !(series.gain[i] > 0.0f) || !std::isfinite(series.gain[i])) continue;
      ++series.gains;
      series.gains_at_cap += static_cast<double>(series.gain[i]) >= kAtCap * cap ? 1 : 0;
    }
    series.before_curve = row_curve(series, series.rms);
    series.after_curve = row_curve(series, series.after_norm);
  }
  return series;
}

}  // namespace headroom
