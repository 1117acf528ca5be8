#include "core/run/run_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/model/capture.h"
#include "core/run/capture_prompt.h"
#include "core/run/forward_needs.h"
#include "core/run/two_sequences.h"

namespace headroom {
namespace {

// `what`: "prompt", or one of the two of an encoder-decoder.
Result<void> check_sequence(const std::vector<std::int32_t>& ids, const ModelSpec& model, const char* what,
                            std::vector<std::string>& notes) {
  if (ids.empty()) {
    Error error(ErrorCode::InvalidArgument, format("the %s has no tokens", what));
    error.advise("give --text, --text-file, --ids or --ids-file");
    return error;
  }
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= model.vocab_size) {
      Error error(ErrorCode::InvalidArgument, format("token %zu of the %s is not in the model's vocabulary", i, what));
      error.wanted(format("0 to %lld", static_cast<long long>(model.vocab_size - 1)), std::to_string(ids[i]));
      return error;
    }
  const auto length = static_cast<std::int64_t>(ids.size());
  if (model.position_embedding.present() && length > model.learned_positions()) {
    Error error(ErrorCode::InvalidArgument,
                format("the %s is longer than the model's table of learned positions", what));
    error.wanted("at most " + std::to_string(model.learned_positions()) + " tokens", std::to_string(length));
    return error;
  }
  if (model.max_positions > 0 && length > model.max_positions)
    notes.push_back(std::string(kWarningNote) +
                    format("%lld tokens are more than the %lld positions that the config names",
                           static_cast<long long>(length), static_cast<long long>(model.max_positions)));
  return {};
}

Result<void> check_tokens(const AnalysisRequest& request, const ModelSpec& model, std::vector<std::string>& notes) {
  if (model.capture) return check_capture_request(request);
  if (!model.encoder) return check_sequence(request.prompt.ids, model, "prompt", notes);
  const SequencePair pair = sequences_of(*model.encoder, request.prompt);
  HEADROOM_TRY_VOID(check_sequence(pair.source, model, "source", notes));
  return check_sequence(pair.target, model, "target", notes);
}

Result<void> check_request(const AnalysisRequest& request, const ModelSpec& model, const RunShape& shape,
                           std::vector<std::string>& notes) {
  HEADROOM_TRY_VOID(check_tokens(request, model, notes));
  for (const WhatIf& what_if : request.what_ifs)
    for (const BlockSpec& block : model.blocks)
      for (const HeadProgram& head : block.attention.heads)
        if (!head.hidden_keys.empty() && head.hidden_keys.back() >= shape.length && what_if.name == "hide-key") {
          Error error(ErrorCode::InvalidArgument, "the what-if '" + what_if.text + "' hides a key beyond the prompt");
          error.wanted(format("0 to %lld", static_cast<long long>(shape.length - 1)),
                       std::to_string(head.hidden_keys.back()));
          return error;
        }
  if (request.dtype == ComputeDtype::BFloat16 && (request.extra.rounding || request.extra.premise)) {
    Error error(ErrorCode::InvalidArgument, request.extra.rounding
                                                ? "--rounding measures what bfloat16 loses against float32 or float64"
                                                : "--premise measures values before they are rounded to bfloat16");
    error.wanted("--dtype float32 or float64", "bfloat16");
    return error;
  }
  // Draws of signs are as many rows of keys squared.
  constexpr std::int64_t kMostPremiseTokens = 16384;
  if (request.extra.premise && shape.length > kMostPremiseTokens) {
    Error error(ErrorCode::InvalidArgument, "--premise draws signs for every pair of keys");
    error.wanted(format("at most %lld tokens", static_cast<long long>(kMostPremiseTokens)),
                 std::to_string(shape.length));
    return error;
  }
  if (request.exact_maps) {
    const double element = request.dtype == ComputeDtype::Float64 ? 8.0 : 4.0;
    // The maps, and a row of queries, keys, values and contexts for each token.
    const auto heads = static_cast<std::int64_t>(shape.heads.size());
    const std::int64_t channels = (shape.query_blocks + shape.kv_blocks) * shape.head_dim +
                                  shape.value_blocks * shape.value_dim + heads * shape.context_dim;
    const double bytes = element * static_cast<double>(shape.layers.size()) * static_cast<double>(shape.length) *
                         static_cast<double>(3 * heads * shape.length + channels);
    const std::string formula =
        format("%zu layers × (3 maps × %lld heads × %lld² + %lld channels × %lld) × %g bytes = %.2f GiB",
               shape.layers.size(), static_cast<long long>(heads), static_cast<long long>(shape.length),
               static_cast<long long>(channels), static_cast<long long>(shape.length), element, bytes / 1073741824.0);
    notes.push_back("exact maps: " + formula);
    if (bytes > request.exact_budget_bytes) {
      Error error(ErrorCode::OutOfMemory, "the exact maps are larger than their budget");
      error.wanted(format("at most %.2f GiB", request.exact_budget_bytes / 1073741824.0), formula);
      error.advise(
          "choose --layers and --heads, a shorter prompt, or a larger --exact-budget; the statistics need none of it");
      return error;
    }
  }
  return {};
}

// The score of key 0 under uniform attention: H_n / n where every layer is causal, 1 / n where none is.
double sink_null(const ModelSpec& model, std::int64_t length) {
  if (!model.causal()) return 1.0 / static_cast<double>(length);
  double sum = 0.0;
  for (std::int64_t k = 1; k <= length; ++k) sum += 1.0 / static_cast<double>(k);
  return sum / static_cast<double>(length);
}

// Whether every call of a capture is causal self-attention of that length, as every layer of a model is taken to be.
bool has_sink_null(const ModelSpec& model, std::int64_t length) {
  return std::ranges::all_of(model.blocks, [&](const BlockSpec& block) {
    const CaptureCall* call = block.attention.call.get();
    return !call || (block.attention.causal && call->queries == length && call->keys == length);
  });
}

// Which layers run without being measured, and by what; what-ifs that hide keys leave them as they are.
void note_mixers(const ModelSpec& model, std::vector<std::string>& notes) {
  std::map<std::string, std::vector<std::int64_t>, std::less<>> layers;
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer)
    if (const BlockSpec& block = model.blocks[layer]; !block.attends())
      layers[std::string(block.kind())].push_back(static_cast<std::int64_t>(layer));
  for (const auto& [kind, those] : layers)
    notes.push_back((those.size() == 1 ? "layer " : "layers ") + layers_text(those) +
                    (those.size() == 1 ? " has " : " have ") + kind +
                    " in place of attention, which has no maps: run, not measured");
  const bool hides = std::ranges::any_of(model.blocks, [](const BlockSpec& block) {
    return std::ranges::any_of(block.attention.heads,
                               [](const HeadProgram& head) { return !head.hidden_keys.empty(); });
  });
  if (hides && !layers.empty())
    notes.push_back("hidden keys are hidden from attention; layers without it carry these tokens on");
}

