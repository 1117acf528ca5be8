#include "core/model/model_spec.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/model/mixer_spec.h"

namespace headroom {

std::int64_t WeightRef::rows() const { return row_count >= 0 ? row_count : all_rows(); }

std::int64_t WeightRef::all_rows() const {
  if (stored_shape.empty()) return 1;
  return transposed ? stored_shape.back() : stored_shape[slice >= 0 ? 1 : 0];
}

std::int64_t WeightRef::columns() const {
  if (stored_shape.empty() || is_vector()) return 1;
  return transposed ? stored_shape[slice >= 0 ? 1 : 0] : stored_shape.back();
}

std::int64_t AttentionSpec::context_dim() const {
  return heads.empty() ? 0 : static_cast<std::int64_t>(heads.front().first.value_blocks.size()) * value_dim;
}

bool AttentionSpec::differential() const {
  return std::any_of(heads.begin(), heads.end(), [](const HeadProgram& head) { return head.has_second(); });
}

bool AttentionSpec::shares_projection() const {
  return k.weight.present() && k.weight.tensor == q.weight.tensor && k.weight.row_begin == q.weight.row_begin;
}

bool AttentionSpec::values_are_keys() const {
  return v.weight.present() && v.weight.tensor == k.weight.tensor && v.weight.row_begin == k.weight.row_begin;
}

bool ModelSpec::keys_are_kept(std::int64_t layer) const {
  return std::ranges::any_of(blocks,
                             [layer](const BlockSpec& block) { return block.attention.keys_of_layer == layer; });
}

std::string_view BlockSpec::kind() const { return mixer ? mixer->name() : std::string_view(attention.kind); }

std::vector<std::int64_t> ModelSpec::attention_layers() const {
  std::vector<std::int64_t> layers;
  for (std::size_t layer = 0; layer < blocks.size(); ++layer)
    if (blocks[layer].attends()) layers.push_back(static_cast<std::int64_t>(layer));
  return layers;
}

const AttentionSpec& ModelSpec::first_attention() const {
  const auto found = std::ranges::find_if(blocks, &BlockSpec::attends);
  HEADROOM_CHECK(found != blocks.end(), "a model with attention");
  return found->attention;
}

std::string ModelSpec::kinds_text() const {
  std::vector<std::string_view> kinds;
  for (const BlockSpec& block : blocks)
    if (std::ranges::find(kinds, block.kind()) == kinds.end()) kinds.push_back(block.kind());
  std::string text;
  for (const std::string_view kind : kinds) text += (text.empty() ? "" : ", ") + std::string(kind);
  return text;
}

Result<void> ModelSpec::check_attends(std::span<const std::int64_t> layers) const {
  for (const std::int64_t layer : layers) {
    const BlockSpec& block = blocks[static_cast<std::size_t>(layer)];
    if (block.attends()) continue;
    Error error(ErrorCode::InvalidArgument,
                format("layer %lld has no attention: nothing in it has maps or heads", static_cast<long long>(layer)));
    return error.wanted("one of the layers " + layers_text(attention_layers()), std::string(block.kind()));
  }
  return {};
}

std::string layers_text(std::span<const std::int64_t> layers) {
  std::string text;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < layers.size() && layers[i + 1] == layers[i] + 1) ++i;
    text += (text.empty() ? "" : ", ") + std::to_string(layers[first]);
    if (i > first) text += "-" + std::to_string(layers[i]);
  }
  return text;
}

bool ModelSpec::memory_is_kept(std::int64_t layer) const {
  return std::ranges::any_of(
      blocks, [layer](const BlockSpec& block) { return block.mixer && block.mixer->memory_of_layer() == layer; });
}

bool ModelSpec::causal() const {
  const std::span<const BlockSpec> stream =
      std::span(blocks).subspan(encoder ? static_cast<std::size_t>(encoder->blocks) : 0);
  return std::ranges::all_of(stream,
                             [](const BlockSpec& block) { return block.attention.cross || block.attention.causal; });
}

std::string ModelSpec::layer_name(std::int64_t layer) const {
  if (!encoder) return "";
  if (layer < encoder->blocks) return "encoder " + std::to_string(layer);
  const std::int64_t behind = layer - encoder->blocks;
  return "decoder " + std::to_string(behind / 2) + (behind % 2 == 0 ? " self" : " cross");
}

std::int64_t ModelSpec::learned_positions() const {
  return position_embedding.present() ? position_embedding.rows() - (padding_id ? *padding_id + 1 : 0) : 0;
}

bool ModelSpec::softmax_only() const {
  return std::ranges::all_of(blocks, [](const BlockSpec& block) {
    return std::ranges::all_of(block.attention.heads,
                               [](const HeadProgram& head) { return head.normalizer == Normalizer::Softmax; });
  });
}

namespace {

void visit_one(const WeightRef& weight, std::string_view account, std::int64_t layer, const WeightVisitor& visit) {
  if (weight.present()) visit(weight, account, layer);
}

void visit_linear(const LinearSpec& linear, std::string_view account, std::int64_t layer, const WeightVisitor& visit) {
  visit_one(linear.weight, account, layer, visit);
  visit_one(linear.bias, account, layer, visit);
}

void visit_norm(const NormSpec& norm, std::string_view account, std::int64_t layer, const WeightVisitor& visit) {
  visit_one(norm.weight, account, layer, visit);
  visit_one(norm.bias, account, layer, visit);
}

void visit_mlp(const MlpSpec& mlp, std::string_view account, std::int64_t layer, const WeightVisitor& visit) {
  for (const LinearSpec* linear : {&mlp.gate, &mlp.up, &mlp.down}) visit_linear(*linear, account, layer, visit);
  visit_one(mlp.power_weight, account, layer, visit);
  visit_one(mlp.power_bias, account, layer, visit);
}

}  // namespace

