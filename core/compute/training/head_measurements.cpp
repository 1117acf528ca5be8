#include "core/compute/training/head_measurements.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"

namespace headroom {
namespace {

// Means over batch and rows of [batch, heads, length].
at::Tensor means(const at::Tensor& x) { return x.to(at::kDouble).mean(at::IntArrayRef{0, 2}); }

class LayerMeasurement {
 public:
  LayerMeasurement(const AttentionSpec& attention, const AttentionWeights& weights, const BatchedHeads& heads)
      : attention_(attention), heads_(heads), no_value_(at::full({count()}, kNaN, at::kDouble)) {
    for (int map = 0; map < 2; ++map) {
      const auto component = static_cast<std::size_t>(map);
      bool present = false;
      for (const HeadProgram& head : attention.heads)
        present = present || (map == 0 ? head.has_first() : head.has_second());
      if (!present) continue;
      maps_[component] = attention_map(attention, weights, heads, map);
      const at::Tensor signed_weights = map == 0 ? maps_[0].weights : -heads.lambda * maps_[1].weights;
      net_ = net_.defined() ? net_ + signed_weights : signed_weights;
      visible_ = (maps_[component].logits[0] > -kInfinity).to(at::kDouble);
    }
  }

  // One number for each head, or NaN; a pair where it is by component.
  [[nodiscard]] at::Tensor value(std::string_view name) const {
    if (name == "logit_max")
      return by_component(
          [](const BatchedMap& map) { return map.logits.amax(at::IntArrayRef{0, 2, 3}).to(at::kDouble); });
    if (name == "sink_score")
      return by_component([&](const BatchedMap& map) { return mean_over_seers(map.weights.select(-1, 0)); });
    if (name == "sink_score_net") return mean_over_seers(net_.select(-1, 0));
    if (name == "sink_score_absolute") return mean_over_seers(net_.select(-1, 0).abs() / net_.abs().sum(-1));
    if (name == "context_rms_mean") return means(context_rms());
    if (name == "context_rms_relative_mean") return means(context_rms() / value_rms_mean());
    if (name == "weight_l2_mean") return means(net_.square().sum(-1).sqrt());
    const auto pairs = [](const HeadProgram& head) { return head.has_second(); };
    if (name == "lambda_mean")
      return heads_.lambda.defined() ? only(pairs, means(heads_.lambda.squeeze(-1))) : no_value_;
    if (name == "lambda_std")
      return heads_.lambda.defined()
                 ? only(pairs, heads_.lambda.squeeze(-1).to(at::kDouble).std(at::IntArrayRef{0, 2}, false))
                 : no_value_;
    return norm_gain();
  }

 private:
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(attention_.heads.size()); }

  // NaN in place of the numbers of heads that do not pass.
  template <typename Test>
  [[nodiscard]] at::Tensor only(const Test& test, const at::Tensor& values) const {
    std::vector<double> absent;
    for (const HeadProgram& head : attention_.heads) absent.push_back(test(head) ? 0.0 : kNaN);
    return values.cpu() + at::tensor(absent, at::kDouble);
  }

  // Mean over batch and the rows that see key 0 of [batch, heads, length]; NaN for a head from which it is hidden: its
  // own row may see it all the same, which says nothing about the key.
  [[nodiscard]] at::Tensor mean_over_seers(const at::Tensor& x) const {
    const at::Tensor seers = visible_.select(-1, 0);
    const at::Tensor sums = (x.to(at::kDouble) * seers).sum(at::IntArrayRef{0, 2});
    return only([](const HeadProgram& head) { return std::ranges::count(head.hidden_keys, 0) == 0; },
                sums / (static_cast<double>(x.size(0)) * seers.sum(-1)));
  }

  template <typename Value>
  [[nodiscard]] at::Tensor by_component(const Value& value) const {
    std::vector<at::Tensor> parts;
    for (std::size_t m = 0; m < 2; ++m) {
      const at::Tensor part = maps_[m].weights.defined() ? value(maps_[m]) : no_value_;
      parts.push_back(
          only([m](const HeadProgram& head) { return m == 0 ? head.has_first() : head.has_second(); }, part));
    }
    return at::stack(parts, -1);
  }

  [[nodiscard]] at::Tensor context_rms() const { return heads_.context.to(at::kDouble).square().mean(-1).sqrt(); }

  // r̄_i: the root of the mean over visible keys of the mean square of a head's value; both maps' where they differ.
  [[nodiscard]] at::Tensor value_rms_mean() const {
    const at::Tensor blocks = heads_.v.to(at::kDouble).square().mean(-1);  // [batch, blocks, length]
    std::vector<at::Tensor> by_head;
    for (const HeadProgram& head : attention_.heads) {
      std::vector<at::Tensor> parts;
      for (const HeadProgram::Map* map : {&head.first, &head.second})
        for (const std::int64_t block : map->value_blocks) parts.push_back(blocks.select(1, block));
      by_head.push_back(at::stack(parts).mean(0));
    }
    const at::Tensor squares = at::stack(by_head, 1);
    return (at::matmul(visible_, squares.unsqueeze(-1)).squeeze(-1) / visible_.sum(-1)).sqrt();
  }

  [[nodiscard]] at::Tensor norm_gain() const {
    if (attention_.head_norm.kind == NormKind::None) return no_value_;
    return only([](const HeadProgram& head) { return head.post_norm; },
                means(at::rsqrt(context_rms().square() + attention_.head_norm.epsilon)));
  }

  const AttentionSpec& attention_;
  const BatchedHeads& heads_;
  at::Tensor no_value_;
  BatchedMap maps_[2];
  at::Tensor net_;
  at::Tensor visible_;  // [heads, length, length], 1 where a row sees a key
};

}  // namespace

void measure_heads(const TrainableModel& model, const BatchTensors& batch, TrainingHistory& history) {
  const at::NoGradGuard no_gradients;
  std::vector<BatchedHeads> layers;
  (void)model(batch.tokens, AttentionPath::Auto, &layers);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const LayerMeasurement measured(model.spec().blocks[layer].attention, model.attention(layer), layers[layer]);
    for (const HeadStatistic& statistic : training_statistics()) {
      const at::Tensor values = measured.value(statistic.name).cpu().contiguous();
      std::vector<double>& array = history.heads[std::string(statistic.name)];
      array.insert(array.end(), values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel());
    }
  }
}

}  // namespace headroom
