#include "core/corpus/needle_observer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

double norm_of(std::span<const double> values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

std::size_t map_of(int component) { return component < 0 ? kNeedleMaps - 1 : static_cast<std::size_t>(component); }

}  // namespace

const std::vector<std::string>& needle_map_names() {
  static const std::vector<std::string> names = {"first", "second", "net"};
  return names;
}

NeedleObserver::NeedleObserver(const NeedlePrompt& prompt, const ModelSpec& model, const NeedleHeads& heads,
                               double tolerance, const std::function<void(double)>& report,
                               const kernels::StopRequested& stop)
    : prompt_(prompt), model_(model), heads_(heads), report_(report), stop_(stop), check_(tolerance) {
  const std::size_t cells = kNeedleSpans * heads.size() * kNeedleMaps;
  for (std::vector<double>* of : {&measures_.mass, &measures_.absolute, &measures_.energy, &measures_.output})
    of->assign(cells, kNaN);
  measures_.retrieval_of_map.assign(heads.size() * kNeedleMaps, kNaN);
}

std::size_t NeedleObserver::place_of(std::int64_t layer, std::int64_t head) const {
  const auto at = [](const std::vector<std::int64_t>& of, std::int64_t value) {
    return static_cast<std::size_t>(std::ranges::lower_bound(of, value) - of.begin());
  };
  return at(heads_.layers, layer) * heads_.heads.size() + at(heads_.heads, head);
}

const HeadProgram& NeedleObserver::program_of(std::int64_t layer, std::int64_t head) const {
  return model_.blocks[static_cast<std::size_t>(layer)].attention.heads[static_cast<std::size_t>(head)];
}

Result<void> NeedleObserver::on_exact_block(std::int64_t layer, ExactBlock kind, std::int64_t block, std::int64_t,
                                            std::span<const double> values) {
  if (kind != ExactBlock::Value) return {};
  if (std::exchange(layer_, layer) != layer) values_.clear();
  values_.resize(std::max(values_.size(), static_cast<std::size_t>(block) + 1));
  values_[static_cast<std::size_t>(block)].assign(values.begin(), values.end());
  return {};
}

Result<void> NeedleObserver::on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row,
                                           std::int64_t rows, std::span<const double> values) {
  check_.add(program_of(layer, head), layer, head, component, row, rows, values);
  const auto keys = static_cast<std::size_t>(std::ssize(values) / std::max<std::int64_t>(rows, 1));
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::span<const double> weights = values.subspan(static_cast<std::size_t>(r) * keys, keys);
    if (row + r == prompt_.first_row()) measure_first_row(layer, head, component, weights);
    if (row + r >= prompt_.first_row() && row + r + 1 < std::ssize(prompt_.ids))
      count_copy(place_of(layer, head), map_of(component), row + r, weights);
  }
  return {};
}

std::vector<double> NeedleObserver::span_outputs(const HeadProgram::Map& map, std::span<const double> weights) const {
  const std::size_t keys = weights.size();
  std::vector<double> outputs;
  std::size_t width = 0;
  for (const std::int64_t block : map.value_blocks) width += values_[static_cast<std::size_t>(block)].size() / keys;
  outputs.assign(kNeedleSpans * width, 0.0);
  std::size_t before = 0;
  for (const std::int64_t block : map.value_blocks) {
    const std::vector<double>& values = values_[static_cast<std::size_t>(block)];
    const std::size_t channels = values.size() / keys;
    for (std::size_t j = 0; j < keys; ++j) {
      if (weights[j] == 0.0) continue;
      double* const out = outputs.data() + static_cast<std::size_t>(prompt_.spans[j]) * width + before;
      for (std::size_t c = 0; c < channels; ++c) out[c] += weights[j] * values[j * channels + c];
    }
    before += channels;
  }
  return outputs;
}

