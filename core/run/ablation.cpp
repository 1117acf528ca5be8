#include "core/run/ablation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/model/what_if.h"
#include "core/run/analysis_memory.h"
#include "core/run/run_plan.h"
#include "core/run/summary_layer.h"
#include "core/run/two_sequences.h"

namespace headroom {
namespace {

constexpr std::int64_t kSweepRows = 8192, kSweepRowsOfDevice = 65536;

Error refused(const std::string& message, const std::string& expected, const std::string& found) {
  Error error(ErrorCode::InvalidArgument, message);
  return error.wanted(expected, found);
}

std::int64_t sweep_rows(const AnalysisRequest& run) { return run.device == "cpu" ? kSweepRows : kSweepRowsOfDevice; }

// A next token must be there.
Result<void> check_predicts(const AnalysisRequest& run) {
  const ModelSpec& model = run.model->spec;
  if (model.capture)
    return Error(ErrorCode::InvalidArgument, "a capture has no model around its calls: no loss that could change");
  if (!model.lm_head.weight.present() || !model.causal())
    return Error(ErrorCode::InvalidArgument, "the model predicts no next token: no loss that could change");
  const std::size_t tokens =
      model.encoder ? sequences_of(*model.encoder, run.prompt).target.size() : run.prompt.ids.size();
  if (tokens < 2) return refused("the loss of a next token needs at least two tokens", "2", std::to_string(tokens));
  return {};
}

Result<void> check_heads(const ModelSpec& model, const HeadSet& heads) {
  for (const HeadRef& head : heads) {
    const auto layers = static_cast<std::int64_t>(model.blocks.size());
    if (head.layer >= layers)
      return refused("the model has no layer of " + head_text(head),
                     format("L0 to L%lld", static_cast<long long>(layers - 1)), head_text(head));
    HEADROOM_TRY_VOID(model.check_attends({&head.layer, 1}));
    const auto count =
        static_cast<std::int64_t>(model.blocks[static_cast<std::size_t>(head.layer)].attention.heads.size());
    if (head.head >= count)
      return refused("the layer has no head " + head_text(head),
                     format("H0 to H%lld", static_cast<long long>(count - 1)), head_text(head));
  }
  return {};
}

WhatIf change_of(const HeadRef& head, const AblationMode& mode) {
  return *parse_what_if(head_text(head) + ":" + mode.change);
}

std::vector<WhatIf> with_changes(const AblationRequest& request, const HeadSet& heads) {
  std::vector<WhatIf> what_ifs = request.run.what_ifs;
  for (const HeadRef& head : heads) what_ifs.push_back(change_of(head, request.mode));
  return what_ifs;
}

Result<ModelVariant> make_variant(const AblationRequest& request, const HeadSet& heads) {
  AnalysisRequest run = request.run;
  run.what_ifs = with_changes(request, heads);
  HEADROOM_TRY(RunPlan plan, plan_run(run));
  std::set<std::int64_t> layers;
  for (const HeadRef& head : heads) layers.insert(head.layer);
  ModelVariant variant;
  variant.means = request.means;
  for (const std::int64_t layer : layers)
    variant.layers.emplace_back(layer, std::move(plan.model.blocks[static_cast<std::size_t>(layer)].attention));
  return variant;
}

// All heads that were asked for, single ones first.
Result<std::vector<AblatedSet>> make_sets(const AblationRequest& request, const RunPlan& plan, std::size_t& singles) {
  const ModelSpec& model = plan.model;
  std::vector<HeadRef> heads = request.heads;
  HEADROOM_TRY_VOID(check_heads(model, heads));
  std::vector<AblatedSet> sets;
  if (heads.empty() && request.sets.empty()) {
    Error unfit(ErrorCode::InvalidArgument, "no head to take away");
    for (const std::int64_t layer : plan.request.layers) {
      HeadSet of_layer;  // layers need not have as many heads as each other
      for (const std::int64_t head : plan.request.heads)
        if (check_heads(model, {{layer, head}})) of_layer.push_back({layer, head});
      // What fits them all is asked for once.
      const bool fits = !of_layer.empty() && make_variant(request, of_layer).has_value();
      for (const HeadRef& head : of_layer) {
        auto variant = fits ? Result<ModelVariant>(ModelVariant()) : make_variant(request, {head});
        if (variant)
          heads.push_back(head);
        else
          unfit = std::move(variant.error());
      }
    }
    if (heads.empty()) return unfit;
  }
  std::ranges::sort(heads);
  heads.erase(std::ranges::unique(heads).begin(), heads.end());
  for (const HeadRef& head : heads) sets.emplace_back().heads = {head};
  singles = sets.size();
  for (HeadSet set : request.sets) {
    HEADROOM_TRY_VOID(check_heads(model, set));
    std::ranges::sort(set);
    set.erase(std::ranges::unique(set).begin(), set.end());
    HEADROOM_TRY_VOID(make_variant(request, set));
    sets.emplace_back().heads = std::move(set);
  }
  for (const HeadRef& head : request.heads) HEADROOM_TRY_VOID(make_variant(request, {head}));
  return sets;
}

// A device may not give the same bits twice.
bool same_losses(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kTolerance = 1e-4;  // nats
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= kTolerance)) return false;
  return true;
}

