#include "core/compute/forward.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/compute/mixer.h"
#include "core/compute/predict.h"
#include "core/compute/stream_parts.h"
#include "core/model/mixer_spec.h"
#include "core/run/run_pieces.h"

namespace headroom {
namespace {

constexpr std::int64_t kFewestMlpRows = 64;
constexpr double kMlpProducts = 8e9;  // of a chunk on the processor

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

std::vector<float> to_floats(const at::Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.numel()));
  at::from_blob(values.data(), tensor.sizes(), at::kFloat).copy_(tensor);
  return values;
}

// The share of the attention itself in a layer's products; what is around it counts half before and half after.
double attention_share(const BlockSpec& block, const AttentionSpec& a, std::int64_t length, bool measured) {
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

}  // namespace

Forward::Forward(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options, TorchTarget target,
                 ForwardObserver& observer)
    : model_(model),
      options_(options),
      loader_(source, target, &log_),
      observer_(observer),
      induction_(induction_keys(options.ids)) {}

Result<ForwardSummary> Forward::run(const Reached& reached) {
  StageTimer whole(&summary_.seconds);
  WeightReader reader(loader_, model_, stages_, options_.first_layer, options_.last_layer);
  const auto stop = [&] { return observer_.stop_requested(); };
  StageTimer embedding(&stages_.project);
  HEADROOM_TRY(SequenceState state, begin());
  embedding.stop();
  boundary_ = options_.first_layer;
  HEADROOM_TRY_VOID(send_residual(state.h));
  const auto layers = static_cast<std::int64_t>(model_.blocks.size());
  for (std::int64_t layer = options_.first_layer; layer < layers; ++layer) {
    if (stop()) return Error(ErrorCode::Cancelled, "cancelled");
    begin_layer_progress(layer);
    if (reached) reached(layer, state);
    if (layer > options_.first_layer) HEADROOM_TRY_VOID(send_input(layer, state.h));
    HEADROOM_TRY(const BlockWeights weights, reader.take_block(stop));
    HEADROOM_TRY_VOID(advance(layer, weights, state));
    if (layer == options_.last_layer) break;
  }
  HeadWeights head;
  const bool predicts = options_.last_layer < 0 && model_.lm_head.weight.present();
  if (predicts) {
    HEADROOM_TRY(head, reader.take_head(stop));
  }
  HEADROOM_TRY(ForwardSummary summary, close(predicts ? &head : nullptr, state));
  observer_.on_progress(1.0, "done");
  whole.stop();
  summary.seconds = summary_.seconds;
  return summary;
}

Result<void> Forward::advance(std::int64_t layer, const BlockWeights& weights, SequenceState& state) {
  HEADROOM_TRY_VOID(run_block(layer, weights, model_.blocks[static_cast<std::size_t>(layer)].attention, state));
  return passed(layer, state);
}

AttentionLane Forward::lane(Projections given, at::Tensor x) const {
  return {std::move(given), std::move(x), options_, induction_, observer_};
}

Result<void> Forward::passed(std::int64_t layer, const SequenceState& state) {
  if (layer == options_.last_layer) return {};
  HEADROOM_TRY_VOID(send_residual(state.h));
  if (summary_.non_finite_layer < 0 && !all_finite(state.h)) summary_.non_finite_layer = layer;
  return {};
}

Result<ForwardSummary> Forward::close(const HeadWeights* weights, const SequenceState& state,
                                      const at::Tensor& logits) {
  if (weights != nullptr) {
    HEADROOM_TRY(summary_.predictions, finish(*weights, state, logits));
    const std::vector<double>& losses = summary_.predictions.loss;
    const double loss = std::accumulate(losses.begin(), losses.end(), 0.0);
    if (!losses.empty() && std::isfinite(loss)) summary_.next_token_loss = loss / static_cast<double>(losses.size());
  }
  summary_.non_finite_weights = log_.weights(model_);
  summary_.stages = stages_;
  summary_.attention_seconds = stages_.project + stages_.attention + stages_.record;
  return summary_;
}

