// The heads of one layer on their way through a backend: problems from projections and programs, records from what
// comes back; and what a layer sends to its observer beside them. Compute thread only.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/result.h"
#include "core/compute/attention_backend.h"
#include "core/compute/attention_layer.h"
#include "core/compute/blocked_attention.h"
#include "core/maps/head_masks.h"
#include "core/measure/layer_record.h"
#include "core/model/capture.h"
#include "core/model/distance_bias.h"

namespace headroom {

[[nodiscard]] std::vector<double> to_vector(const at::Tensor& tensor);

// [length, blocks, channels] as [blocks, length, channels] on the processor.
[[nodiscard]] std::vector<float> block_values(const at::Tensor& x);

// What the maps are made of, block by block, and the contexts they make.
[[nodiscard]] Result<void> send_exact_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                             const at::Tensor& context, const std::vector<std::int64_t>& measured,
                                             std::int64_t layer, ForwardObserver& observer);

// What a record says of the layer itself.
void fill_layer(const AttentionSpec& attention, const AttentionWeights& weights, std::int64_t layer,
                std::int64_t length, std::span<const std::int64_t> induction_key, LayerRecord& record);

// Keeps queries and keys, [length or keys, blocks, channels], in the record, where `keep` says so, with what their
// products need.
void keep_products(const AttentionSpec& attention, const at::Tensor& queries, const at::Tensor& keys, bool keep,
                   LayerRecord& record);

// On the processor as Real: the tensor itself where it is that already.
template <typename Real>
at::Tensor host_values(const at::Tensor& x) {
  return x.to(at::kCPU, c10::CppTypeToScalarType<Real>::value);
}

// Σ x² over the channels of each row of [length, channels], in double. A double tensor of the same shape costs several
// times as much as the sums.
template <typename Real>
std::vector<double> row_squares(const at::Tensor& given) {
  const at::Tensor x = host_values<Real>(given);
  const Real* data = x.const_data_ptr<Real>();
  const std::int64_t stride = x.stride(0), channels = x.size(1);
  std::vector<double> result(static_cast<std::size_t>(x.size(0)));
  at::parallel_for(0, x.size(0), 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      constexpr std::int64_t kLanes = 8;  // independent sums, so that the loop vectorises
      double sums[kLanes] = {};
      const Real* values = data + row * stride;
      std::int64_t c = 0;
      for (; c + kLanes <= channels; c += kLanes)
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
          const double value = values[c + lane];
          sums[lane] += value * value;
        }
      for (; c < channels; ++c) sums[0] += static_cast<double>(values[c]) * static_cast<double>(values[c]);
      result[static_cast<std::size_t>(row)] = std::accumulate(sums, sums + kLanes, 0.0);
    }
  });
  return result;
}

// The same for every block of [length, blocks, channels].
template <typename Real>
std::vector<std::vector<double>> block_squares(const at::Tensor& x) {
  std::vector<std::vector<double>> result;
  for (std::int64_t block = 0; block < x.size(1); ++block) result.push_back(row_squares<Real>(x.select(1, block)));
  return result;
}

// ‖Σ_j x_j‖² over the rows of [length, channels].
template <typename Real>
double squared_sum(const at::Tensor& given) {
  const at::Tensor x = host_values<Real>(given);
  const Real* data = x.const_data_ptr<Real>();
  std::vector<double> sums(static_cast<std::size_t>(x.size(1)), 0.0);
  for (std::int64_t row = 0; row < x.size(0); ++row)
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += data[row * x.stride(0) + static_cast<std::int64_t>(c)];
  return std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
}

[[nodiscard]] inline std::vector<std::vector<double>> square_roots(std::vector<std::vector<double>> values) {
  for (std::vector<double>& block : values)
    for (double& value : block) value = std::sqrt(value);
  return values;
}

// Everything the heads of one layer share: queries, keys and values as Input, contexts as Real, on the run's device.
template <typename Input, typename Real>
class LayerHeads {
 public:
  LayerHeads(const AttentionSpec& attention, const AttentionWeights& weights, at::Tensor q, at::Tensor k, at::Tensor v,
             const at::Tensor& lambda_logits, const TorchTarget& target, const ForwardOptions& options,
             std::span<const std::int64_t> induction_key)
      : attention_(attention),
        weights_(weights),
        target_(target),
        options_(options),
        q_(std::move(q)),
        k_(std::move(k)),
        v_(std::move(v)),
        length_(q_.size(0)),
        keys_(k_.size(0)),
        induction_key_(induction_key) {
    if (lambda_logits.defined()) {
      const at::Tensor logits = lambda_logits.to(at::kCPU, at::kDouble);
      lambda_raw_ = logits.t().contiguous();
      lambda_sigmoid_ = at::sigmoid(lambda_raw_);
    }
  }

