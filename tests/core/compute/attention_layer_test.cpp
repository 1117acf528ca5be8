// A whole attention layer against the equations of core/model/ARCHITECTURES.md written with LibTorch's softmax in
// double, for each kind of head program; what its record holds of keys, values and output blocks.
#include "core/compute/attention_layer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/compute/layer_builder.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

at::Tensor rms_normed(const at::Tensor& x, const Norm& norm) {
  const at::Tensor y = x / at::sqrt(x.square().mean(-1, true) + norm.epsilon);
  return norm.weight.defined() ? y * norm.weight : y;
}

struct Expected {
  at::Tensor out;                                  // [length, hidden]
  std::vector<at::Tensor> contexts;                // of each head, before norm and gate
  std::vector<at::Tensor> lambda;                  // of each head, [length]
  std::vector<std::map<int, at::Tensor>> weights;  // of each head: component → [length, length], −1 the net map
};

// Of transformers' T5Attention with 12 buckets, bidirectional, up to a distance of 50.
std::int64_t bucket_of_twelve(std::int64_t distance) {
  const std::int64_t d = std::abs(distance);
  const std::int64_t bucket = d < 3 ? d : d < 8 ? 3 : d < 20 ? 4 : 5;
  return distance < 0 ? bucket + 6 : bucket;
}

at::Tensor expected_bias(const AttentionSpec& spec, const AttentionWeights& w, std::int64_t n, std::size_t h) {
  at::Tensor bias = at::zeros({n, n}, at::kDouble);
  const auto head = static_cast<std::int64_t>(h);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      bias[i][j] = spec.bias.slopes.empty() ? w.bias_table[bucket_of_twelve(i - j)][head].item<double>()
                                            : -spec.bias.slopes[h] * static_cast<double>(std::abs(i - j));
  return bias;
}

