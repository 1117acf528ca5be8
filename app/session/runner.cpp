#include "app/session/runner.h"
#include "app/session/what_ifs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/default_head.h"
#include "app/session/importance.h"
#include "app/session/run_names.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/io/hdf5_error.h"
#include "core/model/capture.h"
#include "core/run/analysis.h"
#include "core/run/capture_prompt.h"
#include "core/run/make_prompt.h"
#include "core/run/run_plan.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Result<Prompt> encode(const PromptEntry& entry, const Tokenizer* tokenizer, const ModelSpec& model) {
  if (model.capture) return capture_prompt(*model.capture);
  PromptOptions options{entry.bos, entry.max_tokens, {}, {}};
  // Another model may have no use for the target that this prompt was given.
  if (model.encoder && !entry.target_ids.empty())
    options.target_ids = ids_text(entry.target_ids);
  else if (model.encoder && !entry.target.empty())
    options.target_text = entry.target;
  if (!entry.ids.empty()) return prompt_of_ids(ids_text(entry.ids), tokenizer, model, options);
  if (!tokenizer) {
    Error error(ErrorCode::NotFound, "the checkpoint has no tokenizer, so it cannot read text");
    return error.advise("give token ids: ids 1,2,3");
  }
  return prompt_of_text(entry.text, *tokenizer, model, options);
}

constexpr double kRunInputsShare = 0.25, kWhatIfInputsShare = 0.125;

// Sweeps of the run stay beside what it measures again.
std::shared_ptr<const RunSnapshot> with_sweeps(const RunEntry& run, std::shared_ptr<const RunSnapshot> data) {
  const bool any = std::ranges::any_of(run.sweeps, [](const auto& sweep) { return sweep && sweep->table; });
  return any && data ? with_loss_changes(*data, run.sweeps) : std::move(data);
}

}  // namespace

int Runner::add_run(RunEntry entry) {
  entry.id = inbox_.next_id();
  state_.runs.push_back(std::move(entry));
  name_models_and_runs(state_);
  return state_.runs.back().id;
}

void Runner::show_run(int id) {
  state_.view.run = id;
  if (state_.view.centre == CentreView::Training) state_.view.centre = CentreView::Map;
  const RunEntry* shown = state_.shown();
  if (!shown) return;
  if (state_.find_model(shown->model)) state_.model = shown->model;
  if (state_.view.other_run == id) state_.view.other_run = -1;
  select_default_head();
}

void Runner::set_head(std::optional<HeadRef> head) {
  if (head == state_.view.selection.head) return;
  history_.remember("select");
  state_.view.selection.head = head;
  const LayerSnapshot* layer = state_.selected_layer();
  if (!layer || !head) return;
  // A map that the new head lacks gives way to the net map.
  const std::int64_t index = layer->head_index(head->head);
  if (index < 0) return;
  const HeadProgram& program = layer->programs[static_cast<std::size_t>(index)];
  const MapKind kind = state_.view.map.kind;
  const bool of_pairs = kind == MapKind::First || kind == MapKind::Second || kind == MapKind::ScaledSecond;
  if (of_pairs && !program.has_second()) state_.view.map.kind = MapKind::Net;
  if (state_.view.centre == CentreView::WhatIf && !state_.view.what_if.changes.empty())
    if (const Result<void> started = start_what_if(false); !started)
      inbox_.message(MessageLevel::Warning, describe(started.error()));
}

// What is selected stays while it fits; else the head that is seen first.
void Runner::select_default_head() {
  const RunSnapshot* data = state_.data();
  if (!data || data->layers.empty() || data->heads.empty()) return;
  Selection& selection = state_.view.selection;
  if (selection.head && std::ranges::count(data->layers, selection.head->layer) &&
      std::ranges::count(data->heads, selection.head->head)) {
    if (selection.query && *selection.query >= data->length) selection.query.reset();
    if (selection.key && *selection.key >= data->length) selection.key.reset();
    return;
  }
  selection = {};
  selection.head = default_head(*data).value_or(HeadRef{data->layers.front(), data->heads.front()});
}

Result<void> Runner::change_set(const std::string& change, const std::vector<HeadRef>& heads) {
  const RunEntry* base = state_.shown();
  if (!base || !base->data || heads.empty()) return Error(ErrorCode::InvalidArgument, "no heads are in the lasso");
  std::vector<std::string> changes;
  for (const HeadRef head : heads) changes.push_back(head_text(head) + ":" + change);
  HEADROOM_TRY(state_.view.other_run, start_changed(*base, changes, /*complete=*/true, heads.front()));
  return {};
}

