#include "core/run/live_run.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/process_memory.h"
#include "core/measure/residual_record.h"
#include "core/run/capture_prompt.h"
#include "core/run/measured_layer.h"
#include "core/run/prediction_file.h"
#include "core/run/run_memory.h"
#include "core/run/run_plan.h"
#include "core/run/two_sequences.h"

namespace headroom {
namespace {

std::size_t size_of(const std::vector<float>& values) { return values.capacity() * sizeof(float); }

// The same run as it would be written into a file.
AnalysisRequest as_analysis(const LiveRunRequest& request) {
  AnalysisRequest analysis;
  analysis.model = request.model.get();
  analysis.what_ifs = request.what_ifs;
  analysis.prompt = *request.prompt;
  analysis.layers = request.layers;
  analysis.heads = request.heads;
  analysis.dtype = request.dtype;
  analysis.device = request.device;
  analysis.backend = request.backend;
  analysis.extra = request.extra;
  return analysis;
}

Result<void> check_indices(const std::vector<std::int64_t>& indices, std::int64_t count, const char* what) {
  const bool ascending = std::ranges::adjacent_find(indices, std::ranges::greater_equal()) == indices.end();
  const bool inside = indices.empty() || (indices.front() >= 0 && indices.back() < count);
  if (ascending && inside) return {};
  Error error(ErrorCode::InvalidArgument, std::string("the ") + what + " are not ascending ones of the model");
  return error.wanted("0 to " + std::to_string(count - 1), "");
}

Result<void> check_live_request(const LiveRunRequest& request) {
  const auto layers = static_cast<std::int64_t>(request.model->spec.blocks.size());
  const auto length = static_cast<std::int64_t>(request.prompt->ids.size());
  HEADROOM_TRY_VOID(check_indices(request.layers, layers, "layers"));
  HEADROOM_TRY_VOID(check_indices(request.heads, request.model->spec.num_heads, "heads"));
  if (request.first_layer < 0 || request.first_layer >= layers || request.last_layer >= layers ||
      (request.last_layer >= 0 && request.last_layer < request.first_layer))
    return Error(ErrorCode::InvalidArgument, "the run begins or ends at a layer that the model does not have");
  if (request.first_layer > 0 && !request.model->spec.capture) {
    if (!request.start || request.start->layer != request.first_layer || request.start->length != length)
      return Error(ErrorCode::InvalidArgument, "the run begins at a later layer without the input of that layer");
  }
  if (request.base && request.base->length != length)
    return Error(ErrorCode::InvalidArgument, "the run that this one goes on from has another prompt");
  return {};
}

std::vector<std::int64_t> merged(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}

std::shared_ptr<const MapSource> map_source(LayerRecord& record, std::int64_t length) {
  auto source = std::make_shared<MapSource>();
  source->id = next_map_source_id();
  source->rows = record.length;
  source->key_length = record.key_length;
  source->length = length;
  source->first_query = record.first_query;
  source->bias = record.bias;
  source->dense = record.dense;
  source->head_dim = record.head_dim;
  source->num_query_blocks = record.num_query_blocks;
  source->num_key_blocks = record.num_key_blocks;
  source->queries = std::move(record.queries);
  source->keys = std::move(record.keys);
  source->scale = record.scale;
  source->softcap = record.softcap;
  source->causal = record.causal;
  source->window = record.window;
  source->chunk = record.chunk;
  source->always_visible = record.always_visible;
  for (const HeadRecord& head : record.heads) {
    MapSource::Head& kept = source->heads.emplace_back();
    kept.head = head.head;
    kept.program = head.program;
    if (head.program.sink != SinkSource::None) kept.sink = head.sink_logit;
    for (std::size_t m = 0; m < 2; ++m) kept.lse[m] = head.statistics.maps[m].lse;
    kept.lambda = head.lambda;
  }
  return source;
}

// NaN up to `length`.
std::vector<std::vector<float>> to_floats(const std::vector<std::vector<double>>& blocks, std::int64_t length) {
  std::vector<std::vector<float>> result;
  for (const std::vector<double>& block : blocks) {
    std::vector<float>& values = result.emplace_back();
    values.reserve(block.size());
    for (const double value : block) values.push_back(static_cast<float>(value));
    values.resize(static_cast<std::size_t>(length), std::numeric_limits<float>::quiet_NaN());
  }
  return result;
}

// Every quantity of the table, under its name in the run file.
Result<void> fill_quantities(const MeasuredLayer& measured, LayerSnapshot& layer) {
  return measured.for_each_quantity([&](const Quantity& quantity, std::vector<double> values) -> Result<void> {
    if (quantity.group.empty() || quantity.axes.empty()) {
      layer.summary.emplace(path_of(quantity), std::move(values));
      return {};
    }
    std::vector<float>& series = layer.series[path_of(quantity)];
    series.reserve(values.size());
    for (const double value : values) series.push_back(static_cast<float>(value));
    return {};
  });
}

void add_once(const std::string& sentence, std::vector<std::string>& sentences) {
  if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(sentence);
}

// Collects layers and publishes a snapshot after each.
class LiveRecorder final : public ForwardObserver {
 public:
  LiveRecorder(const LiveRunRequest& request, const RunPlan& plan, const PublishRun& publish,
               const ProgressReport& progress, const kernels::StopRequested& stop)
      : request_(request), plan_(plan), publish_(publish), progress_(progress), stop_(stop) {
    // One of an encoder-decoder begins with the source, whatever it measures.
    single_ = request.base && (request.last_layer == request.first_layer ||
                               (plan.model.encoder && request.last_layer >= 0 && request.layers.size() == 1));
    run_.prompt = request.prompt;
    run_.length = plan.shape.length;
    run_.min_row = plan.shape.min_row;
    run_.sink_null = plan.sink_null;
    run_.layers = plan.forward.layers;
    run_.heads = plan.forward.heads;
    run_.all_layers = static_cast<std::int64_t>(plan.model.blocks.size());
    run_.notes = plan.notes;
    run_.model_name = request.model->checkpoint ? request.model->checkpoint->name() : std::string();
    run_.model_kind = plan.model.model_type;
    for (const WhatIf& what_if : request.what_ifs) run_.what_ifs.push_back(what_if.text);
    if (!plan.model.capture) run_.residual.resize(static_cast<std::size_t>(plan.shape.boundaries));
    run_.encoder_boundaries = plan.shape.encoder_boundaries;
    if (request.base) take_from(*request.base);
    run_.data.resize(run_.layers.size());
  }

