#include "app/session/sweeps.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

struct Sweeps::Job {
  int run = -1, job = -1;
  AblationWay way = AblationWay::Off;
  std::shared_ptr<const OpenedModel> model;
  AblationRequest request;
  std::shared_ptr<const AblationOutcome> outcome;  // of what is done so far; null: nothing
  // Of the part that goes on: asked to stop, and whether to go on later.
  ComputeThread::Stop stop, yields;
};

Result<AblationRequest> Sweeps::request_of(const RunEntry& run, AblationWay way) const {
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

Result<void> Sweeps::start(AblationWay way, const std::vector<HeadRef>& only) {
  RunEntry* run = state_.edit_run(state_.view.run);
  if (!run || !run->data) return Error(ErrorCode::InvalidArgument, "no run is shown");
  const ModelEntry* model = state_.find_model(run->model);
  std::optional<LossSweep>& sweep = run->sweeps[static_cast<std::size_t>(way)];
  if (sweep && sweep->status == SweepStatus::Running)
    return Error(ErrorCode::InvalidArgument,
                 std::string(way_info(way).title) + " is being computed; importance.stop stops it");
  HEADROOM_TRY(AblationRequest request, request_of(*run, way));
  std::shared_ptr<Job>& job = jobs_[{run->id, way}];
  if (!job) job = std::make_shared<Job>();
  // What is done stays, whatever is asked for now.
  std::vector<HeadRef> heads = only;
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
  job->job = inbox_.next_id();
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
  inbox_.begin();
  compute_.give_way();
  post(job);
  return {};
}

void Sweeps::post(const std::shared_ptr<Job>& job) {
  job->stop = compute_.begin(job->job);
  job->yields = std::make_shared<std::atomic<bool>>(false);
  job->request.before = job->outcome;
  // The job's own fields are the main thread's.
  compute_.post([this, job, request = job->request, model = job->model, stop = job->stop, yields = job->yields,
                 run_id = job->run, way = job->way, memory_gb = state_.settings.memory_gb]() mutable {
    const auto begin = SweepClock::now();
    std::shared_ptr<LossTable> table;
    const AblatedReport report = [&](const AblationOutcome& outcome, std::size_t index) {
      if (!table)
        table =
            std::make_shared<LossTable>(loss_table_of(request.mode, request.run.layers, request.run.heads, outcome));
      else
        add_change(*table, outcome.results[index]);
      inbox_.post([this, run_id, way, grown = std::make_shared<const LossTable>(*table)] {
        if (RunEntry* run = state_.edit_run(run_id)) take(*run, way, grown);
      });
    };
    auto last_report = begin - std::chrono::seconds(1);
    const ProgressReport progress = [&](double fraction, const std::string& what) {
      if (sweep_seconds(last_report) < 0.05 && fraction < 1.0) return;
      last_report = SweepClock::now();
      inbox_.post([this, run_id, way, fraction, what, elapsed = sweep_seconds(begin)] {
        RunEntry* run = state_.edit_run(run_id);
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
      HEADROOM_TRY(ComputeBackend * backend, compute_.backend());
      release_spare_heap();
      const int threads = backend->info().threads;
      AnalysisBudget budget = make_analysis_budget(request.run, threads, memory_gb, free_memory());
      budget.memory = estimate_ablation_memory(request, threads);
      if (!budget.fits()) return over_budget(request.run, threads, budget);
      request.memory_bytes = static_cast<double>(budget.allowed_bytes);
      return ablate(*backend, request, report, progress, [&] { return stop->load() || yields->load(); });
    };
    Result<AblationOutcome> result = without_exceptions(compute);
    inbox_.post([this, job, result = std::move(result), seconds = sweep_seconds(begin)]() mutable {
      finished(job, std::move(result), seconds);
    });
  });
}

void Sweeps::take(RunEntry& run, AblationWay way, std::shared_ptr<const LossTable> table) {
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

void Sweeps::finished(const std::shared_ptr<Job>& job, Result<AblationOutcome> result, double seconds) {
  RunEntry* run = state_.edit_run(job->run);
  compute_.end(job->job);
  const bool gone = !run || !run->sweeps[static_cast<std::size_t>(job->way)];
  const bool stopped = result ? result->cancelled : result.error().code == ErrorCode::Cancelled;
  if (!gone && stopped && !*job->stop) {  // it gave way
    if (result) job->outcome = std::make_shared<const AblationOutcome>(std::move(*result));
    run->sweeps[static_cast<std::size_t>(job->way)]->doing = "waiting";
    run->sweeps[static_cast<std::size_t>(job->way)]->seconds_left.reset();
    post(job);
    return;
  }
  inbox_.end();
  if (gone) return;
  LossSweep& sweep = *run->sweeps[static_cast<std::size_t>(job->way)];
  const std::string name = run->name + ": " + way_info(job->way).title;
  sweep.seconds += seconds;
  sweep.seconds_left.reset();
  if (result) {
    job->outcome = std::make_shared<const AblationOutcome>(std::move(*result));
    take(*run, job->way,
         std::make_shared<const LossTable>(
             loss_table_of(job->request.mode, run->data->layers, run->data->heads, *job->outcome)));
    for (const std::string& violation : job->outcome->violations)
      inbox_.message(MessageLevel::Error, name + ": self-check: " + violation);
  }
  if (stopped) {
    sweep.status = SweepStatus::Stopped;
    compute_.cancelled();
    inbox_.message(MessageLevel::Info,
                   name + " stopped; kept: " + heads_done(job->outcome ? job->outcome->done : std::size_t{0}));
  } else if (result) {
    sweep.status = SweepStatus::Done;
    sweep.fraction = 1.0;
    inbox_.message(MessageLevel::Info, name + ", " + heads_done(job->outcome->done));
  } else {
    sweep.status = SweepStatus::Failed;
    sweep.error = result.error();
    inbox_.card("What each head is worth could not be computed", result.error());
  }
}

bool Sweeps::stop() {
  bool any = false;
  compute_.cancel_asked();
  for (const auto& [of, job] : jobs_) any = compute_.stop(job->job) || any;
  return any;
}

void Sweeps::give_way() {
  for (const auto& [of, job] : jobs_)
    if (job->yields && compute_.has(job->job)) *job->yields = true;
}

void Sweeps::forget(int run_id) {
  for (const auto& [of, job] : jobs_)
    if (of.first == run_id) compute_.stop(job->job);
  std::erase_if(jobs_, [run_id](const auto& sweep) { return sweep.first.first == run_id; });
}

Result<void> Sweeps::save(const std::string& path, bool replace, std::function<void(const Result<void>&)> told) {
  const RunEntry* run = state_.shown();
  if (!run || !run->data) return Error(ErrorCode::InvalidArgument, "no run is shown");
  const AblationWay way = state_.view.importance.colour;
  const auto found = jobs_.find({run->id, way});
  if (found == jobs_.end() || !found->second->outcome)
    return Error(ErrorCode::InvalidArgument,
                 std::string("nothing of \u201c") + way_info(way).title + "\u201d is computed, or it still goes on");
  HEADROOM_TRY(AblationRequest made, request_of(*run, way));
  auto request = std::make_shared<AblationRequest>(std::move(made));
  request->run.output = path;
  request->run.force = replace;
  const BackendInfo info = state_.device.info.value_or(BackendInfo{});
  inbox_.ask(
      io_,
      [this, request, info, outcome = found->second->outcome, model = found->second->model]() -> Result<void> {
        const MutexLock lock(hdf5_);
        prepare_hdf5();
        HEADROOM_TRY(const std::unique_ptr<RunFileWriter> file, create_ablation_file(*request));
        return write_ablation(*file, *request, *outcome, info, /*by_token=*/false, {});
      },
      std::move(told));
  return {};
}

}  // namespace headroom
