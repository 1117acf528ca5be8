#include "core/training/training_pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/base/mutex.h"
#include "core/checkpoint/strict_json.h"
#include "core/io/run_file.h"
#include "core/training/training_file.h"

namespace headroom {
namespace {

constexpr std::chrono::milliseconds kIdle{200};
constexpr std::size_t kShownWidth = 60;
constexpr std::uint64_t kConfigLimit = 1 << 20;

struct Done {
  TrainingJob* job = nullptr;
  Result<TrainingOutcome> outcome;
};

class Observer final : public TrainingObserver {
 public:
  Observer(TrainingJob& job, const std::atomic<bool>& stop) : job_(job), stop_(stop) {}
  void on_step(std::int64_t step, std::int64_t, double loss) override {
    job_.step = step;
    job_.loss = loss;
  }
  [[nodiscard]] bool stop_requested() const override { return stop_; }

 private:
  TrainingJob& job_;
  const std::atomic<bool>& stop_;
};

class Workers {
 public:
  Workers(ComputeBackend& backend, std::deque<TrainingJob>& jobs, std::size_t count) : backend_(backend), jobs_(jobs) {
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Workers() { stop_ = true; }

  // The next one that ended; nothing after a while.
  std::optional<Done> wait() {
    const MutexLock lock(mutex_);
    changed_.wait_for(mutex_, kIdle, [&]() HEADROOM_REQUIRES(mutex_) { return !done_.empty(); });
    if (done_.empty()) return std::nullopt;
    Done done = std::move(done_.front());
    done_.pop_front();
    return done;
  }
  void stop() { stop_ = true; }

 private:
  void work() {
    for (std::size_t index = next_++; index < jobs_.size(); index = next_++) {
      TrainingJob& job = jobs_[index];
      Observer observer(job, stop_);
      Done done{&job, stop_ ? Result<TrainingOutcome>(Error(ErrorCode::Cancelled, "cancelled"))
                            : backend_.train(job.request, observer)};
      const MutexLock lock(mutex_);
      done_.push_back(std::move(done));
      changed_.notify_one();
    }
  }

  ComputeBackend& backend_;
  std::deque<TrainingJob>& jobs_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Done> done_ HEADROOM_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

bool has_ended(const TrainingOutcome& outcome) { return outcome.finished || outcome.diverged_step >= 0; }

// The history is in its file before the state goes.
Result<void> keep(const TrainingJob& job, const TrainingOutcome& outcome, const std::string& command_line) {
  HEADROOM_TRY_VOID(write_training_file(job.request, outcome, command_line));
  std::error_code ignored;
  if (has_ended(outcome)) std::filesystem::remove(job.request.folder / kStateFile, ignored);
  return {};
}

}  // namespace

Result<TrainingsDone> run_trainings(ComputeBackend& backend, std::deque<TrainingJob>& jobs, std::size_t workers,
                                    const std::string& command_line,
                                    const std::function<void(const TrainingJob&, const TrainingOutcome&)>& ended,
                                    const std::function<void()>& idle, const std::function<bool()>& stop) {
  TrainingsDone counts;
  std::optional<Error> failure;
  Workers pool(backend, jobs, std::min(std::max<std::size_t>(workers, 1), jobs.size()));
  for (std::size_t left = jobs.size(); left > 0;) {
    if (stop && stop()) pool.stop();
    std::optional<Done> done = pool.wait();
    if (!done) {
      if (idle) idle();
      continue;
    }
    --left;
    Result<void> kept =
        done->outcome ? keep(*done->job, *done->outcome, command_line) : Result<void>(done->outcome.error());
    if (!kept) {
      if (kept.error().code == ErrorCode::Cancelled)
        ++counts.stopped;
      else if (!failure)
        failure = kept.error();
      pool.stop();
      continue;
    }
    const TrainingOutcome& outcome = *done->outcome;
    ++(outcome.finished ? counts.finished : outcome.diverged_step >= 0 ? counts.diverged : counts.stopped);
    if (ended) ended(*done->job, outcome);
  }
  if (failure) return std::move(*failure);
  return counts;
}

TrainingProgress training_progress(const std::deque<TrainingJob>& jobs) {
  double all = 0.0, done = 0.0;
  std::size_t finished = 0;
  std::string running;
  for (const TrainingJob& job : jobs) {
    const std::int64_t step = job.step, steps = job.request.variant->training.steps;
    all += static_cast<double>(steps);
    done += static_cast<double>(step);
    if (step == steps) ++finished;
    if (step > 0 && step < steps && running.size() < kShownWidth)
      running += format(", %s %lld loss %.3g", job.name.c_str(), static_cast<long long>(step), job.loss.load());
  }
  return {all > 0.0 ? done / all : 1.0, format("%zu of %zu", finished, jobs.size()) + running};
}

std::string model_name(const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  return recipe.name + "/" + variant.name + "_seed" + std::to_string(seed);
}

namespace {

Error other_training(const std::filesystem::path& file, const std::string& field, const std::string& wanted,
                     const std::string& found) {
  Error error(ErrorCode::InvalidArgument, "the folder holds a model of another training");
  error.in_file(file.string()).at_tensor(field).wanted(wanted, found);
  return error.advise("train into another folder, or begin anew with --force");
}

// The first part of the definition that differs, "training.learning_rate", and both values.
Result<void> compare_definitions(const std::filesystem::path& file, const nlohmann::json& wanted,
                                 const nlohmann::json& found) {
  const nlohmann::json changes = nlohmann::json::diff(found, wanted);
  if (changes.empty()) return {};
  const std::string path = changes.front().at("path");
  const nlohmann::json::json_pointer at(path);
  const auto part = [&](const nlohmann::json& whole) { return whole.contains(at) ? whole.at(at).dump() : "nothing"; };
  std::string field = "recipe" + path;
  std::ranges::replace(field, '/', '.');
  return other_training(file, field, part(wanted), part(found));
}

}  // namespace

Result<FolderState> folder_state(const TrainingRequest& request) {
  const std::filesystem::path& folder = request.folder;
  const std::filesystem::path config_file = folder / "config.json", history_file = folder / kHistoryFile;
  if (std::filesystem::exists(folder / kStateFile)) return FolderState::Stopped;
  if (!std::filesystem::exists(history_file)) return FolderState::Empty;
  HEADROOM_TRY(const std::unique_ptr<RunFile> history, RunFile::open(history_file));
  HEADROOM_TRY(const std::string diverged_step, history->root_attribute("diverged_step"));
  const bool diverged = diverged_step != "-1";
  if (!diverged && !std::filesystem::exists(config_file)) return FolderState::Empty;
  for (const auto& [name, wanted] : {std::pair<const char*, std::string>{"variant", request.variant->name},
                                     {"seed", std::to_string(request.seed)}}) {
    HEADROOM_TRY(const std::string found, history->root_attribute(name));
    if (found != wanted) return other_training(history_file, name, wanted, found);
  }
  HEADROOM_TRY(const std::string recipe_text, history->root_attribute("recipe"));
  auto recipe = parse_json(recipe_text);
  if (!recipe) return std::move(recipe.error().in_file(history_file.string()));
  HEADROOM_TRY_VOID(compare_definitions(history_file, nlohmann::json::parse(request.variant->definition),
                                        training_definition(*recipe, request.variant->name)));
  if (diverged) return FolderState::Diverged;
  HEADROOM_TRY(const std::string text, read_text_file(config_file, kConfigLimit));
  auto config = parse_json(text);
  if (!config) return std::move(config.error().in_file(config_file.string()));
  const nlohmann::json note = config->value("training", nlohmann::json::object());
  const nlohmann::json step = note.is_object() ? note.value("step", nlohmann::json()) : nlohmann::json();
  const TrainingSettings& settings = request.variant->training;
  if (settings.stop_below_error <= 0.0 && step != settings.steps)
    return other_training(config_file, "training.step", std::to_string(settings.steps), step.dump());
  return FolderState::Trained;
}

}  // namespace headroom
