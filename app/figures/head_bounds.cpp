#include "app/figures/head_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include "app/figures/head_series.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr double kRounding = 1e-5;  // of a norm in float32

bool is_pair(const HeadProgram& program) { return program.has_first() && program.has_second(); }

RowEnd over_root(std::string name, double value) { return {std::move(name), value, true}; }
RowEnd level(std::string name, double value) { return {std::move(name), value}; }

RowInterval softmax_interval(bool own) {
  RowInterval softmax{"softmax", "[1/√nᵢ, 1)", "What softmax allows: uniform attention … one key alone.",
                      over_root("1/√nᵢ", 1.0), level("1", 1.0)};
  softmax.own = own;
  return softmax;
}

// Texts of the head's own interval; its numbers come with the rows.
RowInterval own_interval(const HeadProgram& program) {
  RowInterval own;
  own.name = "own";
  own.own = true;
  const bool one_lambda = program.lambda != LambdaSource::Projection && program.lambda != LambdaSource::RawProjection;
  const std::string lambda = one_lambda ? "λ" : "λᵢ";
  if (is_pair(program) && program.sink != SinkSource::None) {
    own.low.name = "|s¹−λs²|/√nᵢ";
    own.high.name = "√(s¹²+λ²s²²)";
    own.tip = "What this head's λ and the shares s¹, s² that its sink leaves to its maps allow.";
  } else if (is_pair(program)) {
    own.low.name = (program.lambda == LambdaSource::Projection ? "(1−" + lambda + ")" : "|1−" + lambda + "|") + "/√nᵢ";
    own.high.name = "√(1+" + lambda + "²)";
    own.tip = one_lambda ? "What this layer's λ allows: equal uniform maps … one key each."
                         : "What the row's own λ allows: equal uniform maps … one key each.";
  } else if (!program.has_first()) {
    own.low.name = "|" + lambda + "|/√nᵢ";
    own.high.name = "|" + lambda + "|";
    own.tip = "The second map alone, times λ: uniform attention … one key alone.";
  } else {
    own.low.name = "sᵢ/√nᵢ";
    own.high.name = "sᵢ";
    own.tip = program.normalizer == Normalizer::Softpick ? "What the row's own sum sᵢ allows."
                                                         : "What the share sᵢ allows that the sink leaves to the keys.";
  }
  const bool closed = !is_pair(program);
  own.text = "[" + own.low.name + ", " + own.high.name + (closed ? "]" : ")");
  return own;
}

// Which keys a causal row sees is known from how many they are, unless some are hidden: then all before it.
std::vector<double> largest_visible(std::span<const double> norms, std::span<const double> visible, bool causal,
                                    bool hidden) {
  const std::size_t count = visible.size();
  if (!causal) {
    double most = kNaN;  // a call of a capture may have fewer keys: NaN beyond them
    for (const double norm : norms)
      if (!(norm <= most)) most = std::isnan(norm) ? most : norm;
    return std::vector<double>(count, most);
  }
  std::vector<double> largest;
  std::deque<std::size_t> falling;  // keys whose norms fall, the largest first
  for (std::size_t i = 0; i < count; ++i) {
    while (!falling.empty() && !(norms[falling.back()] > norms[i])) falling.pop_back();
    falling.push_back(i);
    const std::size_t first = hidden ? 0 : i + 1 - std::min(i + 1, static_cast<std::size_t>(visible[i]));
    while (!falling.empty() && falling.front() < first) falling.pop_front();
    largest.push_back(falling.empty() ? kNaN : norms[falling.front()]);
  }
  return largest;
}

// RMS(v_j) of the head, over both blocks of a V1 head; the larger one where its maps read different blocks. Empty where
// the run kept no norms.
std::vector<double> value_sizes(const LayerSnapshot& layer, const HeadProgram& program, std::size_t rows) {
  std::vector<double> largest;
  for (const HeadProgram::Map* map : {&program.first, &program.second}) {
    if (map->query_block < 0 || map->value_blocks.empty()) continue;
    std::vector<double> squares(rows, 0.0);
    for (const std::int64_t block : map->value_blocks) {
      const auto b = static_cast<std::size_t>(block);
      if (b >= layer.value_norms.size() || layer.value_norms[b].size() != rows) return {};
      for (std::size_t j = 0; j < rows; ++j) squares[j] += std::pow(static_cast<double>(layer.value_norms[b][j]), 2);
    }
    largest.resize(rows, 0.0);
    for (std::size_t j = 0; j < rows; ++j)
      largest[j] = std::max(largest[j], std::sqrt(squares[j] / static_cast<double>(layer.context_dim)));
  }
  return largest;
}