Result<void> Runner::start_run(bool keep_maps, std::optional<RunMeasures> measures) {
  const ModelEntry* model = state_.find_model(state_.model);
  if (!model || !model->model) return Error(ErrorCode::InvalidArgument, "no checkpoint is open");
  HEADROOM_TRY(LiveRunRequest request, base_request(*model));
  const RunEntry* shown = state_.shown();
  int id = -1;
  if (shown && shown->model == model->id && shown->status == RunStatus::Waiting && shown->what_ifs.empty()) {
    id = shown->id;
  } else {
    RunEntry run;
    run.model = model->id;
    run.prompt_title = state_.prompt.title, run.prompt_serial = state_.prompt_serial;
    const bool stays = shown && shown->data;  // until there is something to look at
    id = add_run(run);
    state_.coming = stays ? id : -1;
    follows_ = state_.view.run;
  }
  request.keep_maps = keep_maps;
  RunMeasures chosen = measures.value_or(RunMeasures{state_.keep_residual, state_.extra});
  if (request.dtype == ComputeDtype::BFloat16) chosen.extra = {};
  request.keep_residual = state_.edit_run(id)->keep_residual = chosen.keep_residual;
  request.extra = state_.edit_run(id)->extra = chosen.extra;
  inputs_.erase(id);
  if (state_.coming != id) {
    state_.view.map.window = {};
    if (state_.view.centre == CentreView::WhatIf) state_.view.centre = CentreView::Map;
    show_run(id);
  }
  launch(id, std::move(request), state_.prompt, model->tokenizer, keep_maps ? kRunInputsShare : 0.0);
  return {};
}

void Runner::launch(int run_id, LiveRunRequest request, std::optional<PromptEntry> prompt,
                    std::shared_ptr<const Tokenizer> tokenizer, double inputs_share) {
  RunEntry& run = *state_.edit_run(run_id);
  const RunStatus before = run.status;
  run.refused = false;
  run.budget.reset();
  run.offers.clear();
  run.status = RunStatus::Running;
  run.fraction = 0.0;
  run.doing = "waiting";
  run.error.reset();
  run.device = request.device;
  run.dtype = state_.settings.dtype;
  run.backend = request.backend;
  name_models_and_runs(state_);
  const ComputeThread::Stop stop = compute_.begin(run_id);
  inbox_.begin();
  const bool again = run.data != nullptr;
  // What the run keeps already is not part of what is free, but of a number that is set.
  std::size_t own_bytes = 0;
  if (again && state_.settings.memory_gb <= 0.0)
    for (const auto& layer : run.data->data) own_bytes += layer ? layer->kept_bytes() : 0;
  give_way();
  compute_.post([this, run_id, again, before, own_bytes, inputs_share, question = budget_question(run_id, inputs_share),
                 request = std::move(request), prompt = std::move(prompt), tokenizer = std::move(tokenizer),
                 stop]() mutable {
    const auto begin = Clock::now();
    const double begin_s = clock_seconds();
    auto last_layer_s = begin_s;
    auto compute = [&]() -> Result<std::shared_ptr<const RunSnapshot>> {
      if (*stop) return Error(ErrorCode::Cancelled, "cancelled");
      HEADROOM_TRY(ComputeBackend * backend, compute_.backend());
      if (prompt) {
        HEADROOM_TRY(Prompt encoded, encode(*prompt, tokenizer.get(), request.model->spec));
        request.prompt = std::make_shared<const Prompt>(std::move(encoded));
        inbox_.post([this, run_id, kept = request.prompt] { prompts_[run_id] = kept; });
      }
      // Room for what is kept is a matter of this moment, and a run that does not fit is not begun.
      if (inputs_share > 0.0) request.inputs = std::make_shared<LayerInputs>(0);
      release_spare_heap();
      question.free = free_memory();
      question.threads = backend->info().threads;
      const auto budget = std::make_shared<const RunBudget>(
          make_run_budget(request, static_cast<std::int64_t>(request.prompt->ids.size()), question));
      request.keep_bytes = budget->fit.keep_bytes + own_bytes;
      if (inputs_share > 0.0)
        request.inputs = std::make_shared<LayerInputs>(
            static_cast<std::size_t>(inputs_share * static_cast<double>(request.keep_bytes)));
      inbox_.post([this, run_id, budget, inputs = inputs_share > 0.0 ? request.inputs : nullptr] {
        if (inputs) inputs_[run_id] = inputs;
        if (RunEntry* entry = state_.edit_run(run_id)) {
          entry->budget = budget;
          entry->refused = !budget->fit.fits;
        }
      });
      if (!budget->fit.fits) return over_budget(*budget);
      const PublishRun publish = [this, run_id, &last_layer_s](std::shared_ptr<const RunSnapshot> data) {
        if (options_.trace) options_.trace("layer", std::exchange(last_layer_s, clock_seconds()), clock_seconds());
        inbox_.post([this, run_id, data = std::move(data)] { take(run_id, data); });
      };
      auto last_report = Clock::now() - std::chrono::seconds(1);
      const ProgressReport progress = [&](double fraction, const std::string& what) {
        // More often than a person reads costs frames.
        if (seconds_since(last_report) < 0.05 && fraction < 1.0) return;
        last_report = Clock::now();
        const double elapsed = seconds_since(begin);
        inbox_.post([this, run_id, fraction, what, elapsed, again] {
          RunEntry* entry = state_.edit_run(run_id);
          if (!entry || entry->status != RunStatus::Running) return;
          entry->fraction = fraction;
          entry->doing = what;
          if (!again) entry->seconds = elapsed;
          entry->seconds_left.reset();
          if (fraction > 0.05) entry->seconds_left = elapsed * (1.0 - fraction) / fraction;
        });
      };
      return run_live(*backend, request, publish, progress, [stop] { return stop->load(); });
    };
    Result<std::shared_ptr<const RunSnapshot>> result = without_exceptions(compute);
    if (options_.trace) options_.trace("run", begin_s, clock_seconds());
    // One layer computed again is not the time of the run.
    const double seconds = again ? -1.0 : seconds_since(begin);
    inbox_.post(
        [this, run_id, result = std::move(result), seconds, before] { finished(run_id, result, seconds, before); });
  });
}

