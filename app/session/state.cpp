#include "app/session/state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "app/session/enum_words.h"
#include "core/base/format.h"

namespace headroom {

std::string head_text(HeadRef head) {
  return format("L%lld.H%lld", static_cast<long long>(head.layer), static_cast<long long>(head.head));
}

const char* map_kind_name(MapKind kind) { return word_of(kind); }

const std::string& atlas_quantity(const ViewState& view) {
  return view.centre == CentreView::Compare ? view.compare.quantity : view.heads.quantity;
}

const std::string& maps_quantity(const ViewState& view) {
  const std::string& number = view.heads.maps_number;
  return number.empty() || number == "none" ? view.heads.quantity : number;
}

const RunEntry* State::run(int id) const {
  for (const RunEntry& entry : runs)
    if (entry.id == id) return &entry;
  return nullptr;
}

const ModelEntry* State::find_model(int id) const {
  for (const ModelEntry& entry : models)
    if (entry.id == id) return &entry;
  return nullptr;
}

const ModelEntry* State::opening_model() const {
  const auto opening = std::ranges::find_if(models.rbegin(), models.rend(), &ModelEntry::opening);
  return opening == models.rend() ? nullptr : &*opening;
}

const RunSnapshot* State::data() const {
  const RunEntry* entry = shown();
  return entry ? entry->data.get() : nullptr;
}

const LayerSnapshot* State::selected_layer() const {
  const RunSnapshot* snapshot = data();
  return snapshot && view.selection.head ? snapshot->layer(view.selection.head->layer) : nullptr;
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
