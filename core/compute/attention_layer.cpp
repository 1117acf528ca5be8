#include "core/compute/attention_layer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/compute/blocked_attention.h"

namespace headroom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// λ = exp(λq1·λk1) − exp(λq2·λk2) + λ_init (DIFF V1, arXiv 2410.05258, eq. 2).
Result<double> lambda_scalar(const WeightLoader& loader, const AttentionSpec& attention) {
  if (!attention.lambda_q1.present()) return 0.0;
  HEADROOM_TRY(const at::Tensor q1, loader.load(attention.lambda_q1));
  HEADROOM_TRY(const at::Tensor k1, loader.load(attention.lambda_k1));
  HEADROOM_TRY(const at::Tensor q2, loader.load(attention.lambda_q2));
  HEADROOM_TRY(const at::Tensor k2, loader.load(attention.lambda_k2));
  const auto dot = [](const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kDouble) * b.to(at::kDouble)).sum().item<double>();
  };
  return std::exp(dot(q1, k1)) - std::exp(dot(q2, k2)) + attention.lambda_init;
}

std::vector<double> to_vector(const at::Tensor& tensor) {
  const at::Tensor values = tensor.to(at::kCPU, at::kDouble).contiguous();
  const double* data = values.const_data_ptr<double>();
  return {data, data + values.numel()};
}

// L2 norms over the last axis of [length, blocks, channels], as [blocks][length].
std::vector<std::vector<double>> block_norms(const at::Tensor& x) {
  const at::Tensor norms = x.to(at::kDouble).square().sum(-1).sqrt().t().contiguous();
  std::vector<std::vector<double>> result;
  for (std::int64_t block = 0; block < norms.size(0); ++block) result.push_back(to_vector(norms[block]));
  return result;
}

// Everything the heads of one layer share, on the CPU in the statistics' dtype.
template <typename Real>
class LayerHeads {
 public:
  LayerHeads(const AttentionSpec& attention, const AttentionWeights& weights, at::Tensor q, at::Tensor k, at::Tensor v,
             const at::Tensor& lambda_logits, const ForwardOptions& options,
             std::span<const std::int64_t> induction_key)
      : attention_(attention),
        weights_(weights),
        options_(options),
        q_(std::move(q)),
        k_(std::move(k)),
        v_(std::move(v)),
        length_(q_.size(0)),
        induction_key_(induction_key) {
    if (lambda_logits.defined()) {
      const at::Tensor logits = lambda_logits.to(at::kCPU, at::kDouble);
      lambda_raw_ = logits.t().contiguous();
      lambda_sigmoid_ = at::sigmoid(lambda_raw_);
    }
  }

  // Sets up one job per output head; contexts go to `context` [length, heads, context_dim].
  void prepare(at::Tensor& context, bool measured) {
    const std::int64_t heads = static_cast<std::int64_t>(attention_.heads.size());
    const std::int64_t channels = attention_.context_dim();
    lambdas_.resize(attention_.heads.size());
    blocked_.resize(attention_.heads.size());
    for (std::int64_t h = 0; h < heads; ++h) {
      kernels::HeadJob<Real>& head = blocked_[static_cast<std::size_t>(h)];
      head.problem = problem(h);
      head.request = options_.request;
      if (!measured || !std::binary_search(options_.heads.begin(), options_.heads.end(), h)) head.request.wanted = 0;
      head.context = context.template mutable_data_ptr<Real>() + h * channels;
      head.context_stride = heads * channels;
    }
  }

  [[nodiscard]] bool run(const kernels::StopRequested& stop) {
    return blocked_attention<Real>(std::span<kernels::HeadJob<Real>>(blocked_), stop);
  }

  [[nodiscard]] const kernels::HeadProblem<Real>& problem_of(std::int64_t head) const {
    return blocked_[static_cast<std::size_t>(head)].problem;
  }
  [[nodiscard]] const std::vector<double>& lambda_of(std::int64_t head) const {
    return lambdas_[static_cast<std::size_t>(head)];
  }