void Runner::take(int run_id, std::shared_ptr<const RunSnapshot> data) {
  RunEntry* run = state_.edit_run(run_id);
  if (!run) return;
  const bool first = !run->data;
  run->data = with_sweeps(*run, std::move(data));
  circuits_.keep_beside(*run);
  if (first) name_models_and_runs(state_);
  if (state_.coming == run_id) {
    const std::optional<HeadRef>& head = state_.view.selection.head;
    if (head && !run->data->layer(head->layer)) return;
    show_coming();
  }
  if (!first || state_.view.run != run_id) return;
  // While layers arrive the first head is shown; a better one is not chosen under the person's hands.
  Selection& selection = state_.view.selection;
  if (!selection.head && !run->data->layers.empty()) {
    selection.head = HeadRef{run->data->layers.front(), run->data->heads.front()};
    chosen_by_program_ = true;
  }
}

void Runner::show_coming() {
  const int id = std::exchange(state_.coming, -1);
  if (state_.view.run != follows_) return;  // the person looks at something else by now
  const RunEntry *before = state_.run(follows_), *now = state_.run(id);
  if (!before || !now) return;
  if (before->prompt_serial != now->prompt_serial) {
    state_.view.selection.query.reset();
    state_.view.selection.key.reset();
  }
  state_.view.map.window = {};
  // What one run alone can fill stays; the others are of a change, of two runs or of none.
  constexpr std::array kOfOneRun{CentreView::Circuit, CentreView::Importance, CentreView::Tokens, CentreView::Residual};
  if (std::ranges::find(kOfOneRun, state_.view.centre) == kOfOneRun.end()) state_.view.centre = CentreView::Map;
  show_run(id);
}

void Runner::forget_coming(int id) {
  state_.coming = -1;
  if (const RunEntry* run = state_.run(id); !run || run->data) return;
  forget(id);
  std::erase_if(state_.runs, [&](const RunEntry& run) { return run.id == id; });
  name_models_and_runs(state_);
}

void Runner::forget(int id) {
  compute_.stop(id);
  sweeps_.forget(id), corpora_.forget(id);
  inputs_.erase(id);
  prompts_.erase(id);
}

