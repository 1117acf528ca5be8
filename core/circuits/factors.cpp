#include "core/circuits/factors.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/model/mixer_spec.h"
#include "kernels/cpu/product.h"

namespace headroom {
namespace {

// [rows, columns] of the file as [columns, rows].
Result<Thin> read_turned(const ModelSource& source, const WeightRef& weight) {
  std::vector<double> values(static_cast<std::size_t>(weight.rows() * weight.columns()));
  HEADROOM_TRY_VOID(source.read(weight, std::span<double>(values)));
  Thin turned(weight.columns(), weight.rows());
  for (std::int64_t r = 0; r < weight.rows(); ++r)
    for (std::int64_t c = 0; c < weight.columns(); ++c)
      turned.row(c)[r] = values[static_cast<std::size_t>(r * weight.columns() + c)];
  return turned;
}

Thin columns_of(const Thin& from, std::int64_t first, std::int64_t count) {
  Thin part(from.rows, count);
  for (std::int64_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r) + first, count, part.row(r));
  return part;
}

void scale_rows(const std::vector<double>& gain, Thin& factor) {
  for (std::int64_t r = 0; r < factor.rows; ++r)
    for (std::int64_t c = 0; c < factor.columns; ++c) factor.row(r)[c] *= gain[static_cast<std::size_t>(r)];
}

void centre_columns(Thin& factor) {
  std::vector<double> means(static_cast<std::size_t>(factor.columns), 0.0);
  for (std::int64_t r = 0; r < factor.rows; ++r)
    for (std::int64_t c = 0; c < factor.columns; ++c)
      means[static_cast<std::size_t>(c)] += factor.row(r)[c] / static_cast<double>(factor.rows);
  for (std::int64_t r = 0; r < factor.rows; ++r)
    for (std::int64_t c = 0; c < factor.columns; ++c) factor.row(r)[c] -= means[static_cast<std::size_t>(c)];
}

// Blocks of `width` channels of a projection of x, each [D, width].
Result<std::vector<Thin>> read_blocks(const ModelSource& source, const WeightRef& weight, std::int64_t blocks,
                                      std::int64_t width, const NormSpec& before, const std::vector<double>& gain) {
  HEADROOM_TRY(Thin all, read_turned(source, weight));
  fold_into_reader(before, gain, all);
  std::vector<Thin> parts;
  for (std::int64_t b = 0; b < blocks; ++b) parts.push_back(columns_of(all, b * width, width));
  return parts;
}

// Gains of a norm of queries or keys, by channel of the head or of all of them.
Result<void> fold_head_gain(const ModelSource& source, QkNormScope scope, const NormSpec& norm,
                            std::vector<Thin>& blocks) {
  if (scope == QkNormScope::None || blocks.empty() || !norm.weight.present()) return {};
  const std::int64_t width = blocks.front().columns;
  const bool whole = scope == QkNormScope::Whole;
  HEADROOM_TRY(const std::vector<double> gain,
               read_gain(source, norm, whole ? width * static_cast<std::int64_t>(blocks.size()) : width));
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::int64_t r = 0; r < blocks[b].rows; ++r)
      for (std::int64_t c = 0; c < width; ++c)
        blocks[b].row(r)[c] *= gain[static_cast<std::size_t>(c) + (whole ? b * static_cast<std::size_t>(width) : 0)];
  return {};
}

Result<void> read_qk(const ModelSource& source, const BlockSpec& block, const std::vector<double>& gain,
                     LayerFactors& factors) {
  const AttentionSpec& a = block.attention;
  const NormSpec& before = block.attention_branch.before;
  HEADROOM_TRY(factors.query, read_blocks(source, a.q.weight, a.num_query_blocks, a.head_dim, before, gain));
  HEADROOM_TRY(factors.key, read_blocks(source, a.k.weight, a.num_key_blocks, a.head_dim, before, gain));
  HEADROOM_TRY_VOID(fold_head_gain(source, a.qk_norm, a.q_norm, factors.query));
  return fold_head_gain(source, a.qk_norm, a.k_norm, factors.key);
}

Result<void> read_ov(const ModelSource& source, const BlockSpec& block, const std::vector<double>& gain,
                     std::int64_t hidden, LayerFactors& factors) {
  const AttentionSpec& a = block.attention;
  HEADROOM_TRY(factors.value,
               read_blocks(source, a.v.weight, a.num_value_blocks, a.value_dim, block.attention_branch.before, gain));
  HEADROOM_TRY_VOID(fold_head_gain(source, a.v_norm.kind == NormKind::None ? QkNormScope::None : QkNormScope::PerHead,
                                   a.v_norm, factors.value));
  Thin all(a.o.weight.rows(), a.o.weight.columns());
  HEADROOM_TRY_VOID(source.read(a.o.weight, std::span<double>(all.values)));
  const NormSpec& after = block.attention_branch.after;
  HEADROOM_TRY(const std::vector<double> after_gain, read_gain(source, after, hidden));
  fold_into_writer(after, after_gain, all);
  const std::int64_t channels = a.context_dim();
  HEADROOM_TRY(const std::vector<double> head_gain, read_gain(source, a.head_norm, channels));
  for (std::size_t h = 0; h < a.heads.size(); ++h) {
    Thin part = columns_of(all, static_cast<std::int64_t>(h) * channels, channels);
    const HeadProgram& head = a.heads[h];
    for (std::int64_t r = 0; r < part.rows; ++r)
      for (std::int64_t c = 0; c < channels; ++c)
        part.row(r)[c] *= head.post_scale * (head.post_norm ? head_gain[static_cast<std::size_t>(c)] : 1.0);
    factors.output.push_back(std::move(part));
  }
  return {};
}

