// Computing: runs of prompts and of changed heads on the compute thread, layers measured again, what a run would take,
// and which run is shown while they come. Main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/circuit_jobs.h"
#include "app/session/compute_thread.h"
#include "app/session/corpus_runs.h"
#include "app/session/run_budget.h"
#include "app/session/session_parts.h"
#include "app/session/sweeps.h"

namespace headroom {

// What a run keeps and measures beside the usual.
struct RunMeasures {
  bool keep_residual = false;
  ExtraMeasures extra;
};

class Runner : private SessionParts {
 public:
  explicit Runner(const SessionParts& parts)
      : SessionParts(parts), compute_(parts), sweeps_(parts, compute_), corpora_(parts, compute_), circuits_(parts) {
    compute_.set_give_way([this] { corpora_.give_way(); });
  }

  [[nodiscard]] ComputeThread& compute() { return compute_; }
  [[nodiscard]] Sweeps& sweeps() { return sweeps_; }
  [[nodiscard]] CorpusRuns& corpora() { return corpora_; }
  [[nodiscard]] CircuitJobs& circuits() { return circuits_; }

  // `measures`: in place of what is chosen for the next run.
  Result<void> start_run(bool keep_maps = true, std::optional<RunMeasures> measures = {});
  Result<void> start_what_if(bool complete);  // the changes of the view, beside the run that is shown
  // A run of the base's prompt with more what-ifs, each with its scope: from the first layer that they change on, or
  // (not complete) this head of its layer alone. Returns its id.
  Result<int> start_changed(const RunEntry& base, const std::vector<std::string>& what_ifs, bool complete,
                            HeadRef head);
  // A run in which all of these heads are changed so together.
  Result<void> change_set(const std::string& change, const std::vector<HeadRef>& heads);
  Result<void> recompute_layer(std::int64_t layer);
  // The shown run once more, as the command line writes it; then `told`: "12.3 MB", or what went wrong, a cancel among
  // it. `adjust`: what the file is to hold beside, or instead of, what it usually does.
  Result<void> write_run(const std::string& path, bool replace, std::function<void(const Result<std::string>&)> told,
                         const std::function<void(AnalysisRequest&)>& adjust = {});
  void when_complete(int id, std::function<void()> then) { when_complete_[id] = std::move(then); }

  int add_run(RunEntry entry);
  void show_run(int id);  // as A, with a selection that fits
  void set_head(std::optional<HeadRef> head);
  void forget(int id);  // its jobs and what it kept; the run itself is the caller's
  void update();        // once a frame

 private:
  // What runs for long, to what is posted next.
  void give_way() {
    sweeps_.give_way();
    compute_.give_way();
  }
  [[nodiscard]] Result<LiveRunRequest> base_request(const ModelEntry& model) const;
  // `inputs_share`: the part of what is kept that inputs of layers may take; 0 where the request says where they go.
  void launch(int run_id, LiveRunRequest request, std::optional<PromptEntry> prompt,
              std::shared_ptr<const Tokenizer> tokenizer, double inputs_share);
  void take(int run_id, std::shared_ptr<const RunSnapshot> data);
  void finished(int run_id, const Result<std::shared_ptr<const RunSnapshot>>& result, double seconds, RunStatus before);
  void out_of_memory(RunEntry& run, const Error& error, RunStatus before);
  void show_coming();          // in place of what it follows, if that is still shown
  void forget_coming(int id);  // it has come to nothing
  void select_default_head();
  [[nodiscard]] BudgetQuestion budget_question(int run_id, double inputs_share) const;

  int follows_ = -1;                // the run that the coming one takes the place of
  bool chosen_by_program_ = false;  // the head, when the first layer arrived
  int estimate_serial_ = 0;
  std::string estimated_;                               // what the estimate is of
  std::map<int, std::shared_ptr<LayerInputs>> inputs_;  // by run
  std::map<int, std::shared_ptr<const Prompt>> prompts_;
  std::map<int, std::function<void()>> when_complete_;  // by run
  ComputeThread compute_;                               // its jobs end before all that is above goes
  Sweeps sweeps_;
  CorpusRuns corpora_;
  CircuitJobs circuits_;
};

}  // namespace headroom
