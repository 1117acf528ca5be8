// The file of a corpus: statistics of every number of a run file's root over its sequences, what is kept of each of
// them, and counts over all rows. Layout: core/corpus/CORPUS.md#the-file. HDF5: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/corpus_layout.h"
#include "core/corpus/corpus_totals.h"
#include "core/corpus/plan.h"
#include "core/corpus/shard_origin.h"
#include "core/corpus/statistics.h"
#include "core/io/run_file_writer.h"

namespace headroom {

// What was kept of sequences, by their numbers in the plan.
class SequenceValues {
 public:
  virtual ~SequenceValues() = default;
  // Columns [first, first + out.size()) of the layout, within one dataset that is kept, or of the sinks where these
  // follow from what is kept.
  [[nodiscard]] virtual Result<void> floats(std::int64_t sequence, std::size_t first, std::span<float> out) const = 0;
  [[nodiscard]] virtual Result<void> integers(std::int64_t sequence, std::size_t first,
                                              std::span<std::int32_t> out) const = 0;
};

struct CorpusContent {
  const CorpusPlan* plan = nullptr;
  const CorpusLayout* layout = nullptr;
  const SequenceValues* values = nullptr;
  const CorpusTotals* totals = nullptr;
  ShardRange range;  // of the sequences that there are
  std::int64_t shard_index = 0, shard_count = 1;
  std::vector<double> losses, rates;            // of the sequences of the range; rates by epsilon and map
  std::vector<std::int64_t> non_finite_layers;  // likewise
  std::vector<FixedRegion> fixed;
  std::vector<ShardOrigin> shards;
  double sink_null = 0.0;
  std::string keep, settings;
  std::uint64_t bootstrap_seed = 0;
  bool with_ids = true;
  std::size_t memory_bytes = std::size_t{64} << 20;  // for values of all sequences at once
};

struct CorpusSummary {
  std::int64_t documents = 0;
  StatisticValues next_token_loss{};
  std::vector<StatisticValues> sink_rate;  // by epsilon and map
};

// Everything but the provenance and the commit. Cancelled by `stop`.
[[nodiscard]] Result<CorpusSummary> write_corpus(RunFileWriter& writer, const CorpusContent& content,
                                                 const std::function<bool()>& stop);

// The words of an ExactMoments along an axis of /exact.
inline constexpr const char* kExactAxis = "word";

}  // namespace headroom
