// Corpora that are run in the window: planned and run on the compute thread as `headroom corpus` does, bit for bit, and
// looked at while they grow. What a person asks for meanwhile goes first: a corpus gives way, keeps what it has beside
// its target, and goes on behind it. Main thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session/compute_thread.h"
#include "app/session/session_parts.h"

namespace headroom {

struct CorpusOutcome;  // core/corpus/corpus_run.h
struct CorpusSoFar;    // core/corpus/corpus_growth.h

class CorpusRuns : private SessionParts {
 public:
  CorpusRuns(const SessionParts& parts, ComputeThread& compute) : SessionParts(parts), compute_(compute) {}
  ~CorpusRuns();
  CorpusRuns(const CorpusRuns&) = delete;
  CorpusRuns& operator=(const CorpusRuns&) = delete;

  // With the checkpoint that runs next. What is wrong with the order comes later: in state's CorpusWish where the panel
  // is open, else as a card. InvalidArgument where no checkpoint is open, or a corpus is run to this file.
  Result<void> start(const CorpusTask& order);
  Result<void> go_on(int run_id);           // one that was stopped; its sequences that are done stay
  bool stop();                              // all of them; false: none goes on
  void watch(const std::string& quantity);  // of which the sequences' numbers are wanted
  void give_way();                          // to what is posted next
  void forget(int run_id);                  // of a run that goes away
  // Parts as one file, on the files thread; then it is opened.
  void merge(const std::vector<std::string>& parts, const std::string& output);

  // How runs become ones that are shown, and files ones that are open: the runner's and the documents' part.
  struct Hooks {
    std::function<int(RunEntry)> add_run;
    std::function<void(int run_id)> show_run;
    std::function<void(const std::string& path)> opened;  // a file was written: it is a recent one
    std::function<void(const std::string& path)> open;
  };
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

 private:
  struct Job;
  struct Watched;
  [[nodiscard]] RunEntry* entry_of(const Job& job);  // null: there is none (any more)
  void post(const std::shared_ptr<Job>& job);
  void begun(const std::shared_ptr<Job>& job);
  void grown(const Job& job, const CorpusSoFar& so_far, std::shared_ptr<const RunSnapshot> means);
  void refused(const Job& job, const Error& error, CorpusField field);
  void finished(const std::shared_ptr<Job>& job, const Result<CorpusOutcome>& result, CorpusField field);
  void there_already(const Job& job);
  void done(const Job& job, const CorpusOutcome& outcome);
  void show(RunEntry& run);
  void drop(int run_id);  // an entry that nothing came of

  ComputeThread& compute_;
  Hooks hooks_;
  std::map<int, std::shared_ptr<Job>> jobs_;  // by their ids on the compute thread; those that were stopped too
  std::shared_ptr<Watched> watched_;
};

}  // namespace headroom
