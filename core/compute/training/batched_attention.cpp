#include "core/compute/training/batched_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/compute/mask_tensor.h"
#include "core/model/distance_bias.h"
#include "kernels/attention.h"
#include "kernels/mask.h"

namespace headroom {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

const HeadProgram::Map& map_of(const HeadProgram& head, int map) { return map == 0 ? head.first : head.second; }

bool has(const HeadProgram& head, int map) { return map == 0 ? head.has_first() : head.has_second(); }

bool all_heads_have(const AttentionSpec& attention, int map) {
  return std::ranges::all_of(attention.heads, [&](const HeadProgram& head) { return has(head, map); });
}

bool any_head_has(const AttentionSpec& attention, int map) {
  return std::ranges::any_of(attention.heads, [&](const HeadProgram& head) { return has(head, map); });
}

// Blocks `index(head)` of [batch, blocks, length, channels], one for each head. A head without the map reads block 0,
// and what comes of it is multiplied by 0.
template <typename Index>
at::Tensor blocks_of(const AttentionSpec& attention, const at::Tensor& x, const Index& index) {
  std::vector<std::int64_t> blocks;
  for (const HeadProgram& head : attention.heads) blocks.push_back(std::max<std::int64_t>(index(head), 0));
  bool in_order = static_cast<std::int64_t>(blocks.size()) == x.size(1);
  for (std::size_t i = 0; i < blocks.size(); ++i) in_order = in_order && blocks[i] == static_cast<std::int64_t>(i);
  return in_order ? x : x.index_select(1, at::tensor(blocks, at::kLong).to(x.device()));
}

at::Tensor queries(const AttentionSpec& attention, const BatchedHeads& heads, int map) {
  return blocks_of(attention, heads.q, [&](const HeadProgram& head) { return map_of(head, map).query_block; });
}

at::Tensor keys(const AttentionSpec& attention, const BatchedHeads& heads, int map) {
  return blocks_of(attention, heads.k, [&](const HeadProgram& head) { return map_of(head, map).key_block; });
}

// The concatenated value blocks of each head.
at::Tensor values(const AttentionSpec& attention, const BatchedHeads& heads, int map) {
  std::size_t slots = 1;
  for (const HeadProgram& head : attention.heads) slots = std::max(slots, map_of(head, map).value_blocks.size());
  std::vector<at::Tensor> parts;
  for (std::size_t slot = 0; slot < slots; ++slot)
    parts.push_back(blocks_of(attention, heads.v, [&](const HeadProgram& head) {
      const auto& blocks = map_of(head, map).value_blocks;
      return blocks.empty() ? 0 : blocks[slot];
    }));
  return parts.size() == 1 ? parts.front() : at::cat(parts, -1);
}

// 1 for the heads that pass, as [heads, 1, 1].
template <typename Test>
at::Tensor head_mask(const AttentionSpec& attention, const at::Tensor& like, const Test& test) {
  std::vector<double> mask;
  for (const HeadProgram& head : attention.heads) mask.push_back(test(head) ? 1.0 : 0.0);
  return at::tensor(mask, at::kDouble).to(like.device(), like.scalar_type()).view({-1, 1, 1});
}

// λ of every head, [batch, heads, length, 1].
at::Tensor lambdas(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& logits,
                   const at::Tensor& like) {
  at::Tensor sum;
  const auto add = [&](LambdaSource source, const auto& make) {
    const auto count = std::ranges::count(attention.heads, source, &HeadProgram::lambda);
    if (count == 0) return;
    at::Tensor value = make();
    if (count < static_cast<std::ptrdiff_t>(attention.heads.size()))
      value = value * head_mask(attention, like, [&](const HeadProgram& head) { return head.lambda == source; });
    sum = sum.defined() ? sum + value : value;
  };
  const auto by_token = [&] { return logits.transpose(1, 2).unsqueeze(-1); };
  add(LambdaSource::Projection, [&] { return at::sigmoid(by_token()); });
  add(LambdaSource::RawProjection, by_token);
  add(LambdaSource::LayerScalar, [&] { return lambda_scalar(weights).to(like.scalar_type()); });
  add(LambdaSource::Constant, [&] {
    std::vector<double> constants;
    for (const HeadProgram& head : attention.heads) constants.push_back(head.lambda_constant);
    return at::tensor(constants, at::kDouble).to(like.device(), like.scalar_type()).view({1, -1, 1, 1});
  });
  if (!sum.defined()) return sum;
  return sum.expand({like.size(0), static_cast<std::int64_t>(attention.heads.size()), like.size(2), 1});
}

// U1 and U2 of V2 from one call over its query heads in their own order; nothing where the heads are not the regular
// 2i, 2i + 1 of one GQA attention.
bool regular_v2(const AttentionSpec& attention) {
  const auto heads = static_cast<std::int64_t>(attention.heads.size());
  if (attention.num_query_blocks != 2 * heads || 2 * heads % attention.num_key_blocks != 0) return false;
  const std::int64_t group = 2 * heads / attention.num_key_blocks;
  for (std::int64_t i = 0; i < heads; ++i) {
    const HeadProgram& head = attention.heads[static_cast<std::size_t>(i)];
    const HeadProgram::Map first{2 * i, 2 * i / group, {2 * i / group}};
    const HeadProgram::Map second{2 * i + 1, (2 * i + 1) / group, {(2 * i + 1) / group}};
    if (!head.first_enabled || !(head.first == first) || !(head.second == second)) return false;
  }
  return true;
}

at::Tensor library_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale) {
  return at::scaled_dot_product_attention(q, k, v, {}, 0.0, true, scale, q.size(1) != k.size(1));
}

