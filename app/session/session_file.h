// A saved session: which checkpoints and run files were open, the prompt, and what was looked at, as one JSON file. A
// checkpoint is told by its path, and by its files' sizes whether it is still the one it was. Main or I/O thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/session/importance.h"
#include "app/session/state.h"
#include "core/run/loss_table.h"

namespace headroom {

struct SavedSession {
  struct File {
    std::string path;
    std::uint64_t size_bytes = 0;  // of all its tensors' files; 0: a run file
    std::string config{};          // that took the place of the checkpoint's own; empty: none
  };
  std::vector<File> files;  // in the order they were opened; empty: histories of trainings alone
  std::size_t shown = 0;    // position in `files`
  PromptEntry prompt;       // of the shown checkpoint
  bool ran = false;         // it had been run
  // Of that run, and of no run after it: its whole residual stream was kept, what was measured beside the usual. What a
  // file does not say was not.
  bool keep_residual = false;
  ExtraMeasures extra;
  std::vector<std::string> what_ifs;  // of the run that is shown, with their scopes; empty: as trained
  // A run of the same checkpoint beside it.
  struct Beside {
    std::vector<std::string> what_ifs;  // all of them
    bool quick = false;                 // of the selected head alone
  };
  std::optional<Beside> beside;
  // Loss changes of the run that is shown, by way: without the changes of single tokens.
  struct Sweep {
    AblationWay way = AblationWay::Off;
    LossTable table;
  };
  std::vector<Sweep> sweeps;
  std::vector<std::string> trainings;  // paths of the histories
  ViewState view;                      // runs are not kept by their ids: run and other_run are −1
};

// What is open now. InvalidArgument with nothing open.
[[nodiscard]] Result<SavedSession> current_session(const State& state);
[[nodiscard]] std::string session_text(const SavedSession& session);  // what save_session() writes
[[nodiscard]] Result<void> save_session(const std::filesystem::path& path, const SavedSession& session);
// Corrupt for a file that is none, Unsupported for one of a newer version; values out of range are left at their
// defaults.
[[nodiscard]] Result<SavedSession> load_session(const std::filesystem::path& path);

}  // namespace headroom
