// A file of a sweep of ablations (core/io/RUN_FILE.md#ablation-files), of one text or of the sequences of a plan, as
// the window shows it. One thread: HDF5.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/result.h"
#include "core/model/head_address.h"
#include "core/run/loss_table.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// Several heads that are changed together, which the table does not hold.
struct ChangedTogether {
  std::vector<HeadRef> heads;
  double delta = kNaN, error = kNaN;  // nats; NaN: not computed
};

struct OpenedAblation {
  // Its layers hold the sink score alone, without rows, maps or weights. Of a plan its prompt is the first sequence,
  // and numbers are means over all.
  std::shared_ptr<const RunSnapshot> run;
  LossTable table;
  std::vector<ChangedTogether> sets;     // that were asked for
  std::vector<ChangedTogether> removed;  // of a plan, the pruning curve: each with the heads of the one before, and one
};

// Whether the file says to be one; false where it cannot be read.
[[nodiscard]] bool is_ablation_file(const std::filesystem::path& path);

// Corrupt where its datasets do not fit its axes.
[[nodiscard]] Result<OpenedAblation> read_ablation(const std::filesystem::path& path);

}  // namespace headroom