  // Sets up one job per output head, or per measured one; contexts go to `context` [length, heads, context_dim].
  void prepare(at::Tensor& context, bool measured, bool only_measured) {
    const std::int64_t heads = static_cast<std::int64_t>(attention_.heads.size());
    const std::int64_t channels = attention_.context_dim();
    lambdas_.resize(attention_.heads.size());
    job_of_.assign(attention_.heads.size(), 0);
    jobs_.reserve(attention_.heads.size());
    for (std::int64_t h = 0; h < heads; ++h) {
      const bool wanted = measured && std::binary_search(options_.heads.begin(), options_.heads.end(), h);
      if (only_measured && !wanted) continue;
      job_of_[static_cast<std::size_t>(h)] = jobs_.size();
      kernels::HeadJob<Input, Real>& head = jobs_.emplace_back();
      head.problem = problem(h);
      head.request = options_.request;
      if (!wanted || options_.last_rows > 0) head.request.wanted = 0;
      head.context = static_cast<Real*>(context.mutable_data_ptr()) + h * channels;
      head.context_stride = heads * channels;
    }
  }

  // What only a captured call has; before prepare().
  void set_recorded_lambda(const at::Tensor& lambda) { recorded_lambda_ = lambda; }
  // Null: none. Before prepare().
  void set_masks(const HeadMasks* masks) { masks_ = masks; }

  // To be run with others in one call.
  [[nodiscard]] std::vector<kernels::HeadJob<Input, Real>>& jobs() { return jobs_; }

  [[nodiscard]] Result<void> run(const kernels::StopRequested& stop, const ShareReport& progress) {
    return run_attention_backend<Input, Real>(target_.backend, jobs_, target_.device, stop, progress);
  }

  [[nodiscard]] const kernels::HeadProblem<Input>& problem_of(std::int64_t head) const {
    return jobs_[job_of_[static_cast<std::size_t>(head)]].problem;
  }
  [[nodiscard]] const std::shared_ptr<const DistanceBias>& bias() const { return bias_; }
  [[nodiscard]] const std::vector<double>& lambda_of(std::int64_t head) const {
    return lambdas_[static_cast<std::size_t>(head)];
  }

  // What the records of heads share; before the first of them.
  void measure_blocks() {
    key_squares_ = block_squares<Real>(k_);
    value_squares_ = block_squares<Real>(v_);
    value_sums_.clear();
    for (std::int64_t block = 0; block < v_.size(1); ++block)
      value_sums_.push_back(squared_sum<Real>(v_.select(1, block)));
  }
  [[nodiscard]] std::vector<std::vector<double>> key_norms() const { return square_roots(key_squares_); }
  [[nodiscard]] std::vector<std::vector<double>> value_norms() const { return square_roots(value_squares_); }

  HeadRecord record(std::int64_t h, const at::Tensor& context) {
    HeadRecord record;
    record.head = h;
    record.program = attention_.heads[static_cast<std::size_t>(h)];
    record.statistics = std::move(jobs_[job_of_[static_cast<std::size_t>(h)]].statistics);
    record.lambda = lambdas_[static_cast<std::size_t>(h)];
    record.context_rms = row_squares<Real>(context.select(1, h));
    for (double& value : record.context_rms) value = std::sqrt(value / static_cast<double>(context.size(2)));
    record.sink_logit = record.program.sink == SinkSource::Learned ? weights_.sinks[static_cast<std::size_t>(h)]
                        : record.program.sink == SinkSource::Zero  ? 0.0
                                                                   : kNaN;
    const HeadProgram::Map* maps[] = {record.program.has_first() ? &record.program.first : nullptr,
                                      record.program.has_second() ? &record.program.second : nullptr};
    int count = 0;
    for (std::size_t m = 0; m < 2; ++m) {
      record.query_norm_max[m] = record.key_norm_max[m] = kNaN;
      if (!maps[m]) continue;
      record.kv_head[m] = maps[m]->key_block;
      record.query_norm_max[m] = largest_root(row_squares<Real>(q_.select(1, maps[m]->query_block)));
      record.key_norm_max[m] = largest_root(key_squares_[static_cast<std::size_t>(maps[m]->key_block)]);
      if (count == 1 && maps[0]->value_blocks == maps[1]->value_blocks) continue;
      const std::vector<double> squares = value_squares(maps[m]->value_blocks);
      const double parts = static_cast<double>(attention_.context_dim()) * (count + 1);
      record.value_mean_square.resize(squares.size());
      for (std::size_t j = 0; j < squares.size(); ++j)
        record.value_mean_square[j] = record.value_mean_square[j] / (count + 1) + squares[j] / parts;
      ++count;
    }
    fill_value_shares((maps[0] ? maps[0] : maps[1])->value_blocks, record);
    if (record.program.post_norm) record.norm_epsilon = weights_.head_norm.epsilon;
    return record;
  }