// What neither circuit of the layer is made of.
std::string layer_refusal(const ModelSpec& model, std::int64_t layer) {
  const BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
  if (model.capture) return "a capture holds calls of attention and no weights";
  if (!block.attends()) return "a layer without attention (" + std::string(block.kind()) + ")";
  const AttentionSpec& a = block.attention;
  if (a.q_latent.present() || a.kv_latent.present() || a.shared_key.weight.present())
    return "latent attention: a norm stands between the two factors of its projections";
  if (a.keys_of_layer >= 0)
    return "its keys and values are those of layer " + std::to_string(a.keys_of_layer) + ", which reads another stream";
  if (a.cross) return "cross-attention: queries and keys read two different streams";
  return "";
}

}  // namespace

Thin product(const Thin& a, const Thin& b) {
  Thin result(a.columns, b.columns);
  kernels::add_product(a.values.data(), a.columns, b.values.data(), b.columns, a.rows, a.columns, b.columns,
                       result.values.data(), b.columns);
  return result;
}

Thin LayerFactors::values_of(const HeadProgram& head) const {
  const std::vector<std::int64_t>& blocks = head.first.value_blocks;
  const std::int64_t width = value.front().columns;
  Thin all(value.front().rows, width * static_cast<std::int64_t>(blocks.size()));
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (std::int64_t r = 0; r < all.rows; ++r)
      std::copy_n(value[static_cast<std::size_t>(blocks[b])].row(r), width,
                  all.row(r) + static_cast<std::int64_t>(b) * width);
  return all;
}

std::string qk_refusal(const ModelSpec& model, std::int64_t layer) { return layer_refusal(model, layer); }

std::string ov_refusal(const ModelSpec& model, std::int64_t layer) {
  std::string reason = layer_refusal(model, layer);
  if (!reason.empty()) return reason;
  const AttentionSpec& a = model.blocks[static_cast<std::size_t>(layer)].attention;
  for (const HeadProgram& head : a.heads)
    if (head.has_second() && head.second.value_blocks != head.first.value_blocks)
      return "the two maps of a head multiply different values";
  return "";
}

std::string path_refusal(const ModelSpec& model, std::int64_t layer) {
  std::string reason = ov_refusal(model, layer);
  if (!reason.empty()) return reason;
  if (!model.embedding.present()) return "the file has no embedding";
  if (!model.lm_head.weight.present()) return "the file has no unembedding";
  if (model.encoder && layer < model.encoder->blocks) return "the encoder's stream does not end in the unembedding";
  if (model.streams.present()) return "the model has several residual streams";
  if (model.embedding_projection.weight.present()) return "a projection stands between the embedding and the stream";
  if (model.embedding_norm.kind != NormKind::None)
    return "several norms: one stands between the embedding and the stream";
  if (model.head_transform.dense.weight.present()) return "a layer of its own stands between the stream and the logits";
  for (const BlockSpec& block : model.blocks)
    if (block.attention_branch.sum.kind != NormKind::None || block.mlp_branch.sum.kind != NormKind::None)
      return "several norms: the stream itself is normed behind every sum";
  return "";
}

Result<std::vector<double>> read_gain(const ModelSource& source, const NormSpec& norm, std::int64_t width) {
  std::vector<double> gain(static_cast<std::size_t>(width), 1.0);
  if (norm.kind == NormKind::None || !norm.weight.present()) return gain;
  if (norm.weight.rows() != width) {
    Error error(ErrorCode::Unsupported, "a norm has another width than what it norms");
    return error.at_tensor(norm.weight.tensor).wanted(std::to_string(width), std::to_string(norm.weight.rows()));
  }
  HEADROOM_TRY_VOID(source.read(norm.weight, std::span<double>(gain)));
  for (double& value : gain) value += norm.weight_offset;
  return gain;
}

void fold_into_reader(const NormSpec& norm, const std::vector<double>& gain, Thin& factor) {
  if (norm.kind == NormKind::None) return;
  scale_rows(gain, factor);
  if (norm.kind == NormKind::Layer) centre_columns(factor);
}

void fold_into_writer(const NormSpec& norm, const std::vector<double>& gain, Thin& factor) {
  if (norm.kind == NormKind::None) return;
  if (norm.kind == NormKind::Layer) centre_columns(factor);
  scale_rows(gain, factor);
}

Result<LayerFactors> read_factors(const ModelSource& source, const ModelSpec& model, std::int64_t layer) {
  LayerFactors factors;
  factors.qk_refused = qk_refusal(model, layer);
  factors.ov_refused = ov_refusal(model, layer);
  const BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
  if (!block.attends()) return factors;
  HEADROOM_TRY(const std::vector<double> gain, read_gain(source, block.attention_branch.before, model.hidden_size));
  if (factors.qk_refused.empty()) HEADROOM_TRY_VOID(read_qk(source, block, gain, factors));
  if (factors.ov_refused.empty()) HEADROOM_TRY_VOID(read_ov(source, block, gain, model.hidden_size, factors));
  return factors;
}

}  // namespace headroom