Result<SequenceState> Forward::begin() {
  SequenceState state;
  if (model_.encoder) {
    HEADROOM_TRY(state.h, embed_source());
    return state;
  }
  at::Tensor embedded;
  if (!options_.start || model_.layer_embedding.present()) {
    HEADROOM_TRY(embedded, embed());
  }
  if (model_.layer_embedding.present()) HEADROOM_TRY_VOID(embed_layers(embedded));
  if (options_.start) return started(*options_.start);
  if (model_.streams.present()) {
    HEADROOM_TRY(state.h, split_stream(loader_, model_.streams, embedded));
  } else {
    state.h = embedded;
  }
  return state;
}

// Tokens that the table of the layers does not have read its first row.
Result<void> Forward::embed_layers(const at::Tensor& embedded) {
  const LayerEmbeddingSpec& spec = model_.layer_embedding;
  std::vector<std::int32_t> ids = options_.ids;
  for (std::int32_t& id : ids)
    if (id >= spec.table.rows()) id = 0;
  HEADROOM_TRY(const at::Tensor rows, loader_.load_rows(spec.table, ids));
  HEADROOM_TRY(told_, embed_for_layers(loader_, spec, rows, embedded));
  return {};
}

Result<at::Tensor> Forward::embed() {
  HEADROOM_TRY(const at::Tensor rows, loader_.load_rows(model_.embedding, options_.ids));
  HEADROOM_TRY(const EmbeddingWeights weights, load_embedding(loader_, model_));
  HEADROOM_TRY(const at::Tensor positions, embed_places(model_.position_embedding, options_.ids.size()));
  return begin_stream(model_, weights, rows, positions);
}

Result<at::Tensor> Forward::embed_source() {
  const EncoderSpec& encoder = *model_.encoder;
  HEADROOM_TRY(const at::Tensor rows, loader_.load_rows(encoder.embedding, options_.source_ids));
  EmbeddingWeights weights;
  HEADROOM_TRY(weights.norm, loader_.load(encoder.embedding_norm));
  HEADROOM_TRY(const at::Tensor positions, embed_places(encoder.position_embedding, options_.source_ids.size()));
  return begin_stream(model_, weights, rows, positions);
}

// The encoder's stream ends, and the decoder's begins.
Result<void> Forward::begin_decoder(SequenceState& state) {
  HEADROOM_TRY(const Norm norm, loader_.load(model_.encoder->final_norm));
  state.memory = norm(state.h);
  HEADROOM_TRY(state.h, embed());
  return {};
}

// Undefined where there are no learned positions.
Result<at::Tensor> Forward::embed_places(const WeightRef& table, std::size_t length) {
  if (!table.present()) return at::Tensor();
  return loader_.load_rows(table, places(length));
}

// The position of every token.
std::vector<std::int32_t> Forward::places(std::size_t length) const {
  std::vector<std::int32_t> places(length);
  std::iota(places.begin(), places.end(), 0);
  if (!model_.padding_id) return places;
  const auto padding = static_cast<std::int32_t>(*model_.padding_id);
  std::int32_t next = padding;
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = options_.ids[i] == padding ? padding : ++next;
  return places;
}

SequenceState Forward::started(const StreamState& start) {
  SequenceState state;
  for (const auto& tensor : start.kept) {
    kept_states_.push_back(tensor);
    at::Tensor& to = tensor->kind == KeptTensor::Kind::Memory ? state.scans[tensor->layer]
                     : tensor->kind == KeptTensor::Kind::Keys ? state.kept[tensor->layer].k
                                                              : state.kept[tensor->layer].v;
    to = from_floats(tensor->values, tensor->shape);
  }
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(options_.ids.size()), model_.hidden_size};
  if (model_.streams.present()) shape.insert(shape.begin(), model_.streams.count());
  state.h = from_floats(start.residual, shape);
  return state;
}