  HeadRecord record(std::int64_t h, const at::Tensor& context) {
    HeadRecord record;
    record.head = h;
    record.program = attention_.heads[static_cast<std::size_t>(h)];
    record.statistics = std::move(blocked_[static_cast<std::size_t>(h)].statistics);
    record.lambda = lambdas_[static_cast<std::size_t>(h)];
    record.context_rms = to_vector(context.select(1, h).to(at::kDouble).square().mean(-1).sqrt());
    record.sink_logit = record.program.sink == SinkSource::Learned ? weights_.sinks[static_cast<std::size_t>(h)]
                        : record.program.sink == SinkSource::Zero  ? 0.0
                                                                   : kNaN;
    const HeadProgram::Map* maps[] = {record.program.has_first() ? &record.program.first : nullptr,
                                      record.program.has_second() ? &record.program.second : nullptr};
    at::Tensor squares;
    int count = 0;
    for (std::size_t m = 0; m < 2; ++m) {
      record.query_norm_max[m] = record.key_norm_max[m] = kNaN;
      if (!maps[m]) continue;
      record.kv_head[m] = maps[m]->key_block;
      record.query_norm_max[m] = largest_norm(q_.select(1, maps[m]->query_block));
      record.key_norm_max[m] = largest_norm(k_.select(1, maps[m]->key_block));
      if (count == 1 && maps[0]->value_blocks == maps[1]->value_blocks) continue;
      const at::Tensor mean = values(maps[m]->value_blocks).to(at::kDouble).square().mean(-1);
      squares = count == 0 ? mean : (squares + mean) / 2.0;
      ++count;
    }
    record.value_mean_square = to_vector(squares);
    const at::Tensor first = values((maps[0] ? maps[0] : maps[1])->value_blocks).to(at::kDouble);
    const at::Tensor norms = first.square().sum(-1).sqrt();
    record.value_drain = (norms[0] / norms.mean()).template item<double>();
    record.value_mean_share =
        (first.mean(0).square().sum() / norms.square().mean()).template item<double>();
    if (record.program.post_norm) record.norm_epsilon = weights_.head_norm.epsilon;
    return record;
  }

 private:
  static double largest_norm(const at::Tensor& x) {
    return std::sqrt(x.to(at::kDouble).square().sum(-1).max().template item<double>());
  }

  // The concatenated value blocks, [length, blocks · value_dim]: a view where they are neighbours.
  at::Tensor values(const std::vector<std::int64_t>& blocks) {
    const auto found = values_.find(blocks);
    if (found != values_.end()) return found->second;
    bool neighbours = true;
    for (std::size_t b = 1; b < blocks.size(); ++b) neighbours = neighbours && blocks[b] == blocks[b - 1] + 1;
    at::Tensor result;
    if (neighbours) {
      result = v_.as_strided({length_, static_cast<std::int64_t>(blocks.size()) * v_.size(2)}, {v_.stride(0), 1},
                             v_.storage_offset() + blocks.front() * v_.size(2));
    } else {
      std::vector<at::Tensor> parts;
      for (const std::int64_t block : blocks) parts.push_back(v_.select(1, block));
      result = at::cat(parts, 1);
    }
    return values_.emplace(blocks, result).first->second;
  }

  kernels::MapInput<Real> map_input(const HeadProgram::Map& map) {
    kernels::MapInput<Real> input;
    const at::Tensor q = q_.select(1, map.query_block);
    const at::Tensor k = k_.select(1, map.key_block);
    const at::Tensor v = values(map.value_blocks);
    input.query = q.template const_data_ptr<Real>();
    input.key = k.template const_data_ptr<Real>();
    input.value = v.template const_data_ptr<Real>();
    input.query_stride = q.stride(0);
    input.key_stride = k.stride(0);
    input.value_stride = v.stride(0);
    return input;
  }

  kernels::HeadProblem<Real> problem(std::int64_t h) {
    const HeadProgram& program = attention_.heads[static_cast<std::size_t>(h)];
    kernels::HeadProblem<Real> problem;
    problem.length = length_;
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
    problem.temperature = program.temperature;
    problem.has_sink = program.sink != SinkSource::None;
    if (program.sink == SinkSource::Learned) problem.sink = weights_.sinks[static_cast<std::size_t>(h)];
    problem.causal = attention_.causal;
    problem.window = attention_.window;
    problem.hidden_keys = program.hidden_keys;
    problem.induction_key = induction_key_.data();
    return problem;
  }

  [[nodiscard]] std::vector<double> lambda(const HeadProgram& program, std::int64_t h) const {
    switch (program.lambda) {
      case LambdaSource::LayerScalar:
        return std::vector<double>(static_cast<std::size_t>(length_), weights_.lambda_scalar);
      case LambdaSource::Projection: return to_vector(lambda_sigmoid_[h]);
      case LambdaSource::RawProjection: return to_vector(lambda_raw_[h]);
      case LambdaSource::Constant:
      case LambdaSource::None: break;
    }
    return std::vector<double>(static_cast<std::size_t>(length_), program.lambda_constant);
  }

