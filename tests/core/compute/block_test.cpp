// What carries the residual stream around the heads, against the equations of core/model/model_spec.h written out.
#include "core/compute/block.h"

#include <ATen/ATen.h>

#include <cstdint>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr std::int64_t kHidden = 6, kInner = 5, kLength = 4, kVocab = 7;
const TorchTarget kTarget{at::kDouble, at::kDouble, at::kCPU};

at::Tensor numbers(at::IntArrayRef shape) { return at::randn(shape, at::TensorOptions().dtype(at::kDouble)); }

Norm norm(NormKind kind) {
  return {kind, numbers({kHidden}), kind == NormKind::Layer ? numbers({kHidden}) : at::Tensor(), 1e-2, at::kDouble};
}

// (x − mean) / √(variance + ε) · w + b, or x / √(mean square + ε) · w; without kind x.
at::Tensor normed(const Norm& norm, const at::Tensor& x) {
  if (norm.kind == NormKind::None) return x;
  const at::Tensor centred = norm.kind == NormKind::Layer ? x - x.mean(-1, true) : x;
  const at::Tensor y = centred / (centred.square().mean(-1, true) + norm.epsilon).sqrt() * norm.weight;
  return norm.kind == NormKind::Layer ? y + norm.bias : y;
}

void check_equal(const at::Tensor& found, const at::Tensor& expected) {
  CATCH_REQUIRE(found.sizes() == expected.sizes());
  CATCH_REQUIRE(expected.abs().max().item<double>() > 0.01);
  CATCH_CHECK((found - expected).abs().max().item<double>() < 1e-13 * (1.0 + expected.abs().max().item<double>()));
}

}  // namespace

CATCH_TEST_CASE("block: norms before, after and over the sum, and the branch's weight") {
  at::manual_seed(3);
  const at::Tensor h = numbers({kLength, kHidden}), given = numbers({kLength, kHidden});
  BlockSpec block;
  block.mlp.kind = MlpKind::Gated;
  block.mlp.activation = Activation::Relu;
  BlockWeights weights;
  weights.mlp.gate = {numbers({kInner, kHidden}), numbers({kInner})};
  weights.mlp.up = {numbers({kInner, kHidden}), numbers({kInner})};
  weights.mlp.down = {numbers({kHidden, kInner}), numbers({kHidden})};
  for (const NormKind before : {NormKind::None, NormKind::Rms, NormKind::Layer})
    for (const NormKind after : {NormKind::None, NormKind::Rms})
      for (const NormKind sum : {NormKind::None, NormKind::Layer})
        for (const double scale : {1.0, 0.22}) {
          CATCH_INFO(static_cast<int>(before) << static_cast<int>(after) << static_cast<int>(sum) << " " << scale);
          const BranchWeights branch{norm(before), norm(after), norm(sum), scale};
          // A branch that gives `given`.
          check_equal(branch.join(h, given), normed(branch.sum, h + scale * normed(branch.after, given)));
          // The MLP, on the stream itself and on what a parallel block gives it.
          weights.mlp_branch = branch;
          for (const at::Tensor& reads : {h, given}) {
            const at::Tensor x = normed(branch.before, reads);
            const at::Tensor inner = (at::mm(x, weights.mlp.gate.weight.t()) + weights.mlp.gate.bias).clamp_min(0.0) *
                                     (at::mm(x, weights.mlp.up.weight.t()) + weights.mlp.up.bias);
            const at::Tensor out = at::mm(inner, weights.mlp.down.weight.t()) + weights.mlp.down.bias;
            check_equal(add_mlp(block, weights, reads, h), normed(branch.sum, h + scale * normed(branch.after, out)));
          }
        }
  CATCH_CHECK(at::equal(add_mlp(BlockSpec{}, weights, given, h), h));
}

CATCH_TEST_CASE(
    "block: the stream begins with scaled rows, positions and a norm, and ends with scaled, capped logits") {
  at::manual_seed(4);
  const at::Tensor rows = numbers({kLength, kHidden}), positions = numbers({kLength, kHidden});
  ModelSpec model;
  const HeadWeights head{norm(NormKind::Rms), {numbers({kVocab, kHidden}), at::Tensor()}, {}, {}, {}};
  for (const double scale : {1.0, 12.0})
    for (const NormKind kind : {NormKind::None, NormKind::Layer}) {
      model.embedding_scale = scale;
      const Norm first = norm(kind);
      EmbeddingWeights embedding{{}, first, {}};
      check_equal(begin_stream(model, embedding, rows, {}), normed(first, scale * rows));
      check_equal(begin_stream(model, embedding, rows, positions), normed(first, scale * rows + positions));
      embedding.type = numbers({2, kHidden});
      embedding.projection = {numbers({kVocab, kHidden}), numbers({kVocab})};
      check_equal(begin_stream(model, embedding, rows, positions),
                  at::mm(normed(first, scale * rows + positions + embedding.type.narrow(0, 0, 1)),
                         embedding.projection.weight.t()) +
                      embedding.projection.bias);
    }
  const at::Tensor z = at::mm(normed(head.norm, rows), head.head.weight.t());
  check_equal(head.logits(model, rows, kTarget), z);
  model.logit_scale = 0.125;
  check_equal(head.logits(model, rows, kTarget), 0.125 * z);
  model.logit_softcap = 0.5;
  check_equal(head.logits(model, rows, kTarget), 0.5 * (0.125 * z / 0.5).tanh());
  // dense, activation, norm: as masked language models have them.
  HeadWeights masked{norm(NormKind::None), {numbers({kVocab, kHidden}), numbers({kVocab})}, {}, {}, {}};
  masked.dense = {numbers({kHidden, kHidden}), numbers({kHidden})};
  masked.dense_norm = norm(NormKind::Layer);
  ModelSpec encoder;
  encoder.head_transform.activation = Activation::Relu;
  const at::Tensor inner = (at::mm(rows, masked.dense.weight.t()) + masked.dense.bias).clamp_min(0.0);
  check_equal(masked.logits(encoder, rows, kTarget),
              at::mm(normed(masked.dense_norm, inner), masked.head.weight.t()) + masked.head.bias);
}

}  // namespace headroom::test
