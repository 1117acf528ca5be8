#include "core/run/forward_needs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/model/capture.h"

namespace headroom {
namespace {

void add_needs(ForwardOptions& options, const AttentionSpec& attention) {
  options.widest_query = std::max(options.widest_query, attention.head_dim);
  options.widest_value = std::max(options.widest_value, attention.context_dim());
  options.dense_masks = options.dense_masks || attention.disentangled.present();
  options.always_visible = options.always_visible || attention.always_visible > 0;
  const CaptureCall* call = attention.call.get();
  if (!call) return;
  options.square_masks = options.square_masks && call->queries == call->keys && call->first_query == 0;
  options.dense_masks = options.dense_masks || call->mask.present();
}

}  // namespace

void set_needs(ForwardOptions& options, const ModelSpec& model) {
  options.softmax_only = model.softmax_only();
  if (model.capture) {
    for (const std::int64_t layer : options.layers)
      add_needs(options, model.blocks[static_cast<std::size_t>(layer)].attention);
  } else {
    for (const BlockSpec& block : model.blocks) add_needs(options, block.attention);
  }
}

}  // namespace headroom
