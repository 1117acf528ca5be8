#include "app/cli/train_command.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/progress.h"
#include "app/cli/report_error.h"
#include "app/cli/signals.h"
#include "app/version.h"
#include "core/base/format.h"
#include "core/run/compute.h"
#include "core/training/training.h"
#include "core/training/training_file.h"

namespace headroom {
namespace {

constexpr int kPartialResult = 8;

// One training of the plan.
struct Job {
  TrainingRequest request;
  std::string name;  // RECIPE/VARIANT_seedN
  std::int64_t steps = 0;
  std::atomic<std::int64_t> step = 0;
  std::atomic<double> loss = 0.0;
  bool skipped = false;  // finished by an earlier call
};

bool is_finished(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "config.json") && std::filesystem::exists(folder / kHistoryFile) &&
         !std::filesystem::exists(folder / kStateFile);
}

Error unknown_name(const std::string& option, const std::string& name, const std::vector<Recipe>& recipes) {
  std::string known;
  for (const Recipe& recipe : recipes)
    for (const Variant& variant : recipe.variants) known += (known.empty() ? "" : ", ") + variant.name;
  Error error(ErrorCode::InvalidArgument, "no recipe has this variant");
  return error.at_tensor(option).wanted("one of " + known, name);
}

Result<std::vector<Recipe>> read_recipes(const TrainArguments& arguments) {
  std::vector<Recipe> recipes;
  for (const std::string& path : arguments.recipes) {
    HEADROOM_TRY(Recipe recipe, read_recipe(path));
    if (arguments.steps) {
      recipe.training.steps = *arguments.steps;
      for (Variant& variant : recipe.variants)
        std::erase_if(variant.checkpoints, [&](std::int64_t step) { return step > *arguments.steps; });
    }
    if (std::ranges::count(recipes, recipe.name, &Recipe::name) > 0) {
      Error error(ErrorCode::InvalidArgument, "two recipes have the same name, and would share a folder");
      return error.in_file(path).wanted("different file names", recipe.name);
    }
    recipes.push_back(std::move(recipe));
  }
  for (const std::string& name : arguments.variants) {
    bool known = false;
    for (const Recipe& recipe : recipes) known = known || std::ranges::count(recipe.variants, name, &Variant::name) > 0;
    if (!known) return unknown_name("--variant", name, recipes);
  }
  return recipes;
}

Result<std::deque<Job>> plan(const TrainArguments& arguments, const std::vector<Recipe>& recipes) {
  std::deque<Job> jobs;
  for (const Recipe& recipe : recipes)
    for (const Variant& variant : recipe.variants) {
      if (!arguments.variants.empty() && std::ranges::count(arguments.variants, variant.name) == 0) continue;
      for (const std::uint64_t seed : arguments.seeds.empty() ? recipe.seeds : arguments.seeds) {
        Job& job = jobs.emplace_back();
        const std::string model = variant.name + "_seed" + std::to_string(seed);
        job.name = recipe.name + "/" + model;
        job.steps = recipe.training.steps;
        job.request.recipe = &recipe;
        job.request.variant = &variant;
        job.request.seed = seed;
        job.request.folder = std::filesystem::path(arguments.output) / recipe.name / model;
        job.request.resume = arguments.resume;
        job.request.device = arguments.device;
        job.request.threads = arguments.threads;
        job.request.program = std::string("headroom ") + kVersion;
        job.request.git_commit = kGitCommit;
        const bool finished = is_finished(job.request.folder);
        if (arguments.resume && finished) job.skipped = true;
        const bool begun = finished || std::filesystem::exists(job.request.folder / kStateFile);
        if (begun && !arguments.resume && !arguments.force) {
          Error error(ErrorCode::InvalidArgument, finished ? "the folder holds a trained model" : "the folder holds a training that was stopped");
          error.in_file(job.request.folder.string());
          return error.advise("--resume goes on and keeps what is finished, --force begins anew");
        }
      }
    }
  return jobs;
}

class JobObserver final : public TrainingObserver {
 public:
  JobObserver(Job& job, const std::atomic<bool>& stop) : job_(job), stop_(stop) {}
  void on_step(std::int64_t step, std::int64_t, double loss) override {
    job_.step = step;
    job_.loss = loss;
  }
  [[nodiscard]] bool stop_requested() const override { return stop_ || signal_received(); }

 private:
  Job& job_;
  const std::atomic<bool>& stop_;
};

struct Done {
  Job* job = nullptr;
  Result<TrainingOutcome> outcome;
};

// Trainings run on threads of their own; what they yield comes back to this thread, which has HDF5.
class Trainings {
 public:
  Trainings(ComputeBackend& backend, std::deque<Job>& jobs, std::size_t workers) : backend_(backend), jobs_(jobs) {
    for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Trainings() { stop_ = true; }

  // The next one that ended; nothing after a fifth of a second, or when all are done.
  std::optional<Done> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(200), [&] { return !done_.empty(); });
    if (done_.empty()) return std::nullopt;
    Done done = std::move(done_.front());
    done_.pop_front();
    return done;
  }
  void stop() { stop_ = true; }

