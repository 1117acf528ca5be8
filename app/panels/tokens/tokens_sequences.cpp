// The sequences that the token panel shows: one where rows and keys of the selected layer are of the same, else two.
#include "app/panels/tokens/tokens_sequences.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "app/panels/panel.h"

namespace headroom {
namespace {

// `count` tokens of a sequence, their numbers where it has no ids.
std::shared_ptr<const Prompt> part_of_sequence(const RunSnapshot& run, TokenAxis axis, std::int64_t count) {
  auto part = std::make_shared<Prompt>();
  const auto size = static_cast<std::size_t>(count);
  if (axis != TokenAxis::None) {
    const Prompt& whole = *run.prompt;
    const bool other = axis == TokenAxis::KeyTokens;
    part->ids = other ? whole.key_ids : whole.ids;
    part->texts = other ? whole.key_texts : whole.texts;
    if (!other) part->is_special = whole.is_special;
  }
  for (std::size_t i = part->ids.size(); i < size; ++i) part->ids.push_back(static_cast<std::int32_t>(i));
  part->ids.resize(size);
  if (part->texts.size() >= size)
    part->texts.resize(size);
  else
    part->texts.clear();
  return part;
}

const std::shared_ptr<const Prompt>& sequence_of(const RunSnapshot& run, TokenAxis axis, std::int64_t count,
                                                 RunCache& memory) {
  if (axis == TokenAxis::Tokens && count == run.length) return run.prompt;
  const std::string name = std::string(kTokenAxes[static_cast<std::size_t>(axis)]) + " " + std::to_string(count);
  return memory.sequence(name, [&] { return part_of_sequence(run, axis, count); });
}

}  // namespace

TokenSequences token_sequences(const RunSnapshot& run, const LayerSnapshot* layer, RunCache& memory) {
  if (layer == nullptr || layer->call_name.empty()) return {{run.prompt, true, true}, {}};
  const auto& rows = sequence_of(run, layer->axes.rows, layer->rows, memory);
  const bool same_tokens = layer->axes.rows == layer->axes.keys && layer->axes.rows != TokenAxis::None;
  // Rows of a call that goes on from kept keys are the last of these.
  if (same_tokens && (layer->rows == layer->keys || layer->first_query > 0))
    return {{sequence_of(run, layer->axes.keys, layer->keys, memory), layer->rows == layer->keys, true}, {}};
  return {{sequence_of(run, layer->axes.keys, layer->keys, memory), false, true}, {rows, true, false}};
}

}  // namespace headroom
