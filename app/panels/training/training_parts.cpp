#include "app/panels/training/training_parts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "app/figures/history_kinds.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {

std::vector<TrainingKind> training_kinds(const State& state, const Theme& theme) {
  const Color colors[] = {theme.text, theme.second, theme.first,  theme.ok,  // as figures have them
                          theme.warn, theme.kappa,  theme.lambda, theme.err};
  std::vector<const TrainingEntry*> read;
  std::vector<const StoredHistory*> histories;
  for (const TrainingEntry& entry : state.trainings)
    if (entry.data) read.push_back(&entry), histories.push_back(entry.data.get());
  std::vector<TrainingKind> kinds;
  for (const HistoryKind& kind : history_kinds(histories, std::size(colors))) {
    kinds.push_back({kind.name, colors[kind.ink], {}});
    for (const std::size_t member : kind.members) kinds.back().entries.push_back(read[member]);
  }
  return kinds;
}

ShownHeads shown_heads(const TrainingEntry& entry, const State& state) {
  ShownHeads shown;
  if (!entry.data) return shown;
  const StoredHistory& history = *entry.data;
  if (state.view.training.all_heads) {
    if (history.sink_score.median.empty()) return shown;
    shown.sink_band = &history.sink_score;
    shown.sink_score = &history.sink_score.median;
    if (!history.logit_max.median.empty()) {
      shown.logit_band = &history.logit_max;
      shown.logit_max = &history.logit_max.median;
    }
    if (history.second_maps && !history.sink_score_net.median.empty())
      shown.sink_score_net = &history.sink_score_net.median;
    return shown;
  }
  const HeadRef head = state.training_head();
  const auto found = history.curves.find({head.layer, head.head});
  if (found == history.curves.end()) return shown;
  if (!found->second.sink_score.empty()) shown.sink_score = &found->second.sink_score;
  if (!found->second.logit_max.empty()) shown.logit_max = &found->second.logit_max;
  if (history.second_maps && !found->second.sink_score_net.empty())
    shown.sink_score_net = &found->second.sink_score_net;
  return shown;
}

double value_at_step(const StepSeries* series, std::int64_t step) {
  if (series == nullptr) return kNaN;
  const auto at = series->nearest(step);
  return at ? static_cast<double>(series->values()[*at]) : kNaN;
}

std::int64_t shown_step(const State& state) { return state.hover.step.value_or(state.training_step()); }

std::vector<std::int64_t> kept_steps(const State& state) {
  std::vector<std::int64_t> steps;
  for (const TrainingEntry& entry : state.trainings)
    if (entry.chosen && !entry.hidden && entry.data)
      for (const KeptCheckpoint& kept : entry.data->checkpoints) steps.push_back(kept.step);
  std::ranges::sort(steps);
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::ptrdiff_t nearest_step(const std::vector<std::int64_t>& steps, std::int64_t step) {
  std::ptrdiff_t best = -1;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (best < 0 || std::abs(steps[i] - step) < std::abs(steps[static_cast<std::size_t>(best)] - step))
      best = static_cast<std::ptrdiff_t>(i);
  return best;
}

HeadRef training_shape(const State& state) {
  HeadRef most;
  for (const TrainingEntry& entry : state.trainings)
    if (entry.data) {
      most.layer = std::max(most.layer, entry.data->layers);
      most.head = std::max(most.head, entry.data->heads);
    }
  return most;
}

std::string training_head_text(const State& state) {
  if (!state.view.training.all_heads) return head_text(state.training_head());
  const HeadRef shape = training_shape(state);
  return "median of " + grouped_text(shape.layer * shape.head) + " heads";
}

}  // namespace headroom