  void set_attention(const AttentionChoice& choice) { run_.attention = choice; }

  Result<void> on_layer(LayerRecord record) override {
    auto layer = std::make_shared<LayerSnapshot>();
    layer->layer = record.layer;
    layer->kind = record.kind;
    layer->call_name = record.name;
    layer->length = plan_.shape.length;
    layer->rows = record.length;
    layer->keys = record.key_length < 0 ? record.length : record.key_length;
    layer->first_query = record.first_query;
    layer->axes = axes_of_layer(plan_.model, record.layer);
    layer->context_dim = record.context_dim;
    layer->lambda_init = record.lambda_init;
    for (const HeadRecord& head : record.heads) {
      layer->heads.push_back(head.head);
      layer->programs.push_back(head.program);
      layer->kv_heads.push_back(head.kv_head);
    }
    std::optional<MeasuredLayer> measured(std::in_place, record, plan_.shape, plan_.forward.request, check_);
    for (const HeadView& view : measured->heads()) {
      layer->visible.push_back(view.visible);
      layer->visible.back().resize(static_cast<std::size_t>(layer->length), 0);
    }
    if (std::ranges::adjacent_find(layer->visible, std::ranges::not_equal_to()) == layer->visible.end())
      layer->visible.resize(std::min<std::size_t>(layer->visible.size(), 1));
    HEADROOM_TRY_VOID(fill_quantities(*measured, *layer));
    layer->output_alignment = record.output_alignment;
    layer->key_norms = to_floats(record.key_norm, layer->length);
    layer->value_norms = to_floats(record.value_norm, layer->length);
    layer->pooled = keep_pooled(record);
    note_contexts(record);
    measured.reset();  // it refers to the record
    if (request_.keep_maps) layer->maps = map_source(record, plan_.shape.length);

    order_.push_back(place_of(layer->layer));
    run_.data[order_.back()] = std::move(layer);
    keep_within_budget();
    publish();
    // What a layer keeps lies between what it gave up, and the next one's blocks do not fit there.
    record = {};
    spare_.release_beyond(spare_bytes_);
    return {};
  }

