// The history of a training as it lies on the disk, to be looked at: training.h5, the state of a training that still
// goes on, or trainer_state.json of Hugging Face's Trainer; and the checkpoints that were kept on the way. What is
// unfinished is read to its last whole step. HDF5 is used: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/training/step_series.h"

namespace headroom {

using HeadAddress = std::pair<std::int64_t, std::int64_t>;  // layer, head

// A model folder of one step.
struct KeptCheckpoint {
  std::int64_t step = 0;
  std::filesystem::path folder;
  friend bool operator==(const KeptCheckpoint&, const KeptCheckpoint&) = default;
};

// What was measured of one head: of its first map, of its net map, and of the map with the larger logit. Empty: the
// file has no such numbers.
struct HeadCurves {
  StepSeries sink_score, sink_score_net, logit_max;
};

// The same over all heads, at each step: median (the mean of the middle two), smallest, largest.
struct HeadBand {
  StepSeries median, low, high;
};

enum class HistoryForm : std::uint8_t {
  File,         // training.h5
  State,        // training_state.safetensors: the training goes on, or was killed
  Trainer,      // trainer_state.json of Hugging Face's Trainer
  Checkpoints,  // nothing but folders of step checkpoints
};

struct StoredHistory {
  std::filesystem::path path, folder;  // the file that was read; the folder that was trained into
  HistoryForm form = HistoryForm::File;
  std::string recipe;                // what trained it; empty: not said
  std::string recipe_sha256;         // of its text; empty: not said
  std::string kind;                  // histories of one kind differ in their seeds
  std::optional<std::int64_t> seed;  // nothing: not said
  std::string loss_unit;
  std::int64_t step = 0, planned_steps = 0;  // done; 0: not said
  bool finished = false;
  std::optional<std::int64_t> diverged_step;
  double gradient_clip = 0.0;  // 0: none, or not said
  // core/measure/QUANTITIES.md#spikes-of-a-training, as counted while training; nothing: not said.
  std::optional<std::int64_t> loss_spikes, gradient_norm_spikes;
  std::optional<double> gradient_norm_max_over_median;

  StepSeries loss, gradient_norm, learning_rate;  // of the step's batch; the norm before clipping
  StepSeries validation_loss;

  std::int64_t layers = 0, heads = 0;  // of each; 0: not said
  bool second_maps = false;            // some head has two maps
  HeadBand sink_score, sink_score_net, logit_max;
  std::optional<HeadAddress> sink_head;  // the head with the largest sink score of its first map at the end
  std::map<HeadAddress, HeadCurves> curves;

  std::vector<KeptCheckpoint> checkpoints;  // ascending; the model at the end too
  std::int64_t modified_ns = 0;             // of what was read, the latest; to see whether it has grown

  [[nodiscard]] std::int64_t last_step() const;  // that anything is known of
};

// Whether the same recipe trained both: by the hash of its text, by its name where one does not say it.
[[nodiscard]] bool same_recipe(const StoredHistory& a, const StoredHistory& b);
// Histories of one kind differ in their seeds alone.
[[nodiscard]] bool same_kind(const StoredHistory& a, const StoredHistory& b);

// The histories that a path holds: a training.h5, a folder that holds one (or the state of one, or trainer_state.json,
// or step checkpoints), or a folder of such folders, in natural order of their names. Empty: none. Looks at names only.
[[nodiscard]] std::vector<std::filesystem::path> find_histories(const std::filesystem::path& path);

// One of them. With the curves of `head` (nothing: of `sink_head`). NotFound where the folder holds none, else as
// RunFile::open.
[[nodiscard]] Result<StoredHistory> read_history(const std::filesystem::path& path, std::optional<HeadAddress> head);

// Of another head; what the file does not have is empty. InvalidArgument where there is no such head.
[[nodiscard]] Result<HeadCurves> read_head_curves(const StoredHistory& history, HeadAddress head);

// When what read_history() would read was written last, nanoseconds of the file system's clock; 0: it is not there.
[[nodiscard]] std::int64_t history_modified_ns(const std::filesystem::path& path);

}  // namespace headroom
