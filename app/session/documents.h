// What is open: checkpoints, run files, histories of trainings and saved sessions, opened on the I/O thread, and the
// prompt of the checkpoint that runs next. Main thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/corpora.h"
#include "app/session/keeping.h"
#include "app/session/runner.h"
#include "app/session/session_file.h"
#include "app/session/session_parts.h"
#include "app/session/trainings.h"
#include "core/run/read_ablation.h"

namespace headroom {

inline constexpr std::uint64_t kLargestPrompt = std::uint64_t{64} << 20;  // bytes of a text file

class Documents : private SessionParts {
 public:
  Documents(const SessionParts& parts, Keeping& keeping, Runner& runner);

  struct OpenOptions {
    bool run = false;  // with the model's default prompt, where that is quick
    std::optional<HeadRef> head{};
    std::optional<std::int64_t> query{}, key{};
    std::string config{};                           // in place of the checkpoint's own config.json
    std::shared_ptr<const SavedSession> session{};  // to be taken up once the checkpoint is open
  };
  void open(const std::string& path, const OpenOptions& options);
  // Opens the checkpoint that the shown run file was made from, and what is shown with it; of a corpus, with the chosen
  // sequence as its prompt. Without a path it is looked
  // for among what is open, recent files, and what the run's own command line names; the file panel asks where none has
  // its hash. A path of another checkpoint is refused.
  Result<void> open_checkpoint(const std::string& path);
  // Opens what a saved session names; `relinked` takes the place of the shown file's path where it is not empty.
  Result<void> open_session(const std::string& path, const std::string& relinked);
  [[nodiscard]] Trainings& trainings() { return trainings_; }
  [[nodiscard]] Corpora& corpora() { return corpora_; }
  void remove_training(int id);
  void close_shown();
  void show_file(const std::string& path);  // in the desktop's file manager
  void refresh_start_page();                // files and demos that it shows
  void set_prompt(PromptEntry prompt);
  [[nodiscard]] PromptEntry default_prompt(const ModelEntry& model) const;
  void update(double now_s);  // once a frame: what changed on the disk is told

 private:
  void model_opened(int id, const OpenOptions& options, Result<ModelEntry> result);
  void run_file_opened(const std::string& path, const OpenOptions& options,
                       Result<std::shared_ptr<const RunSnapshot>> result);
  void ablation_opened(const std::string& path, const OpenOptions& options, Result<OpenedAblation> result);
  void corpus_opened(const std::string& path, const OpenOptions& options, Result<OpenedCorpusRun> result);
  void add_recent_file(const RunEntry& run);  // it is of a file
  void show_file_run(RunEntry run, const OpenOptions& options);
  void open_training(const std::string& path);  // with a card where there is none
  // `sequence`, `ids`: of a corpus; none: those of the run.
  void checkpoint_found(int run_id, const std::string& path, const std::string& config,
                        std::optional<std::int64_t> sequence, const std::vector<std::int32_t>& ids);
  void take_up(const SavedSession& session, const ModelEntry& model);
  void take_up_what_ifs(const SavedSession& session, int base_id);
  void take_up_sweeps(const SavedSession& session, int run_id);
  void take_up_beside(const SavedSession& session, int base_id, int shown_id);

  Keeping& keeping_;
  Runner& runner_;
  Trainings trainings_;
  Corpora corpora_;
  double next_file_check_s_ = 0.0;
};

}  // namespace headroom
