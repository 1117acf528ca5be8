// The forward pass over blocks, and the backend that the program loads.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/compute/attention_backend.h"
#include "core/compute/attention_layer.h"
#include "core/compute/benchmark.h"
#include "core/compute/block.h"
#include "core/compute/capture_run.h"
#include "core/compute/device.h"
#include "core/compute/torch_errors.h"
#include "core/compute/training/trainer.h"
#include "core/compute/weight_reader.h"
#include "core/run/compute.h"
#include "core/training/training.h"
#include "kernels/cpu/attention.h"

namespace headroom {
namespace {

constexpr std::int64_t kMlpRows = 2048, kFewestMlpRows = 64;
constexpr double kMlpProducts = 8e9;  // of a chunk on the processor
constexpr std::int64_t kLogitRows = 128;

// For each position the key after the latest earlier occurrence of the same token; −1 where there is none.
std::vector<std::int64_t> induction_keys(const std::vector<std::int32_t>& ids) {
  std::vector<std::int64_t> keys(ids.size(), -1);
  std::unordered_map<std::int32_t, std::int64_t> latest;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto found = latest.find(ids[i]);
    if (found != latest.end()) keys[i] = found->second + 1;
    latest[ids[i]] = static_cast<std::int64_t>(i);
  }
  return keys;
}

// One pass: a NaN is both the smallest and the largest value.
bool all_finite(const at::Tensor& x) {
  const auto [least, most] = at::aminmax(x);
  return std::isfinite(least.item<double>()) && std::isfinite(most.item<double>());
}

class Forward {
 public:
  Forward(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options, TorchTarget target,
          ForwardObserver& observer)
      : model_(model),
        options_(options),
        loader_(source, target, &log_),
        observer_(observer),
        reader_(loader_, model, stages_, options.first_layer, options.last_layer) {}