 private:
  static double largest_root(const std::vector<double>& squares) {
    double largest = 0.0;
    for (const double square : squares) largest = kernels::larger_or_nan(largest, square);
    return std::sqrt(largest);
  }

  // ‖v_j‖² of the concatenated value blocks.
  [[nodiscard]] std::vector<double> value_squares(const std::vector<std::int64_t>& blocks) const {
    std::vector<double> result(static_cast<std::size_t>(keys_), 0.0);
    for (const std::int64_t block : blocks)
      for (std::size_t j = 0; j < result.size(); ++j) result[j] += value_squares_[static_cast<std::size_t>(block)][j];
    return result;
  }

  void fill_value_shares(const std::vector<std::int64_t>& blocks, HeadRecord& record) const {
    const std::vector<double> squares = value_squares(blocks);
    const auto length = static_cast<double>(keys_);
    double norms = 0.0, mean_square = 0.0;
    for (const double square : squares) norms += std::sqrt(square);
    for (const std::int64_t block : blocks)
      mean_square += value_sums_[static_cast<std::size_t>(block)] / (length * length);
    record.value_drain = std::sqrt(squares[0]) / (norms / length);
    record.value_mean_share = mean_square / (std::accumulate(squares.begin(), squares.end(), 0.0) / length);
  }

  // The concatenated value blocks, [keys, blocks · value_dim]: a view where they are neighbours.
  at::Tensor values(const std::vector<std::int64_t>& blocks) {
    const auto found = values_.find(blocks);
    if (found != values_.end()) return found->second;
    bool neighbours = true;
    for (std::size_t b = 1; b < blocks.size(); ++b) neighbours = neighbours && blocks[b] == blocks[b - 1] + 1;
    at::Tensor result;
    if (neighbours) {
      result = v_.as_strided({keys_, static_cast<std::int64_t>(blocks.size()) * v_.size(2)}, {v_.stride(0), 1},
                             v_.storage_offset() + blocks.front() * v_.size(2));
    } else {
      std::vector<at::Tensor> parts;
      for (const std::int64_t block : blocks) parts.push_back(v_.select(1, block));
      result = at::cat(parts, 1);
    }
    return values_.emplace(blocks, result).first->second;
  }

  kernels::MapInput<Input> map_input(const HeadProgram::Map& map) {
    kernels::MapInput<Input> input;
    const at::Tensor q = q_.select(1, map.query_block);
    const at::Tensor k = k_.select(1, map.key_block);
    const at::Tensor v = values(map.value_blocks);
    input.query = static_cast<const Input*>(q.const_data_ptr());
    input.key = static_cast<const Input*>(k.const_data_ptr());
    input.value = static_cast<const Input*>(v.const_data_ptr());
    input.query_stride = q.stride(0);
    input.key_stride = k.stride(0);
    input.value_stride = v.stride(0);
    return input;
  }

