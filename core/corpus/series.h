// A corpus run by several checkpoints of one training, as one file: the statistics of each with the axis `step` in
// front, and of the change from one to the next. Layout: core/corpus/CORPUS.md#series. HDF5: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/corpus_layout.h"
#include "core/corpus/plan.h"
#include "core/corpus/statistics.h"

namespace headroom {

struct SeriesPart {
  std::int64_t step = 0;
  std::string name;            // of the checkpoint
  std::filesystem::path file;  // the corpus that it ran: all sequences of the plan
};

struct SeriesRequest {
  std::vector<SeriesPart> parts;  // ascending steps
  const CorpusPlan* plan = nullptr;
  const CorpusLayout* layout = nullptr;  // of each part
  std::string model_id;                  // of all checkpoints
  std::string keep;
  std::uint64_t bootstrap_seed = 0;
  bool with_ids = true, force = false;
  std::filesystem::path output;
  std::vector<std::filesystem::path> inputs;
  std::string command_line;
  std::size_t memory_bytes = std::size_t{128} << 20;  // for values of all sequences at once
};

struct SeriesStep {
  std::int64_t non_finite = 0;  // sequences
  StatisticValues next_token_loss{};
  std::vector<StatisticValues> sink_rate;  // by epsilon and map
};

struct SeriesOutcome {
  bool nothing_to_do = false;  // the target was there, of the same parts and settings
  std::vector<SeriesStep> steps;
  std::string
      different_kinds;  // of machines that parts were run on, where there are several: their last bits may differ
  std::size_t size_bytes = 0;
};

// Corrupt for parts of different settings, or that do not hold what the layout says; InvalidArgument where another
// target exists, unless forced; Cancelled by `stop`.
[[nodiscard]] Result<SeriesOutcome> write_series(const SeriesRequest& request, const std::function<bool()>& stop);

// The last digits of a name, without its ending; −1 where it has none that are a number below 2⁶³.
[[nodiscard]] std::int64_t step_of_name(std::string_view name);

}  // namespace headroom