std::vector<std::int64_t> all_of(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

}  // namespace

Result<RunPlan> plan_run(const AnalysisRequest& request) {
  RunPlan plan;
  plan.request = request;
  HEADROOM_TRY(WhatIfResult changed, apply_what_ifs(request.model->spec, request.what_ifs));
  plan.model = std::move(changed.model);
  plan.notes = std::move(changed.notes);
  if (request.layers.empty()) plan.request.layers = plan.model.attention_layers();
  HEADROOM_TRY_VOID(plan.model.check_attends(plan.request.layers));
  if (request.heads.empty()) plan.request.heads = all_of(plan.model.num_heads);
  ForwardOptions& forward = plan.forward;
  forward.ids = plan.request.prompt.ids;
  if (plan.model.encoder) {
    SequencePair pair = sequences_of(*plan.model.encoder, plan.request.prompt);
    bind_lengths(plan.model, static_cast<std::int64_t>(pair.source.size()),
                 static_cast<std::int64_t>(pair.target.size()));
    forward.source_ids = std::move(pair.source);
    forward.ids = std::move(pair.target);
  }
  plan.shape = make_shape(plan.model, plan.request);
  HEADROOM_TRY_VOID(check_request(plan.request, plan.model, plan.shape, plan.notes));
  note_mixers(plan.model, plan.notes);
  plan.sink_null = has_sink_null(plan.model, plan.shape.length) ? sink_null(plan.model, plan.shape.length) : kNaN;

  forward.dtype = plan.request.dtype;
  forward.device = plan.request.device;
  forward.backend = plan.request.backend;
  forward.layers = plan.request.layers;
  forward.heads = plan.request.heads;
  if (!plan.request.summary_only) {
    forward.request.logit_bins = logit_bins();
    forward.request.log10_weight_bins = log10_weight_bins();
  }
  forward.request.pool_blocks = plan.request.pool_blocks;
  set_needs(forward, plan.model);
  if (std::ranges::any_of(plan.model.blocks, [](const BlockSpec& block) { return block.attention.call != nullptr; }))
    forward.request.pool_extent = plan.shape.length;
  forward.exact_maps = plan.request.exact_maps;
  forward.rounding = plan.request.extra.rounding;
  forward.premise = plan.request.extra.premise;
  forward.min_row = plan.shape.min_row;
  forward.hidden = plan.request.hidden;
  return plan;
}

std::int64_t last_layer_to_run(const ModelSpec& model, const AnalysisRequest& request) {
  if (model.capture) return -1;
  if (request.hidden || request.layers.empty() || request.layers.back() >= model.attention_layers().back()) return -1;
  return request.layers.back();
}

}  // namespace headroom