  Result<void> on_router(RouterRecord record) override {
    auto& routers = run_.routers;
    const auto at = std::ranges::lower_bound(routers, record.layer, {}, [](const auto& kept) { return kept->layer; });
    if (at != routers.end() && (*at)->layer == record.layer)
      *at = keep_router(record);
    else
      routers.insert(at, keep_router(record));
    return {};
  }

  // What stands out at one boundary is followed through those behind it.
  Result<void> on_stream(std::int64_t boundary, std::int64_t rows, std::int64_t channels,
                         std::span<const float> values) override {
    auto kept = std::make_shared<ResidualBoundary>(measure_residual(boundary, rows, channels, values, followed_));
    if (request_.keep_residual) kept->stream = std::make_shared<const std::vector<float>>(values.begin(), values.end());
    follow_largest(*kept, followed_);
    run_.residual[static_cast<std::size_t>(boundary)] = std::move(kept);
    return {};
  }

  Result<void> on_input(StreamState state) override {
    request_.inputs->add(std::make_shared<const StreamState>(std::move(state)));
    keep_within_budget();
    return {};
  }

  void on_progress(double fraction, const std::string& what) override {
    if (progress_) progress_(fraction, what);
  }
  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }

  std::shared_ptr<const RunSnapshot> finish(const ForwardSummary& summary) {
    if (request_.last_layer < 0) {
      run_.next_token_loss = summary.next_token_loss;
      run_.predictions = keep_predictions(summary.predictions, request_.tokenizer.get());
    }
    if (summary.non_finite_layer >= 0) run_.non_finite_layer = summary.non_finite_layer;
    for (const NonFiniteWeight& weight : summary.non_finite_weights)
      add_once(describe(weight), run_.non_finite_weights);
    for (const std::string& violation : check_.violations) run_.notes.push_back("self-check: " + violation);
    return snapshot();
  }