void Runner::finished(int run_id, const Result<std::shared_ptr<const RunSnapshot>>& result, double seconds,
                      RunStatus before) {
  inbox_.end();
  compute_.end(run_id);
  RunEntry* run = state_.edit_run(run_id);
  if (!run) return;
  if (seconds >= 0.0) run->seconds = seconds;
  run->seconds_left.reset();
  if (result) {
    run->status = RunStatus::Done;
    run->fraction = 1.0;
    run->data = with_sweeps(*run, *result);
    circuits_.keep_beside(*run);
    if (state_.coming == run_id) show_coming();
    for (const std::string_view note : run->data->notes) {
      const bool warns = note.starts_with(kWarningNote);
      inbox_.message(warns ? MessageLevel::Warning : MessageLevel::Info,
                     run->name + ": " + std::string(note.substr(warns ? kWarningNote.size() : 0)));
    }
    for (const std::string& weight : run->data->non_finite_weights)
      inbox_.message(MessageLevel::Warning, run->name + ": " + weight);
    if (run->data->non_finite_layer >= 0)
      inbox_.message(
          MessageLevel::Warning,
          format("%s: from layer %lld on the residual stream holds NaN or infinity, and what is made of it is NaN",
                 run->name.c_str(), static_cast<long long>(run->data->non_finite_layer)));
  } else if (result.error().code == ErrorCode::Cancelled) {
    run->status = RunStatus::Cancelled;
    compute_.cancelled();
    inbox_.message(MessageLevel::Info, run->name + ": cancelled");
  } else if (result.error().code == ErrorCode::OutOfMemory && run->budget) {
    out_of_memory(*run, result.error(), before);
  } else {
    run->status = RunStatus::Failed;
    run->error = result.error();
    inbox_.card("The run of " + run->name + " failed", result.error(), run->quick ? "" : "run");
  }
  if (state_.view.run == run_id && result && chosen_by_program_) {
    state_.view.selection.head.reset();
    select_default_head();
  }
  chosen_by_program_ = false;
  if (state_.coming == run_id) forget_coming(run_id);
  if (auto next = when_complete_.extract(run_id); !next.empty() && result) next.mapped()();
}

// What was finished stays. A run of a prompt says in its own place what it takes and what can be done; anything else in
// a card, since something is shown there.
void Runner::out_of_memory(RunEntry& run, const Error& error, RunStatus before) {
  const bool waits = run.refused && !run.data && run.base < 0;
  const bool shows = run.data != nullptr || run.base >= 0 || run.id == state_.coming;
  run.status = waits ? RunStatus::Waiting : run.refused && run.data ? before : RunStatus::Failed;
  run.error = error;
  run.fraction = 0.0;
  run.offers = run.budget->offers;
  if (!run.refused) {
    const ModelEntry* model = state_.find_model(run.model);
    if (model && run.base < 0) {
      BudgetQuestion question = budget_question(run.id, kRunInputsShare);
      question.free = free_memory();
      if (Result<LiveRunRequest> request = base_request(*model)) {
        request->keep_maps = run.budget->maps;
        request->keep_residual = run.keep_residual;
        run.offers = offers_after_failure(*request, *run.budget, question);
      }
    }
  } else if (shows && run.id != state_.coming) {
    run.offers.clear();  // they are about the prompt
  }
  if (!shows) {
    inbox_.message(MessageLevel::Error,
                   "The run of " + run.name + " was " + (run.refused ? "not started: " : "ended: ") + describe(error));
    return;
  }
  inbox_.card(run.refused ? "Not enough memory for " + run.name : "The run of " + run.name + " ran out of memory",
              error);
  state_.errors.back().offers = run.offers;
  if (before != RunStatus::Failed && run.status == before) {
    run.refused = false;
    run.error.reset();
    run.fraction = 1.0;
  }
}

// What the other runs keep counts where the memory for runs is set; what is free is free beside them.
BudgetQuestion Runner::budget_question(int run_id, double inputs_share) const {
  BudgetQuestion question;
  question.memory_gb = state_.settings.memory_gb;
  question.inputs_share = inputs_share;
  question.threads =
      state_.device.info ? state_.device.info->threads : static_cast<std::int64_t>(std::thread::hardware_concurrency());
  std::set<const void*> counted;
  for (const RunEntry& run : state_.runs) {
    if (run.id == run_id) continue;
    if (run.data) {
      for (const auto& layer : run.data->data)
        if (layer && counted.insert(layer.get()).second) question.held_bytes += layer->kept_bytes();
      for (const auto& boundary : run.data->residual)
        if (boundary && counted.insert(boundary.get()).second) question.held_bytes += boundary->kept_bytes();
    }
    if (const auto inputs = inputs_.find(run.id); inputs != inputs_.end())
      question.held_bytes += inputs->second->size_bytes();
  }
  return question;
}

