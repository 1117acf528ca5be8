// The program behind the window: what is open, what runs, and the one way to change it, command lines. It needs no
// window: tests and scripts run it alone. Main thread only; computing and files are on two threads of its own, whose
// results arrive through update().
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/kept_session.h"
#include "app/session/main_queue.h"
#include "app/session/session_file.h"
#include "app/session/settings_file.h"
#include "app/session/state.h"
#include "app/session/worker.h"
#include "core/base/mutex.h"
#include "core/run/read_ablation.h"

namespace headroom {

inline constexpr std::uint64_t kLargestPrompt = std::uint64_t{64} << 20;  // bytes of a text file

// A command that needs the window: done by the application after the next frame.
struct WindowRequest {
  enum class Kind {
    Quit,
    Screenshot,
    CopyText,
    Pointer,
    Click,
    Drag,
    Wheel,
    KeyPress,
    TypeText,
    RandomHands,
    NativeDialog,
    Times
  } kind = Kind::Quit;
  std::string text;               // a path, a text, a key
  std::vector<double> numbers{};  // coordinates
  std::string panel{};            // of a screenshot: only this one; empty: the window
  bool by_person = false;         // not by a script
};

// Where a span of work is written down: HEADROOM_TRACE. From any thread.
using TraceSpan = std::function<void(const char* name, double begin_s, double end_s)>;

class Session {
 public:
  struct Options {
    std::filesystem::path assets;  // with demo/ and prompts/
    std::filesystem::path config;  // folder of settings and recent files; empty: nothing is kept
    std::filesystem::path kept;    // folder of the session that is open; empty: it is not kept
    std::string own_name;          // of this program in it: session/kept_session.h
    double keep_seconds = 5.0;     // between two looks at what has changed
    std::function<void()> wake;    // from other threads: something arrived
    std::string program, git_commit, command_line;
    bool desktop_dialog = false;  // the desktop has a file dialog of its own
    std::string no_file_manager = "the program was started without a desktop";  // see State
    TraceSpan trace;
    std::function<void(std::string_view line)> note;  // each line that a person asks for, before it runs
  };
  explicit Session(Options options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] State& edit() { return state_; }  // for commands
  [[nodiscard]] const CommandTable& commands() const { return commands_; }
  [[nodiscard]] TileStore& tiles() { return *tiles_; }
  [[nodiscard]] const Options& options() const { return options_; }

  // One command line. What the line asks for may still be going on when this returns: see busy().
  Result<void> execute(std::string_view line);
  // A line that a person asked for; an error becomes a message in the log.
  void run_line(std::string_view line);
  // Takes in what arrived; once a frame. True if anything changed.
  bool update(double now_s);
  // Opening, running, exporting: `wait` waits for this, and for tiles.
  [[nodiscard]] bool busy() const;
  [[nodiscard]] bool opening() const { return opening_ > 0; }  // a checkpoint or a run file
  [[nodiscard]] std::vector<WindowRequest> take_window_requests();
  void request(WindowRequest request) { window_requests_.push_back(std::move(request)); }

  // LibTorch, on the compute thread; after the first frame.
  void load_compute_library();
  // Files and demos that the start page shows; on the I/O thread.
  void refresh_start_page();
  // Runs `work` on the I/O thread, then `then` here; counts as busy until that.
  void in_background(std::function<void()> work, std::function<void()> then);

