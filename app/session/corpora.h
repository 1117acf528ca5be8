// Files of corpora that are open: their numbers read on the I/O thread, as much as is looked at: the statistics of one
// checkpoint, every sequence's numbers of one quantity, and the changes from one corpus to another. Main thread only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "app/session/corpus_runs.h"
#include "app/session/session_parts.h"

namespace headroom {

// A file as it was opened: what the run of it begins with.
struct OpenedCorpusRun {
  CorpusEntry corpus;
  std::shared_ptr<const RunSnapshot> run;  // the means of the last checkpoint
};
// Files thread, under the lock of HDF5. Corrupt where its datasets do not fit its axes.
[[nodiscard]] Result<OpenedCorpusRun> open_corpus_run(const std::string& path);

class Corpora : private SessionParts {
 public:
  Corpora(const SessionParts& parts, CorpusRuns& runs) : SessionParts(parts), runs_(runs) {}
  ~Corpora() { stop_pairing(); }
  Corpora(const Corpora&) = delete;
  Corpora& operator=(const Corpora&) = delete;
  void update();  // what is missing of what is looked at is asked for; once a frame

 private:
  void show_statistic(RunEntry& run);
  void read_step(RunEntry& run, std::int64_t step);
  void read_values(RunEntry& run);
  void read_rows(RunEntry& run);
  void pair(RunEntry& run);
  void stop_pairing();  // of the two that nobody looks at any more

  CorpusRuns& runs_;
  std::shared_ptr<std::atomic<bool>> pairing_;  // true: the comparison under way is to end; null: there is none
};

// The text of a table of the corpus that is shown: "sequences" in their order, or "heads" with every statistic of the
// quantity. InvalidArgument where none is shown.
[[nodiscard]] Result<std::string> copy_corpus(const State& state, std::string_view what, TableFormat format);
// Why a corpus cannot be looked at; empty: one is shown.
[[nodiscard]] std::string needs_corpus(const State& state);

}  // namespace headroom