// What a run of the prompt would take, whenever the prompt, the checkpoint or a setting changes: its tokens are counted
// on the I/O thread.
void Runner::update() {
  const ModelEntry* model = state_.find_model(state_.model);
  const bool ready = model && model->model && !model->opening;
  const Settings& settings = state_.settings;
  const std::string of = ready ? format("%d %d %g %d %d ", model->id, state_.prompt_serial, settings.memory_gb,
                                        state_.device.info ? 1 : 0, state_.keep_residual ? 1 : 0) +
                                     settings.device + " " + settings.dtype + " " + settings.backend
                               : std::string();
  if (of == estimated_) return;
  estimated_ = of;
  state_.estimate.reset();
  const int serial = ++estimate_serial_;
  if (!ready) return;
  Result<LiveRunRequest> base = base_request(*model);
  if (!base) return;  // the run itself says what is wrong with the settings
  LiveRunRequest request = std::move(*base);
  request.inputs = std::make_shared<LayerInputs>(0);
  request.keep_residual = state_.keep_residual;
  inbox_.ask(
      io_,
      [request = std::move(request), prompt = state_.prompt, tokenizer = model->tokenizer,
       question = budget_question(-1, kRunInputsShare)]() mutable {
        return without_exceptions([&]() -> Result<std::shared_ptr<const RunBudget>> {
          HEADROOM_TRY(const Prompt encoded, encode(prompt, tokenizer.get(), request.model->spec));
          question.free = free_memory();
          return std::make_shared<const RunBudget>(
              make_run_budget(request, static_cast<std::int64_t>(encoded.ids.size()), question));
        });
      },
      // The run itself says what is wrong with a prompt.
      [this, serial](Result<std::shared_ptr<const RunBudget>> made) {
        if (serial == estimate_serial_) state_.estimate = made ? std::move(*made) : nullptr;
      });
}

Result<void> Runner::start_what_if(bool complete) {
  const ViewState& view = state_.view;
  const RunEntry* base = state_.shown();
  if (!base || !base->data || !view.selection.head) return Error(ErrorCode::InvalidArgument, "no head is selected");
  const HeadRef head = *view.selection.head;
  std::vector<std::string> what_ifs;
  for (const std::string& change : view.what_if.changes) what_ifs.push_back(scoped(change, view.what_if.scope, head));
  HEADROOM_TRY(state_.view.other_run, start_changed(*base, what_ifs, complete, head));
  if (!complete) state_.view.centre = CentreView::WhatIf;
  return {};
}

Result<int> Runner::start_changed(const RunEntry& base, const std::vector<std::string>& what_ifs, bool complete,
                                  HeadRef head) {
  const ModelEntry* model = state_.find_model(base.model);
  if (!model) return Error(ErrorCode::InvalidArgument, "a run file has no weights to run again; open its checkpoint");
  HEADROOM_TRY(LiveRunRequest request, base_request(*model));
  request.prompt = base.data->prompt;
  request.base = base.data;
  RunEntry run;
  run.model = model->id;
  run.base = base.id;
  run.quick = !complete;
  run.prompt_title = base.prompt_title;
  run.prompt_serial = base.prompt_serial;
  run.keep_residual = request.keep_residual = base.keep_residual;
  run.extra = request.extra = base.extra;
  run.what_ifs = base.what_ifs;
  std::int64_t changed = complete ? std::numeric_limits<std::int64_t>::max() : head.layer;
  for (const std::string& text : what_ifs) {
    HEADROOM_TRY(const WhatIf what_if, parse_what_if(text));
    if (complete) changed = std::min(changed, what_if.layer.value_or(0));
    run.what_ifs.push_back(text);
  }
  HEADROOM_TRY(request.what_ifs, parsed_what_ifs(run.what_ifs));
  HEADROOM_TRY_VOID(apply_what_ifs(model->model->spec, request.what_ifs));
  const auto inputs = inputs_.find(base.id);
  std::shared_ptr<const StreamState> start;
  if (inputs != inputs_.end() && changed > 0)
    start = complete ? inputs->second->nearest(changed) : inputs->second->find(changed);
  if (!complete) {
    // The decoder needs what the encoder gives: such a run begins with the source.
    const bool from_the_begin = model->model->spec.encoder.has_value();
    if (changed > 0 && !start && !model->model->spec.capture && !from_the_begin)
      return Error(ErrorCode::OutOfMemory,
                   "the input of layer " + std::to_string(changed) + " was not kept; a complete run computes it again");
    request.layers = {head.layer};
    request.heads = {head.head};
    request.last_layer = head.layer;
    request.first_layer = from_the_begin ? 0 : head.layer;
    request.start = start;
  } else {
    request.first_layer = start ? start->layer : 0;
    request.start = start;
  }
  // A quick one that is overtaken by the next is of no use any more.
  const int base_id = base.id;
  for (const RunEntry& other : state_.runs)
    if (other.quick && other.base == base_id) compute_.stop(other.id);
  std::erase_if(state_.runs, [&](const RunEntry& other) { return other.quick && other.base == base_id; });
  const int id = add_run(std::move(run));
  prompts_[id] = request.prompt;
  launch(id, std::move(request), {}, nullptr, complete ? kWhatIfInputsShare : 0.0);
  return id;
}

