// Layers of attention with random weights, and an observer that keeps what they record.
#pragma once

#include <ATen/ATen.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/compute/attention_layer.h"
#include "core/compute/rotary.h"
#include "tests/support/attention_cases.h"

namespace headroom::test {

inline const TorchTarget kExact{at::kDouble, at::kDouble, at::kCPU};
inline constexpr std::int64_t kLength = 21, kHidden = 12;

class Observer final : public ForwardObserver {
 public:
  Result<void> on_layer(LayerRecord record) override {
    records.push_back(std::move(record));
    return {};
  }
  Result<void> on_residual(std::int64_t, std::int64_t, std::int64_t, std::span<const double>) override { return {}; }
  Result<void> on_logits(std::int64_t, std::int64_t, std::span<const double>) override { return {}; }
  Result<void> on_exact_rows(std::int64_t layer, std::int64_t head, int component, std::int64_t row, std::int64_t rows,
                             std::span<const double> values) override {
    auto& map = maps[{head, component}];
    layers_match = layers_match && layer == 5 && row * kLength == static_cast<std::int64_t>(map.size());
    layers_match = layers_match && rows * kLength == static_cast<std::int64_t>(values.size());
    map.insert(map.end(), values.begin(), values.end());
    if (--rows_before_failure < 0) return Error(ErrorCode::Io, "the disk is full");
    return {};
  }
  void on_progress(double, const std::string&) override {}
  [[nodiscard]] bool stop_requested() const override { return questions_before_stop-- <= 0; }

  std::vector<LayerRecord> records;
  std::map<std::pair<std::int64_t, int>, std::vector<double>> maps;  // by head and component
  bool layers_match = true;
  // Tasks on every thread ask; with a plain counter two of them can be counted as one.
  mutable std::atomic<int> questions_before_stop = std::numeric_limits<int>::max();
  int rows_before_failure = std::numeric_limits<int>::max();
};

class LayerBuilder {
 public:
  explicit LayerBuilder(std::uint64_t seed) : random_(seed) {}

  at::Tensor normal(std::vector<std::int64_t> shape, double deviation = 1.0) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return at::tensor(random_.normals(count, deviation), at::kDouble).view(shape);
  }

  // Projections of the blocks that `spec` counts, with biases, and W_O.
  AttentionWeights weights(const AttentionSpec& spec) {
    AttentionWeights w;
    w.q = {normal({spec.num_query_blocks * spec.head_dim, kHidden}, 0.6),
           normal({spec.num_query_blocks * spec.head_dim})};
    w.k = {normal({spec.num_key_blocks * spec.head_dim, kHidden}, 0.6), normal({spec.num_key_blocks * spec.head_dim})};
    w.v = {normal({spec.num_value_blocks * spec.value_dim, kHidden}, 0.6), {}};
    const auto heads = static_cast<std::int64_t>(spec.heads.size());
    w.o = {normal({kHidden, heads * spec.context_dim()}), normal({kHidden})};
    return w;
  }

 private:
  Random random_;
};

[[nodiscard]] inline AttentionSpec plain_spec(std::int64_t heads, std::int64_t kv_heads) {
  AttentionSpec spec;
  spec.kind = "softmax";
  spec.head_dim = 6;
  spec.value_dim = 5;
  spec.num_query_blocks = heads;
  spec.num_key_blocks = spec.num_value_blocks = kv_heads;
  spec.scale = 1.0 / std::sqrt(6.0);
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::int64_t group = h / (heads / kv_heads);
    HeadProgram program;
    program.first = {h, group, {group}};
    spec.heads.push_back(program);
  }
  return spec;
}

// V2: q 2h and 2h + 1 on one key and value block. V1: key blocks 2g and 2g + 1, both their values.
[[nodiscard]] inline AttentionSpec pair_spec(std::int64_t heads, std::int64_t kv_heads, bool v1) {
  AttentionSpec spec = plain_spec(heads, kv_heads);
  spec.kind = v1 ? "diff_v1" : "diff_v2";
  spec.num_query_blocks = 2 * heads;
  if (v1) spec.num_key_blocks = spec.num_value_blocks = 2 * kv_heads;
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::int64_t group = h / (heads / kv_heads);
    HeadProgram& program = spec.heads[static_cast<std::size_t>(h)];
    const std::vector<std::int64_t> values = v1 ? std::vector{2 * group, 2 * group + 1} : std::vector{group};
    program.first = {2 * h, v1 ? 2 * group : group, values};
    program.second = {2 * h + 1, v1 ? 2 * group + 1 : group, values};
    program.lambda = v1 ? LambdaSource::LayerScalar : LambdaSource::Projection;
  }
  return spec;
}

[[nodiscard]] inline Result<at::Tensor> run_layer(const AttentionSpec& spec, const AttentionWeights& weights,
                                                  const Rotary& rotary, const at::Tensor& x, const TorchTarget& target,
                                                  const ForwardOptions& options,
                                                  std::span<const std::int64_t> induction_key, std::int64_t layer,
                                                  bool measured, ForwardObserver& observer) {
  const AttentionLane lane{project(spec, weights, rotary, x), x, options, induction_key, observer};
  return run_attention(spec, weights, lane, target, layer, measured);
}

[[nodiscard]] inline ForwardOptions options_of(std::vector<std::int64_t> heads, bool exact_maps) {
  ForwardOptions options;
  options.heads = std::move(heads);
  options.exact_maps = exact_maps;
  return options;
}

[[nodiscard]] inline at::Tensor tensor_of(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

}  // namespace headroom::test