at::Tensor Forward::from_floats(const std::vector<float>& values, const std::vector<std::int64_t>& shape) const {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  std::ranges::copy(values, tensor.mutable_data_ptr<float>());
  return tensor.to(loader_.target().device, loader_.target().dtype);
}

// The stream that blocks work on.
at::Tensor Forward::active(const at::Tensor& h) const { return h.dim() == 3 ? h.select(0, model_.streams.active) : h; }

// Progress counts layers that run, and the loss as one more.
void Forward::begin_layer_progress(std::int64_t layer) {
  const auto layers = static_cast<std::int64_t>(model_.blocks.size());
  const std::int64_t end = options_.last_layer >= 0 ? options_.last_layer + 1 : layers + 1;
  const double share = 1.0 / static_cast<double>(end - options_.first_layer);
  set_progress(static_cast<double>(layer - options_.first_layer) * share, share,
               format("layer %lld of %lld", static_cast<long long>(layer) + 1, static_cast<long long>(layers)));
}

void Forward::set_progress(double begin, double share, std::string text) {
  progress_begin_ = begin;
  progress_share_ = share;
  progress_text_ = std::move(text);
  reported_ = {};
  report(0.0);
}

// `share` of the layer is done. At most 25 times a second.
void Forward::report(double share) {
  const auto time = std::chrono::steady_clock::now();
  if (time - reported_ < std::chrono::milliseconds(40)) return;
  reported_ = time;
  observer_.on_progress(progress_begin_ + share * progress_share_, progress_text_);
}

Result<void> Forward::run_block(std::int64_t layer, const BlockWeights& weights, const AttentionSpec& attention,
                                SequenceState& state, const at::Tensor& means) {
  if (model_.encoder && layer == model_.encoder->blocks) {
    HEADROOM_TRY_VOID(begin_decoder(state));
    HEADROOM_TRY_VOID(send_residual(state.h));
  }
  const BlockSpec& block = model_.blocks[static_cast<std::size_t>(layer)];
  const bool measured = std::binary_search(options_.layers.begin(), options_.layers.end(), layer);
  at::Tensor h = state.h, predicted;
  if (weights.altup.present()) {
    predicted = weights.altup.predict(state.h, model_.streams.active);
    h = active(predicted);
  }
  const at::Tensor input = h;
  if (block.attends()) {
    HEADROOM_TRY_VOID(run_attention_of(attention, weights, layer, measured, state, h, means));
  } else {
    HEADROOM_TRY_VOID(run_mixer(block, weights, layer, state, h));
  }
  if (layer == options_.last_layer) return {};
  const StageTimer timer(&stages_.mlp);
  const at::Tensor given = block.parallel ? input : h;
  if (block.experts.present())
    HEADROOM_TRY_VOID(run_mixture(block, weights, layer, given, h));
  else
    HEADROOM_TRY_VOID(run_mlp(block, weights, given, h));
  if (predicted.defined()) h = weights.altup.correct(predicted, h, model_.streams.active);
  add_told(block, weights, layer, h);
  state.h = weights.scale.defined() ? h * weights.scale : h;
  return {};
}

// What the block makes of the token's embedding for this layer. Of several streams the first has none of it.
void Forward::add_told(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer, at::Tensor& h) const {
  if (!weights.token_branch.present()) return;
  at::Tensor read = active(h);
  if (weights.altup.scale.defined()) read = read * weights.altup.scale;
  const at::Tensor out = weights.token_branch(block.token_branch.activation, read, told_.select(1, layer));
  if (h.dim() == 3)
    h = at::cat({h.narrow(0, 0, 1), h.narrow(0, 1, h.size(0) - 1) + out});
  else
    h = h + out;
}

