#include "app/cli/train_command.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cli/progress.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "app/process/version.h"
#include "core/base/format.h"
#include "core/run/compute.h"
#include "core/training/training_pool.h"

namespace headroom {
namespace {

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
      for (Variant& variant : recipe.variants) {
        variant.training.steps = *arguments.steps;
        std::erase_if(variant.checkpoints, [&](std::int64_t step) { return step > *arguments.steps; });
      }
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

const char* state_words(FolderState state) {
  switch (state) {
    case FolderState::Empty: break;
    case FolderState::Stopped: return "a training that was stopped";
    case FolderState::Trained: return "a trained model";
    case FolderState::Diverged: return "a training that diverged";
  }
  return "nothing";
}

// The trainings that are left to do; `finished` counts those that an earlier call has done.
Result<void> plan(const TrainArguments& arguments, const std::vector<Recipe>& recipes, std::deque<TrainingJob>& jobs,
                  std::size_t& finished) {
  for (const Recipe& recipe : recipes)
    for (const Variant& variant : recipe.variants) {
      if (!arguments.variants.empty() && std::ranges::count(arguments.variants, variant.name) == 0) continue;
      for (const std::uint64_t seed : arguments.seeds.empty() ? variant.seeds : arguments.seeds) {
        TrainingRequest request;
        request.recipe = &recipe;
        request.variant = &variant;
        request.seed = seed;
        request.folder = std::filesystem::path(arguments.output) / model_name(recipe, variant, seed);
        request.resume = arguments.resume;
        request.device = arguments.device;
        request.threads = arguments.threads;
        request.program = std::string("headroom ") + kVersion;
        request.git_commit = kGitCommit;
        if (arguments.force) {
          jobs.emplace_back(std::move(request), model_name(recipe, variant, seed));
          continue;
        }
        HEADROOM_TRY(const FolderState state, folder_state(request));
        const bool ended = state == FolderState::Trained || state == FolderState::Diverged;
        if (arguments.resume && ended) {
          ++finished;
          continue;
        }
        if (state != FolderState::Empty && !arguments.resume) {
          Error error(ErrorCode::InvalidArgument, std::string("the folder holds ") + state_words(state));
          error.in_file(request.folder.string());
          return error.advise("--resume goes on and keeps what is finished, --force begins anew");
        }
        jobs.emplace_back(std::move(request), model_name(recipe, variant, seed));
      }
    }
  return {};
}

nlohmann::ordered_json outcome_json(const TrainingJob& job, const TrainingOutcome& outcome) {
  const auto last = [](const std::vector<double>& values) {
    return values.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(values.back());
  };
  return {{"name", job.name},
          {"path", job.request.folder.string()},
          {"steps", outcome.step},
          {"finished", outcome.finished},
          {"diverged_step",
           outcome.diverged_step < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(outcome.diverged_step)},
          {"parameters", outcome.parameters},
          {"loss", last(outcome.history.loss)},
          {"validation_loss", last(outcome.history.validation_loss)},
          {"validation_error", last(outcome.history.validation_error)},
          {"seconds", outcome.seconds}};
}

std::string outcome_text(const TrainingJob& job, const TrainingOutcome& outcome) {
  std::string text = format("%-44s", job.name.c_str());
  if (outcome.diverged_step >= 0)
    return text + format("diverged at step %lld: the loss or its gradient is not finite\n",
                         static_cast<long long>(outcome.diverged_step));
  text += format("%6lld steps  validation loss %-9.5g", static_cast<long long>(outcome.step),
                 outcome.history.validation_loss.back());
  if (job.request.recipe->task->objective() == Objective::Residual)
    text += format("  largest error %-8.3g", outcome.history.validation_error.back());
  return text + format("  %s\n", duration_text(outcome.seconds).c_str());
}

}  // namespace

int run_train(const TrainArguments& arguments) {
  const auto recipes = read_recipes(arguments);
  if (!recipes) return report_error(recipes.error(), arguments.json);
  std::deque<TrainingJob> jobs;
  std::size_t finished_before = 0;
  if (const auto planned = plan(arguments, *recipes, jobs, finished_before); !planned)
    return report_error(planned.error(), arguments.json);
  auto backend = load_compute();
  if (!backend) return report_error(backend.error(), arguments.json);

  const unsigned processors = arguments.device == "cpu" ? std::max(1U, std::thread::hardware_concurrency()) : 1;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  ProgressLine line;
  const auto ended = [&](const TrainingJob& job, const TrainingOutcome& outcome) {
    line.clear();
    if (arguments.json)
      list.push_back(outcome_json(job, outcome));
    else if (outcome.finished || outcome.diverged_step >= 0)
      std::fputs(outcome_text(job, outcome).c_str(), stdout), std::fflush(stdout);
  };
  const auto idle = [&] {
    const TrainingProgress progress = training_progress(jobs);
    line.show(progress.fraction, progress.text);
  };
  const auto done = [&] {
    const GracefulStop graceful;
    return run_trainings(**backend, jobs, arguments.jobs > 0 ? static_cast<std::size_t>(arguments.jobs) : processors,
                         arguments.command_line, ended, idle, [] { return signal_received(); });
  }();
  line.clear();
  if (!done) return report_error(done.error(), arguments.json);
  if (arguments.json)
    std::puts(
        nlohmann::ordered_json{{"path", arguments.output}, {"trainings", list}, {"already_finished", finished_before}}
            .dump()
            .c_str());
  else if (finished_before > 0)
    std::printf("%zu had been finished before\n", finished_before);
  if (done->stopped > 0) {
    std::fputs("headroom: stopped; what was trained so far is kept, and the same command with --resume goes on\n",
               stderr);
    return signal_exit_code();
  }
  return done->diverged > 0 ? kPartialResult : 0;
}

}  // namespace headroom