at::Tensor library_contexts(const AttentionSpec& attention, const BatchedHeads& heads) {
  if (regular_v2(attention)) {
    const at::Tensor u = library_attention(heads.q, heads.k, heads.v, attention.scale);
    return u.slice(1, 0, u.size(1), 2) - heads.lambda * u.slice(1, 1, u.size(1), 2);
  }
  at::Tensor context;
  for (int map = 0; map < 2; ++map) {
    if (!any_head_has(attention, map)) continue;
    at::Tensor u = library_attention(queries(attention, heads, map), keys(attention, heads, map),
                                     values(attention, heads, map), attention.scale);
    if (!all_heads_have(attention, map))
      u = u * head_mask(attention, u, [&](const HeadProgram& h) { return has(h, map); });
    if (map == 1) u = -heads.lambda * u;
    context = context.defined() ? context + u : u;
  }
  return context;
}

// True where a row does not see a key, [heads, length, length].
at::Tensor hidden_entries(const AttentionSpec& attention, const at::Tensor& like) {
  const std::int64_t length = like.size(2);
  const at::Tensor positions = at::arange(length, at::TensorOptions().dtype(at::kInt).device(like.device()));
  std::vector<at::Tensor> by_head;
  for (const HeadProgram& head : attention.heads) {
    const kernels::Mask mask{length, attention.causal, attention.window, 0, head.hidden_keys};
    const at::Tensor hidden = MaskTensor(mask, positions).tile({0, length}, {0, length}).hidden;
    by_head.push_back(hidden.defined() ? hidden : at::zeros({length, length}, positions.options().dtype(at::kBool)));
  }
  return at::stack(by_head);
}

// What the distance adds to the logits, [heads, length, length].
at::Tensor biases(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& like) {
  const std::int64_t length = like.size(2), heads = static_cast<std::int64_t>(attention.heads.size());
  const at::Tensor positions = at::arange(length, at::TensorOptions().dtype(at::kLong));
  const at::Tensor distances = positions.unsqueeze(1) - positions;
  const DistanceBiasSpec& spec = attention.bias;
  if (!spec.table.present()) {
    const at::Tensor slopes = at::tensor(spec.slopes, at::kDouble).view({heads, 1, 1});
    return (-slopes * distances.abs()).to(like.device(), like.scalar_type());
  }
  std::vector<std::int64_t> buckets;
  for (std::int64_t distance = -(length - 1); distance < length; ++distance)
    buckets.push_back(distance_bucket(distance, weights.bias_table.size(0), spec));
  const at::Tensor bucket = at::tensor(buckets, at::kLong).index_select(0, (distances + (length - 1)).flatten());
  const at::Tensor values = weights.bias_table.index_select(0, bucket.to(weights.bias_table.device()));
  return values.to(like.scalar_type()).t().reshape({heads, length, length});
}

// As kernels/attention.h has it.
at::Tensor softpick(const at::Tensor& z) {
  const at::Tensor largest = z.amax(-1, true).detach(), shift = largest.clamp_min(0.0);
  const at::Tensor x = (at::exp(z - shift) - at::exp(-shift)).masked_fill(at::isneginf(z), 0.0);
  return at::relu(x) / (x.abs().sum(-1, true) + kernels::kSoftpickEpsilon * at::exp(largest - shift));
}

