// What a corpus run that goes on has so far, as a file of it would be looked at: the sequences that are done, their
// statistics by the same formulas, and every sequence's number of the quantity that is watched. The bootstrap is left
// to the file. On the thread of the run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/corpus/opened_corpus.h"
#include "core/corpus/plan.h"
#include "core/corpus/progress_log.h"
#include "core/run/run_plan.h"

namespace headroom {

struct CorpusSoFar {
  std::shared_ptr<const OpenedCorpus> corpus;
  std::shared_ptr<const CorpusStatistics> statistics;
  std::shared_ptr<const CorpusValues> values;  // null where the run does not keep the quantity, or there is none
};

// Who looks on while a corpus runs. All of it is called on the thread of the run.
struct CorpusWatch {
  std::function<std::string()> quantity;          // of which every sequence's number is wanted; quantity_text()
  std::function<void(const CorpusSoFar&)> grown;  // empty: nobody looks on
  std::function<void()> begun;                    // nothing is in its way any more, and sequences run from here on
  Mutex* files = nullptr;                         // held while HDF5 is used; null: no other thread uses it
};

// What is measured, and where it is kept.
struct CorpusSource {
  const CorpusPlan& plan;
  const RunPlan& run;
  const AttentionChoice& attention;
  const CorpusLayout& layout;
  const ProgressLog& log;  // with one sequence at least
  const std::string& keep;
};
// Errors as those of reading the log.
[[nodiscard]] Result<CorpusSoFar> corpus_so_far(const CorpusSource& source, const std::string& quantity);
// Every sequence's number of another quantity; null as in CorpusSoFar.
[[nodiscard]] Result<std::shared_ptr<const CorpusValues>> values_so_far(const CorpusSource& source,
                                                                        const std::string& quantity);

// Says what there is after a batch where that takes little of the time that batches take.
class CorpusGrowth {
 public:
  explicit CorpusGrowth(const CorpusWatch& watch) : watch_(watch) {}
  [[nodiscard]] bool watched() const { return watch_.grown != nullptr; }
  // After a batch; `last`: whatever it takes.
  [[nodiscard]] Result<void> batch_done(const CorpusSource& source, bool last);
  // In between: says it where another quantity is watched by now.
  [[nodiscard]] Result<void> look(const CorpusSource& source);

 private:
  const CorpusWatch& watch_;
  CorpusSoFar said_;
  std::string quantity_;
  double took_s_ = 0.0, said_at_s_ = 0.0;
};

}  // namespace headroom
