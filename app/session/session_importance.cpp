// Sweeps over heads on the compute thread: what the loss of the shown run's text is without each. What a person asks
// for meanwhile goes first: a sweep gives way, keeps what it has, and goes on behind it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/session.h"
#include "core/base/format.h"
#include "core/io/hdf5_error.h"
#include "core/run/ablation.h"
#include "core/run/ablation_file.h"
#include "core/run/analysis_memory.h"
#include "core/run/loss_table.h"

namespace headroom {
namespace {

using SweepClock = std::chrono::steady_clock;

double sweep_seconds(SweepClock::time_point begin) {
  return std::chrono::duration<double>(SweepClock::now() - begin).count();
}

std::string heads_done(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " head done" : " heads done");
}

// The changes that a session kept take the place of those that were not computed since; false: of none.
bool add_kept(LossTable& table, const LossTable& kept) {
  const std::size_t before = table.done;
  for (std::size_t i = 0; i < table.delta.size(); ++i) {
    if (std::isfinite(table.delta[i]) || !std::isfinite(kept.delta[i])) continue;
    table.delta[i] = kept.delta[i];
    table.error[i] = kept.error[i];
    ++table.done;
  }
  table.asked = std::max({table.asked, kept.asked, table.done});
  return table.done > before;
}

}  // namespace

struct Session::SweepJob {
  int run = -1, job = -1;
  AblationWay way = AblationWay::Off;
  std::shared_ptr<const OpenedModel> model;
  AblationRequest request;
  std::shared_ptr<const AblationOutcome> outcome;  // of what is done so far; null: nothing
  // Of the part that goes on: asked to stop, and whether to go on later.
  std::shared_ptr<std::atomic<bool>> stop, yields;
};

Result<AblationRequest> Session::ablation_request(const RunEntry& run, AblationWay way) const {
  const ModelEntry* model = state_.find_model(run.model);
  if (!model || !model->model) return Error(ErrorCode::InvalidArgument, "the checkpoint of this run is not open");
  AblationRequest request;
  HEADROOM_TRY(request.mode, parse_ablation_mode(way_info(way).mode));
  for (const std::string& text : run.what_ifs) {
    HEADROOM_TRY(WhatIf what_if, parse_what_if(text));
    request.run.what_ifs.push_back(std::move(what_if));
  }
  request.run.model = model->model.get();
  request.run.prompt = *run.data->prompt;
  request.run.layers = run.data->layers;
  request.run.heads = run.data->heads;
  HEADROOM_TRY(request.run.dtype, parse_dtype(run.dtype));
  request.run.device = run.device;
  request.run.backend = run.backend;
  for (const InputFile& file : model->model->checkpoint->files()) request.run.inputs.push_back(file.path());
  request.run.command_line = options_.command_line;
  request.run.program = options_.program;
  request.run.git_commit = options_.git_commit;
  return request;
}

Result<void> Session::start_importance(AblationWay way, const std::vector<HeadRef>& only) {
  RunEntry* run = edit_run(state_.view.run);
  if (!run || !run->data) return Error(ErrorCode::InvalidArgument, "no run is shown");
  const ModelEntry* model = state_.find_model(run->model);
  std::optional<LossSweep>& sweep = run->sweeps[static_cast<std::size_t>(way)];
  if (sweep && sweep->status == SweepStatus::Running)
    return Error(ErrorCode::InvalidArgument,
                 std::string(way_info(way).title) + " is being computed; importance.stop stops it");
  HEADROOM_TRY(AblationRequest request, ablation_request(*run, way));
  std::shared_ptr<SweepJob>& job = sweeps_[{run->id, way}];
  if (!job) job = std::make_shared<SweepJob>();
  // What is done stays, whatever is asked for now.
  std::vector<HeadRef> heads;
  for (const HeadRef head : only) heads.push_back({head.layer, head.head});
  std::size_t asked = 0;
  for (const auto& [layer, count] : heads_left(*run, way, heads)) asked += count;
  // What a session kept is not computed again.
  if (heads.empty() && sweep && sweep->kept) heads = heads_to_do(*run, way, {});
  if (!heads.empty() && job->outcome)
    for (const AblatedSet& set : job->outcome->results)
      if (set.done()) heads.push_back(set.heads.front());
  request.heads = std::move(heads);
  job->run = run->id;
  job->way = way;
  job->model = model->model;
  job->request = std::move(request);
  job->job = next_id_++;
  if (!sweep) sweep.emplace();
  sweep->status = SweepStatus::Running;
  sweep->error.reset();
  sweep->fraction = 0.0;
  sweep->doing = "waiting";
  if (sweep->table) {
    auto table = std::make_shared<LossTable>(*sweep->table);
    table->asked = table->done + asked;
    sweep->table = std::move(table);
  }
  ++pending_;
  post_sweep(job);
  return {};
}