  // --- for commands ---
  struct OpenOptions {
    bool run = false;  // with the model's default prompt, where that is quick
    std::optional<HeadRef> head{};
    std::optional<std::int64_t> query{}, key{};
    std::string config{};                           // in place of the checkpoint's own config.json
    std::shared_ptr<const SavedSession> session{};  // to be taken up once the checkpoint is open
  };
  void open(const std::string& path, const OpenOptions& options);
  // Opens the checkpoint that the shown run file was made from, and what is shown with it. Without a path it is looked
  // for among what is open, recent files, and what the run's own command line names; the file panel asks where none has
  // its hash. A path of another checkpoint is refused.
  Result<void> open_checkpoint(const std::string& path);
  void show_file(const std::string& path);  // in the desktop's file manager
  void close_shown();
  // Histories of trainings, beside those that are open: of a training.h5, a folder that holds one or step checkpoints,
  // or a folder of such folders. NotFound where there is none; what cannot be read gets a card.
  Result<void> open_training(const std::string& path);
  void remove_training(int id);
  void show_training_view();
  TrainingEntry* edit_training(int id);
  // Opens what a saved session names; `relinked` takes the place of the shown file's path where it is not empty.
  Result<void> open_session(const std::string& path, const std::string& relinked);
  void set_prompt(PromptEntry prompt);
  [[nodiscard]] PromptEntry default_prompt(const ModelEntry& model) const;
  Result<void> start_run(bool keep_maps = true);
  Result<void> start_what_if(bool complete);  // the changes of the view, beside the run that is shown
  Result<void> recompute_layer(std::int64_t layer);
  Result<void> start_circuits();  // of circuit_model(): what is not measured yet
  bool stop_circuits();           // false: none are measured
  // The loss of the shown run without each of its heads, or without each of these; what is done already stays.
  Result<void> start_importance(AblationWay way, const std::vector<HeadRef>& only);
  bool stop_importance();  // false: none goes on
  // The way that is shown, as `headroom ablate` writes it; on the I/O thread.
  Result<void> export_importance(const std::string& path, bool replace);
  // A run in which all of these heads are changed so together.
  Result<void> change_set(const std::string& change, const std::vector<HeadRef>& heads);
  // Writes what is shown, or the wish fails at once or with a card: a run on the compute thread, a picture after the
  // next frame. What a person asks for by a line replaces nothing that is there unless `replace`: the save panel asks.
  Result<void> save(SaveKind kind, const std::string& panel, const std::string& path, bool replace);
  void ask_save(SaveKind kind, std::string panel, std::string path = {});  // opens the save panel
  // `by_person`: with a toast, and the panel again where it failed; else a message, and a card.
  void saved(SaveKind kind, const std::string& path, bool by_person, const std::string& detail = {});
  void not_saved(SaveKind kind, const std::string& path, bool by_person, const Error& error);
  [[nodiscard]] double cancel_seconds() const { return cancel_seconds_; }  // from asking to stopping, the last time
  bool cancel_run();                                                       // false: nothing ran
  void show_run(int id);                                                   // as A, with a selection that fits
  void set_head(std::optional<HeadRef> head);
  void message(MessageLevel level, std::string text);
  void card(std::string title, const Error& error, std::string retry);
  // Called by commands that change what is looked at, before they do: the place undo returns to. Changes of the same
  // kind within half a second are one.
  void remember_view(std::string_view kind);
  void undo();
  void redo();
  void save_settings();
  // Of the window when it was closed last, in units of the desktop; 0: the default.
  [[nodiscard]] Vec2 kept_window_size() const { return window_size_; }
  void keep_window_size(Vec2 size) { window_size_ = size; }
  // Waits until what is being saved is on the disk; at the end.
  void finish_files();
  // The program quits: what is open is kept as the last session.
  void leave();

 private:
  using LayerInputsPtr = std::shared_ptr<LayerInputs>;
  struct SweepJob;

