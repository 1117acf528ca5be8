#include "app/session/state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "app/session/default_head.h"

namespace headroom {
namespace {

template <typename Entries>
auto with_id(Entries& entries, int id) -> decltype(entries.data()) {
  const auto found = std::ranges::find_if(entries, [id](const auto& entry) { return entry.id == id; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::string atlas_quantity(const ViewState& view) {
  if (view.centre == CentreView::Circuit) return view.circuit.quantity;
  if (view.centre == CentreView::Importance) return way_info(view.importance.colour).quantity;
  return view.centre == CentreView::Compare ? view.compare.quantity : view.heads.quantity;
}

const std::string& maps_quantity(const ViewState& view) {
  const std::string& number = view.heads.maps_number;
  return number.empty() || number == "none" ? view.heads.quantity : number;
}

const RunEntry* State::run(int id) const { return with_id(runs, id); }
const ModelEntry* State::find_model(int id) const { return with_id(models, id); }
const TrainingEntry* State::training(int id) const { return with_id(trainings, id); }
RunEntry* State::edit_run(int id) { return with_id(runs, id); }
ModelEntry* State::edit_model(int id) { return with_id(models, id); }
TrainingEntry* State::edit_training(int id) { return with_id(trainings, id); }

const ModelEntry* State::opening_model() const {
  const auto opening = std::ranges::find_if(models.rbegin(), models.rend(), &ModelEntry::opening);
  return opening == models.rend() ? nullptr : &*opening;
}

HeadRef State::training_head() const {
  if (view.training.head) return *view.training.head;
  for (const TrainingEntry& entry : trainings)
    if (entry.data && entry.data->sink_head) return {entry.data->sink_head->first, entry.data->sink_head->second};
  for (const TrainingEntry& entry : trainings)
    if (!entry.film.empty() && entry.film.back().run)
      if (const auto head = default_head(*entry.film.back().run)) return *head;
  return {};
}

std::int64_t State::last_training_step() const {
  std::int64_t last = 0;
  for (const TrainingEntry& entry : trainings)
    if (entry.data && !entry.hidden) last = std::max(last, entry.data->last_step());
  return last;
}

std::int64_t State::training_step() const {
  const std::int64_t last = last_training_step();
  return std::min(view.training.step.value_or(last), last);
}

const CorpusEntry* State::corpus() const {
  const RunEntry* entry = shown();
  return entry && entry->corpus ? &entry->corpus : nullptr;
}

const RunSnapshot* State::data() const {
  const RunEntry* entry = shown();
  return entry ? entry->data.get() : nullptr;
}

const LayerSnapshot* State::selected_layer() const {
  const RunSnapshot* snapshot = data();
  return snapshot && view.selection.head ? snapshot->layer(view.selection.head->layer) : nullptr;
}

const ModelEntry* State::circuit_model() const {
  const RunEntry* run = shown();
  return find_model(run ? run->model : model);
}

std::shared_ptr<const RunSnapshot> State::heads_shown() const {
  const RunEntry* run = shown();
  if (run && run->data) return run->data;
  const ModelEntry* entry = view.centre == CentreView::Circuit ? circuit_model() : nullptr;
  return entry ? entry->circuits.heads : nullptr;
}

std::optional<std::int64_t> State::circuit_token() const {
  if (view.circuit.token >= 0) return view.circuit.token;
  const RunSnapshot* run = data();
  if (!run || !run->prompt || run->prompt->ids.empty()) return {};
  const Prompt& read = *run->prompt;
  if (view.selection.key && *view.selection.key < static_cast<std::int64_t>(read.ids.size()))
    return read.ids[static_cast<std::size_t>(*view.selection.key)];
  for (std::size_t i = 0; i < read.ids.size() && i < read.texts.size(); ++i)
    if (read.texts[i].size() > 2 && (i >= read.is_special.size() || read.is_special[i] == 0)) return read.ids[i];
  return read.ids.front();
}

std::string State::layer_name(std::int64_t layer) const {
  const RunEntry* run = shown();
  const ModelEntry* entry = run ? find_model(run->model) : nullptr;
  if (entry && layer >= 0 && layer < static_cast<std::int64_t>(entry->layers.size()))
    return entry->layers[static_cast<std::size_t>(layer)].name;
  const LayerSnapshot* found = data() ? data()->layer(layer) : nullptr;
  return found && !found->call_name.empty() ? found->call_name : "layer " + std::to_string(layer);
}

}  // namespace headroom