Expected expected_layer(const AttentionSpec& spec, const AttentionWeights& w, const Rotary& rotary,
                        const at::Tensor& x) {
  const std::int64_t n = x.size(0);
  const auto project = [&](const Linear& linear, std::int64_t blocks) {
    at::Tensor y = at::mm(x, linear.weight.t());
    if (linear.bias.defined()) y = y + linear.bias;
    if (spec.clip_qkv > 0.0)
      y = at::minimum(at::maximum(y, at::full_like(y, -spec.clip_qkv)), at::full_like(y, spec.clip_qkv));
    return y.view({n, blocks, -1});
  };
  at::Tensor q = project(w.q, spec.num_query_blocks), k = project(w.k, spec.num_key_blocks);
  const bool per_head = spec.qk_norm == QkNormScope::PerHead, late = spec.qk_norm_after_rope;
  if (per_head && !late) q = rms_normed(q, w.q_norm), k = rms_normed(k, w.k_norm);
  if (spec.qk_norm == QkNormScope::Whole) {
    q = rms_normed(q.flatten(1), w.q_norm).view_as(q);
    k = rms_normed(k.flatten(1), w.k_norm).view_as(k);
  }
  q = rotary(q), k = rotary(k);
  if (per_head && late) q = rms_normed(q, w.q_norm), k = rms_normed(k, w.k_norm);
  for (std::int64_t row = 0; row < n; ++row)
    q[row] *=
        1.0 + spec.query_scale.amount * std::log(1.0 + std::floor((static_cast<double>(row) + spec.query_scale.offset) /
                                                                  spec.query_scale.length));
  at::Tensor v = project(w.v, spec.num_value_blocks);
  if (w.v_norm.kind != NormKind::None) v = rms_normed(v, w.v_norm);
  const at::Tensor i = at::arange(n).unsqueeze(1), j = at::arange(n).unsqueeze(0);
  Expected expected;
  std::vector<at::Tensor> parts;
  for (std::size_t h = 0; h < spec.heads.size(); ++h) {
    const HeadProgram& head = spec.heads[h];
    at::Tensor masked = at::zeros({n, n}, at::kBool);
    if (spec.causal) masked = masked | (j > i);
    if (spec.window > 0) masked = masked | ((i - j).abs() >= spec.window);
    for (std::int64_t row = 0; spec.chunk > 0 && row < n; ++row)
      for (std::int64_t key = 0; key < n; ++key)
        if (row / spec.chunk != key / spec.chunk) masked[row][key] = true;
    for (const std::int64_t key : head.hidden_keys) masked = masked | (j == key);
    masked = masked & ~(masked.all(1, true) & (i == j));
    const auto map = [&](const HeadProgram::Map& blocks) {
      at::Tensor z = spec.scale * at::mm(q.select(1, blocks.query_block), k.select(1, blocks.key_block).t());
      if (spec.bias.present()) z = z + expected_bias(spec, w, n, h);
      if (spec.softcap > 0.0) z = spec.softcap * at::tanh(z / spec.softcap);
      z = (z / head.temperature).masked_fill(masked, -std::numeric_limits<double>::infinity());
      if (head.sink == SinkSource::None) return at::softmax(z, -1);
      const double sink = head.sink == SinkSource::Zero ? 0.0 : w.sinks[h];
      return at::softmax(at::cat({z, at::full({n, 1}, sink, at::kDouble)}, 1), -1).narrow(1, 0, n);
    };
    const auto values = [&](const HeadProgram::Map& blocks) {
      std::vector<at::Tensor> list;
      for (const std::int64_t block : blocks.value_blocks) list.push_back(v.select(1, block));
      return at::cat(list, 1);
    };
    at::Tensor lambda = at::full({n}, head.lambda_constant, at::kDouble);
    if (head.lambda == LambdaSource::LayerScalar) lambda = at::full({n}, w.lambda_scalar, at::kDouble);
    if (w.lambda_projection.weight.defined()) {
      const at::Tensor raw = at::mm(x, w.lambda_projection.weight.t()).select(1, static_cast<std::int64_t>(h));
      if (head.lambda == LambdaSource::Projection) lambda = at::sigmoid(raw);
      if (head.lambda == LambdaSource::RawProjection) lambda = raw;
    }
    at::Tensor context = at::zeros({n, spec.context_dim()}, at::kDouble), net = at::zeros({n, n}, at::kDouble);
    std::map<int, at::Tensor> weights;
    if (head.has_first()) {
      weights[0] = map(head.first);
      net = net + weights[0];
      context = context + at::mm(weights[0], values(head.first));
    }
    if (head.has_second()) {
      weights[1] = map(head.second);
      net = net - lambda.unsqueeze(1) * weights[1];
      context = context - lambda.unsqueeze(1) * at::mm(weights[1], values(head.second));
    }
    weights[-1] = net;
    expected.contexts.push_back(context);
    expected.lambda.push_back(lambda);
    expected.weights.push_back(weights);
    at::Tensor part = head.post_norm ? rms_normed(context, w.head_norm) : context;
    part = part * head.post_scale;
    if (head.gated) {
      const at::Tensor gate = at::sigmoid(at::mm(x, w.gate_projection.weight.t()));
      part = part *
             gate.view({n, static_cast<std::int64_t>(spec.heads.size()), -1}).select(1, static_cast<std::int64_t>(h));
    }
    parts.push_back(head.enabled ? part : at::zeros_like(part));
  }
  expected.out = at::mm(at::cat(parts, 1), w.o.weight.t());
  if (w.o.bias.defined()) expected.out = expected.out + w.o.bias;
  return expected;
}

// The layer alone, with keys and values of its own.
double largest_difference(const at::Tensor& found, const at::Tensor& expected) {
  return (found.to(at::kDouble) - expected).abs().max().item<double>();
}