void NeedleObserver::measure_first_row(std::int64_t layer, std::int64_t head, int component,
                                       std::span<const double> weights) {
  const HeadProgram& program = program_of(layer, head);
  const std::size_t place = place_of(layer, head);
  const std::size_t map = map_of(component);
  const auto cell = [&](std::size_t span, std::size_t of_map) {
    return (span * heads_.size() + place) * kNeedleMaps + of_map;
  };
  std::array<double, kNeedleSpans> mass{}, absolute{}, energy{};
  for (std::size_t j = 0; j < weights.size(); ++j) {
    const auto span = static_cast<std::size_t>(prompt_.spans[j]);
    mass[span] += weights[j];
    absolute[span] += std::abs(weights[j]);
    energy[span] += weights[j] * weights[j];
  }
  for (std::size_t span = 0; span < kNeedleSpans; ++span) {
    measures_.mass[cell(span, map)] = mass[span];
    measures_.absolute[cell(span, map)] = absolute[span];
    measures_.energy[cell(span, map)] = energy[span];
  }
  if (component >= 0) {
    const HeadProgram::Map& of = component == 0 ? program.first : program.second;
    outputs_[component] = span_outputs(of, weights);
    weights_[component].assign(weights.begin(), weights.end());
    return;
  }
  // The net map comes last: its output is the head's own context, before norm, gate and W_O.
  const bool both = program.has_first() && program.has_second();
  std::vector<double> net = program.has_first() ? outputs_[0] : outputs_[1];
  if (both) {
    // w = a₁ − λ a₂ at the key where a₂ is largest.
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(weights_[1]) - weights_[1].begin());
    const double lambda =
        weights_[1][largest] == 0.0 ? 0.0 : (weights_[0][largest] - weights[largest]) / weights_[1][largest];
    for (std::size_t i = 0; i < net.size(); ++i) net[i] -= lambda * outputs_[1][i];
    if (program.first.value_blocks == program.second.value_blocks) net = span_outputs(program.first, weights);
  } else if (program.has_second()) {
    net = span_outputs(program.second, weights);
  }
  const std::size_t width = net.size() / kNeedleSpans;
  std::vector<double> context(width, 0.0);
  for (std::size_t i = 0; i < net.size(); ++i) context[i % width] += net[i];
  const double norm = norm_of(context);
  const auto keep = [&](const std::vector<double>& outputs, std::size_t of_map) {
    for (std::size_t span = 0; span < kNeedleSpans; ++span)
      measures_.output[cell(span, of_map)] = norm_of(std::span(outputs).subspan(span * width, width)) / norm;
  };
  if (program.has_first()) keep(outputs_[0], 0);
  if (program.has_second()) keep(outputs_[1], 1);
  keep(net, 2);
}

// Whether the largest weight of a row that predicts a token of the answer is on that token in the needle.
void NeedleObserver::count_copy(std::size_t place, std::size_t map, std::int64_t row, std::span<const double> weights) {
  double& score = measures_.retrieval_of_map[place * kNeedleMaps + map];
  if (row == prompt_.first_row()) score = 0.0;
  if (!std::ranges::all_of(weights, [](double weight) { return std::isfinite(weight); })) score = kNaN;  // and stays so
  const auto largest = std::ranges::max_element(weights) - weights.begin();
  const bool in_answer = largest >= prompt_.answer_begin && largest < prompt_.answer_begin + prompt_.answer_tokens;
  if (in_answer && prompt_.ids[static_cast<std::size_t>(largest)] == prompt_.ids[static_cast<std::size_t>(row + 1)])
    score += 1.0 / static_cast<double>(prompt_.answer_tokens);
}

void NeedleObserver::on_progress(double fraction, const std::string&) {
  if (report_) report_(fraction);
}

NeedleMeasures NeedleObserver::finish(const ForwardSummary& summary) {
  measures_.non_finite_layer = summary.non_finite_layer;
  if (summary.non_finite_layer >= 0) {
    // What follows a layer that is not finite says nothing of the heads.
    for (const std::int64_t layer : heads_.layers)
      for (const std::int64_t head : heads_.heads) {
        if (layer <= summary.non_finite_layer) continue;
        const std::size_t place = place_of(layer, head);
        for (std::size_t map = 0; map < kNeedleMaps; ++map)
          measures_.retrieval_of_map[place * kNeedleMaps + map] = kNaN;
        for (std::size_t span = 0; span < kNeedleSpans; ++span)
          for (std::size_t map = 0; map < kNeedleMaps; ++map)
            for (std::vector<double>* of : {&measures_.mass, &measures_.absolute, &measures_.energy, &measures_.output})
              (*of)[(span * heads_.size() + place) * kNeedleMaps + map] = kNaN;
      }
    return std::move(measures_);
  }
  double recalled = 0.0, loss = 0.0;
  for (std::int64_t row = prompt_.first_row(); row + 1 < std::ssize(prompt_.ids); ++row) {
    recalled += summary.predictions.rank[static_cast<std::size_t>(row)] == 1 ? 1.0 : 0.0;
    loss += summary.predictions.loss[static_cast<std::size_t>(row)];
  }
  measures_.recalled = recalled / static_cast<double>(prompt_.answer_tokens);
  measures_.answer_loss = loss / static_cast<double>(prompt_.answer_tokens);
  return std::move(measures_);
}

}  // namespace headroom
