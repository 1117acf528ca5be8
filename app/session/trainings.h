// Histories of trainings: read and, while they grow, read again on the I/O thread; the checkpoints of the film strip
// run on the compute thread, one after the other, so that a run that a person asks for waits for one of them at most.
// Main thread only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/session/compute_thread.h"
#include "app/session/session_parts.h"

namespace headroom {

class Trainings : private SessionParts {
 public:
  // `opened`: for the recent files, once for what was opened at once.
  Trainings(const SessionParts& parts, ComputeThread& compute, std::function<void(const RecentFile&)> opened)
      : SessionParts(parts), compute_(compute), opened_(std::move(opened)) {}

  // Beside those that are open: of a training.h5, a folder that holds one or step checkpoints, or a folder of such
  // folders. NotFound where there is none; what cannot be read gets a card.
  Result<void> open(const std::string& path);
  void forget_opening() { opening_.clear(); }  // what is read comes from something else, which is among recent files
  void remove(int id);
  void show();                // in place of the map
  void update(double now_s);  // what is missing of what the training view shows is asked for; once a frame
  void stop();                // the film strip

 private:
  void read(int id, bool again);
  void taken(int id, bool again, Result<StoredHistory> read, std::shared_ptr<const SmoothedHistory> smooth);
  void read_head(TrainingEntry& entry, HeadAddress head);
  void smooth(TrainingEntry& entry);
  void play(double now_s);
  void make_next_film_frame(std::int64_t layer);

  ComputeThread& compute_;
  const std::function<void(const RecentFile&)> opened_;
  double next_look_s_ = 0.0, next_play_s_ = 0.0;
  std::string opening_;        // the path whose histories are being read
  bool film_running_ = false;  // a checkpoint of the film strip
  std::shared_ptr<std::atomic<bool>> film_stop_;
};

// The next or the previous step of which a checkpoint of the film strip is kept; nothing beyond the last one.
[[nodiscard]] std::optional<std::int64_t> next_kept_step(const State& state, std::int64_t step, bool forward);

}  // namespace headroom