at::Tensor tensor_of(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

// The layer in float64 and float32 against the equations, with records and exact maps of every head.
void check_layer(const char* name, const AttentionSpec& spec, const AttentionWeights& weights, std::uint64_t seed) {
  const at::Tensor x = LayerBuilder(seed + 1000).normal({kLength, kHidden});
  const Rotary rotary(spec.rope, kLength, kExact);
  const Expected expected = expected_layer(spec, weights, rotary, x);
  std::vector<std::int64_t> heads, induction(static_cast<std::size_t>(kLength), -1);
  for (std::size_t h = 0; h < spec.heads.size(); ++h) heads.push_back(static_cast<std::int64_t>(h));
  Observer observer;
  const auto out = run_layer(spec, weights, rotary, x, kExact, options_of(heads, true), induction, 5, true, observer);
  CATCH_INFO(name);
  CATCH_REQUIRE(out.has_value());
  CATCH_CHECK(largest_difference(*out, expected.out) < 1e-11);
  CATCH_CHECK(observer.layers_match);
  CATCH_REQUIRE(observer.records.size() == 1);
  const LayerRecord& record = observer.records[0];
  CATCH_CHECK(record.layer == 5);
  CATCH_CHECK(record.length == kLength);
  CATCH_CHECK(record.context_dim == spec.context_dim());
  CATCH_REQUIRE(record.heads.size() == heads.size());
  for (std::size_t h = 0; h < heads.size(); ++h) {
    CATCH_INFO("head " << h);
    const HeadRecord& head = record.heads[h];
    CATCH_CHECK(head.head == heads[h]);
    CATCH_CHECK(head.program == spec.heads[h]);
    const at::Tensor rms = expected.contexts[h].square().mean(-1).sqrt();
    CATCH_CHECK(largest_difference(tensor_of(head.context_rms), rms) < 1e-12);
    CATCH_CHECK(largest_difference(tensor_of(head.statistics.weight_sum), expected.weights[h].at(-1).sum(-1)) < 1e-12);
    if (head.program.has_second()) CATCH_CHECK(largest_difference(tensor_of(head.lambda), expected.lambda[h]) < 1e-13);
    for (const auto& [component, map] : expected.weights[h]) {
      CATCH_INFO("component " << component);
      const std::vector<double>& found = observer.maps[{heads[h], component}];
      CATCH_REQUIRE(found.size() == static_cast<std::size_t>(kLength * kLength));
      CATCH_CHECK(largest_difference(tensor_of(found).view({kLength, kLength}), map) < 1e-12);
    }
  }

  // In float32 the same layer from the same numbers, without measuring.
  AttentionWeights narrow = weights;
  for (Linear* linear :
       {&narrow.q, &narrow.k, &narrow.v, &narrow.o, &narrow.lambda_projection, &narrow.gate_projection}) {
    if (linear->weight.defined()) linear->weight = linear->weight.to(at::kFloat);
    if (linear->bias.defined()) linear->bias = linear->bias.to(at::kFloat);
  }
  for (Norm* norm : {&narrow.q_norm, &narrow.k_norm, &narrow.v_norm, &narrow.head_norm}) {
    norm->real = at::kFloat;
    if (norm->weight.defined()) norm->weight = norm->weight.to(at::kFloat);
  }
  const TorchTarget single{at::kFloat, at::kFloat, at::kCPU};
  Observer silent;
  const auto rounded = run_layer(spec, narrow, Rotary(spec.rope, kLength, single), x.to(at::kFloat), single,
                                 options_of(heads, true), induction, 5, false, silent);
  CATCH_REQUIRE(rounded.has_value());
  CATCH_CHECK(largest_difference(*rounded, expected.out) < 1e-4 * expected.out.abs().max().item<double>());
  CATCH_CHECK(silent.records.empty());
  CATCH_CHECK(silent.maps.empty());
}

}  // namespace

CATCH_TEST_CASE("attention layer: softmax with groups, biases, q/k norms, rotation, window and soft cap") {
  for (const QkNormScope scope : {QkNormScope::None, QkNormScope::PerHead, QkNormScope::Whole}) {
    LayerBuilder builder(1);
    AttentionSpec spec = plain_spec(6, 2);
    spec.rope = {.layout = RopeLayout::HalfSplit, .rotary_dim = 4, .scaling = {}, .frequency_divisors = {}};
    spec.window = 8;
    spec.softcap = 3.0;
    spec.qk_norm = scope;
    AttentionWeights weights = builder.weights(spec);
    const bool whole = scope == QkNormScope::Whole;
    weights.q_norm = {NormKind::Rms, builder.normal({whole ? 36 : 6}), {}, 1e-3, at::kDouble};
    weights.k_norm = {NormKind::Rms, builder.normal({whole ? 12 : 6}), {}, 1e-3, at::kDouble};
    check_layer("softmax", spec, weights, 1);
  }
}