// The share that a sink leaves to a map's row, s = 1 − exp(sink − LSE) with the sink's own term in LSE.
std::vector<double> kept_shares(const LayerSnapshot& layer, std::int64_t head, const HeadProgram& program,
                                std::size_t map, std::size_t rows) {
  std::vector<double> shares(rows, kNaN);
  const std::span<const float> lse = map_part(layer.row_values("rows/lse", head), map, rows);
  const std::span<const double> logit = layer.values("weights/sink_logit", head);
  const double sink = program.sink == SinkSource::Zero ? 0.0 : logit.empty() ? kNaN : logit[0];
  for (std::size_t i = 0; i < lse.size(); ++i) shares[i] = 1.0 - std::exp(sink - static_cast<double>(lse[i]));
  return shares;
}

void fill_own(RowInterval& own, const LayerSnapshot& layer, std::int64_t head, const HeadProgram& program,
              const HeadSeries& series) {
  const std::size_t rows = series.rows();
  const std::span<const float> sums = layer.row_values("rows/weight_sum", head);
  own.low.rows.assign(rows, kNaN);
  own.high.rows.assign(rows, kNaN);
  if (sums.size() != rows) return;
  const bool pair = is_pair(program), sinks = pair && program.sink != SinkSource::None;
  const std::vector<double> first = sinks ? kept_shares(layer, head, program, 0, rows) : std::vector<double>(rows, 1.0),
                            second =
                                sinks ? kept_shares(layer, head, program, 1, rows) : std::vector<double>(rows, 1.0);
  for (std::size_t i = 0; i < rows; ++i) {
    const double sum = std::abs(static_cast<double>(sums[i]));
    own.low.rows[i] = sum / std::sqrt(series.visible[i]);
    if (!pair) {
      own.high.rows[i] = sum;
    } else if (i < series.lambda.size()) {
      const double scaled = static_cast<double>(series.lambda[i]) * second[i];
      own.high.rows[i] = scaled < 0.0 ? first[i] - scaled : std::hypot(first[i], scaled);
    }
  }
  // One λ for all rows makes curves of the ends.
  if (!pair || sinks || series.lambda.size() != rows || rows == 0) return;
  const double lambda = static_cast<double>(series.lambda.front());
  if (!std::ranges::all_of(series.lambda, [&](float l) { return static_cast<double>(l) == lambda; })) return;
  own.low = over_root(lambda < 0.0 ? "(1+|λ|)/√nᵢ" : "|1−λ|/√nᵢ", std::abs(1.0 - lambda));
  own.high = level(lambda < 0.0 ? "1+|λ|" : "√(1+λ²)", lambda < 0.0 ? 1.0 - lambda : std::hypot(1.0, lambda));
  own.text = "[" + own.low.name + ", " + own.high.name + (lambda < 0.0 ? "]" : ")");
}

void fill_ceiling(RowInterval& always, const LayerSnapshot& layer, std::int64_t head, const HeadProgram& program,
                  const HeadSeries& series) {
  const std::size_t rows = series.rows();
  always.high.rows.assign(rows, kNaN);
  const std::vector<double> sizes = value_sizes(layer, program, rows);
  if (sizes.size() != rows) return;
  const bool causal = rows < 2 || series.visible.front() == 1.0;
  const std::vector<double> largest = largest_visible(sizes, series.visible, causal, !program.hidden_keys.empty());
  const std::span<const float> l1 = layer.row_values("rows/weight_l1", head),
                               sums = layer.row_values("rows/weight_sum", head);
  const std::span<const float> total = l1.size() == rows ? l1 : is_pair(program) ? std::span<const float>() : sums;
  for (std::size_t i = 0; i < total.size() && i < rows; ++i)
    always.high.rows[i] = std::abs(static_cast<double>(total[i])) * largest[i];
}

std::span<const float> values_of(const HeadSeries& series, RmsTab tab) {
  return tab == RmsTab::Relative ? series.rho : tab == RmsTab::Raw ? series.rms : series.weight_l2;
}