  Result<void> write_run(const std::string& path, bool replace);
  int add_run(RunEntry entry);
  RunEntry* edit_run(int id);
  ModelEntry* edit_model(int id);
  // `inputs_share`: the part of what is kept that inputs of layers may take; 0 where the request says where they go.
  void launch(int run_id, LiveRunRequest request, std::optional<PromptEntry> prompt,
              std::shared_ptr<const Tokenizer> tokenizer, double inputs_share);
  // A run of the base's prompt with more what-ifs, each with its scope: from the first layer that they change on, or
  // (not complete) this head of its layer alone. Returns its id.
  Result<int> start_changed(const RunEntry& base, const std::vector<std::string>& what_ifs, bool complete,
                            HeadRef head);
  void run_finished(int run_id, const Result<std::shared_ptr<const RunSnapshot>>& result, double seconds,
                    RunStatus before);
  Worker& weights_worker();
  Result<void> measure_circuits_of(int id, const OpenedModel& opened, const std::vector<std::int64_t>& layers,
                                   const std::atomic<bool>& stop);
  void take_circuits(int model_id, const std::shared_ptr<const LayerCircuits>& layer, bool whole);
  void keep_circuits_beside(RunEntry& run) const;  // what is measured already, after its data came
  void refresh_token_effect();
  void stop_weights();
  [[nodiscard]] Result<AblationRequest> ablation_request(const RunEntry& run, AblationWay way) const;
  void post_sweep(const std::shared_ptr<SweepJob>& job);
  void take_changes(RunEntry& run, AblationWay way, std::shared_ptr<const LossTable> table);
  void sweep_finished(const std::shared_ptr<SweepJob>& job, Result<AblationOutcome> result, double seconds);
  void yield_sweeps();             // to what is posted next
  void forget_sweeps(int run_id);  // of a run that goes away
  void publish_run(int run_id, std::shared_ptr<const RunSnapshot> data);
  void show_coming();          // in place of what it follows, if that is still shown
  void forget_coming(int id);  // it has come to nothing
  void model_opened(int id, const OpenOptions& options, Result<ModelEntry> result);
  void run_file_opened(const std::string& path, const OpenOptions& options,
                       Result<std::shared_ptr<const RunSnapshot>> result);
  void ablation_opened(const std::string& path, const OpenOptions& options, Result<OpenedAblation> result);
  void show_file_run(RunEntry run, const OpenOptions& options);
  void add_recent(const RecentFile& file);
  void add_recent_session(const std::string& path, const SavedSession& session);
  [[nodiscard]] std::string stays_open() const;
  [[nodiscard]] BudgetQuestion budget_question(int run_id, double inputs_share) const;
  void run_out_of_memory(RunEntry& run, const Error& error, RunStatus before);
  void refresh_estimate();
  [[nodiscard]] Result<LiveRunRequest> base_request(const ModelEntry& model) const;
  void select_default_head();
  void checkpoint_found(int run_id, const std::string& path, const std::string& config);
  void take_up(const SavedSession& session, const ModelEntry& model);
  void take_up_what_ifs(const SavedSession& session, int base_id);
  void take_up_sweeps(const SavedSession& session, int run_id);
  void take_up_beside(const SavedSession& session, int base_id, int shown_id);
  void check_files(double now_s);
  void read_training(int id, bool again);
  void training_read(int id, bool again, Result<StoredHistory> read, std::shared_ptr<const SmoothedHistory> smooth);
  void read_training_head(TrainingEntry& entry, HeadAddress head);
  void smooth_training(TrainingEntry& entry);
  void tend_trainings(double now_s);
  void play_training(double now_s);
  void make_next_film_frame(std::int64_t layer);
  void begin_keeping();
  void keep_session(double now_s);
  void offer_lost(const std::vector<LostSession>& lost);

  const Options options_;
  State state_;
  CommandTable commands_;
  std::vector<WindowRequest> window_requests_;
  std::vector<ViewState> undo_, redo_;
  int follows_ = -1;          // the run that the coming one takes the place of
  bool person_asks_ = false;  // the line that is executed was a person's
  std::string last_view_kind_;
  double last_view_s_ = -1.0, now_s_ = 0.0;
  int next_id_ = 1;
  int pending_ = 0;  // jobs whose result has not arrived
  double cancel_asked_s_ = -1.0, cancel_seconds_ = 0.0;
  int opening_ = 0;                 // those of pending_ that open something
  bool chosen_by_program_ = false;  // the head, when the first layer arrived
  double next_file_check_s_ = 0.0, next_keep_s_ = 0.0;
  double next_training_look_s_ = 0.0, next_play_s_ = 0.0;
  std::string training_opening_;  // the path whose histories are being read
  bool film_running_ = false;     // a checkpoint of the film strip
  std::shared_ptr<std::atomic<bool>> film_stop_;
  std::atomic<bool> keeping_ = false;      // the session is being written; set here, reset by the I/O thread
  std::shared_ptr<SessionKeeper> keeper_;  // I/O thread only; null: nothing is kept
  int estimate_serial_ = 0;
  std::string estimated_;  // what the estimate is of
  Vec2 window_size_;
  std::map<int, LayerInputsPtr> inputs_;  // by run
  std::map<int, std::shared_ptr<const Prompt>> prompts_;
  std::map<int, std::shared_ptr<std::atomic<bool>>> stops_;                  // by run, while it waits or runs
  std::map<int, std::function<void()>> when_done_;                           // by run: what goes on once it is complete
  std::map<std::pair<int, AblationWay>, std::shared_ptr<SweepJob>> sweeps_;  // by run
  Mutex hdf5_;                                                               // held by the job that uses HDF5
  ComputeBackend* backend_ = nullptr;                                        // compute thread only
  std::unique_ptr<TileStore> tiles_;
  std::unique_ptr<MainQueue> main_;
  std::shared_ptr<std::atomic<bool>> circuits_stop_, effect_stop_;
  std::string effect_asked_;                        // model, head and token of the last one
  std::unique_ptr<Worker> io_, compute_, weights_;  // last: their jobs use the others
};

// The next or the previous step of which a checkpoint of the film strip is kept; nothing beyond the last one.
[[nodiscard]] std::optional<std::int64_t> next_kept_step(const State& state, std::int64_t step, bool forward);

}  // namespace headroom