CATCH_TEST_CASE("attention layer: chunks, norms behind the rotation and of values, queries that grow with position") {
  LayerBuilder builder(31);
  AttentionSpec spec = plain_spec(4, 2);
  spec.rope = {.layout = RopeLayout::Interleaved, .rotary_dim = 6, .scaling = {}, .frequency_divisors = {}};
  spec.chunk = 7;
  spec.qk_norm = QkNormScope::PerHead;
  spec.qk_norm_after_rope = true;
  spec.query_scale = {.amount = 0.4, .length = 5.0, .offset = 1.0};
  AttentionWeights weights = builder.weights(spec);
  weights.q_norm = {NormKind::Rms, builder.normal({6}), {}, 1e-3, at::kDouble};
  weights.k_norm = {NormKind::Rms, {}, {}, 1e-3, at::kDouble};
  weights.v_norm = {NormKind::Rms, {}, {}, 1e-3, at::kDouble};
  check_layer("chunks", spec, weights, 31);
}

CATCH_TEST_CASE("attention layer: keys and values of another layer stand in place of its own") {
  LayerBuilder builder(32);
  AttentionSpec spec = plain_spec(4, 2);
  spec.rope = {.layout = RopeLayout::HalfSplit, .rotary_dim = 6, .scaling = {}, .frequency_divisors = {}};
  const AttentionWeights earlier = builder.weights(spec), own = builder.weights(spec);
  const at::Tensor before = builder.normal({kLength, kHidden}), x = builder.normal({kLength, kHidden});
  const Rotary rotary(spec.rope, kLength, kExact);
  const Projections kept = project(spec, earlier, rotary, before);
  AttentionWeights without = own;
  without.k = without.v = {};
  const Projections given = project(spec, without, rotary, x, &kept);
  CATCH_CHECK(at::equal(given.q, project(spec, own, rotary, x).q));
  CATCH_CHECK(at::equal(given.k, kept.k));
  CATCH_CHECK(at::equal(given.v, kept.v));
}

CATCH_TEST_CASE("attention layer: off-by-one and learned sinks, one logit for each output head") {
  LayerBuilder builder(2);
  AttentionSpec spec = plain_spec(4, 2);
  AttentionWeights weights = builder.weights(spec);
  weights.sinks = {0.3, -1.0, 2.0, 5.0};
  for (HeadProgram& head : spec.heads) head.sink = SinkSource::Learned;
  spec.heads[1].sink = SinkSource::Zero;
  spec.heads[2].sink = SinkSource::None;
  check_layer("sinks", spec, weights, 2);
}

CATCH_TEST_CASE("attention layer: V1 with its scalar λ, concatenated values, head norm and factor") {
  for (const bool norm : {true, false}) {
    LayerBuilder builder(3);
    AttentionSpec spec = pair_spec(4, 2, true);
    spec.rope = {.layout = RopeLayout::Interleaved, .rotary_dim = 6, .scaling = {}, .frequency_divisors = {}};
    AttentionWeights weights = builder.weights(spec);
    weights.lambda_scalar = 0.37;
    weights.head_norm = {NormKind::Rms, builder.normal({10}), {}, 1e-5, at::kDouble};
    for (HeadProgram& head : spec.heads) {
      head.post_norm = norm;
      head.post_scale = 0.8;
    }
    check_layer("V1", spec, weights, 3);
  }
}