// `slack`: of rounding, where the interval holds for whatever the values are.
RowShares counted(const HeadSeries& series, std::span<const float> values, const RowInterval& interval, double slack) {
  double below = 0.0, inside = 0.0, above = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]), low = interval.low.at(i, series.visible[i]),
                 high = interval.high.at(i, series.visible[i]);
    if (series.faint[i] != 0 || !std::isfinite(value)) continue;
    if (std::isnan(low) || std::isnan(high)) return {};
    const bool open_low = interval.low.value == 0.0 && interval.text.starts_with('(');
    if (open_low ? value <= 0.0 : value < low * (1.0 - slack))
      below += 1.0;
    else if (slack > 0.0 || interval.text.ends_with(']') ? value > high * (1.0 + slack) : value >= high)
      above += 1.0;
    else
      inside += 1.0;
  }
  const double rows = below + inside + above;
  return rows > 0.0 ? RowShares{below / rows, inside / rows, above / rows} : RowShares{};
}

}  // namespace

RmsTab rms_tab(std::string_view name) {
  return name == "raw" ? RmsTab::Raw : name == "weights" ? RmsTab::Weights : RmsTab::Relative;
}

double RowEnd::at(std::size_t row, double visible) const {
  if (per_row()) return row < rows.size() ? rows[row] : kNaN;
  return over_root ? value / std::sqrt(visible) : value;
}

RowIntervals name_intervals(const HeadProgram& program, RmsTab tab) {
  RowIntervals result;
  if (tab == RmsTab::Raw) {
    RowInterval always{"always", "[0, ‖wᵢ‖₁·max rⱼ]",
                       "The triangle inequality, rⱼ = RMS(vⱼ) of the visible values; nothing narrower is promised.",
                       level("", 0.0), level("‖wᵢ‖₁·max rⱼ", kNaN)};
    always.own = true;
    result.all.push_back(std::move(always));
    return result;
  }
  const bool plain = !program.has_second() && program.sums_to_one();
  result.all.push_back(softmax_interval(plain));
  if (plain) return result;
  if (is_pair(program) && program.lambda == LambdaSource::Projection)
    result.all.push_back({"DIFF V2", "(0, √2)", "What DIFF V2 allows with any λ from 0 to 1.", level("", 0.0),
                          level("√2", std::sqrt(2.0))});
  if (program.normalizer == Normalizer::Softpick)
    result.all.push_back({"softpick", "[0, 1)",
                          "What softpick allows: nothing where no logit is above 0 … one key alone.", level("", 0.0),
                          level("1", 1.0)});
  else if (!program.has_second())
    result.all.push_back({program.sink == SinkSource::Zero ? "off-by-one" : "sink logit", "(0, 1)",
                          "What a sink allows that takes any share.", level("", 0.0), level("1", 1.0)});
  result.all.push_back(own_interval(program));
  return result;
}

RowIntervals make_intervals(const RunSnapshot& run, const LayerSnapshot& layer, std::int64_t head,
                            const HeadProgram& program, const HeadSeries& series, RmsTab tab) {
  RowIntervals result = name_intervals(program, tab);
  const std::span<const float> values = series.kept ? values_of(series, tab) : std::span<const float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (series.faint[i] != 0) continue;
    ++result.rows;
    if (!std::isfinite(values[i])) ++result.not_finite;
  }
  for (RowInterval& interval : result.all) {
    if (!values.empty() && tab == RmsTab::Raw) fill_ceiling(interval, layer, head, program, series);
    if (!values.empty() && tab != RmsTab::Raw && interval.own && interval.name == "own")
      fill_own(interval, layer, head, program, series);
    // The shares of ρ are the run's own, of the axis bound: softmax, DIFF V2, the variant's.
    const std::size_t bound = interval.name == "softmax" ? 0 : interval.name == "DIFF V2" ? 1 : 2;
    // Rows that are not finite leave the others to be counted here.
    const bool written = (bound != 2 || interval.own) && result.not_finite == 0;
    const auto share = [&](const char* name) { return run.at(name, layer.layer, head, bound); };
    interval.shares = tab == RmsTab::Relative && written
                          ? RowShares{share("rows_below_bound"), share("rows_inside_bound"), share("rows_above_bound")}
                          : counted(series, values, interval, tab == RmsTab::Relative ? 0.0 : kRounding);
  }
  return result;
}

}  // namespace headroom