 private:
  // Layers before the first one that runs; where a single layer is measured again all the others and the loss too.
  void take_from(const RunSnapshot& base) {
    const auto stays = [&](std::int64_t layer) {
      return layer < request_.first_layer || (single_ && layer != request_.last_layer);
    };
    std::vector<std::int64_t> shared;
    std::ranges::copy_if(base.layers, std::back_inserter(shared), stays);
    run_.layers = merged(shared, run_.layers);
    run_.heads = merged(base.heads, run_.heads);
    run_.data.resize(run_.layers.size());
    run_.non_finite_weights = base.non_finite_weights;
    for (std::size_t i = 0; i < base.layers.size() && i < base.data.size(); ++i)
      if (stays(base.layers[i])) run_.data[place_of(base.layers[i])] = base.data[i];
    for (const auto& router : base.routers)
      if (single_ || router->layer < request_.first_layer) run_.routers.push_back(router);
    take_residual(base);
    if (!single_) return;
    // A measurement adds to what was kept before; a what-if shares it with the run that stays.
    for (std::size_t i = 0; i < run_.data.size(); ++i)
      if (run_.data[i] && run_.data[i]->maps) order_.push_back(i);
    std::ranges::sort(order_, {}, [&](std::size_t i) { return run_.data[i]->maps->id; });
    run_.next_token_loss = base.next_token_loss;
    run_.predictions = base.predictions;
    run_.non_finite_layer = base.non_finite_layer;
    for (const std::string& note : base.notes) add_once(note, run_.notes);
    run_.seconds = base.seconds;
  }
  // A layer that is measured again changes nothing; a what-if leaves what comes before it.
  void take_residual(const RunSnapshot& base) {
    const bool same = request_.last_layer >= 0 && base.what_ifs == run_.what_ifs;
    const std::int64_t last = run_.boundary_before(std::max(request_.first_layer, request_.last_layer));
    for (std::size_t b = 0; b < std::min(base.residual.size(), run_.residual.size()); ++b)
      if (same || static_cast<std::int64_t>(b) <= last) run_.residual[b] = base.residual[b];
  }
  [[nodiscard]] std::size_t place_of(std::int64_t layer) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(run_.layers, layer) - run_.layers.begin());
  }

  // A capture's heads whose contexts are not the model's.
  void note_contexts(const LayerRecord& record) {
    for (const HeadRecord& head : record.heads)
      if (head.context_difference > kContextTolerance) add_once(describe_context(record, head), run_.notes);
  }

  // Drops maps and series of layers in the order in which they were measured; those of the latest one stay.
  void keep_within_budget() {
    std::size_t bytes = request_.inputs ? request_.inputs->size_bytes() : 0;
    for (const std::size_t i : order_) bytes += run_.data[i]->kept_bytes();
    for (const auto& router : run_.routers) bytes += router->kept_bytes();
    while (bytes > request_.keep_bytes && order_.size() > 1) {
      std::shared_ptr<const LayerSnapshot>& layer = run_.data[order_.front()];
      bytes -= layer->kept_bytes();
      auto smaller = std::make_shared<LayerSnapshot>(*layer);
      smaller->maps.reset();
      smaller->series.clear();
      smaller->key_norms.clear();
      smaller->value_norms.clear();
      layer = std::move(smaller);
      order_.erase(order_.begin());
    }
  }

  std::shared_ptr<const RunSnapshot> snapshot() {
    run_.complete = run_.finished_layers() == run_.layers.size();
    const double own = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    auto copy = std::make_shared<RunSnapshot>(run_);
    copy->seconds = single_ ? run_.seconds : own;
    return copy;
  }
  void publish() {
    if (publish_) publish_(snapshot());
  }

  const LiveRunRequest& request_;
  const RunPlan& plan_;
  const PublishRun& publish_;
  const ProgressReport& progress_;
  const kernels::StopRequested& stop_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const SpareHeap spare_;
  const std::size_t spare_bytes_ =
      estimate_run_memory(request_, plan_.shape.length, std::thread::hardware_concurrency()).spare_bytes;
  bool single_ = false;  // one layer is measured again, the others stay
  RunSnapshot run_;
  std::vector<std::size_t> order_;  // places in run_.data that keep maps and series, first measured first
  SelfCheck check_;
  std::vector<std::int32_t> followed_;  // channels that stood out at an earlier boundary
};

}  // namespace

struct LayerInputs::State {
  explicit State(std::size_t budget_bytes) : budget(budget_bytes) {}

  const std::size_t budget;
  mutable Mutex mutex;
  std::size_t bytes HEADROOM_GUARDED_BY(mutex) = 0;
  std::map<std::int64_t, std::shared_ptr<const StreamState>> inputs HEADROOM_GUARDED_BY(mutex);

  // What several states share counts once.
  void count() HEADROOM_REQUIRES(mutex) {
    std::set<const KeptTensor*> kept;
    bytes = 0;
    for (const auto& [layer, input] : inputs) {
      bytes += size_of(input->residual);
      for (const auto& tensor : input->kept)
        if (kept.insert(tensor.get()).second) bytes += size_of(tensor->values);
    }
  }

  // The input, other than `newest`, whose absence costs the fewest layers: a run goes on from the one before it.
  auto least_useful(std::int64_t newest) HEADROOM_REQUIRES(mutex) {
    auto best = inputs.end();
    std::int64_t best_gap = std::numeric_limits<std::int64_t>::max(), before = 0;
    for (auto at = inputs.begin(); at != inputs.end(); before = at->first, ++at) {
      const auto next = std::next(at);
      const std::int64_t gap = (next == inputs.end() ? at->first + 1 : next->first) - before;
      if (at->first != newest && gap < best_gap) best = at, best_gap = gap;
    }
    return best;
  }
};

LayerInputs::LayerInputs(std::size_t budget_bytes) : state_(std::make_unique<State>(budget_bytes)) {}
LayerInputs::~LayerInputs() = default;

