#include "core/compute/layer_heads.h"

namespace headroom {

std::vector<double> to_vector(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kCPU, at::kDouble).contiguous();
  const double* data = values.const_data_ptr<double>();
  return {data, data + values.numel()};
}

std::vector<float> block_values(const at::Tensor& x) {
  std::vector<float> values(static_cast<std::size_t>(x.numel()));
  at::from_blob(values.data(), {x.size(1), x.size(0), x.size(2)}, at::kFloat).copy_(x.permute({1, 0, 2}));
  return values;
}

Result<void> send_exact_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& context,
                               const std::vector<std::int64_t>& measured, std::int64_t layer,
                               ForwardObserver& observer) {
  const std::pair<ExactBlock, const at::Tensor*> projections[] = {
      {ExactBlock::Query, &q}, {ExactBlock::Key, &k}, {ExactBlock::Value, &v}};
  for (const auto& [kind, projection] : projections)
    for (std::int64_t block = 0; block < projection->size(1); ++block)
      HEADROOM_TRY_VOID(
          observer.on_exact_block(layer, kind, block, projection->size(0), to_vector(projection->select(1, block))));
  for (const std::int64_t head : measured)
    HEADROOM_TRY_VOID(
        observer.on_exact_block(layer, ExactBlock::Context, head, context.size(0), to_vector(context.select(1, head))));
  return {};
}

void fill_layer(const AttentionSpec& attention, const AttentionWeights& weights, std::int64_t layer,
                std::int64_t length, std::span<const std::int64_t> induction_key, LayerRecord& record) {
  record.layer = layer;
  record.kind = attention.kind;
  record.length = record.key_length = length;
  if (attention.call) {
    record.name = attention.call->name;
    record.key_length = attention.call->keys;
    record.first_query = attention.call->first_query;
    record.positional = attention.call->positional(attention.causal);
  }
  record.window = attention.window;
  record.chunk = attention.chunk;
  record.always_visible = attention.always_visible;
  record.causal = attention.causal;
  record.induction_key.assign(induction_key.begin(), induction_key.end());
  record.context_dim = attention.context_dim();
  record.lambda_init = attention.lambda_q1.present() ? weights.lambda_init : kNaN;
}

void keep_products(const AttentionSpec& attention, const at::Tensor& queries, const at::Tensor& keys, bool keep,
                   LayerRecord& record) {
  record.head_dim = attention.head_dim;
  record.num_query_blocks = attention.num_query_blocks;
  record.num_key_blocks = attention.num_key_blocks;
  record.scale = attention.scale;
  record.softcap = attention.softcap;
  if (!keep) return;
  record.queries = block_values(queries);
  record.keys = block_values(keys);
}

}  // namespace headroom
