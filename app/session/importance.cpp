#include "app/session/importance.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/session/command_parts.h"
#include "app/session/state.h"
#include "core/base/format.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

bool has_second_map(const LayerSnapshot& layer, std::size_t head) {
  return head < layer.programs.size() && layer.programs[head].has_second();
}

// The time of a whole run of the model on this prompt; NaN where none was timed.
double timed_seconds(const State& state, const RunEntry& run) {
  const RunEntry* timed = &run;
  while (timed && timed->base >= 0) timed = state.run(timed->base);
  return timed && timed->status == RunStatus::Done && timed->seconds > 0.0 ? timed->seconds : kNaN;
}

// What computing takes beside what the program holds, of a prompt of this length.
std::size_t sweep_bytes(const State& state, const RunEntry& run) {
  const ModelEntry* model = state.find_model(run.model);
  if (!model || !model->model || !run.data) return 0;
  AblationRequest request;
  request.run.model = model->model.get();
  request.run.prompt.ids.resize(static_cast<std::size_t>(run.data->length));
  request.run.summary_only = true;
  if (const auto dtype = parse_dtype(run.dtype)) request.run.dtype = *dtype;
  request.run.device = run.device;
  return estimate_ablation_memory(request, state.device.info ? state.device.info->threads : 1).working_bytes;
}

}  // namespace

const LossTable* table_of(const LossSweeps& sweeps, AblationWay way) {
  const std::optional<LossSweep>& sweep = sweep_of(sweeps, way);
  return sweep ? sweep->table.get() : nullptr;
}

std::shared_ptr<const RunSnapshot> with_loss_changes(const RunSnapshot& run, const LossSweeps& sweeps) {
  auto merged = std::make_shared<RunSnapshot>(run);
  for (const AblationWay way : kAblationWays)
    if (const LossTable* table = table_of(sweeps, way);
        table && table->layers == run.layers && table->heads == run.heads)
      merged->beside[way_info(way).quantity] = table->delta;
  return merged;
}

std::string no_importance(const State& state, std::optional<AblationWay> way) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  const RunEntry& run = *state.shown();
  if (run.model < 0)
    return "a file has no weights to run: open its checkpoint, or headroom ablate MODEL --text TEXT -o ablation.h5 makes "
           "a file that opens here";
  if (!state.device.failed.empty()) return "LibTorch could not be loaded";
  const ModelEntry* entry = state.find_model(run.model);
  if (!entry || !entry->model) return "the checkpoint of this run is not open";
  const ModelSpec& model = entry->model->spec;
  if (model.capture) return "a capture has no model around its calls: no loss that could change";
  if (!model.lm_head.weight.present() || !model.causal()) return "the model predicts no next token";
  if (run.quick) return "a quick what-if is of one head: complete it first";
  if (!model.encoder && run.data->length < 2) return "needs at least two tokens: one predicts no next one";
  if (way != AblationWay::SecondOff) return "";
  const bool any = std::ranges::any_of(run.data->data, [](const auto& layer) {
    return layer && std::ranges::any_of(layer->programs, &HeadProgram::has_second);
  });
  return any ? "" : "these heads have one map";
}

SweepEstimate estimate_sweep(const std::map<std::int64_t, std::size_t>& left, std::int64_t layers, double run_seconds) {
  constexpr double kLossBlocks = 2.0;  // what the loss takes, in blocks of the model, about
  SweepEstimate estimate;
  const double whole = static_cast<double>(layers) + kLossBlocks;
  for (const auto& [layer, heads] : left) {
    estimate.heads += heads;
    estimate.forwards += static_cast<double>(heads) * (static_cast<double>(layers - layer) + kLossBlocks) / whole;
  }
  if (estimate.heads > 0) estimate.forwards += 1.0;
  estimate.seconds = estimate.forwards * run_seconds;
  return estimate;
}

std::vector<HeadRef> heads_to_do(const RunEntry& run, AblationWay way, const std::vector<HeadRef>& only) {
  std::vector<HeadRef> left;
  if (!run.data) return left;
  const LossTable* table = table_of(run.sweeps, way);
  const std::set<HeadRef> among(only.begin(), only.end());
  for (const std::int64_t layer : run.data->layers) {
    const LayerSnapshot* snapshot = run.data->layer(layer);
    const std::vector<std::int64_t>& heads = snapshot ? snapshot->heads : run.data->heads;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      const HeadRef head{layer, heads[h]};
      if (!among.empty() && !among.contains(head)) continue;
      if (way == AblationWay::SecondOff && snapshot && !has_second_map(*snapshot, h)) continue;
      const auto place = table ? table->place(head) : std::nullopt;
      if (!place || std::isnan(table->delta[*place])) left.push_back(head);
    }
  }
  return left;
}

std::map<std::int64_t, std::size_t> heads_left(const RunEntry& run, AblationWay way, const std::vector<HeadRef>& only) {
  std::map<std::int64_t, std::size_t> left;
  for (const HeadRef& head : heads_to_do(run, way, only)) ++left[head.layer];
  return left;
}

SweepEstimate estimate_sweep(const State& state, AblationWay way, const std::vector<HeadRef>& only) {
  const RunEntry* run = state.shown();
  if (!run || !run->data) return {};
  SweepEstimate estimate =
      estimate_sweep(heads_left(*run, way, only), run->data->all_layers, timed_seconds(state, *run));
  estimate.bytes = sweep_bytes(state, *run);
  return estimate;
}

std::string estimate_text(const SweepEstimate& estimate) {
  const auto heads = static_cast<std::int64_t>(estimate.heads);
  std::string text = grouped_text(heads) + (heads == 1 ? " head" : " heads");
  text += ", as much as " + fixed_text(estimate.forwards, estimate.forwards < 10.0 ? 1 : 0) + " runs of the model";
  if (std::isfinite(estimate.seconds)) text += ": about " + estimated_seconds_text(estimate.seconds);
  if (estimate.bytes > 0) text += ", " + size_text(static_cast<double>(estimate.bytes));
  return text;
}

}  // namespace headroom
