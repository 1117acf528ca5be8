#include "core/run/two_sequences.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/model/capture.h"

namespace headroom {
namespace {

std::vector<std::int32_t> without_end(const std::vector<std::int32_t>& ids) {
  return {ids.begin(), std::ranges::find(ids, -1)};
}

}  // namespace

std::vector<std::int32_t> shift_right(const EncoderSpec& encoder, std::span<const std::int32_t> labels) {
  if (labels.empty()) return {};
  std::vector<std::int32_t> ids = {encoder.start_token_id ? static_cast<std::int32_t>(*encoder.start_token_id)
                                                          : labels.back()};
  ids.insert(ids.end(), labels.begin(), labels.end() - 1);
  return ids;
}

Prompt pair_prompts(Prompt source, Prompt target) {
  const std::size_t length = std::max(source.ids.size(), target.ids.size());
  Prompt both = std::move(target);
  both.key_ids = std::move(source.ids);
  both.key_texts = std::move(source.texts);
  both.ids.resize(length, -1);
  both.key_ids.resize(length, -1);
  for (std::vector<std::string>* texts : {&both.texts, &both.key_texts})
    if (!texts->empty()) texts->resize(length);
  if (!both.is_special.empty()) both.is_special.resize(length, 0);
  both.bos_added = source.bos_added;
  both.source = both.source.empty() ? std::move(source.source) : std::move(source.source) + "\n" + both.source;
  return both;
}

SequencePair sequences_of(const EncoderSpec& encoder, const Prompt& prompt) {
  SequencePair pair;
  if (prompt.key_ids.empty()) {
    pair.source = prompt.ids;
    pair.target = shift_right(encoder, prompt.ids);
    return pair;
  }
  pair.source = without_end(prompt.key_ids);
  pair.target = without_end(prompt.ids);
  return pair;
}

void bind_lengths(ModelSpec& model, std::int64_t source, std::int64_t target) {
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    AttentionSpec& attention = model.blocks[layer].attention;
    const bool encodes = static_cast<std::int64_t>(layer) < model.encoder->blocks;
    CaptureCall call;
    call.name = model.layer_name(static_cast<std::int64_t>(layer));
    call.queries = encodes ? source : target;
    call.keys = attention.cross ? source : call.queries;
    call.other_keys = attention.cross;
    attention.call = std::make_shared<const CaptureCall>(std::move(call));
  }
}

CallAxes axes_of_layer(const ModelSpec& model, std::int64_t layer) {
  const AttentionSpec& attention = model.blocks[static_cast<std::size_t>(layer)].attention;
  if (model.capture) return axes_of_call(*model.capture, *attention.call, attention.causal);
  if (!model.encoder) return {TokenAxis::Tokens, TokenAxis::Tokens};
  if (layer < model.encoder->blocks) return {TokenAxis::KeyTokens, TokenAxis::KeyTokens};
  return {TokenAxis::Tokens, attention.cross ? TokenAxis::KeyTokens : TokenAxis::Tokens};
}

}  // namespace headroom
