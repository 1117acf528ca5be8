#include "app/session/command_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace headroom {

std::string needs_data(const State& state) {
  if (state.nothing_open()) return "nothing is open";
  const RunSnapshot* data = state.data();
  return data && data->finished_layers() > 0 ? "" : "run first";
}

const HeadProgram* selected_program(const State& state) {
  const LayerSnapshot* layer = state.selected_layer();
  if (!layer) return nullptr;
  const std::int64_t index = layer->head_index(state.view.selection.head->head);
  return index < 0 ? nullptr : &layer->programs[static_cast<std::size_t>(index)];
}

std::string needs_head(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  if (!state.view.selection.head) return "select a head first";
  return selected_program(state) ? "" : "this head is not computed yet";
}

std::string needs_second_map(const State& state) {
  if (std::string reason = needs_head(state); !reason.empty()) return reason;
  return selected_program(state)->has_second() ? "" : "this head has no second map";
}

std::string needs_checkpoint(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  if (state.shown()->model < 0) return "a run file has no weights; open its checkpoint";
  const ModelEntry* model = state.find_model(state.shown()->model);
  return model && model->model ? "" : "the checkpoint of this run is not open";
}

std::string needs_other_run(const State& state) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  return state.other() ? "" : "open a second run first";
}

bool has_head(const RunSnapshot& data, HeadRef head) {
  return std::ranges::binary_search(data.layers, head.layer) && std::ranges::binary_search(data.heads, head.head);
}

std::string heads_of(const RunSnapshot& data) {
  return "a head of this run, " + head_text({data.layers.front(), data.heads.front()}) + " to " +
         head_text({data.layers.back(), data.heads.back()});
}

}  // namespace headroom