  Result<ForwardSummary> run() {
    StageTimer whole(&summary_.seconds);
    const std::vector<std::int64_t> induction = induction_keys(options_.ids);
    StageTimer embedding(&stages_.project);
    HEADROOM_TRY(at::Tensor h, options_.start.empty() ? embed() : started());
    embedding.stop();
    HEADROOM_TRY_VOID(send_residual(options_.first_layer, h));
    const auto layers = static_cast<std::int64_t>(model_.blocks.size());
    for (std::int64_t layer = options_.first_layer; layer < layers; ++layer) {
      if (observer_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
      begin_progress(layer);
      if (layer > options_.first_layer) HEADROOM_TRY_VOID(send_input(layer, h));
      HEADROOM_TRY_VOID(run_block(layer, induction, h));
      if (layer == options_.last_layer) {
        ended_ = true;
        break;
      }
      HEADROOM_TRY_VOID(send_residual(layer + 1, h));
      if (summary_.non_finite_layer < 0 && !all_finite(h)) summary_.non_finite_layer = layer;
    }
    if (!ended_) HEADROOM_TRY_VOID(finish(h));
    summary_.non_finite_weights = log_.weights(model_);
    observer_.on_progress(1.0, "done");
    whole.stop();
    summary_.stages = stages_;
    summary_.attention_seconds = stages_.project + stages_.attention + stages_.record;
    return summary_;
  }

 private:
  Result<at::Tensor> embed() {
    HEADROOM_TRY(const at::Tensor rows, loader_.load_rows(model_.embedding, options_.ids));
    HEADROOM_TRY(const EmbeddingWeights weights, load_embedding(loader_, model_));
    at::Tensor positions;
    if (model_.position_embedding.present()) {
      HEADROOM_TRY(positions, loader_.load_rows(model_.position_embedding, places()));
    }
    return begin_stream(model_, weights, rows, positions);
  }

  // The position of every token.
  [[nodiscard]] std::vector<std::int32_t> places() const {
    std::vector<std::int32_t> places(options_.ids.size());
    std::iota(places.begin(), places.end(), 0);
    if (!model_.padding_id) return places;
    const auto padding = static_cast<std::int32_t>(*model_.padding_id);
    std::int32_t next = padding;
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = options_.ids[i] == padding ? padding : ++next;
    return places;
  }

  [[nodiscard]] at::Tensor started() const {
    at::Tensor h = at::empty({static_cast<std::int64_t>(options_.ids.size()), model_.hidden_size}, at::kFloat);
    std::ranges::copy(options_.start, h.mutable_data_ptr<float>());
    return h.to(loader_.target().device, loader_.target().dtype);
  }

  // Progress counts layers that run, and the loss as one more.
  void begin_progress(std::int64_t layer) {
    const auto layers = static_cast<std::int64_t>(model_.blocks.size());
    const std::int64_t end = options_.last_layer >= 0 ? options_.last_layer + 1 : layers + 1;
    layer_share_ = 1.0 / static_cast<double>(end - options_.first_layer);
    layer_begin_ = static_cast<double>(layer - options_.first_layer) * layer_share_;
    layer_text_ = format("layer %lld of %lld", static_cast<long long>(layer) + 1, static_cast<long long>(layers));
    reported_ = {};
    report(0.0);
  }

  // `share` of the layer is done. At most 25 times a second.
  void report(double share) {
    const auto time = std::chrono::steady_clock::now();
    if (time - reported_ < std::chrono::milliseconds(40)) return;
    reported_ = time;
    observer_.on_progress(layer_begin_ + share * layer_share_, layer_text_);
  }

  // The share of the attention itself in a layer's products; what is around it counts half before and half after.
  [[nodiscard]] static double attention_share(const BlockSpec& block, std::int64_t length, bool measured) {
    const AttentionSpec& a = block.attention;
    const double maps = a.differential() ? 2.0 : 1.0, keys = static_cast<double>(length) / (a.causal ? 2.0 : 1.0);
    const double products = static_cast<double>(a.heads.size()) * maps * keys *
                            static_cast<double>(a.head_dim + a.context_dim()) * (measured ? 2.0 : 1.0);
    double weights = 0.0;
    const ExpertsSpec& experts = block.experts;
    const double chosen = experts.present()
                              ? static_cast<double>(experts.router.chosen) / static_cast<double>(experts.experts.size())
                              : 0.0;
    for_each_weight(block, 0, [&](const WeightRef& weight, std::string_view account, std::int64_t) {
      weights += static_cast<double>(weight.rows() * weight.columns()) * (account == "expert" ? chosen : 1.0);
    });
    return products / (products + weights);
  }

  Result<void> run_block(std::int64_t layer, const std::vector<std::int64_t>& induction, at::Tensor& h) {
    const BlockSpec& block = model_.blocks[static_cast<std::size_t>(layer)];
    const bool measured = std::binary_search(options_.layers.begin(), options_.layers.end(), layer);
    HEADROOM_TRY(const BlockWeights weights, reader_.take_block([&] { return observer_.stop_requested(); }));
    const at::Tensor input = h;
    HEADROOM_TRY_VOID(run_attention_of(block, weights, layer, measured, induction, h));
    if (layer == options_.last_layer) return {};
    const StageTimer timer(&stages_.mlp);
    const at::Tensor given = block.parallel ? input : h;
    if (block.experts.present()) return run_mixture(block, weights, layer, given, h);
    return run_mlp(block, weights, given, h);
  }

  Result<void> run_attention_of(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer, bool measured,
                                const std::vector<std::int64_t>& induction, at::Tensor& h) {
    const auto timed_inside = [&] { return stages_.attention + stages_.record + stages_.wait_write; };
    const double before = timed_inside();
    StageTimer timer(&stages_.project);
    const Rotary rotary(block.attention.rope, h.size(0), loader_.target());
    const double share = attention_share_ = attention_share(block, h.size(0), measured);
    HEADROOM_TRY(const at::Tensor out,
                 run_attention(block.attention, weights.attention, rotary, weights.attention_branch.before(h),
                               loader_.target(), options_, induction, layer, measured, observer_, &stages_,
                               [&](double done) { report((1.0 - share) / 2.0 + done * share); }));
    if (out.defined()) h = weights.attention_branch.join(h, out);
    timer.stop();
    stages_.project -= timed_inside() - before;
    return {};
  }

  // In row chunks so that the inner activations stay small. Cancelled between them.
  Result<void> run_mlp(const BlockSpec& block, const BlockWeights& weights, const at::Tensor& input, at::Tensor& h) {
    if (block.mlp.kind == MlpKind::None) return {};
    at::Tensor result = at::empty_like(h);
    const std::int64_t step = mlp_rows(block.mlp);
    for (std::int64_t row = 0; row < h.size(0); row += step) {
      if (observer_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
      const std::int64_t rows = std::min(step, h.size(0) - row);
      result.narrow(0, row, rows).copy_(add_mlp(block, weights, input.narrow(0, row, rows), h.narrow(0, row, rows)));
      const double done = static_cast<double>(row + rows) / static_cast<double>(h.size(0));
      report((1.0 + attention_share_) / 2.0 + done * (1.0 - attention_share_) / 2.0);
    }
    h = result;
    return {};
  }

  // All rows are routed first, so that each expert is read once.
  Result<void> run_mixture(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer,
                           const at::Tensor& input, at::Tensor& h) {
    const at::Tensor x = weights.mlp_branch.before(input);
    const Routing routing = route(block.experts.router, weights.router, x, loader_.target().real);
    HEADROOM_TRY_VOID(
        observer_.on_router(record_of(routing, layer, static_cast<std::int64_t>(block.experts.experts.size()))));
    const double share = attention_share_;
    HEADROOM_TRY(at::Tensor out, run_experts(loader_, block.experts, routing, x,
                                             mlp_rows(block.experts.experts.front()), [&](double done) {
                                               report((1.0 + share) / 2.0 + done * (1.0 - share) / 2.0);
                                               return !observer_.stop_requested();
                                             }));
    if (block.mlp.kind != MlpKind::None) {
      const std::int64_t step = mlp_rows(block.mlp);
      for (std::int64_t row = 0; row < h.size(0); row += step) {
        if (observer_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
        const std::int64_t rows = std::min(step, h.size(0) - row);
        out.narrow(0, row, rows).add_(shared_part(block, weights, x.narrow(0, row, rows)));
      }
    }
    h = weights.mlp_branch.join(h, out);
    return {};
  }

  // On the processor few enough that a chunk takes a fraction of a second.
  [[nodiscard]] std::int64_t mlp_rows(const MlpSpec& mlp) const {
    if (loader_.target().device.is_cuda()) return kMlpRows;
    const double products = 3.0 * static_cast<double>(mlp.up.weight.rows() * mlp.up.weight.columns());
    std::int64_t rows = kMlpRows;
    while (rows > kFewestMlpRows && static_cast<double>(rows) * products > kMlpProducts) rows /= 2;
    return rows;
  }

  // The input of a layer for a later run that begins there; float32 holds that of a float64 run only in part.
  Result<void> send_input(std::int64_t layer, const at::Tensor& h) {
    if (!options_.keep_inputs) return {};
    std::vector<float> values(static_cast<std::size_t>(h.numel()));
    at::from_blob(values.data(), h.sizes(), at::kFloat).copy_(h);
    return observer_.on_input(layer, std::move(values));
  }

  Result<void> send_residual(std::int64_t boundary, const at::Tensor& h) {
    if (!options_.hidden) return {};
    const StageTimer timer(&stages_.wait_write);
    for (std::int64_t row = 0; row < h.size(0); row += kMlpRows) {
      const std::int64_t rows = std::min(kMlpRows, h.size(0) - row);
      const at::Tensor values = h.narrow(0, row, rows).to(at::kCPU, at::kDouble).contiguous();
      HEADROOM_TRY_VOID(observer_.on_residual(
          boundary, row, rows, {values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())}));
    }
    return {};
  }

  // Final norm, logits and the loss of the next token, in row chunks: [length, vocab] is never held.
  Result<void> finish(const at::Tensor& h) {
    if (!model_.lm_head.weight.present()) return {};
    HEADROOM_TRY(const HeadWeights weights, reader_.take_head([&] { return observer_.stop_requested(); }));
    const StageTimer timer(&stages_.logits);
    const std::int64_t length = h.size(0);
    const at::Tensor ids = at::tensor(options_.ids, at::kInt).to(at::kLong).to(h.device());
    double loss = 0.0;
    for (std::int64_t row = 0; row < length; row += kLogitRows) {
      if (observer_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
      const std::int64_t rows = std::min(kLogitRows, length - row);
      const at::Tensor logits = weights.logits(model_, h.narrow(0, row, rows), loader_.target());
      // A layer that sees later tokens predicts no next one.
      const std::int64_t scored = model_.causal() ? std::min(rows, length - 1 - row) : 0;
      if (scored > 0) {
        const at::Tensor log_probabilities = at::log_softmax(logits.narrow(0, 0, scored), -1);
        const at::Tensor next = ids.narrow(0, row + 1, scored).unsqueeze(1);
        loss -= log_probabilities.gather(1, next).to(at::kDouble).sum().item<double>();
      }
      if (options_.hidden) {
        const at::Tensor values = logits.to(at::kCPU, at::kDouble).contiguous();
        HEADROOM_TRY_VOID(observer_.on_logits(
            row, rows, {values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())}));
      }
    }
    if (length > 1 && model_.causal() && std::isfinite(loss))
      summary_.next_token_loss = loss / static_cast<double>(length - 1);
    return {};
  }

  const ModelSpec& model_;
  const ForwardOptions& options_;
  NonFiniteLog log_;
  WeightLoader loader_;
  ForwardObserver& observer_;
  ForwardSummary summary_;
  StageSeconds stages_;
  bool ended_ = false;  // with the measurements of the last layer
  double layer_begin_ = 0.0, layer_share_ = 0.0, attention_share_ = 0.0;
  std::string layer_text_;
  std::chrono::steady_clock::time_point reported_;
  WeightReader reader_;
};

// Where a run begins and ends.
Result<void> check_span(const ModelSpec& model, const ForwardOptions& options) {
  const auto layers = static_cast<std::int64_t>(model.blocks.size());
  const auto refuse = [](const char* what) { return Error(ErrorCode::InvalidArgument, what); };
  if (options.first_layer < 0 || options.first_layer >= std::max<std::int64_t>(layers, 1) ||
      options.last_layer >= layers)
    return refuse("the run begins or ends at a layer that the model does not have");
  if (options.last_layer >= 0 && options.last_layer < options.first_layer)
    return refuse("the run ends before it begins");
  if (options.first_layer == 0 || model.capture)
    return options.start.empty() ? Result<void>() : refuse("layer 0 begins with the embedding");
  if (options.dtype == ComputeDtype::Float64) return refuse("a float64 run begins at layer 0");
  if (options.start.size() != options.ids.size() * static_cast<std::size_t>(model.hidden_size))
    return refuse("the run begins at a later layer without the residual stream before it");
  return {};
}

template <typename Body>
auto guarded(const Body& body) -> decltype(body()) {
  const c10::InferenceMode inference;
  return without_exceptions(body);
}

class TorchBackend final : public ComputeBackend {
 public:
  Result<AttentionChoice> choose_attention(const ForwardOptions& options) override {
    return headroom::choose_attention(options);
  }

  Result<ForwardSummary> run(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                             ForwardObserver& observer) override {
    return guarded([&]() -> Result<ForwardSummary> {
      HEADROOM_TRY_VOID(check_span(model, options));
      HEADROOM_TRY(const at::Device device, open_device(options.device));
      TorchTarget target;
      ForwardOptions asked = options;
      asked.softmax_only = model.softmax_only();
      HEADROOM_TRY(target.backend, find_attention_backend(asked));
      target.device = device;
      target.real = options.dtype == ComputeDtype::Float64 ? at::kDouble : at::kFloat;
      target.dtype = options.dtype == ComputeDtype::BFloat16 ? at::kBFloat16 : target.real;
      if (model.capture) return run_capture(source, model, options, target, observer);
      return Forward(source, model, options, target, observer).run();
    });
  }

  Result<BenchmarkReport> benchmark(const BenchmarkRequest& request,
                                    const std::function<void(double fraction, const std::string& what)>& progress,
                                    const kernels::StopRequested& stop) override {
    return guarded([&] { return run_benchmark(request, progress, stop); });
  }

  Result<TrainingOutcome> train(const TrainingRequest& request, TrainingObserver& observer) override {
    return without_exceptions([&] { return headroom::train(request, observer); });
  }

  BackendInfo info() override {
    BackendInfo info;
    info.torch_version = HEADROOM_TORCH_VERSION;
    info.cpu_capability = at::get_cpu_capability();
    info.kernel_target = kernels::cpu_kernel_target();
    info.threads = at::get_num_threads();
    info.devices = list_devices(info.cuda_note);
    info.backends = list_attention_backends(info.cuda_note);
    return info;
  }
};

}  // namespace
}  // namespace headroom

extern "C" __attribute__((visibility("default"))) headroom::ComputeBackend* headroom_compute_backend() {
  static headroom::TorchBackend backend;
  return &backend;
}