void Session::post_sweep(const std::shared_ptr<SweepJob>& job) {
  job->stop = std::make_shared<std::atomic<bool>>(false);
  job->yields = std::make_shared<std::atomic<bool>>(false);
  stops_[job->job] = job->stop;
  job->request.before = job->outcome;
  // The job's own fields are the main thread's.
  compute_->post([this, job, request = job->request, model = job->model, stop = job->stop, yields = job->yields,
                  run_id = job->run, way = job->way, memory_gb = state_.settings.memory_gb]() mutable {
    const auto begin = SweepClock::now();
    std::shared_ptr<LossTable> table;
    const AblatedReport report = [&](const AblationOutcome& outcome, std::size_t index) {
      if (!table)
        table =
            std::make_shared<LossTable>(loss_table_of(request.mode, request.run.layers, request.run.heads, outcome));
      else
        add_change(*table, outcome.results[index]);
      main_->post([this, run_id, way, grown = std::make_shared<const LossTable>(*table)] {
        if (RunEntry* run = edit_run(run_id)) take_changes(*run, way, grown);
      });
    };
    auto last_report = begin - std::chrono::seconds(1);
    const ProgressReport progress = [&](double fraction, const std::string& what) {
      if (sweep_seconds(last_report) < 0.05 && fraction < 1.0) return;
      last_report = SweepClock::now();
      main_->post([this, run_id, way, fraction, what, elapsed = sweep_seconds(begin)] {
        RunEntry* run = edit_run(run_id);
        if (!run) return;
        std::optional<LossSweep>& sweep = run->sweeps[static_cast<std::size_t>(way)];
        if (!sweep || sweep->status != SweepStatus::Running) return;
        sweep->fraction = fraction;
        sweep->doing = what;
        sweep->seconds_left.reset();
        if (fraction > 0.02) sweep->seconds_left = elapsed * (1.0 - fraction) / fraction;
      });
    };
    const auto compute = [&]() -> Result<AblationOutcome> {
      if (*stop) return Error(ErrorCode::Cancelled, "cancelled");
      if (!backend_) return Error(ErrorCode::Device, "LibTorch is not loaded");
      release_spare_heap();
      const int threads = backend_->info().threads;
      AnalysisBudget budget = make_analysis_budget(request.run, threads, memory_gb, free_memory());
      budget.memory = estimate_ablation_memory(request, threads);
      if (!budget.fits()) return over_budget(request.run, threads, budget);
      request.memory_bytes = static_cast<double>(budget.allowed_bytes);
      return ablate(*backend_, request, report, progress, [&] { return stop->load() || yields->load(); });
    };
    Result<AblationOutcome> result = [&]() -> Result<AblationOutcome> {
      try {
        return compute();
      } catch (const std::bad_alloc&) {
        return Error(ErrorCode::OutOfMemory, "out of memory");
      } catch (const std::exception& error) {
        return Error(ErrorCode::InvalidArgument, std::string("a bug of this program: ") + error.what());
      }
    }();
    main_->post([this, job, result = std::move(result), seconds = sweep_seconds(begin)]() mutable {
      sweep_finished(job, std::move(result), seconds);
    });
  });
}

void Session::take_changes(RunEntry& run, AblationWay way, std::shared_ptr<const LossTable> table) {
  std::optional<LossSweep>& sweep = run.sweeps[static_cast<std::size_t>(way)];
  if (!sweep) return;
  if (sweep->kept) {
    auto merged = std::make_shared<LossTable>(*table);
    if (!add_kept(*merged, *sweep->kept)) sweep->kept.reset();
    table = std::move(merged);
  }
  sweep->table = std::move(table);
  if (run.data) run.data = with_loss_changes(*run.data, run.sweeps);
}

