#include "core/sparse/block_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/corpus/kept_violations.h"
#include "core/io/blocks_schema.h"
#include "core/io/run_file_writer.h"
#include "core/run/measured_layer.h"
#include "core/run/provenance.h"
#include "core/run/run_plan.h"
#include "core/run/stored_violations.h"
#include "core/sparse/block_file.h"
#include "core/sparse/block_measure.h"

namespace headroom {
namespace {

Error no_blocks(const BlockRequest& request, const std::string& why) {
  Error error(ErrorCode::Unsupported, "blocks of keys are not chosen in this model: " + why);
  return error.in_file(request.run.model->checkpoint->path().string());
}

Result<RunPlan> plan_of_blocks(const BlockRequest& request) {
  const ModelSpec& model = request.run.model->spec;
  if (model.capture || model.encoder)
    return no_blocks(request, model.capture ? "it is a capture" : "it reads two sequences")
        .wanted("a decoder, or an encoder alone", model.capture ? "a capture" : model.model_type);
  AnalysisRequest run = request.run;
  run.prompt = prompt_of_sequence(*request.plan, 0, model);
  run.heads.clear();  // a group chooses with all of its heads
  run.summary_only = true;
  run.hidden = run.exact_maps = false;
  run.pool_blocks = 0;
  HEADROOM_TRY(RunPlan plan, plan_run(run));
  for (const std::int64_t layer : plan.request.layers) {
    const AttentionSpec& attention = plan.model.blocks[static_cast<std::size_t>(layer)].attention;
    const std::string of_layer = format("layer %lld ", static_cast<long long>(layer));
    if (attention.bias.present())
      return no_blocks(request, of_layer + "has a bias by distance, which the mean of a block's keys knows nothing of");
    if (attention.disentangled.present())
      return no_blocks(request,
                       of_layer + "has logits of distances, which the mean of a block's keys knows nothing of");
    if (std::ranges::any_of(attention.heads, [](const HeadProgram& head) { return !head.hidden_keys.empty(); }))
      return Error(ErrorCode::InvalidArgument, "blocks are chosen among all keys that a row's mask leaves")
          .at_tensor("--what-if")
          .wanted("no hide-key", "a what-if that hides keys in " + of_layer);
  }
  ForwardOptions& forward = plan.forward;
  forward.request.wanted = 0;
  forward.exact_maps = true;
  forward.last_layer = plan.request.layers.empty() ? -1 : plan.request.layers.back();
  return plan;
}

std::size_t heads_of(const RunPlan& plan) {
  std::size_t most = 0;
  for (const std::int64_t layer : plan.request.layers)
    most = std::max(most, plan.model.blocks[static_cast<std::size_t>(layer)].attention.heads.size());
  return most;
}

class BlockRun {
 public:
  BlockRun(ComputeBackend& backend, const BlockRequest& request, RunPlan plan, const BlockProgress& progress,
           const kernels::StopRequested& stop)
      : backend_(backend),
        request_(request),
        plan_(std::move(plan)),
        layout_(plan_.request.layers.size(), heads_of(plan_), request.rules.tops.size()),
        progress_(progress),
        stop_(stop) {}

  Result<BlockOutcome> run() {
    const auto begin = std::chrono::steady_clock::now();
    HEADROOM_TRY_VOID(describe_layers());
    HEADROOM_TRY(outcome_.attention, backend_.choose_attention(plan_.forward));
    RunFileWriter::Options options;
    options.force = request_.run.force;
    options.inputs = request_.run.inputs;
    options.schema_name = kBlocksSchemaName;
    HEADROOM_TRY(const std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(request_.run.output, options));
    HEADROOM_TRY_VOID(run_sequences());
    HEADROOM_TRY_VOID(write_provenance(*writer, plan_.request, "Blocks of keys chosen by ", backend_.info(),
                                       outcome_.attention, stop_));
    HEADROOM_TRY_VOID(writer->set_attribute("", "overrides", overrides_text(request_.run.what_ifs)));
    HEADROOM_TRY_VOID(writer->set_attribute("", "block", request_.rules.size));
    HEADROOM_TRY_VOID(writer->set_attribute("", "always", std::string(always_chosen_name(request_.rules.always))));
    HEADROOM_TRY_VOID(write_violations(*writer, outcome_.violations));
    HEADROOM_TRY_VOID(write_blocks(*writer, content_, outcome_, stop_));
    HEADROOM_TRY_VOID(writer->commit());
    std::error_code ignored;
    outcome_.size_bytes = static_cast<std::size_t>(std::filesystem::file_size(request_.run.output, ignored));
    outcome_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(outcome_);
  }