 private:
  void work() {
    for (std::size_t index = next_++; index < jobs_.size(); index = next_++) {
      Job& job = jobs_[index];
      if (job.skipped) continue;
      JobObserver observer(job, stop_);
      Done done{&job, observer.stop_requested() ? Result<TrainingOutcome>(Error(ErrorCode::Cancelled, "cancelled"))
                                                : backend_.train(job.request, observer)};
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(done));
      changed_.notify_one();
    }
  }

  ComputeBackend& backend_;
  std::deque<Job>& jobs_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Done> done_;  // under the mutex
  std::vector<std::jthread> threads_;
};

void show_progress(ProgressLine& line, const std::deque<Job>& jobs) {
  double steps = 0.0, done = 0.0;
  std::size_t finished = 0;
  std::string running;
  for (const Job& job : jobs) {
    if (job.skipped) continue;
    const std::int64_t step = job.step;
    steps += static_cast<double>(job.steps);
    done += static_cast<double>(step);
    if (step == job.steps) ++finished;
    if (step > 0 && step < job.steps && running.size() < 60)
      running += format(", %s %lld loss %.3g", job.name.c_str(), static_cast<long long>(step), job.loss.load());
  }
  line.show(steps > 0.0 ? done / steps : 1.0, format("%zu of %zu", finished, jobs.size()) + running);
}

nlohmann::ordered_json outcome_json(const Job& job, const TrainingOutcome& outcome) {
  const auto last = [](const std::vector<double>& values) { return values.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(values.back()); };
  return {{"name", job.name},
          {"path", job.request.folder.string()},
          {"steps", outcome.step},
          {"finished", outcome.finished},
          {"diverged_step", outcome.diverged_step < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(outcome.diverged_step)},
          {"parameters", outcome.parameters},
          {"loss", last(outcome.history.loss)},
          {"validation_loss", last(outcome.history.validation_loss)},
          {"validation_error", last(outcome.history.validation_error)},
          {"seconds", outcome.seconds}};
}

std::string outcome_text(const Job& job, const TrainingOutcome& outcome) {
  std::string text = format("%-44s", job.name.c_str());
  if (outcome.diverged_step >= 0)
    return text + format("diverged at step %lld: the loss or its gradient is not finite\n", static_cast<long long>(outcome.diverged_step));
  text += format("%6lld steps  validation loss %-9.5g", static_cast<long long>(outcome.step), outcome.history.validation_loss.back());
  if (job.request.recipe->task->objective() == Objective::Residual)
    text += format("  largest error %-8.3g", outcome.history.validation_error.back());
  return text + format("  %s\n", duration_text(outcome.seconds).c_str());
}

// The history is in the file before the state goes.
Result<void> keep(const Job& job, const TrainingOutcome& outcome, const std::string& command_line) {
  HEADROOM_TRY_VOID(write_training_file(job.request, outcome, command_line));
  if (!outcome.finished && outcome.diverged_step < 0) return {};
  std::error_code ignored;
  std::filesystem::remove(job.request.folder / kStateFile, ignored);
  return {};
}

}  // namespace

int run_train(const TrainArguments& arguments) {
  auto recipes = read_recipes(arguments);
  if (!recipes) return report_error(recipes.error(), arguments.json);
  auto jobs = plan(arguments, *recipes);
  if (!jobs) return report_error(jobs.error(), arguments.json);
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), arguments.json);

  std::size_t left = static_cast<std::size_t>(std::ranges::count(*jobs, false, &Job::skipped));
  const std::size_t skipped = jobs->size() - left;
  const bool many = arguments.device == "cpu";
  const std::size_t workers = arguments.jobs > 0 ? static_cast<std::size_t>(arguments.jobs)
                              : many             ? std::max(1U, std::thread::hardware_concurrency())
                                                 : 1;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::optional<Error> failure;
  bool stopped = false, diverged = false;
  {
    const GracefulStop graceful;
    ProgressLine progress;
    Trainings trainings(**backend, *jobs, std::min(workers, std::max<std::size_t>(left, 1)));
    while (left > 0) {
      std::optional<Done> done = trainings.wait();
      if (!done) {
        show_progress(progress, *jobs);
        continue;
      }
      --left;
      Result<void> kept = done->outcome ? keep(*done->job, *done->outcome, arguments.command_line)
                                        : Result<void>(done->outcome.error());
      if (!kept) {
        const bool cancelled = kept.error().code == ErrorCode::Cancelled;
        stopped = stopped || cancelled;
        if (!cancelled && !failure) failure = kept.error();
        trainings.stop();
        continue;
      }
      const TrainingOutcome& outcome = *done->outcome;
      stopped = stopped || (!outcome.finished && outcome.diverged_step < 0);
      diverged = diverged || outcome.diverged_step >= 0;
      progress.clear();
      if (arguments.json)
        list.push_back(outcome_json(*done->job, outcome));
      else if (outcome.finished || outcome.diverged_step >= 0)
        std::fputs(outcome_text(*done->job, outcome).c_str(), stdout), std::fflush(stdout);
    }
  }
  if (failure) return report_error(*failure, arguments.json);
  if (arguments.json)
    std::puts(nlohmann::ordered_json{{"path", arguments.output}, {"trainings", list}, {"already_finished", skipped}}.dump().c_str());
  else if (skipped > 0)
    std::printf("%zu had been finished before\n", skipped);
  if (stopped && signal_received()) {
    std::fputs("headroom: stopped; the same command with --resume goes on\n", stderr);
    return signal_exit_code();
  }
  return diverged ? kPartialResult : 0;
}

}  // namespace headroom