// Weights of map 0 or 1 of every head, [batch, heads, length, length]; heads without that map have zeros.
at::Tensor attention_map(const AttentionSpec& attention, const AttentionWeights& weights, const BatchedHeads& heads,
                         int map) {
  const at::Tensor q = queries(attention, heads, map), k = keys(attention, heads, map);
  at::Tensor result;
  at::Tensor z = at::matmul(q, k.transpose(-1, -2)) * attention.scale;
  if (attention.bias.present()) z = z + biases(attention, weights, q);
  if (attention.softcap > 0.0) z = attention.softcap * at::tanh(z / attention.softcap);
  if (std::ranges::any_of(attention.heads, [](const HeadProgram& head) { return head.temperature != 1.0; })) {
    std::vector<double> temperatures;
    for (const HeadProgram& head : attention.heads) temperatures.push_back(head.temperature);
    z = z / at::tensor(temperatures, at::kDouble).to(z.device(), z.scalar_type()).view({-1, 1, 1});
  }
  z = z.masked_fill(hidden_entries(attention, q), kMinusInfinity);
  const auto sinks = [&](SinkSource source) { return std::ranges::count(attention.heads, source, &HeadProgram::sink); };
  if (sinks(SinkSource::None) == static_cast<std::ptrdiff_t>(attention.heads.size())) {
    result = at::softmax(z, -1);
  } else {
    // One more key with the sink's logit and no value: 0 off by one, learned, or none at all.
    at::Tensor sink = at::zeros({static_cast<std::int64_t>(attention.heads.size())}, z.options());
    if (sinks(SinkSource::Learned) > 0) {
      const at::Tensor learned =
          head_mask(attention, z, [](const HeadProgram& head) { return head.sink == SinkSource::Learned; }).flatten();
      sink = sink + learned * weights.sink_logits;
    }
    const at::Tensor none =
        head_mask(attention, z, [](const HeadProgram& head) { return head.sink == SinkSource::None; }).flatten();
    sink = sink.masked_fill(none != 0.0, kMinusInfinity);
    const at::Tensor column = sink.view({1, -1, 1, 1}).expand({z.size(0), z.size(1), z.size(2), 1});
    result = at::softmax(at::cat({z, column}, -1), -1).narrow(-1, 0, z.size(-1));
  }
  const auto picks = [](const HeadProgram& head) { return head.normalizer == Normalizer::Softpick; };
  if (std::ranges::any_of(attention.heads, picks))
    result = at::where(head_mask(attention, z, picks) != 0.0, softpick(z), result);
  if (!all_heads_have(attention, map))
    result = result * head_mask(attention, z, [&](const HeadProgram& head) { return has(head, map); });
  return result;
}

at::Tensor map_contexts(const AttentionSpec& attention, const AttentionWeights& weights, const BatchedHeads& heads) {
  at::Tensor context;
  for (int map = 0; map < 2; ++map) {
    if (!any_head_has(attention, map)) continue;
    at::Tensor u = at::matmul(attention_map(attention, weights, heads, map), values(attention, heads, map));
    if (map == 1) u = -heads.lambda * u;
    context = context.defined() ? context + u : u;
  }
  return context;
}

}  // namespace

bool library_runs(const AttentionSpec& attention) {
  if (!attention.causal || attention.softcap > 0.0 || attention.window > 0 || attention.bias.present()) return false;
  return std::ranges::all_of(attention.heads, [](const HeadProgram& head) {
    return head.sums_to_one() && head.temperature == 1.0 && head.hidden_keys.empty();
  });
}

void run_heads(const AttentionSpec& attention, const AttentionWeights& weights, AttentionPath path,
               BatchedHeads& heads) {
  if (any_head_has(attention, 1)) heads.lambda = lambdas(attention, weights, heads.lambda_logits, heads.q);
  if (path == AttentionPath::Auto) {
    const bool fused = library_runs(attention) && attention.context_dim() == attention.head_dim;
    path = fused ? AttentionPath::Library : AttentionPath::Maps;
  }
  heads.context =
      path == AttentionPath::Library ? library_contexts(attention, heads) : map_contexts(attention, weights, heads);
}

}  // namespace headroom