 private:
  // Groups and rows; InvalidArgument where nothing is to be chosen.
  Result<void> describe_layers() {
    outcome_.notes = plan_.notes;
    outcome_.layers = plan_.request.layers;
    outcome_.heads = static_cast<std::int64_t>(layout_.heads());
    outcome_.sequences = std::ssize(request_.plan->sequences);
    outcome_.rows.assign(layout_.tops(), 0);
    content_.request = &request_;
    content_.layout = &layout_;
    content_.layers = plan_.request.layers;
    const auto length = std::ssize(request_.plan->sequences.front().ids);
    for (const std::int64_t layer : content_.layers) {
      const AttentionSpec& attention = plan_.model.blocks[static_cast<std::size_t>(layer)].attention;
      content_.kinds.push_back(attention.kind);
      const BlockGroups groups = block_groups(attention);
      outcome_.groups += static_cast<std::int64_t>(groups.groups);
      for (std::size_t h = 0; h < layout_.heads(); ++h)
        content_.groups.push_back(h < groups.group_of_head.size() ? static_cast<double>(groups.group_of_head[h])
                                                                  : -1.0);
      const std::vector<std::int64_t> rows = rows_with_choice(block_mask(attention, length), request_.rules);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        content_.rows.push_back(static_cast<double>(rows[t]));
        outcome_.rows[t] = std::max(outcome_.rows[t], rows[t]);
      }
    }
    if (outcome_.rows.front() == 0)
      return Error(ErrorCode::InvalidArgument,
                   format("no row sees more than %lld blocks of %lld keys, so none has a choice",
                          static_cast<long long>(request_.rules.tops.front()),
                          static_cast<long long>(request_.rules.size)))
          .at_tensor("--block")
          .wanted("sequences, windows and chunks of more keys, or a smaller --block",
                  format("%lld positions", static_cast<long long>(length)));
    for (std::size_t t = 0; t < layout_.tops(); ++t)
      if (outcome_.rows[t] == 0)
        outcome_.notes.push_back(format("no row sees more than %lld blocks: there are no numbers for k = %lld",
                                        static_cast<long long>(request_.rules.tops[t]),
                                        static_cast<long long>(request_.rules.tops[t])));
    return {};
  }

  Result<void> run_sequences() {
    const auto all = std::ssize(request_.plan->sequences);
    std::int64_t done = 0;
    const std::function<void(double)> report = [&](double fraction) {
      if (progress_) progress_((static_cast<double>(done) + fraction) / static_cast<double>(all), done, all);
    };
    BlockObserver observer(plan_.model, content_.layers, request_.rules, layout_, self_check_tolerance(plan_.shape),
                           report, stop_);
    KeptViolations violations;
    for (; done < all; ++done) {
      if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
      plan_.forward.ids = request_.plan->sequences[static_cast<std::size_t>(done)].ids;
      observer.begin();
      HEADROOM_TRY(const ForwardSummary summary,
                   backend_.run(request_.run.model->source, plan_.model, plan_.forward, observer));
      content_.values.push_back(observer.finish());
      violations.add(of_sequence(done, observer.self_check().violations));
      content_.non_finite_layers.push_back(static_cast<double>(summary.non_finite_layer));
      outcome_.non_finite += summary.non_finite_layer >= 0 ? 1 : 0;
    }
    outcome_.violations = violations.sentences();
    return {};
  }

  ComputeBackend& backend_;
  const BlockRequest& request_;
  RunPlan plan_;
  ChoiceLayout layout_;
  const BlockProgress& progress_;
  const kernels::StopRequested& stop_;
  BlockContent content_;
  BlockOutcome outcome_;
};

}  // namespace

CorpusPlan plan_of_prompt(const Prompt& prompt) {
  CorpusPlan plan;
  plan.options.length = plan.options.stride = std::ssize(prompt.ids);
  if (prompt.bos_added) plan.bos_id = prompt.ids.front();
  plan.sequences.push_back({0, 0, 0, prompt.ids});
  PlannedDocument document;
  document.name = "prompt";
  document.sha256 = text_hash(prompt.source);
  document.bytes = prompt.source.size();
  document.tokens = std::ssize(prompt.ids);
  document.sequences = 1;
  plan.documents.push_back(std::move(document));
  plan.documents_read = 1;
  plan.tokenizer_sha256 = "none";
  hash_plan(plan);
  return plan;
}

Result<std::size_t> block_bytes(const BlockRequest& request) {
  HEADROOM_TRY(const RunPlan plan, plan_of_blocks(request));
  const auto length = request.plan->sequences.front().ids.size();
  const auto size = static_cast<std::size_t>(request.rules.size);
  const std::size_t most = std::min(static_cast<std::size_t>(request.rules.tops.back()), (length + size - 1) / size);
  std::size_t layer_bytes = 0;
  for (const std::int64_t layer : plan.request.layers) {
    const AttentionSpec& attention = plan.model.blocks[static_cast<std::size_t>(layer)].attention;
    const BlockGroups groups = block_groups(attention);
    const std::size_t choosers = groups.maps.size() + groups.map_of_head.size() + groups.groups;
    const auto channels =
        static_cast<std::size_t>((attention.num_query_blocks + attention.num_key_blocks) * attention.head_dim);
    layer_bytes = std::max(
        layer_bytes, length * (choosers * most * sizeof(std::int32_t) + channels * sizeof(double)) +
                         groups.maps.size() * groups.maps.size() * request.rules.tops.size() * 2 * sizeof(double));
  }
  // A strip of rows in three forms.
  constexpr std::size_t kStrip = 3 * (std::size_t{1} << 20) * sizeof(double);
  const ChoiceLayout layout(plan.request.layers.size(), heads_of(plan), request.rules.tops.size());
  const std::size_t kept = layout.size() * request.plan->sequences.size() * sizeof(float);
  // Of one layer and dataset as double, and of the means.
  return layer_bytes + kStrip + kept + 3 * kept / std::max<std::size_t>(1, layout.layers());
}

Result<BlockOutcome> run_blocks(ComputeBackend& backend, const BlockRequest& request, const BlockProgress& progress,
                                const kernels::StopRequested& stop) {
  HEADROOM_TRY(RunPlan plan, plan_of_blocks(request));
  return BlockRun(backend, request, std::move(plan), progress, stop).run();
}

}  // namespace headroom
