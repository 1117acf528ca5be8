// Several trainings at a time, each on a thread of its own, while the caller's thread takes what ends, writes it down
// (HDF5 is the caller's) and shows how far they are. No Workers (core/base/worker.h): threads that get free take the
// next training of one list, which queues of their own would not share. Owned by the caller's thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "core/run/compute.h"
#include "core/training/training.h"

namespace headroom {

struct TrainingJob {
  TrainingJob(TrainingRequest r, std::string n) : request(std::move(r)), name(std::move(n)) {}
  TrainingRequest request;
  std::string name;  // for a person: RECIPE/VARIANT_seedN
  // Written by the thread that trains.
  std::atomic<std::int64_t> step = 0;
  std::atomic<double> loss = 0.0;
};

struct TrainingsDone {
  std::int64_t finished = 0, diverged = 0, stopped = 0;
};

// Trains all jobs, `workers` at a time; every one that ends has its training.h5 written, and its state removed where
// nothing is left to do, before `ended` sees it. `idle` is called a few times a second. When `stop` says so the running
// ones keep their state and end. The first error ends all.
[[nodiscard]] Result<TrainingsDone> run_trainings(
    ComputeBackend& backend, std::deque<TrainingJob>& jobs, std::size_t workers, const std::string& command_line,
    const std::function<void(const TrainingJob&, const TrainingOutcome&)>& ended, const std::function<void()>& idle,
    const std::function<bool()>& stop);

// Steps done and to do, and a line about the running ones.
struct TrainingProgress {
  double fraction = 0.0;
  std::string text;
};
[[nodiscard]] TrainingProgress training_progress(const std::deque<TrainingJob>& jobs);

// RECIPE/VARIANT_seedN below a folder.
[[nodiscard]] std::string model_name(const Recipe& recipe, const Variant& variant, std::uint64_t seed);
// What an earlier call has left in the request's folder.
enum class FolderState {
  Empty,
  Stopped,   // a training that can go on
  Trained,   // the model that is asked for
  Diverged,  // the training that is asked for; its loss was no number, and there is no model
};
// InvalidArgument where the folder holds a model of another training: variant, seed, training_definition() or steps.
// Reads training.h5, on the thread that owns HDF5.
[[nodiscard]] Result<FolderState> folder_state(const TrainingRequest& request);

}  // namespace headroom
