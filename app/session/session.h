// The program behind the window: its state, the table of commands, and the one way to change it, command lines. It
// needs no window: tests and scripts run it alone. What it does is done by its parts. Main thread only; computing and
// files are on threads of their own, whose results arrive through update().
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/documents.h"
#include "app/session/figure_desk.h"
#include "app/session/history.h"
#include "app/session/inbox.h"
#include "app/session/keeping.h"
#include "app/session/runner.h"
#include "app/session/saver.h"
#include "app/session/session_parts.h"
#include "app/session/state.h"

namespace headroom {

class Session {
 public:
  using Options = SessionOptions;
  using OpenOptions = Documents::OpenOptions;
  explicit Session(Options options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] State& edit() { return state_; }  // for commands
  [[nodiscard]] const CommandTable& commands() const { return commands_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] TileStore& tiles() { return tiles_; }
  [[nodiscard]] Inbox& inbox() { return inbox_; }
  [[nodiscard]] History& history() { return history_; }
  [[nodiscard]] Keeping& keeping() { return keeping_; }
  [[nodiscard]] Runner& runner() { return runner_; }
  [[nodiscard]] Documents& documents() { return documents_; }
  [[nodiscard]] Saver& saver() { return saver_; }
  [[nodiscard]] FigureDesk& figures() { return figures_; }

  // One command line. What the line asks for may still be going on when this returns: see busy().
  Result<void> execute(std::string_view line);
  // A line that a person asked for; an error becomes a message in the log.
  void run_line(std::string_view line);
  // Takes in what arrived; once a frame. True if anything changed.
  bool update(double now_s);
  // Opening, running, exporting: `wait` waits for this, and for tiles.
  [[nodiscard]] bool busy() const { return inbox_.busy(); }
  // Runs `work` on the I/O thread, then `then` here with what it returned; counts as busy until that.
  template <typename Work, typename Then>
  void in_background(Work work, Then then) {
    inbox_.ask(*io_, std::move(work), std::move(then));
  }
  // Waits until what is being saved is on the disk; at the end.
  void finish_files();

  // For commands, most of which do this.
  void remember_view(std::string_view kind) { history_.remember(kind); }
  void request(WindowRequest request) { inbox_.request(std::move(request)); }
  void save_settings() { keeping_.save_settings(); }

 private:
  [[nodiscard]] SessionParts parts() { return {options_, state_, inbox_, history_, *io_, hdf5_, by_person_}; }

  const Options options_;
  State state_;
  const CommandTable commands_;
  bool by_person_ = false;
  Mutex hdf5_;
  Inbox inbox_;
  History history_;
  std::unique_ptr<Worker> io_;
  Keeping keeping_;
  TileStore tiles_;
  Runner runner_;
  Documents documents_;
  FigureDesk figures_;
  Saver saver_;
};

}  // namespace headroom