  kernels::HeadProblem<Input> problem(std::int64_t h) {
    const HeadProgram& program = attention_.heads[static_cast<std::size_t>(h)];
    kernels::HeadProblem<Input> problem;
    problem.mask = {length_, attention_.causal, attention_.window, 0, program.hidden_keys};
    problem.mask.chunk = attention_.chunk;
    problem.mask.always_visible = attention_.always_visible;
    if (attention_.call) {
      problem.mask.first_query = attention_.call->first_query;
      problem.mask.key_length = keys_;
    }
    if (masks_) problem.mask.dense = masks_->of_head(h);
    problem.head_dim = attention_.head_dim;
    problem.value_dim = attention_.context_dim();
    if (program.has_first()) problem.maps[0] = map_input(program.first);
    if (program.has_second()) {
      problem.maps[1] = map_input(program.second);
      lambdas_[static_cast<std::size_t>(h)] = lambda(program, h);
      problem.lambda = lambdas_[static_cast<std::size_t>(h)].data();
    }
    problem.scale = attention_.scale;
    problem.softcap = attention_.softcap;
    if (attention_.bias.present()) {
      // Distances are those of the layer's mask, the same for all of its heads.
      if (!bias_)
        bias_ = std::make_shared<const DistanceBias>(distance_bias(attention_.bias, weights_.biases,
                                                                   static_cast<std::int64_t>(attention_.heads.size()),
                                                                   problem.mask.ahead(), problem.mask.behind()));
      problem.bias = bias_->of_head(h);
    }
    problem.temperature = program.temperature;
    problem.has_sink = program.sink != SinkSource::None;
    if (program.sink == SinkSource::Learned) problem.sink = weights_.sinks[static_cast<std::size_t>(h)];
    problem.softpick = program.normalizer == Normalizer::Softpick;
    problem.induction_key = induction_key_.data();
    return problem;
  }

  [[nodiscard]] std::vector<double> lambda(const HeadProgram& program, std::int64_t h) const {
    switch (program.lambda) {
      case LambdaSource::LayerScalar:
        return std::vector<double>(static_cast<std::size_t>(length_), weights_.lambda_scalar);
      case LambdaSource::Projection: return to_vector(lambda_sigmoid_[h]);
      case LambdaSource::RawProjection: return to_vector(lambda_raw_[h]);
      case LambdaSource::Recorded: return to_vector(recorded_lambda_[h]);
      case LambdaSource::Constant:
      case LambdaSource::None: break;
    }
    return std::vector<double>(static_cast<std::size_t>(length_), program.lambda_constant);
  }

  const AttentionSpec& attention_;
  const AttentionWeights& weights_;
  const TorchTarget& target_;
  const ForwardOptions& options_;
  at::Tensor q_, k_, v_;  // [length or keys, blocks, channels]
  std::int64_t length_, keys_;
  std::span<const std::int64_t> induction_key_;
  at::Tensor lambda_raw_, lambda_sigmoid_, recorded_lambda_;  // [h, length]
  const HeadMasks* masks_ = nullptr;
  std::shared_ptr<const DistanceBias> bias_;  // null: none
  std::vector<std::vector<double>> lambdas_;
  std::vector<kernels::HeadJob<Input, Real>> jobs_;
  std::vector<std::size_t> job_of_;  // per head: its place among the jobs
  std::map<std::vector<std::int64_t>, at::Tensor> values_;
  std::vector<std::vector<double>> key_squares_, value_squares_;  // per block, per position
  std::vector<double> value_sums_;                                // per block: ‖Σ_j v_j‖²
};

template <typename Real>
[[nodiscard]] Result<void> send_exact_maps(const LayerHeads<Real, Real>& heads,
                                           const std::vector<std::int64_t>& measured, std::int64_t layer,
                                           at::Device device, ForwardObserver& observer, std::int64_t first_row = 0) {
  for (const std::int64_t h : measured) {
    const kernels::HeadProblem<Real>& problem = heads.problem_of(h);
    const std::int64_t length = problem.mask.length, keys = problem.mask.keys();
    const std::int64_t step = std::clamp<std::int64_t>((1 << 20) / std::max<std::int64_t>(keys, 1), 1, 256);
    for (std::int64_t row = first_row; row < length; row += step) {
      const std::int64_t rows = std::min(step, length - row);
      std::vector<double> net(static_cast<std::size_t>(rows * keys), 0.0);
      std::vector<Real> weights(net.size());
      for (std::size_t m = 0; m < 2; ++m) {
        if (!problem.maps[m].present()) continue;
        if (observer.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
        blocked_weights<Real>(problem, m, row, rows, weights, device);
        const std::vector<double> values(weights.begin(), weights.end());
        HEADROOM_TRY_VOID(observer.on_exact_rows(layer, h, static_cast<int>(m), row, rows, values));
        for (std::size_t i = 0; i < net.size(); ++i) {
          const std::int64_t query = row + static_cast<std::int64_t>(i) / keys,
                             key = static_cast<std::int64_t>(i) % keys;
          if (values[i] == 0.0 && !problem.mask.sees(query, key)) continue;
          net[i] += (m == 0 ? 1.0 : -kernels::finite_or_nan(problem.lambda[query])) * values[i];
        }
      }
      HEADROOM_TRY_VOID(observer.on_exact_rows(layer, h, -1, row, rows, net));
    }
  }
  return {};
}

}  // namespace headroom