  const AttentionSpec& attention_;
  const AttentionWeights& weights_;
  const ForwardOptions& options_;
  at::Tensor q_, k_, v_;  // [length, blocks, channels]
  std::int64_t length_;
  std::span<const std::int64_t> induction_key_;
  at::Tensor lambda_raw_, lambda_sigmoid_;  // [h, length]
  std::vector<std::vector<double>> lambdas_;
  std::vector<kernels::HeadJob<Real>> blocked_;
  std::map<std::vector<std::int64_t>, at::Tensor> values_;
};

// cos_F of the W_O blocks of heads that share their values, row h for each measured head (metrics M16).
std::vector<double> output_alignment(const AttentionSpec& attention, const at::Tensor& o_weight,
                                     const std::vector<std::int64_t>& measured) {
  const auto heads = static_cast<std::int64_t>(attention.heads.size());
  const at::Tensor blocks = o_weight.to(at::kCPU, at::kDouble)
                                .view({o_weight.size(0), heads, attention.context_dim()})
                                .permute({1, 0, 2})
                                .reshape({heads, -1});
  const at::Tensor unit = blocks / blocks.norm(2, {1}, true);
  const at::Tensor cosine = at::mm(unit, unit.t());
  std::vector<double> result;
  for (const std::int64_t h : measured)
    for (std::int64_t other = 0; other < heads; ++other) {
      const auto& values = attention.heads[static_cast<std::size_t>(h)].first.value_blocks;
      const bool same_group = values == attention.heads[static_cast<std::size_t>(other)].first.value_blocks;
      result.push_back(same_group ? cosine[h][other].item<double>() : kNaN);
    }
  return result;
}

template <typename Real>
Result<void> send_exact_maps(const LayerHeads<Real>& heads, const std::vector<std::int64_t>& measured,
                             std::int64_t layer, std::int64_t length, ForwardObserver& observer) {
  const std::int64_t step = std::clamp<std::int64_t>((1 << 20) / std::max<std::int64_t>(length, 1), 1, 256);
  for (const std::int64_t h : measured) {
    const kernels::HeadProblem<Real>& problem = heads.problem_of(h);
    for (std::int64_t row = 0; row < length; row += step) {
      const std::int64_t rows = std::min(step, length - row);
      std::vector<double> net(static_cast<std::size_t>(rows * length), 0.0);
      std::vector<Real> weights(net.size());
      for (std::size_t m = 0; m < 2; ++m) {
        if (!problem.maps[m].present()) continue;
        if (observer.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
        blocked_weights<Real>(problem, m, row, rows, weights);
        const std::vector<double> values(weights.begin(), weights.end());
        HEADROOM_TRY_VOID(observer.on_exact_rows(layer, h, static_cast<int>(m), row, rows, values));
        for (std::size_t i = 0; i < net.size(); ++i) {
          const std::int64_t query = row + static_cast<std::int64_t>(i) / length;
          net[i] += (m == 0 ? 1.0 : -problem.lambda[query]) * values[i];
        }
      }
      HEADROOM_TRY_VOID(observer.on_exact_rows(layer, h, -1, row, rows, net));
    }
  }
  return {};
}

// Head norm, (1 − λ_init), gate and switched-off heads on contexts [length, heads, channels], each where the head's
// program has it. Fills the records' gate means.
at::Tensor finish_contexts(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& x,
                           at::Tensor context, const TorchTarget& target, std::vector<HeadRecord>& records) {
  std::vector<double> scale, gated, normed;
  for (const HeadProgram& head : attention.heads) {
    scale.push_back(head.enabled ? head.post_scale : 0.0);
    gated.push_back(head.gated ? 1.0 : 0.0);
    normed.push_back(head.post_norm ? 1.0 : 0.0);
  }
  const auto column = [&](const std::vector<double>& values) {
    return at::tensor(values, at::kDouble).unsqueeze(1).to(target.device);
  };
  const auto any = [](const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double v) { return v != 0.0; });
  };
  if (any(normed)) {
    const at::Tensor normed_context = weights.head_norm(context);
    context = at::where(column(normed) != 0.0, normed_context, context);
  }
  context = context * column(scale).to(context.scalar_type());
  if (any(gated)) {
    const at::Tensor gate = at::sigmoid(weights.gate_projection(x).to(target.real))
                                .view({context.size(0), context.size(1), -1});
    const at::Tensor means = gate.to(at::kCPU, at::kDouble).mean(-1);
    for (HeadRecord& record : records)
      if (record.program.gated) record.gate_mean = to_vector(means.select(1, record.head));
    context = context * at::where(column(gated) != 0.0, gate, at::ones_like(gate)).to(context.scalar_type());
  }
  return context.flatten(1);
}