std::shared_ptr<const StreamState> LayerInputs::find(std::int64_t layer) const {
  const MutexLock lock(state_->mutex);
  const auto found = state_->inputs.find(layer);
  return found == state_->inputs.end() ? nullptr : found->second;
}

std::shared_ptr<const StreamState> LayerInputs::nearest(std::int64_t layer) const {
  const MutexLock lock(state_->mutex);
  const auto after = state_->inputs.upper_bound(layer);
  return after == state_->inputs.begin() ? nullptr : std::prev(after)->second;
}

void LayerInputs::add(std::shared_ptr<const StreamState> input) {
  const MutexLock lock(state_->mutex);
  const std::int64_t layer = input->layer;
  state_->inputs[layer] = std::move(input);
  state_->count();
  while (state_->bytes > state_->budget && state_->inputs.size() > 1) {
    state_->inputs.erase(state_->least_useful(layer));
    state_->count();
  }
}

std::size_t LayerInputs::size_bytes() const {
  const MutexLock lock(state_->mutex);
  return state_->bytes;
}

std::int64_t pool_blocks_of(const LiveRunRequest& request) {
  if (request.pool_blocks >= 0 || !request.model) return std::max<std::int64_t>(request.pool_blocks, 0);
  const ModelSpec& model = request.model->spec;
  const std::size_t layers = request.layers.empty() ? model.attention_layers().size() : request.layers.size();
  const auto heads = request.heads.empty() ? model.num_heads : static_cast<std::int64_t>(request.heads.size());
  return pooled_blocks(static_cast<std::int64_t>(layers) * heads);
}

LiveRunEstimate estimate_live_run(const LiveRunRequest& request) {
  LiveRunEstimate estimate;
  if (!request.model || !request.prompt || request.model->spec.blocks.empty()) return estimate;
  const ModelSpec& model = request.model->spec;
  const auto length = static_cast<std::int64_t>(request.prompt->ids.size());
  const std::size_t layers = request.layers.empty() ? model.attention_layers().size() : request.layers.size();
  estimate.layer_bytes = kept_layer_bytes(request, length);
  if (request.inputs && request.keep_maps && request.dtype != ComputeDtype::Float64 && !model.encoder)
    estimate.layer_bytes += input_bytes(model, length);
  estimate.total_bytes = estimate.layer_bytes * layers;
  estimate.kept_layers = std::min(layers, request.keep_bytes / std::max<std::size_t>(estimate.layer_bytes, 1));
  return estimate;
}

Result<std::shared_ptr<const RunSnapshot>> run_live(ComputeBackend& backend, const LiveRunRequest& request,
                                                    const PublishRun& publish, const ProgressReport& progress,
                                                    const kernels::StopRequested& stop) {
  HEADROOM_TRY_VOID(check_live_request(request));
  HEADROOM_TRY(RunPlan plan, plan_run(as_analysis(request)));
  ForwardOptions& forward = plan.forward;
  forward.keep_projections = request.keep_maps;
  forward.request.pool_blocks = pool_blocks_of(request);
  // A float64 stream does not fit into float32, and a run that begins there would not be the same. A decoder's needs
  // what the encoder gives.
  forward.keep_inputs =
      request.keep_maps && request.inputs != nullptr && request.dtype != ComputeDtype::Float64 && !plan.model.encoder;
  forward.first_layer = request.first_layer;
  forward.last_layer = request.last_layer;
  forward.stream = request.last_layer < 0 && !plan.model.capture;
  if (request.start) forward.start = request.start.get();
  std::erase_if(forward.layers, [&](std::int64_t layer) {
    return layer < request.first_layer || (request.last_layer >= 0 && layer > request.last_layer);
  });
  LiveRecorder recorder(request, plan, publish, progress, stop);
  HEADROOM_TRY(const AttentionChoice choice, backend.choose_attention(forward));
  recorder.set_attention(choice);
  if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
  HEADROOM_TRY(const ForwardSummary summary, backend.run(request.model->source, plan.model, forward, recorder));
  return recorder.finish(summary);
}

}  // namespace headroom