// Takes results and the root group of the model itself.
class AblationRecorder final : public VariantObserver {
 public:
  // `todo`: by variant, its place among the results.
  AblationRecorder(const RunPlan& plan, AblationOutcome& outcome, const std::vector<std::size_t>& todo,
                   bool not_finite_too, const AblatedReport& report, const ProgressReport& progress,
                   const kernels::StopRequested& stop)
      : plan_(plan),
        outcome_(outcome),
        todo_(todo),
        not_finite_too_(not_finite_too),
        report_(report),
        progress_(progress),
        stop_(stop) {}

  Result<void> on_layer(LayerRecord record) override {
    return add_summary_layer(outcome_.summary, record, plan_.shape, plan_.forward.request, check_);
  }

  Result<void> on_base(std::vector<double> token_loss) override {
    const double sum = std::accumulate(token_loss.begin(), token_loss.end(), 0.0);
    if (!std::isfinite(sum) && !not_finite_too_)
      return refused("the loss of the model is not finite: no change of it", "a number", format("%g", sum));
    // What was taken over must be of this run. Changes are taken from the same losses throughout.
    if (!outcome_.token_loss.empty()) {
      if (!same_losses(outcome_.token_loss, token_loss))
        return Error(ErrorCode::InvalidArgument, "the sweep that was to go on is of another run: its losses differ");
      return {};
    }
    outcome_.loss = sum / static_cast<double>(token_loss.size());
    outcome_.token_loss = std::move(token_loss);
    return {};
  }

  Result<void> on_variant(std::size_t variant, std::vector<double> token_loss) override {
    const std::size_t index = todo_[variant];
    AblatedSet& set = outcome_.results[index];
    for (std::size_t i = 0; i < token_loss.size(); ++i) token_loss[i] -= outcome_.token_loss[i];
    set.by_token = std::move(token_loss);
    set.delta_loss =
        std::accumulate(set.by_token.begin(), set.by_token.end(), 0.0) / static_cast<double>(set.by_token.size());
    ++outcome_.done;
    if (report_) report_(outcome_, index);
    return {};
  }

  void on_progress(double fraction, const std::string& what) override {
    if (progress_) progress_(fraction, what);
  }
  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }
  [[nodiscard]] const std::vector<std::string>& violations() const { return check_.violations; }

 private:
  const RunPlan& plan_;
  AblationOutcome& outcome_;
  const std::vector<std::size_t>& todo_;
  const bool not_finite_too_;
  const AblatedReport& report_;
  const ProgressReport& progress_;
  const kernels::StopRequested& stop_;
  SelfCheck check_;
};

// Takes over what an earlier sweep has done → the places of what is left.
std::vector<std::size_t> take_over(const AblationOutcome* before, AblationOutcome& outcome) {
  std::map<HeadSet, const AblatedSet*> known;
  if (before) {
    for (const AblatedSet& set : before->results)
      if (set.done()) known[set.heads] = &set;
    outcome.loss = before->loss;
    outcome.token_loss = before->token_loss;
    outcome.seconds = before->seconds;
    outcome.violations = before->violations;
  }
  std::vector<std::size_t> todo;
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    const auto found = known.find(outcome.results[i].heads);
    if (found == known.end())
      todo.push_back(i);
    else
      outcome.results[i] = *found->second;
  }
  outcome.done = outcome.results.size() - todo.size();
  return todo;
}

// What a sweep settles before anything runs.
struct PlannedSweep {
  AblationRequest request;  // with the layers of its table
  RunPlan plan;
  AblationOutcome outcome;  // without numbers
};

Result<PlannedSweep> plan_sweep(const AblationRequest& given) {
  PlannedSweep planned;
  AblationRequest& request = planned.request;
  request = given;
  request.run.summary_only = true;
  HEADROOM_TRY_VOID(check_predicts(request.run));
  // The table is of the layers that it needs.
  if (!request.heads.empty() && request.run.layers.empty()) {
    std::set<std::int64_t> layers;
    for (const HeadRef& head : request.heads) layers.insert(head.layer);
    HEADROOM_TRY_VOID(check_heads(request.run.model->spec, request.heads));
    request.run.layers.assign(layers.begin(), layers.end());
  }
  HEADROOM_TRY(planned.plan, plan_run(request.run));
  AblationOutcome& outcome = planned.outcome;
  HEADROOM_TRY(outcome.results, make_sets(request, planned.plan, outcome.singles));
  outcome.length = planned.plan.shape.length;
  outcome.summary.layers = planned.plan.request.layers;
  outcome.summary.heads = planned.plan.request.heads;
  outcome.notes = planned.plan.notes;
  return planned;
}