template <typename Real>
Result<at::Tensor> run_heads(const AttentionSpec& attention, const AttentionWeights& weights, const at::Tensor& x,
                             const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const TorchTarget& target,
                             const ForwardOptions& options, std::span<const std::int64_t> induction_key,
                             std::int64_t layer, bool measured, ForwardObserver& observer) {
  const auto on_cpu = [&](const at::Tensor& t) { return t.to(at::kCPU, target.real).contiguous(); };
  const at::Tensor lambda_logits = weights.lambda_projection.weight.defined() ? weights.lambda_projection(x) : at::Tensor();
  LayerHeads<Real> heads(attention, weights, on_cpu(q), on_cpu(k), on_cpu(v), lambda_logits, options, induction_key);
  at::Tensor context = at::empty(
      {x.size(0), static_cast<std::int64_t>(attention.heads.size()), attention.context_dim()}, target.real);
  heads.prepare(context, measured);
  if (!heads.run([&] { return observer.stop_requested(); })) return Error(ErrorCode::Cancelled, "cancelled");

  LayerRecord record;
  if (measured) {
    for (const std::int64_t h : options.heads) record.heads.push_back(heads.record(h, context));
    if (options.exact_maps)
      HEADROOM_TRY_VOID(send_exact_maps<Real>(heads, options.heads, layer, x.size(0), observer));
    record.layer = layer;
    record.kind = attention.kind;
    record.length = x.size(0);
    record.window = attention.window;
    record.causal = attention.causal;
    record.induction_key.assign(induction_key.begin(), induction_key.end());
    record.context_dim = attention.context_dim();
    record.lambda_init = attention.lambda_q1.present() ? attention.lambda_init : kNaN;
    record.key_norm = block_norms(on_cpu(k));
    record.value_norm = block_norms(on_cpu(v));
    record.output_alignment = output_alignment(attention, weights.o.weight, options.heads);
  }
  const at::Tensor finished = finish_contexts(attention, weights, x, context.to(target.device, target.dtype), target,
                                              record.heads);
  if (measured) HEADROOM_TRY_VOID(observer.on_layer(std::move(record)));
  return weights.o(finished);
}

}  // namespace

Result<AttentionWeights> load_attention(const WeightLoader& loader, const AttentionSpec& attention) {
  AttentionWeights weights;
  HEADROOM_TRY(weights.q, loader.load(attention.q));
  HEADROOM_TRY(weights.k, loader.load(attention.k));
  HEADROOM_TRY(weights.v, loader.load(attention.v));
  HEADROOM_TRY(weights.o, loader.load(attention.o));
  HEADROOM_TRY(weights.q_norm, loader.load(attention.q_norm));
  HEADROOM_TRY(weights.k_norm, loader.load(attention.k_norm));
  HEADROOM_TRY(weights.head_norm, loader.load(attention.head_norm));
  HEADROOM_TRY(weights.lambda_projection, loader.load(attention.lambda_projection));
  HEADROOM_TRY(weights.gate_projection, loader.load(attention.gate_projection));
  HEADROOM_TRY(weights.lambda_scalar, lambda_scalar(loader, attention));
  if (attention.sink_logits.present()) {
    HEADROOM_TRY(const at::Tensor sinks, loader.load(attention.sink_logits));
    weights.sinks = to_vector(sinks);
  }
  return weights;
}

Result<at::Tensor> run_attention(const AttentionSpec& attention, const AttentionWeights& weights, const Rotary& rotary,
                                 const at::Tensor& x, const TorchTarget& target, const ForwardOptions& options,
                                 std::span<const std::int64_t> induction_key, std::int64_t layer, bool measured,
                                 ForwardObserver& observer) {
  const std::int64_t length = x.size(0);
  const auto project = [&](const Linear& linear, const Norm& norm, std::int64_t blocks, std::int64_t channels) {
    at::Tensor y = linear(x);
    if (attention.qk_norm == QkNormScope::Whole) y = norm(y);
    y = y.view({length, blocks, channels});
    return attention.qk_norm == QkNormScope::PerHead ? norm(y) : y;
  };
  const at::Tensor q = rotary(project(weights.q, weights.q_norm, attention.num_query_blocks, attention.head_dim));
  const at::Tensor k = rotary(project(weights.k, weights.k_norm, attention.num_key_blocks, attention.head_dim));
  const at::Tensor v = weights.v(x).view({length, attention.num_value_blocks, attention.value_dim});
  return target.real == at::kDouble ? run_heads<double>(attention, weights, x, q, k, v, target, options, induction_key,
                                                        layer, measured, observer)
                                    : run_heads<float>(attention, weights, x, q, k, v, target, options, induction_key,
                                                       layer, measured, observer);
}

}  // namespace headroom
