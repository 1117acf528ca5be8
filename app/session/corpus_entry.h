// A corpus as the window holds it: the file, the statistics of the checkpoint that is shown, and of the quantity that
// is looked at every sequence's numbers, once they are read. Plain values and pure functions; what lies behind
// shared_ptr is immutable. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/corpus/corpus_rows.h"
#include "core/corpus/opened_corpus.h"
#include "core/corpus/paired.h"
#include "core/model/head_address.h"
#include "core/run/head_table.h"

namespace headroom {

// What the numbers of a corpus' run are.
struct CorpusFill {
  Statistic statistic = Statistic::Mean;
  // In its place, of this quantity: the share of sequences whose number is over the level. Not known without values.
  std::string share_of;
  std::shared_ptr<const CorpusValues> values;
  double level = 0.0;
  friend bool operator==(const CorpusFill&, const CorpusFill&) = default;
};

struct CorpusEntry {
  std::shared_ptr<const OpenedCorpus> file;            // null: the run is of no corpus
  std::shared_ptr<const CorpusStatistics> statistics;  // of the step that is shown
  CorpusFill fill;                                     // of the run's numbers
  std::shared_ptr<const CorpusValues> values;          // of the quantity that was looked at last
  std::shared_ptr<const CorpusCurves> curves;          // of a series, likewise
  std::string asked, failed;                           // the quantity and step that was asked for; why it is not there
  bool reading = false;
  std::shared_ptr<const CorpusRows> rows;  // of the head and step that were looked at last
  std::string rows_asked, rows_failed;     // likewise
  // Beside another corpus, B: the changes from this one to it.
  std::shared_ptr<const PairedCorpora> paired;
  int paired_with = -1;    // id of the run that they are of
  std::string not_paired;  // why there are none; empty: they are there, or being made
  explicit operator bool() const { return file != nullptr; }
  [[nodiscard]] bool growing() const { return file && file->growing; }
};

enum class CorpusSort : std::uint8_t { Sequence, Document, Loss, Over, Value, Robust, Off };

// What the plots of the selected head are of: its sequences, all of its rows, or rows by the keys that they see.
enum class CorpusSide : std::uint8_t { Sequences, Rows, Keys };

// How its sequences are listed: a line for each, or all heads of each.
enum class CorpusList : std::uint8_t { Table, Thumbnails };

// How a corpus is looked at; the quantity, the threshold and the head are those of the heads' panels.
struct CorpusState {
  Statistic statistic = Statistic::Mean;  // of the atlas
  bool share = false;                     // in its place: the share of sequences over the threshold
  bool bootstrap = false;                 // intervals by it, in place of Student's t
  CorpusSort sort = CorpusSort::Value;
  bool descending = false;
  CorpusSide side = CorpusSide::Sequences;
  CorpusList list = CorpusList::Table;
  std::optional<std::int64_t> sequence;  // chosen, by its number in the plan
  std::optional<std::int64_t> step;      // of a series; none: the last
  friend bool operator==(const CorpusState&, const CorpusState&) = default;
};

// The position of the step that is shown; −1: there is one checkpoint.
[[nodiscard]] std::int64_t shown_step(const OpenedCorpus& corpus, const CorpusState& view);

// Mean and interval of every head, [layers, heads].
struct CorpusIntervals {
  std::vector<double> mean, low, high;
  // Half of the interval's width; NaN where there is none.
  [[nodiscard]] double half(std::size_t head) const { return 0.5 * (high[head] - low[head]); }
};
[[nodiscard]] CorpusIntervals corpus_intervals(const CorpusEntry& corpus, const QuantityRef& ref, bool bootstrap);
// Heads whose interval lies above a level, below it, or holds it; those without an interval are in none.
struct IntervalCounts {
  std::size_t above = 0, below = 0, cross = 0, none = 0;
};
[[nodiscard]] IntervalCounts count_intervals(const CorpusIntervals& intervals, double level);
[[nodiscard]] inline bool crosses(const CorpusIntervals& intervals, std::size_t head, double level) {
  return intervals.low[head] <= level && intervals.high[head] >= level;
}

// The numbers of its heads as they are looked at: `fill`.
[[nodiscard]] std::shared_ptr<const RunSnapshot> filled_snapshot(const CorpusEntry& corpus, const CorpusFill& fill);

// Every sequence's numbers of a quantity at the step that is shown; null: they are not there, or not yet.
[[nodiscard]] std::shared_ptr<const CorpusValues> values_of(const CorpusEntry& corpus, const QuantityRef& ref);
// What the file says of the rows of a head at the step that is shown; null: it is not there, or not yet.
[[nodiscard]] std::shared_ptr<const CorpusRows> rows_of(const CorpusEntry& corpus, std::size_t head);
// By head: the share of its sequences that have more than `level`, of those that have a number; NaN where none has one.
[[nodiscard]] std::vector<double> shares_over(const CorpusValues& values, double level);
// By sequence: how many heads have more than `level`.
[[nodiscard]] std::vector<std::int64_t> heads_over(const CorpusValues& values, double level);
// Positions of sequences in the order that is asked for; those without a number come last. `head`: position in
// [layers, heads]; none: by what needs no head. `values`: of values_of(). `over`: by heads_over(), or empty.
[[nodiscard]] std::vector<std::size_t> sorted_sequences(const CorpusEntry& corpus, const CorpusValues* values,
                                                        const CorpusState& view, std::optional<std::size_t> head,
                                                        const std::vector<std::int64_t>& over);

// "S17".
[[nodiscard]] std::string sequence_name(const OpenedCorpus& corpus, std::size_t sequence);
[[nodiscard]] std::optional<std::int64_t> parse_sequence_name(std::string_view text);
// "licences_ids.jsonl:3" without its folders.
[[nodiscard]] std::string document_title(const OpenedCorpus& corpus, std::size_t document);
// "32 sequences of 8 documents".
[[nodiscard]] std::string corpus_size_text(const OpenedCorpus& corpus);

// Every sequence in this order, every digit: `corpus.copy sequences`. `over`: by heads_over() of this level, or empty.
[[nodiscard]] std::string sequence_table_text(const CorpusEntry& corpus, const CorpusValues* values,
                                              const std::vector<std::size_t>& order, std::optional<HeadRef> head,
                                              const std::vector<std::int64_t>& over, std::optional<double> level,
                                              TableFormat format);
// Every head with all statistics of a quantity: `corpus.copy heads`.
[[nodiscard]] std::string statistics_table_text(const CorpusEntry& corpus, const QuantityRef& ref, TableFormat format);

}  // namespace headroom