// Of one stream between blocks, of one sequence.
double stream_bytes(const AblationRequest& request) {
  const ModelSpec& model = request.run.model->spec;
  return static_cast<double>(request.run.prompt.ids.size()) *
         static_cast<double>(model.hidden_size * model.streams.count()) *
         (request.run.dtype == ComputeDtype::Float64    ? 8.0
          : request.run.dtype == ComputeDtype::BFloat16 ? 2.0
                                                        : 4.0);
}

}  // namespace

std::string set_name(const HeadSet& heads) {
  std::string name;
  for (const HeadRef& head : heads) name += (name.empty() ? "" : "+") + head_text(head);
  return name;
}

Result<AblationMode> parse_ablation_mode(const std::string& text) {
  if (text == "zero") return AblationMode{text, "head=off"};
  if (text == "mean") return AblationMode{text, "head=mean"};
  if (text == "second-map") return AblationMode{text, "second-map=off"};
  if (text == "hide-key") return AblationMode{text, "hide-key=0"};
  if (text.starts_with("hide-key=")) {
    HEADROOM_TRY_VOID(parse_what_if(text));
    return AblationMode{text, text};
  }
  Error error(ErrorCode::InvalidArgument, "there is no such way to take a head away");
  return error.at_tensor("--mode").wanted("zero, mean, second-map or hide-key[=KEYS]", text);
}

const AblatedSet* AblationOutcome::find(const HeadRef& head) const {
  const auto end = results.begin() + static_cast<std::ptrdiff_t>(singles);
  const auto found = std::lower_bound(results.begin(), end, head,
                                      [](const AblatedSet& set, const HeadRef& to) { return set.heads.front() < to; });
  return found != end && found->heads.front() == head ? &*found : nullptr;
}

RunMemory estimate_ablation_memory(const AblationRequest& request, std::int64_t threads) {
  RunMemory memory = estimate_analysis_memory(request.run, threads);
  if (!request.run.model || request.run.model->spec.blocks.empty()) return memory;
  const double n = std::max(1.0, static_cast<double>(request.run.prompt.ids.size()));
  const double lanes = std::max(1.0, std::floor(static_cast<double>(sweep_rows(request.run)) / n));
  memory.input_bytes = static_cast<std::size_t>(stream_bytes(request));
  memory.inputs = static_cast<std::int64_t>(request.run.model->spec.blocks.size());
  const double bytes = (lanes + 2.0) * stream_bytes(request);
  memory.items.push_back({"variants and kept streams", format("(%g + 2) × %g bytes", lanes, stream_bytes(request)),
                          static_cast<std::size_t>(bytes)});
  memory.working_bytes += static_cast<std::size_t>(bytes);
  std::ranges::stable_sort(memory.items, std::ranges::greater(), &MemoryItem::bytes);
  return memory;
}

Result<AblationOutcome> planned_ablation(const AblationRequest& request) {
  HEADROOM_TRY(const PlannedSweep planned, plan_sweep(request));
  return planned.outcome;
}

Result<AblationOutcome> ablate(ComputeBackend& backend, const AblationRequest& given, const AblatedReport& report,
                               const ProgressReport& progress, const kernels::StopRequested& stop) {
  const auto begin = std::chrono::steady_clock::now();
  HEADROOM_TRY(PlannedSweep planned, plan_sweep(given));
  const AblationRequest& request = planned.request;
  const RunPlan& plan = planned.plan;
  AblationOutcome outcome = std::move(planned.outcome);
  HEADROOM_TRY(outcome.attention, backend.choose_attention(plan.forward));

  const std::vector<std::size_t> todo = take_over(request.before.get(), outcome);
  const std::size_t had = outcome.done;
  if (todo.empty()) {
    outcome.summary = request.before->summary;
    return outcome;
  }
  VariantSweep sweep;
  for (const std::size_t i : todo) sweep.first_layers.push_back(outcome.results[i].heads.front().layer);
  sweep.make = [&](std::size_t variant) { return make_variant(request, outcome.results[todo[variant]].heads); };
  sweep.rows = sweep_rows(request.run);
  const double working = static_cast<double>(estimate_ablation_memory(request, 1).working_bytes);
  sweep.keep_bytes = static_cast<std::size_t>(std::max(0.0, (request.memory_bytes - working) / 2.0));
  AblationRecorder recorder(plan, outcome, todo, request.not_finite_too, report, progress, stop);
  const auto run = backend.run_variants(request.run.model->source, plan.model, plan.forward, sweep, recorder);
  if (!run) {
    if (run.error().code != ErrorCode::Cancelled || outcome.done == 0) return run.error();
    // Stopped before anything new the earlier sweep is as whole as it was, its table of the model included.
    if (outcome.done == had) outcome.summary = request.before->summary;
    outcome.cancelled = true;
  }
  // Of what goes on the model itself has run a second time.
  for (const std::string& violation : recorder.violations())
    if (std::ranges::find(outcome.violations, violation) == outcome.violations.end())
      outcome.violations.push_back(violation);
  outcome.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

}  // namespace headroom
