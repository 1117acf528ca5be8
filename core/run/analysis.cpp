#include "core/run/analysis.h"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/model/capture.h"
#include "core/run/capture_prompt.h"
#include "core/run/layer_program.h"
#include "core/run/prediction_file.h"
#include "core/run/provenance.h"
#include "core/run/recorder.h"
#include "core/run/run_plan.h"
#include "core/run/stored_violations.h"
#include "core/run/two_sequences.h"

namespace headroom {
namespace {

Result<void> write_origin(RunFileWriter& writer, const AnalysisRequest& request, const RunShape& shape,
                          const BackendInfo& library, const AttentionChoice& attention,
                          const kernels::StopRequested& stop) {
  HEADROOM_TRY_VOID(write_provenance(writer, request, "Attention statistics of ", library, attention, stop));
  HEADROOM_TRY_VOID(writer.set_attribute("", "min_row", shape.min_row));
  if (!shape.calls) {
    HEADROOM_TRY_VOID(writer.set_attribute("", "model_layers", shape.boundaries - 1));
  }
  HEADROOM_TRY_VOID(writer.set_attribute("", "lse_includes_sink", std::int64_t{1}));
  return writer.set_attribute("program", "overrides", overrides_text(request.what_ifs));
}

// The other sequence of a capture or an encoder-decoder.
Result<void> write_key_tokens(RunFileWriter& writer, const Prompt& prompt) {
  const std::int64_t start[] = {0}, count[] = {static_cast<std::int64_t>(prompt.ids.size())};
  std::vector<double> ids(prompt.key_ids.begin(), prompt.key_ids.end());
  ids.resize(prompt.ids.size(), -1.0);
  HEADROOM_TRY_VOID(writer.write("calls/key_token_id", start, count, ids));
  std::vector<std::string> texts;
  for (const std::string& text : prompt.key_texts) texts.push_back(stored_text(text));
  texts.resize(prompt.ids.size());
  return writer.write_strings("calls/key_token_text", start, count, texts);
}

// Whose tokens the rows and keys of calls are.
Result<void> write_call_axes(RunFileWriter& writer, const ModelSpec& model, const RunShape& shape) {
  for (std::size_t l = 0; l < shape.layers.size(); ++l) {
    const CallAxes axes = axes_of_layer(model, shape.layers[l]);
    const std::int64_t start[] = {static_cast<std::int64_t>(l)}, count[] = {1};
    const std::string rows[] = {std::string(kTokenAxes[static_cast<std::size_t>(axes.rows)])};
    const std::string keys[] = {std::string(kTokenAxes[static_cast<std::size_t>(axes.keys)])};
    HEADROOM_TRY_VOID(writer.write_strings("calls/row_tokens", start, count, rows));
    HEADROOM_TRY_VOID(writer.write_strings("calls/key_tokens", start, count, keys));
  }
  return {};
}

}  // namespace

double SummaryTable::at(std::string_view name, std::size_t l, std::size_t h, std::size_t index) const {
  const auto found = values.find(name);
  if (found == values.end() || layers.empty() || heads.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::size_t per_head = found->second.size() / (layers.size() * heads.size());
  return found->second[(l * heads.size() + h) * per_head + index];
}

Result<AnalysisOutcome> analyze(ComputeBackend& backend, const AnalysisRequest& given, const ProgressReport& progress,
                                const kernels::StopRequested& stop) {
  const auto begin = std::chrono::steady_clock::now();
  HEADROOM_TRY(RunPlan plan, plan_run(given));
  const AnalysisRequest& request = plan.request;
  const ModelSpec& model = plan.model;
  const RunShape& shape = plan.shape;
  ForwardOptions& forward = plan.forward;
  forward.last_layer = last_layer_to_run(model, request);
  if (forward.last_layer >= 0)
    plan.notes.push_back(format("the run ends with layer %lld, the last one that is measured: no next-token loss",
                                static_cast<long long>(forward.last_layer)));
  AnalysisOutcome outcome;
  outcome.notes = std::move(plan.notes);
  outcome.min_row = shape.min_row;
  outcome.sink_null = plan.sink_null;
  outcome.summary.layers = request.layers;
  outcome.summary.heads = request.heads;
  HEADROOM_TRY(outcome.attention, backend.choose_attention(forward));

  RunFileWriter::Options options;
  options.force = request.force;
  options.inputs = request.inputs;
  HEADROOM_TRY(std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(request.output, options));
  HEADROOM_TRY_VOID(define_run(*writer, shape));
  HEADROOM_TRY_VOID(write_tokens(*writer, request.prompt));
  if (shape.calls) {
    HEADROOM_TRY_VOID(write_key_tokens(*writer, request.prompt));
    HEADROOM_TRY_VOID(write_call_axes(*writer, model, shape));
  }
  const RegionSink sink = region_sink(*writer);
  if (!model.capture) HEADROOM_TRY_VOID(model_parameters(model, shape, sink));
  HEADROOM_TRY_VOID(model_program(model, shape, sink));
  const double null_value[] = {outcome.sink_null};
  HEADROOM_TRY_VOID(writer->write("sink_null", {}, {}, null_value));

  if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
  const BackendInfo info = backend.info();
  double hash_seconds = 0.0;
  {
    Recorder recorder(*writer, shape, forward.request, outcome, progress, stop);
    // Hashing a large checkpoint takes seconds, which the first layers need not wait for.
    HEADROOM_TRY_VOID(recorder.on_start([&](const std::stop_token& token) {
      const StageTimer timer(&hash_seconds);
      return write_origin(*writer, request, shape, info, outcome.attention, [&] { return token.stop_requested(); });
    }));
    HEADROOM_TRY(outcome.forward, backend.run(request.model->source, model, forward, recorder));
    outcome.stages = outcome.forward.stages;
    HEADROOM_TRY_VOID(recorder.finish());
    outcome.stages.hash = hash_seconds;
  }

  if (outcome.forward.next_token_loss)
    HEADROOM_TRY_VOID(writer->set_attribute("", "next_token_loss", *outcome.forward.next_token_loss));
  if (shape.predictions && !shape.summary_only)
    HEADROOM_TRY_VOID(write_predictions(*writer, outcome.forward.predictions, request.tokenizer.get()));
  HEADROOM_TRY_VOID(write_violations(*writer, outcome.self_check.violations));
  if (outcome.forward.non_finite_layer >= 0)
    HEADROOM_TRY_VOID(writer->set_attribute("", "non_finite_layer", outcome.forward.non_finite_layer));
  if (!outcome.forward.non_finite_weights.empty()) {
    std::string sentences;
    for (const NonFiniteWeight& weight : outcome.forward.non_finite_weights)
      sentences += (sentences.empty() ? "" : "\n") + describe(weight);
    HEADROOM_TRY_VOID(writer->set_attribute("", "non_finite_weights", sentences));
  }
  if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
  {
    const StageTimer timer(&outcome.stages.verify);
    HEADROOM_TRY_VOID(writer->commit());
  }
  std::error_code ignored;
  outcome.size_bytes = static_cast<std::size_t>(std::filesystem::file_size(request.output, ignored));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

}  // namespace headroom