Result<void> Forward::run_attention_of(const AttentionSpec& attention, const BlockWeights& weights, std::int64_t layer,
                                       bool measured, SequenceState& state, at::Tensor& h, const at::Tensor& means) {
  const auto timed_inside = [&] { return stages_.attention + stages_.record + stages_.wait_write; };
  const double before = timed_inside();
  StageTimer timer(&stages_.project);
  const Rotary rotary(attention.rope, h.size(0), loader_.target());
  const double share = attention_share_ =
      attention_share(model_.blocks[static_cast<std::size_t>(layer)], attention, h.size(0), measured);
  const at::Tensor x = weights.attention_branch.before(h);
  const auto kept = state.kept.find(attention.keys_of_layer);
  const Projections given = project(attention, weights.attention, rotary, x,
                                    kept == state.kept.end() ? nullptr : &kept->second, state.memory);
  if (model_.keys_are_kept(layer)) keep(layer, given, state);
  // Rows whose tokens are not those of the keys before them have no earlier occurrence.
  const bool of_target = !model_.encoder || attention.causal;
  const std::vector<std::int64_t> none(of_target ? 0 : static_cast<std::size_t>(h.size(0)), -1);
  const AttentionLane own{given, x, options_, of_target ? induction_ : none, observer_, means};
  HEADROOM_TRY(const at::Tensor out,
               run_attention(attention, weights.attention, own, loader_.target(), layer, measured, &stages_,
                             [&](double done) { report((1.0 - share) / 2.0 + done * share); }));
  if (out.defined()) {
    h = weights.attention_branch.join(h, out);
    if (weights.laurel.present()) h = weights.laurel.join(h, x);
  }
  timer.stop();
  stages_.project -= timed_inside() - before;
  return {};
}

// Keys and values for the layers behind, and for runs that begin there.
void Forward::keep(std::int64_t layer, const Projections& given, SequenceState& state) {
  state.kept[layer] = {{}, given.k, given.v, {}};
  keep_state(layer, KeptTensor::Kind::Keys, given.k);
  keep_state(layer, KeptTensor::Kind::Values, given.v);
}
void Forward::keep_state(std::int64_t layer, KeptTensor::Kind kind, const at::Tensor& tensor) {
  if (options_.keep_inputs)
    kept_states_.push_back(
        std::make_shared<const KeptTensor>(KeptTensor{layer, kind, tensor.sizes().vec(), to_floats(tensor)}));
}

