// A file of a corpus, or of a series of checkpoints, as it is looked at: which sequences and documents it is of, the
// statistics of one checkpoint, and what is kept of every sequence of one quantity at a time. Definitions:
// core/corpus/CORPUS.md. What is read is immutable and safe from any thread; reading is HDF5: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/statistics.h"
#include "core/run/quantity_info.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// What holds for all of its checkpoints.
struct OpenedCorpus {
  std::filesystem::path path;
  std::map<std::string, std::string, std::less<>> attributes;  // of the root
  std::vector<std::int64_t> layers, heads;
  std::vector<std::string> kinds;     // of attention, by layer
  std::vector<double> kv_head;        // [layers, heads, 2]; empty where the file has none
  std::vector<std::string> what_ifs;  // that all of it was made with
  std::int64_t length = 0, min_row = 1;
  double sink_null = 0.0;
  std::vector<double> epsilons;
  // By sequence of the file: its number in the plan, a position in document_names, the piece, its first token there.
  std::vector<std::int64_t> number, document, piece, token_start;
  std::vector<std::string> document_names;
  std::vector<std::string> kept;         // quantities of heads of which every sequence's numbers are there
  bool ids = false;                      // the sequences' tokens are in the file
  std::vector<std::int64_t> steps;       // ascending, of a series; empty: one checkpoint
  std::vector<std::string> checkpoints;  // their names
  std::vector<std::string> violations;   // of the self-check, when it was run
  bool growing = false;                  // no file yet: what a run that goes on, or was stopped, has so far

  [[nodiscard]] std::int64_t sequences() const { return static_cast<std::int64_t>(number.size()); }
  [[nodiscard]] std::int64_t documents() const { return static_cast<std::int64_t>(document_names.size()); }
  [[nodiscard]] bool keeps(std::string_view quantity) const;
  // The position of sequence S17 by its number in the plan; nothing where the file has no such sequence.
  [[nodiscard]] std::optional<std::size_t> find(std::int64_t plan_number) const;
  [[nodiscard]] std::string attribute(std::string_view name) const;  // empty: there is none
};

// The statistics of one checkpoint.
struct CorpusStatistics {
  std::int64_t step = -1;  // position in `steps`; −1: there is one checkpoint
  std::map<std::string, std::vector<double>, std::less<>> quantities;  // [statistic, layers, heads, extents…]
  StatisticValues next_token_loss{};
  std::vector<double> losses;                   // by sequence
  std::vector<std::int64_t> non_finite_layers;  // by sequence; −1: all is finite
};

// One number of every head and sequence.
struct CorpusValues {
  std::string quantity;                // as quantity_text() has it
  std::int64_t step = -1;              // as in CorpusStatistics
  std::size_t sequences = 0;           // of the file
  std::vector<float> values;           // [layers, heads, sequences]; NaN where there is none
  std::vector<double> median, spread;  // by head over its sequences: the median, and 1.4826 · median |x − median|
  std::vector<double> off;  // by sequence: the share of heads that are outliers in it; NaN where none has one

  static constexpr double kOutlier = 3.0, kNormal = 1.4826;  // 1.4826 · MAD is σ of a normal distribution
  [[nodiscard]] std::span<const float> of_head(std::size_t head) const {
    return std::span(values).subspan(head * sequences, sequences);
  }
  // (x − median) / spread; NaN where the spread is 0.
  [[nodiscard]] double robust_z(std::size_t head, std::size_t sequence) const;
  // |x − median| > 3 · spread: also where more than half of the numbers are the same and this one is not.
  [[nodiscard]] bool outlier(std::size_t head, std::size_t sequence) const;
};

// Medians and spreads of heads, and how many heads are far from theirs in each sequence; of values that are there.
void find_outliers(CorpusValues& values);

// A number of all heads at each checkpoint of a series.
struct CorpusCurves {
  std::string quantity;
  std::vector<double> mean, low, high;  // [steps, layers, heads]; 95 % by t
};

// Or of a series; false where it cannot be read.
[[nodiscard]] bool is_corpus_file(const std::filesystem::path& path);

// Corrupt where its datasets do not fit its axes.
[[nodiscard]] Result<std::shared_ptr<const OpenedCorpus>> open_corpus(const std::filesystem::path& path);
// `step`: position in `steps`, −1 of a file of one checkpoint.
[[nodiscard]] Result<std::shared_ptr<const CorpusStatistics>> read_corpus_statistics(const OpenedCorpus& corpus,
                                                                                     std::int64_t step);
// NotFound where the file does not keep the quantity; OutOfMemory where its numbers take more than this.
inline constexpr std::size_t kMostCorpusBytes = std::size_t{1} << 30;
[[nodiscard]] Result<std::shared_ptr<const CorpusValues>> read_corpus_values(const OpenedCorpus& corpus,
                                                                             const QuantityRef& ref, std::int64_t step);
[[nodiscard]] Result<std::shared_ptr<const CorpusCurves>> read_corpus_curves(const OpenedCorpus& corpus,
                                                                             const QuantityRef& ref);

// A run whose numbers are one statistic of each quantity; all of them stand beside, as "sink_score.ci_low". It has no
// maps and no rows, its tokens are unknown (−1), and its loss is the mean.
[[nodiscard]] std::shared_ptr<const RunSnapshot> corpus_snapshot(const OpenedCorpus& corpus,
                                                                 const CorpusStatistics& statistics, Statistic which);

// One statistic of a number, [layers, heads]; NaN where the file has none.
[[nodiscard]] std::vector<double> corpus_column(const OpenedCorpus& corpus, const CorpusStatistics& statistics,
                                                const QuantityRef& ref, Statistic which);

}  // namespace headroom