CATCH_TEST_CASE("attention layer: V2 with λ of each token, and each other source of λ") {
  LayerBuilder builder(4);
  AttentionSpec spec = pair_spec(4, 2, false);
  spec.rope = {.layout = RopeLayout::Interleaved, .rotary_dim = 6, .scaling = {}, .frequency_divisors = {}};
  AttentionWeights weights = builder.weights(spec);
  weights.lambda_projection = {builder.normal({4, kHidden}, 0.5), {}};
  check_layer("V2", spec, weights, 4);
  spec.heads[1].lambda = LambdaSource::RawProjection;
  spec.heads[2].lambda = LambdaSource::Constant;
  spec.heads[2].lambda_constant = 0.25;
  spec.heads[3].first_enabled = false;
  check_layer("V2 with what-ifs", spec, weights, 5);
}

CATCH_TEST_CASE("attention layer: gates of a head and of each channel") {
  for (const GateLayout layout : {GateLayout::PerHead, GateLayout::Elementwise}) {
    LayerBuilder builder(6);
    AttentionSpec spec = plain_spec(4, 4);
    spec.gate = layout;
    AttentionWeights weights = builder.weights(spec);
    weights.gate_projection = {builder.normal({layout == GateLayout::PerHead ? 4 : 20, kHidden}), {}};
    for (HeadProgram& head : spec.heads) head.gated = true;
    spec.heads[2].gated = false;
    check_layer("gates", spec, weights, 6);
  }
}

CATCH_TEST_CASE("attention layer: heads that are switched off, cooled, paired across groups or short of keys") {
  LayerBuilder builder(7);
  AttentionSpec spec = pair_spec(4, 2, false);
  spec.causal = false;
  AttentionWeights weights = builder.weights(spec);
  weights.lambda_projection = {builder.normal({4, kHidden}, 0.5), {}};
  weights.head_norm = {NormKind::Rms, {}, {}, 1e-5, at::kDouble};
  spec.heads[0].enabled = false;
  spec.heads[1].temperature = 2.5;
  spec.heads[1].post_norm = true;
  spec.heads[2].second = {5, 0, {0}};
  spec.heads[3].hidden_keys = {0, 3, 4, 20};
  check_layer("what-ifs", spec, weights, 7);
}

CATCH_TEST_CASE("attention layer: a window where attention is not causal lies on both sides of a row") {
  LayerBuilder builder(9);
  AttentionSpec spec = pair_spec(4, 2, false);
  spec.causal = false;
  spec.window = 4;
  AttentionWeights weights = builder.weights(spec);
  weights.lambda_projection = {builder.normal({4, kHidden}, 0.5), {}};
  spec.heads[1].hidden_keys = {2, 3, 4, 5, 6, 7, 8};
  check_layer("bidirectional window", spec, weights, 9);
}

CATCH_TEST_CASE("attention layer: biases by distance, ALiBi and learned, and projections that are cut") {
  LayerBuilder builder(10);
  AttentionSpec spec = plain_spec(4, 2);
  spec.bias.slopes = {0.5, 0.25, 0.0625, 1.5};
  spec.clip_qkv = 0.8;
  AttentionWeights weights = builder.weights(spec);
  check_layer("ALiBi", spec, weights, 10);
  spec.window = 6;
  spec.softcap = 2.0;
  spec.heads[1].hidden_keys = {0, 3, 4, 20};
  spec.heads[2].temperature = 1.7;
  check_layer("ALiBi in a window, capped", spec, weights, 11);

  AttentionSpec learned = pair_spec(4, 2, false);
  learned.causal = false;
  learned.bias.table = {.tensor = "table", .stored_shape = {12, 4}};
  learned.bias.bidirectional = true;
  learned.bias.max_distance = 50;
  AttentionWeights table = builder.weights(learned);
  table.lambda_projection = {builder.normal({4, kHidden}, 0.5), {}};
  table.bias_table = builder.normal({12, 4});
  table.refresh();
  check_layer("learned biases", learned, table, 12);
}

CATCH_TEST_CASE("attention layer: value blocks that are not neighbours are read as their concatenation") {
  LayerBuilder builder(8);
  AttentionSpec spec = pair_spec(2, 2, true);
  spec.heads[0].first.value_blocks = spec.heads[0].second.value_blocks = {0, 2};
  spec.heads[1].first.value_blocks = spec.heads[1].second.value_blocks = {1, 3};
  AttentionWeights weights = builder.weights(spec);
  weights.lambda_scalar = -0.4;
  check_layer("halves", spec, weights, 8);
}