// A mixer without maps, some rows after another. Cancelled between them.
Result<void> Forward::run_mixer(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer,
                                SequenceState& sequence, at::Tensor& h) {
  const StageTimer timer(&stages_.mix);
  attention_share_ = 0.0;
  MixerState state;
  const auto given = sequence.scans.find(block.mixer->memory_of_layer());
  std::vector<at::Tensor> scanned;
  at::Tensor result = at::empty_like(h);
  for (std::int64_t row = 0; row < h.size(0); row += kMixerRows) {
    if (observer_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
    const at::Tensor rows = h.narrow(0, row, std::min(kMixerRows, h.size(0) - row));
    const BranchWeights& branch = weights.attention_branch;
    if (given != sequence.scans.end()) state.scanned = given->second.narrow(0, row, rows.size(0));
    const at::Tensor out = mix(*block.mixer, weights.mixer, branch.before(rows), loader_.target(), state);
    result.narrow(0, row, rows.size(0)).copy_(branch.join(rows, out));
    if (model_.memory_is_kept(layer)) scanned.push_back(state.scanned);
    report(static_cast<double>(row + rows.size(0)) / static_cast<double>(h.size(0)) / 2.0);
  }
  if (!scanned.empty()) {
    sequence.scans[layer] = at::cat(scanned);
    keep_state(layer, KeptTensor::Kind::Memory, sequence.scans[layer]);
  }
  h = result;
  return {};
}

// In row chunks so that the inner activations stay small. Cancelled between them.
Result<void> Forward::run_mlp(const BlockSpec& block, const BlockWeights& weights, const at::Tensor& input,
                              at::Tensor& h) {
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
Result<void> Forward::run_mixture(const BlockSpec& block, const BlockWeights& weights, std::int64_t layer,
                                  const at::Tensor& input, at::Tensor& h) {
  const at::Tensor x = weights.mlp_branch.before(input);
  const bool apart = block.experts.before.kind != NormKind::None;
  const at::Tensor routed = apart ? weights.router.norm(input) : x;
  const Routing routing = route(block.experts.router, weights.router, routed, loader_.target().real);
  HEADROOM_TRY_VOID(
      observer_.on_router(record_of(routing, layer, static_cast<std::int64_t>(block.experts.experts.size()))));
  const double share = attention_share_;
  HEADROOM_TRY(at::Tensor out, run_experts(loader_, block.experts, routing, apart ? weights.router.before(input) : x,
                                           mlp_rows(block.experts.experts.front()), [&](double done) {
                                             report((1.0 + share) / 2.0 + done * (1.0 - share) / 2.0);
                                             return !observer_.stop_requested();
                                           }));
  out = weights.router.after(out);
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
std::int64_t Forward::mlp_rows(const MlpSpec& mlp) const {
  if (loader_.target().device.is_cuda()) return kMlpRows;
  const double products = 3.0 * static_cast<double>(mlp.up.weight.rows() * mlp.up.weight.columns());
  std::int64_t rows = kMlpRows;
  while (rows > kFewestMlpRows && static_cast<double>(rows) * products > kMlpProducts) rows /= 2;
  return rows;
}

// The input of a layer for a later run that begins there; float32 holds that of a float64 run only in part.
Result<void> Forward::send_input(std::int64_t layer, const at::Tensor& h) {
  if (!options_.keep_inputs) return {};
  return observer_.on_input({layer, h.size(-2), model_.hidden_size, to_floats(h), kept_states_});
}

// The next boundary: before the first block, behind each block, and once more before the decoder's first one.
Result<void> Forward::send_residual(const at::Tensor& stream) {
  const std::int64_t boundary = boundary_++;
  if (!options_.hidden && !options_.stream) return {};
  const StageTimer timer(&stages_.wait_write);
  const at::Tensor h = active(stream);
  if (options_.stream) {
    const at::Tensor values = h.to(at::kCPU, at::kFloat).contiguous();
    HEADROOM_TRY_VOID(observer_.on_stream(boundary, values.size(0), values.size(1),
                                          {values.const_data_ptr<float>(), static_cast<std::size_t>(values.numel())}));
  }
  if (!options_.hidden) return {};
  for (std::int64_t row = 0; row < h.size(0); row += kMlpRows) {
    const std::int64_t rows = std::min(kMlpRows, h.size(0) - row);
    const at::Tensor values = h.narrow(0, row, rows).to(at::kCPU, at::kDouble).contiguous();
    HEADROOM_TRY_VOID(observer_.on_residual(
        boundary, row, rows, {values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())}));
  }
  return {};
}

// In row chunks: [length, vocab] is never held. A layer that sees later tokens predicts no next one.
Result<Predictions> Forward::finish(const HeadWeights& weights, const SequenceState& state, const at::Tensor& given) {
  const StageTimer timer(&stages_.logits);
  const std::int64_t length = state.h.size(-2);
  Predictions predictions = room_for_predictions(model_.causal() ? length : 0);
  const std::int64_t first = options_.last_rows > 0 ? std::max<std::int64_t>(0, length - options_.last_rows) : 0;
  for (std::int64_t row = first; row < length; row += kLogitRows) {
    if (observer_.stop_requested()) return Error(ErrorCode::Cancelled, "cancelled");
    const std::int64_t rows = std::min(kLogitRows, length - row);
    const at::Tensor logits = given.defined() ? given.narrow(0, row, rows)
                                              : weights.logits(model_, state.h.narrow(-2, row, rows), loader_.target());
    if (predictions.present()) predict_rows(logits, row, options_.ids, predictions);
    if (!options_.hidden) continue;
    const at::Tensor values = logits.to(at::kCPU, at::kDouble).contiguous();
    HEADROOM_TRY_VOID(
        observer_.on_logits(row, rows, {values.const_data_ptr<double>(), static_cast<std::size_t>(values.numel())}));
  }
  return predictions;
}

}  // namespace headroom