void Session::sweep_finished(const std::shared_ptr<SweepJob>& job, Result<AblationOutcome> result, double seconds) {
  RunEntry* run = edit_run(job->run);
  stops_.erase(job->job);
  const bool gone = !run || !run->sweeps[static_cast<std::size_t>(job->way)];
  const bool stopped = result ? result->cancelled : result.error().code == ErrorCode::Cancelled;
  if (!gone && stopped && !*job->stop) {  // it gave way
    if (result) job->outcome = std::make_shared<const AblationOutcome>(std::move(*result));
    run->sweeps[static_cast<std::size_t>(job->way)]->doing = "waiting";
    run->sweeps[static_cast<std::size_t>(job->way)]->seconds_left.reset();
    post_sweep(job);
    return;
  }
  --pending_;
  if (gone) return;
  LossSweep& sweep = *run->sweeps[static_cast<std::size_t>(job->way)];
  const std::string name = run->name + ": " + way_info(job->way).title;
  sweep.seconds += seconds;
  sweep.seconds_left.reset();
  if (result) {
    job->outcome = std::make_shared<const AblationOutcome>(std::move(*result));
    take_changes(*run, job->way,
                 std::make_shared<const LossTable>(
                     loss_table_of(job->request.mode, run->data->layers, run->data->heads, *job->outcome)));
  }
  if (stopped) {
    sweep.status = SweepStatus::Stopped;
    if (cancel_asked_s_ >= 0.0)
      cancel_seconds_ = std::chrono::duration<double>(SweepClock::now().time_since_epoch()).count() - cancel_asked_s_;
    message(MessageLevel::Info,
            name + " stopped; kept: " + heads_done(job->outcome ? job->outcome->done : std::size_t{0}));
  } else if (result) {
    sweep.status = SweepStatus::Done;
    sweep.fraction = 1.0;
    message(MessageLevel::Info, name + ", " + heads_done(job->outcome->done));
  } else {
    sweep.status = SweepStatus::Failed;
    sweep.error = result.error();
    card("What each head is worth could not be computed", result.error(), "");
  }
}

bool Session::stop_importance() {
  bool any = false;
  cancel_asked_s_ = std::chrono::duration<double>(SweepClock::now().time_since_epoch()).count();
  for (const auto& [of, job] : sweeps_)
    if (const auto stop = stops_.find(job->job); stop != stops_.end()) *stop->second = any = true;
  return any;
}

void Session::yield_sweeps() {
  for (const auto& [of, job] : sweeps_)
    if (job->yields && stops_.contains(job->job)) *job->yields = true;
}

void Session::forget_sweeps(int run_id) {
  for (const auto& [of, job] : sweeps_)
    if (of.first == run_id)
      if (const auto stop = stops_.find(job->job); stop != stops_.end()) *stop->second = true;
  std::erase_if(sweeps_, [run_id](const auto& sweep) { return sweep.first.first == run_id; });
}

Result<void> Session::export_importance(const std::string& path, bool replace) {
  const RunEntry* run = state_.shown();
  if (!run || !run->data) return Error(ErrorCode::InvalidArgument, "no run is shown");
  const AblationWay way = state_.view.importance.colour;
  const auto found = sweeps_.find({run->id, way});
  if (found == sweeps_.end() || !found->second->outcome)
    return Error(ErrorCode::InvalidArgument,
                 std::string("nothing of \u201c") + way_info(way).title + "\u201d is computed, or it still goes on");
  HEADROOM_TRY(AblationRequest made, ablation_request(*run, way));
  auto request = std::make_shared<AblationRequest>(std::move(made));
  request->run.output = path;
  request->run.force = replace;
  const BackendInfo info = state_.device.info.value_or(BackendInfo{});
  auto result = std::make_shared<Result<void>>();
  in_background(
      [this, request, result, info, outcome = found->second->outcome, model = found->second->model] {
        const MutexLock lock(hdf5_);
        prepare_hdf5();
        *result = [&]() -> Result<void> {
          HEADROOM_TRY(const std::unique_ptr<RunFileWriter> file, create_ablation_file(*request));
          return write_ablation(*file, *request, *outcome, info, /*by_token=*/false, {});
        }();
      },
      [this, result, path, by_person = person_asks_] {
        if (*result)
          saved(SaveKind::Importance, path, by_person);
        else
          not_saved(SaveKind::Importance, path, by_person, result->error());
      });
  return {};
}

Result<void> Session::change_set(const std::string& change, const std::vector<HeadRef>& heads) {
  const RunEntry* base = state_.shown();
  if (!base || !base->data || heads.empty()) return Error(ErrorCode::InvalidArgument, "no heads are in the lasso");
  std::vector<std::string> changes;
  for (const HeadRef head : heads) changes.push_back(head_text(head) + ":" + change);
  HEADROOM_TRY(state_.view.other_run, start_changed(*base, changes, /*complete=*/true, heads.front()));
  return {};
}

}  // namespace headroom