CATCH_TEST_CASE("attention layer: the record of keys, values and output blocks") {
  LayerBuilder builder(9);
  const AttentionSpec spec = plain_spec(4, 2);
  const AttentionWeights weights = builder.weights(spec);
  const at::Tensor x = builder.normal({kLength, kHidden});
  const std::vector<std::int64_t> induction(static_cast<std::size_t>(kLength), -1);
  Observer observer;
  const Rotary none(spec.rope, kLength, kExact);
  CATCH_REQUIRE(
      run_layer(spec, weights, none, x, kExact, options_of({1, 3}, true), induction, 5, true, observer).has_value());
  CATCH_REQUIRE(observer.records.size() == 1);
  const LayerRecord& record = observer.records[0];
  CATCH_REQUIRE(record.heads.size() == 2);
  CATCH_CHECK(record.heads[0].head == 1);
  CATCH_CHECK(record.heads[1].head == 3);
  CATCH_CHECK(observer.maps.size() == 4);
  const at::Tensor q = (at::mm(x, weights.q.weight.t()) + weights.q.bias).view({kLength, 4, 6});
  const at::Tensor k = (at::mm(x, weights.k.weight.t()) + weights.k.bias).view({kLength, 2, 6});
  const at::Tensor v = at::mm(x, weights.v.weight.t()).view({kLength, 2, 5});
  for (std::int64_t block = 0; block < 2; ++block) {
    const auto b = static_cast<std::size_t>(block);
    CATCH_CHECK(largest_difference(tensor_of(record.key_norm[b]), k.select(1, block).norm(2, {1}, false)) < 1e-12);
    CATCH_CHECK(largest_difference(tensor_of(record.value_norm[b]), v.select(1, block).norm(2, {1}, false)) < 1e-12);
  }
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const HeadRecord& head = record.heads[slot];
    const std::int64_t group = head.head / 2;
    const at::Tensor values = v.select(1, group), norms = values.norm(2, {1}, false);
    CATCH_CHECK(head.kv_head[0] == group);
    CATCH_CHECK(head.kv_head[1] == -1);
    CATCH_CHECK(head.query_norm_max[0] == near(q.select(1, head.head).norm(2, {1}, false).max().item<double>(), 1e-12));
    CATCH_CHECK(head.key_norm_max[0] == near(k.select(1, group).norm(2, {1}, false).max().item<double>(), 1e-12));
    CATCH_CHECK(std::isnan(head.query_norm_max[1]));
    CATCH_CHECK(std::isnan(head.sink_logit));
    CATCH_CHECK(largest_difference(tensor_of(head.value_mean_square), values.square().mean(-1)) < 1e-12);
    CATCH_CHECK(head.value_drain == near((norms[0] / norms.mean()).item<double>(), 1e-12));
    const double share = (values.mean(0).square().sum() / norms.square().mean()).item<double>();
    CATCH_CHECK(head.value_mean_share == near(share, 1e-12));
    CATCH_CHECK(head.lambda.empty());
    CATCH_CHECK(head.gate_mean.empty());
    // W_O's blocks are compared inside a group only: columns 5h … 5h + 4 of each head.
    for (std::int64_t other = 0; other < 4; ++other) {
      const double cosine = record.output_alignment[slot * 4 + static_cast<std::size_t>(other)];
      const at::Tensor a = weights.o.weight.narrow(1, 5 * head.head, 5), b = weights.o.weight.narrow(1, 5 * other, 5);
      CATCH_INFO("heads " << head.head << " and " << other);
      if (other / 2 == group)
        CATCH_CHECK(cosine == near(((a * b).sum() / (a.norm() * b.norm())).item<double>(), 0.0, 1e-12));
      else
        CATCH_CHECK(std::isnan(cosine));
    }
  }
}

}  // namespace headroom::test