Result<void> Runner::recompute_layer(std::int64_t layer) {
  const RunEntry* run = state_.shown();
  if (!run || !run->data || run->model < 0)
    return Error(ErrorCode::InvalidArgument, "nothing that can be computed again is shown");
  const ModelEntry* model = state_.find_model(run->model);
  if (!model) return Error(ErrorCode::InvalidArgument, "the checkpoint of this run is closed");
  HEADROOM_TRY(LiveRunRequest request, base_request(*model));
  request.prompt = run->data->prompt;
  request.base = run->data;
  HEADROOM_TRY(request.what_ifs, parsed_what_ifs(run->what_ifs));
  request.extra = run->extra;
  request.layers = {layer};
  request.last_layer = layer;
  if (const auto inputs = inputs_.find(run->id); inputs != inputs_.end()) {
    request.start = inputs->second->nearest(layer);
    if (request.start) request.first_layer = request.start->layer;
    request.inputs = inputs->second;
  }
  launch(run->id, std::move(request), {}, nullptr, 0.0);
  return {};
}

// The same run again, through analyze(): the file is the one that the command line writes, bit for bit.
Result<void> Runner::write_run(const std::string& path, bool replace,
                               std::function<void(const Result<std::string>&)> told,
                               const std::function<void(AnalysisRequest&)>& adjust) {
  const RunEntry* run = state_.shown();
  if (!run || !run->data) return Error(ErrorCode::InvalidArgument, "no run is shown");
  const ModelEntry* model = state_.find_model(run->model);
  if (!model) return Error(ErrorCode::InvalidArgument, "a run file is already a file; copy " + run->path);
  auto request = std::make_shared<AnalysisRequest>();
  HEADROOM_TRY(request->what_ifs, parsed_what_ifs(run->what_ifs));
  request->prompt = *run->data->prompt;
  HEADROOM_TRY(request->dtype, parse_dtype(run->dtype));
  request->device = run->device;
  request->backend = run->backend;
  request->output = path;
  request->force = replace;
  request->hidden = run->keep_residual;
  request->extra = run->extra;
  for (const InputFile& file : model->model->checkpoint->files()) request->inputs.push_back(file.path());
  request->command_line = options_.command_line;
  request->program = options_.program;
  request->git_commit = options_.git_commit;
  if (adjust) adjust(*request);
  const int job = inbox_.next_id();
  const ComputeThread::Stop stop = compute_.begin(job);
  inbox_.message(MessageLevel::Info, "writing " + path);
  give_way();
  inbox_.ask(
      compute_.worker(),
      [this, request, opened = model->model, stop]() -> Result<AnalysisOutcome> {
        request->model = opened.get();
        const MutexLock lock(hdf5_);
        prepare_hdf5();
        HEADROOM_TRY(ComputeBackend * backend, compute_.backend());
        return analyze(*backend, *request, {}, [stop] { return stop->load(); });
      },
      [this, job, path, told = std::move(told)](const Result<AnalysisOutcome>& outcome) {
        compute_.end(job);
        if (outcome) return told(size_text(static_cast<double>(outcome->size_bytes)));
        if (outcome.error().code == ErrorCode::Cancelled)
          inbox_.message(MessageLevel::Info, "cancelled; " + path + " was not written");
        told(outcome.error());
      });
  return {};
}

Result<LiveRunRequest> Runner::base_request(const ModelEntry& model) const {
  LiveRunRequest request;
  request.model = model.model;
  request.tokenizer = model.tokenizer;
  HEADROOM_TRY(request.dtype, parse_dtype(state_.settings.dtype));
  request.device = state_.settings.device;
  request.backend = state_.settings.backend;
  return request;
}

}  // namespace headroom