void for_each_weight(const BlockSpec& block, std::int64_t layer, const WeightVisitor& visit) {
  const AttentionSpec& attention = block.attention;
  visit_norm(block.attention_branch.before, "norm", layer, visit);
  for (const auto& [latent, account] : {std::pair(&attention.q_latent, "q"), std::pair(&attention.kv_latent, "k")}) {
    visit_linear(latent->down, account, layer, visit);
    visit_norm(latent->norm, "qk_norm", layer, visit);
  }
  visit_linear(attention.shared_key, "k", layer, visit);
  visit_linear(attention.q, "q", layer, visit);
  if (!attention.shares_projection()) visit_linear(attention.k, "k", layer, visit);
  if (!attention.values_are_keys()) visit_linear(attention.v, "v", layer, visit);
  visit_linear(attention.o, "o", layer, visit);
  visit_one(attention.disentangled.embedding, "position", layer, visit);
  visit_norm(attention.disentangled.norm, "position", layer, visit);
  visit_linear(attention.disentangled.key, "position", layer, visit);
  visit_linear(attention.disentangled.query, "position", layer, visit);
  visit_norm(attention.q_norm, "qk_norm", layer, visit);
  visit_norm(attention.k_norm, "qk_norm", layer, visit);
  visit_norm(attention.v_norm, "qk_norm", layer, visit);
  visit_linear(attention.lambda_projection, "lambda", layer, visit);
  for (const WeightRef* weight :
       {&attention.lambda_q1, &attention.lambda_k1, &attention.lambda_q2, &attention.lambda_k2})
    visit_one(*weight, "lambda", layer, visit);
  visit_one(attention.stored_lambda_init, "lambda", layer, visit);
  visit_norm(attention.head_norm, "head_norm", layer, visit);
  visit_one(attention.sink_logits, "sink", layer, visit);
  visit_one(attention.bias.table, "bias", layer, visit);
  visit_linear(attention.gate_projection, "gate", layer, visit);
  if (block.mixer) for_each_weight(*block.mixer, [&](const WeightRef& weight) { visit(weight, "mixer", layer); });
  visit_norm(block.attention_branch.after, "norm", layer, visit);
  visit_norm(block.attention_branch.sum, "norm", layer, visit);
  visit_norm(block.mlp_branch.before, "norm", layer, visit);
  visit_mlp(block.mlp, "mlp", layer, visit);
  visit_norm(block.experts.router.norm, "router", layer, visit);
  visit_linear(block.experts.router.logits, "router", layer, visit);
  visit_one(block.experts.router.expert_scales, "router", layer, visit);
  visit_one(block.experts.router.choice_bias, "router", layer, visit);
  visit_linear(block.experts.shared_gate, "router", layer, visit);
  for (const NormSpec* norm : {&block.experts.before, &block.experts.after, &block.experts.mlp_after})
    visit_norm(*norm, "norm", layer, visit);
  for (const MlpSpec& expert : block.experts.experts) visit_mlp(expert, "expert", layer, visit);
  visit_norm(block.mlp_branch.after, "norm", layer, visit);
  visit_norm(block.mlp_branch.sum, "norm", layer, visit);
  for (const LinearSpec* linear :
       {&block.laurel.left, &block.laurel.right, &block.altup.router, &block.altup.prediction, &block.altup.correction,
        &block.token_branch.gate, &block.token_branch.up})
    visit_linear(*linear, "stream", layer, visit);
  for (const NormSpec* norm : {&block.laurel.norm, &block.altup.norm, &block.token_branch.norm})
    visit_norm(*norm, "norm", layer, visit);
  visit_one(block.altup.scale, "stream", layer, visit);
  visit_one(block.scale, "stream", layer, visit);
}

void for_each_weight(const ModelSpec& model, const WeightVisitor& visit) {
  visit_one(model.embedding, "embedding", -1, visit);
  visit_one(model.position_embedding, "embedding", -1, visit);
  visit_one(model.type_embedding, "embedding", -1, visit);
  visit_norm(model.embedding_norm, "norm", -1, visit);
  visit_linear(model.embedding_projection, "embedding", -1, visit);
  visit_one(model.layer_embedding.table, "embedding", -1, visit);
  visit_linear(model.layer_embedding.projection, "embedding", -1, visit);
  visit_norm(model.layer_embedding.norm, "norm", -1, visit);
  for (const std::vector<LinearSpec>* projections : {&model.streams.in, &model.streams.out})
    for (const LinearSpec& projection : *projections) visit_linear(projection, "stream", -1, visit);
  if (model.encoder) {
    if (model.encoder->embedding.tensor != model.embedding.tensor)
      visit_one(model.encoder->embedding, "embedding", -1, visit);
    visit_one(model.encoder->position_embedding, "embedding", -1, visit);
    visit_norm(model.encoder->embedding_norm, "norm", -1, visit);
    visit_norm(model.encoder->final_norm, "norm", -1, visit);
  }
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer)
    for_each_weight(model.blocks[layer], static_cast<std::int64_t>(layer), visit);
  visit_norm(model.final_norm, "norm", -1, visit);
  visit_linear(model.head_transform.dense, "lm_head", -1, visit);
  visit_norm(model.head_transform.norm, "norm", -1, visit);
  if (!model.tied) visit_one(model.lm_head.weight, "lm_head", -1, visit);
  visit_one(model.lm_head.bias, "lm_head", -1, visit);
}

}  // namespace headroom
