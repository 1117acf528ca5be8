// Everything the window shows, as plain data. Only commands change it (session/session.h); panels read it. Main thread
// only; what lies behind shared_ptr<const …> is immutable.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/plot/color_map.h"
#include "app/plot/geometry.h"
#include "app/plot/picture.h"
#include "app/session/corpus_entry.h"
#include "app/session/corpus_wish.h"
#include "app/session/figure_wish.h"
#include "app/session/importance.h"
#include "app/session/model_circuits.h"
#include "app/session/run_budget.h"
#include "core/maps/map_tiles.h"
#include "core/model/head_address.h"
#include "core/model/layer_facts.h"
#include "core/run/live_run.h"
#include "core/run/run_snapshot.h"
#include "core/training/stored_history.h"

namespace headroom {

// The one selection; every panel shows it.
struct Selection {
  std::optional<HeadRef> head;
  std::optional<std::int64_t> query, key;  // pinned
  friend bool operator==(const Selection&, const Selection&) = default;
};

// Transient; written by the panel under the pointer, shown by all in the next frame.
struct Hover {
  std::optional<HeadRef> head;
  std::optional<std::int64_t> query, key;
  std::optional<std::int64_t> step;      // of the plots of a training
  std::optional<std::int64_t> sequence;  // of a corpus, by its number in the plan
  friend bool operator==(const Hover&, const Hover&) = default;
};

enum class MapKind : std::uint8_t { Net, First, Second, ScaledSecond, Logits };  // net is "weights" for a single map
enum class HeadsView : std::uint8_t { Atlas, Scatter, Table, Maps };
enum class CentreView : std::uint8_t { Map, WhatIf, Compare, Circuit, Importance, Training, Tokens, Residual };
enum class ResidualCells : std::uint8_t { Channel, Rms, Largest };  // what tokens × boundaries are coloured by
enum class CompareMode : std::uint8_t { SideBySide, Swipe, Flip, Difference };
enum class RunStatus : std::uint8_t { Waiting, Running, Done, Cancelled, Failed };

// Fractions of cells may be visible: [query0, query1) × [key0, key1).
struct MapWindow {
  double query0 = 0, query1 = 0, key0 = 0, key1 = 0;  // all 0: the whole map
  [[nodiscard]] bool whole() const { return query1 <= query0; }
  friend bool operator==(const MapWindow&, const MapWindow&) = default;
};

struct MapView {
  MapKind kind = MapKind::Net;
  std::optional<ScaleKind> scale;  // none: log10 for weights, symlog for signed maps
  Pooling pooling = Pooling::MaxMagnitude;
  std::optional<std::pair<double, double>> range;  // none: automatic
  bool exclude_sink = false;                       // key 0 (and a pinned key) out of the colour range
  MapWindow window;
  bool swipe = false;     // differential heads: first | second beside the net map
  double divider = 0.46;  // of the swipe, as a fraction of the width
  friend bool operator==(const MapView&, const MapView&) = default;
};

struct HeadsState {
  HeadsView view = HeadsView::Atlas;
  std::string quantity = "sink_score";  // of the root group; core/run/quantity_info.h has the list
  bool range_per_layer = false;
  double threshold = 0.3;
  bool by_value = false;  // atlas: heads of a layer sorted by value
  std::string x = "sink_score", y = "context_rms_relative_mean", colour = "layer";
  bool log_x = false, log_y = true;
  std::vector<HeadRef> lasso;
  std::vector<std::string> columns;  // of the table; empty: the usual ones
  std::string sort = "sink_score";
  bool descending = true;
  std::string filter;
  std::string lasso_name;            // what the person calls the heads of the lasso; empty: nothing
  bool beside = false;               // maps, scatter or table with the map and the head panel at their right
  bool maps_by_value = false;        // maps: heads of all layers by the number that they show, largest first
  double maps_size = 0.0;            // of a thumbnail, pixels; 0: what fits
  std::string maps_number;           // in the masked corners; empty: the atlas's quantity; "none": none
  MapKind maps_show = MapKind::Net;  // not the scaled second
  std::optional<HeadRef> maps_card;  // the head whose card stays
  friend bool operator==(const HeadsState&, const HeadsState&) = default;
};

struct HeadPanelState {
  std::string rms = "relative";     // "relative" (ρ), "raw" (context RMS), "weights" (‖w‖₂)
  std::vector<std::string> folded;  // names of sections that are closed
  bool across_model = false;        // ribbons by layer in place of the head's plots
  friend bool operator==(const HeadPanelState&, const HeadPanelState&) = default;
};

// Whose attention the large text shows of the token under the pointer: the selected head's, or a mean over heads.
enum class TokenAttention : std::uint8_t { Head, Layer, Mean };

struct TokensState {
  bool experts = false;             // rows of experts in place of the text
  std::string tint = "received";    // received, attention, lambda, rms, norm_gain, loss, rank, entropy, none
  std::string large_tint = "loss";  // of the large text
  TokenAttention attention = TokenAttention::Head;
  bool arcs = true;                       // of the large text, to the keys with a weight of at least
  double least_arc = 0.02;                // this
  std::int64_t top = 5;                   // likeliest next tokens that are listed
  std::optional<std::int64_t> scroll_to;  // a token to bring into view
  friend bool operator==(const TokensState&, const TokensState&) = default;
};

struct WhatIfState {
  std::string scope = "head";        // head, layer, model
  std::vector<std::string> changes;  // "lambda=0.5", "sink=off": without scope
  friend bool operator==(const WhatIfState&, const WhatIfState&) = default;
};

// Columns of the list of heads that differ; Δ is B less A.
enum class ComparedSort : std::uint8_t { Distance, SinkA, SinkB, Sink, Rho, Entropy };

struct CompareState {
  CompareMode mode = CompareMode::SideBySide;
  bool flipped = false;  // B is shown where A was
  double divider = 0.5;
  std::string quantity = "row_distance";  // of the atlas; see core/run/quantity_info.h
  std::optional<ComparedSort> sort{};     // by magnitude; none: by what is known
  bool descending = true;
  friend bool operator==(const CompareState&, const CompareState&) = default;
};

struct CircuitState {
  std::string quantity = "copying_score";  // of the atlas
  std::int64_t token = -1;                 // that the head reads; −1: a token of the prompt
  friend bool operator==(const CircuitState&, const CircuitState&) = default;
};

struct ImportanceState {
  AblationWay colour = AblationWay::Off;  // of the atlas, the scatter plot's height, the list
  std::string against = "sink_score";     // the scatter plot's width
  friend bool operator==(const ImportanceState&, const ImportanceState&) = default;
};

// Of the histories of trainings.
struct TrainingView {
  std::optional<std::int64_t> step;                // of the cursor; none: the last one
  std::optional<std::pair<double, double>> range;  // of steps that are shown; none: all
  bool log_steps = false;
  std::int64_t smooth = 41;     // steps that a point of loss and gradient norm stands for; 1: each
  bool seed_range = false;      // histories of a kind as their range, in place of each
  std::optional<HeadRef> head;  // none: the head with the largest sink score at the end of the first history
  bool all_heads = false;       // median and range over all heads in place of one
  friend bool operator==(const TrainingView&, const TrainingView&) = default;
};

struct ResidualState {
  ResidualCells cells = ResidualCells::Channel;
  std::optional<std::int64_t> channel, boundary;  // none: those of the largest activation
  std::int64_t token = 0;                         // beside the median of the others
  double least = 300.0;                           // times the median: what is listed below the massive activations
  friend bool operator==(const ResidualState&, const ResidualState&) = default;
};

// What undo and redo go through.
struct ViewState {
  int run = -1;        // id of the run shown (A)
  int other_run = -1;  // id of the run beside it (B); −1: none
  CentreView centre = CentreView::Map;
  Selection selection;
  MapView map;
  HeadsState heads;
  HeadPanelState head;
  TokensState tokens;
  WhatIfState what_if;
  CompareState compare;
  CircuitState circuit;
  ImportanceState importance;
  TrainingView training;
  ResidualState residual;
  CorpusState corpus;
  friend bool operator==(const ViewState&, const ViewState&) = default;
};
// What the atlas is coloured by: while two runs are compared, and beside the importance of heads, it has a quantity of
// its own.
[[nodiscard]] std::string atlas_quantity(const ViewState& view);
// What the thumbnails of all heads show as a number, and what they are ordered by where it is none.
[[nodiscard]] const std::string& maps_quantity(const ViewState& view);
// Heads as maps, scatter or table with the map and the head panel at their right.
[[nodiscard]] inline bool shown_beside(const ViewState& view) {
  return view.heads.beside && view.centre == CentreView::Map && view.heads.view != HeadsView::Atlas;
}

struct ModelEntry {
  int id = 0;
  std::string path;                            // as it was opened
  std::string config;                          // that took the place of its own config.json; empty: none
  std::string name;                            // "SmolLM2-135M-Instruct.Q4_1": session/run_names.h
  std::shared_ptr<const OpenedModel> model;    // null while opening, or where it failed
  std::shared_ptr<const Tokenizer> tokenizer;  // null where there is none
  std::string tokenizer_note;                  // why there is none
  std::string example_prompt_ids;              // of the checkpoint's own example; empty: none
  bool opening = false;
  bool changed_on_disk = false;
  std::uint64_t size_bytes = 0;
  std::vector<LayerFacts> layers;  // of its blocks, known before anything runs
  std::string not_run;             // parts of other tasks in the file
  ModelCircuits circuits;
};

struct PromptEntry {
  std::string title;  // "GPL-3, 512 tokens" without the count
  std::string text;   // the text, or empty where ids are given
  std::vector<std::int32_t> ids;
  std::int64_t max_tokens = 0;  // 0: all
  BosMode bos = BosMode::Auto;  // of a text
  // Of an encoder-decoder: what the decoder shall predict, or the ids that it reads. Neither: it shall predict the
  // text.
  std::string target;
  std::vector<std::int32_t> target_ids;
};

struct RunEntry {
  int id = 0;
  int model = -1;                     // id of a ModelEntry; −1: from a run file
  std::string name;                   // "bytes/diff_v2 · sink off in L17.H4": session/run_names.h
  std::string path;                   // of a run file
  std::vector<std::string> what_ifs;  // with scopes
  bool quick = false;                 // one head only, not the layers after it
  int base = -1;                      // the run a what-if changes
  RunStatus status = RunStatus::Waiting;
  double fraction = 0.0;
  std::string doing;  // "layer 12 of 30"
  std::optional<double> seconds_left;
  double seconds = 0.0;
  std::optional<Error> error;
  std::shared_ptr<const RunBudget> budget;  // what it was to take; null before that is known
  bool refused = false;                     // it was not started: the budget says why
  bool keep_residual = false;               // it keeps its whole residual stream
  ExtraMeasures extra;                      // what it measures
  std::vector<RunOffer> offers;             // where memory ran out: what can be done
  std::shared_ptr<const RunSnapshot> data;  // grows while it runs; null before the first layer
  std::string device, dtype, backend;
  std::string prompt_title;
  int prompt_serial = 0;  // as State::prompt_serial was when it began; a what-if has its base's
  LossSweeps sweeps;      // by way; their numbers are among those of `data`
  CorpusEntry corpus;     // of a file of a corpus: `data` is a statistic over its sequences
};

// The maps of one layer's heads at a kept checkpoint, on one prompt: a picture of the film strip.
struct FilmFrame {
  KeptCheckpoint checkpoint;
  bool running = false;
  std::string failed;                      // why there is none; empty: nothing failed
  std::shared_ptr<const RunSnapshot> run;  // of the checkpoint; null: not run yet
  std::int64_t layer = -1;                 // that the maps are of; −1: none yet
  std::int32_t side = 0;                   // cells of a map
  std::int64_t cell_tokens = 1;            // tokens along a side of a cell: the largest weight of them is shown
  bool is_signed = false;                  // net maps of differential heads
  std::uint64_t generation = 0;            // another one for other maps
  std::vector<std::shared_ptr<const std::vector<float>>> maps;  // by head of the layer, [side, side]; NaN: masked
  [[nodiscard]] bool shows(std::int64_t wanted) const { return run && layer == wanted; }
};

// Loss and gradient norm as they are drawn: means of `width` steps, and the largest of each `width`.
struct SmoothedHistory {
  std::int64_t width = 1;
  StepSeries loss, gradient_norm;
};

struct TrainingEntry {
  int id = 0;
  std::string path;                           // as it was opened
  std::string name;                           // "softmax 1"
  std::shared_ptr<const StoredHistory> data;  // null while it is read
  std::shared_ptr<const SmoothedHistory> smoothed;
  bool smoothing = false;  // another width is being worked out
  bool hidden = false;
  bool chosen = false;  // of its kind, for the film strip; drawn thick
  bool reading = false;
  std::vector<FilmFrame> film;  // by the history's checkpoints
};

struct ErrorCard {
  int id = 0;
  std::string title;  // "Cannot open diff-v2-1b-step-40000"
  Error error;
  std::string retry;               // a command line; empty: none
  std::string stays_open;          // "SmolLM2-135M stays open; nothing was lost."
  std::vector<RunOffer> offers{};  // in place of trying again
  bool of_program = false;         // of no file or argument: the error's code says nothing
};

enum class MessageLevel : std::uint8_t { Info, Warning, Error };
struct Message {
  MessageLevel level = MessageLevel::Info;
  std::string text;
  std::string when;  // local time "09:41:07"
};

enum class Overlay : std::uint8_t {
  None,
  Palette,
  Keys,
  Settings,
  About,
  Log,
  Files,
  Prompt,
  Save,
  PromptFile,
  Figure,
  Corpus,
  CorpusFile
};

// What can be saved: session/saving.h.
enum class SaveKind : std::uint8_t { Run, Picture, Table, Session, Importance, Figure };

// What the save panel was opened for.
struct SaveWish {
  SaveKind kind = SaveKind::Picture;
  std::string panel;   // of a picture, by its name in Layout; empty: the window
  std::string path;    // that was asked for; empty: the folder used last and a suggested name
  std::string failed;  // why it could not be written the last time
  int serial = 0;      // of the asking
};

// What was saved, to be shown for a while.
struct Toast {
  int id = 0;
  std::string title;         // "Picture saved", or what was to be done
  std::string path;          // of what was saved
  std::string failure = {};  // why it was not done
  bool refused = false;      // since it cannot be done now: nothing failed
};

struct RecentFile {
  std::string path;
  std::string name, detail;  // "30 layers × 9 heads, softmax"
  std::int64_t opened_unix = 0;
  std::uint64_t size_bytes = 0;
  bool missing = false;  // looked at when the start page is shown
};

struct DemoEntry {
  std::string path;                 // of the checkpoint folder that opens first
  std::string title, line, detail;  // title, one line what it shows, "7 variants, 16 tokens"
  std::string variants;             // folder with the others
};

enum class PictureTheme : std::uint8_t { AsShown, Light, Dark };

// How pictures of the window are saved, whatever is on the screen.
struct PictureLook {
  std::int64_t size = 1;  // times the pixels of the screen, up to kLargestPicture
  PictureTheme theme = PictureTheme::AsShown;
  friend bool operator==(const PictureLook&, const PictureLook&) = default;
};
inline constexpr std::int64_t kLargestPicture = 3;

struct Settings {
  bool dark = true;
  PictureLook picture;
  Colours colours = Colours::Headroom;  // of maps
  SignedColours signed_colours = SignedColours::Headroom;
  double scale = 0.0;  // 0: the monitor's
  std::string device = "cpu", dtype = "float32", backend = "auto";
  double memory_gb = 0.0;  // 0: half of what is free
  double tile_mb = 64.0;
  std::map<std::string, std::string> keys;  // command line → key, where it differs from the default
  friend bool operator==(const Settings&, const Settings&) = default;
};

// Widths and folds of the panels, in logical pixels.
struct Layout {
  float heads_width = 0, head_width = 0, tokens_height = 0;  // 0: the design's
  bool heads_folded = false, head_folded = false, tokens_folded = false;
  std::string maximised;  // "heads", "map", "head", "tokens" or empty
  std::string focus;      // the panel that Tab reached, likewise; empty: none. Not kept between starts
  friend bool operator==(const Layout&, const Layout&) = default;
};

struct DeviceState {
  std::string text = "CPU";  // of the status bar
  bool loading = true;       // LibTorch
  std::string failed;        // why LibTorch could not be loaded
  std::optional<BackendInfo> info;
};

struct State {
  ViewState view;
  Hover hover;                            // of the last frame
  std::vector<std::string> panels_shown;  // likewise, by their names in Layout, in reading order
  std::vector<ModelEntry> models;
  int model = -1;  // id of the one that runs next
  PromptEntry prompt;
  int prompt_serial = 0;                      // one more with each prompt that is set
  std::vector<PromptEntry> recent_prompts;    // that a person set, the latest first
  std::vector<PromptEntry> built_in_prompts;  // texts that the program brings along
  bool keep_residual = false;                 // the next run keeps its whole residual stream
  ExtraMeasures extra;                        // what the next run measures
  std::shared_ptr<const RunBudget>
      estimate;  // of a run of the prompt as things are set; null while it is made, or where none can be
  std::vector<RunEntry> runs;
  int coming = -1;  // id of the run that takes the place of the shown one once the selected head is there; −1: none
  std::vector<TrainingEntry> trainings;  // histories, in the order they were opened
  bool training_plays = false;           // the cursor goes on by itself, from checkpoint to checkpoint
  std::string film_prompt;  // what the film strip's checkpoints read: "the checkpoint's example, 64 tokens"
  std::vector<ErrorCard> errors;
  std::vector<Message> messages;
  int unseen_warnings = 0, unseen_errors = 0;  // messages that came since they were last looked at
  std::vector<RecentFile> recent;
  std::vector<DemoEntry> demos;
  std::string last_session;  // of the program that quit last, as a path; empty: none is kept
  Settings settings;
  Layout layout;
  DeviceState device;
  std::string no_file_manager = "no desktop is known";  // why a file cannot be shown in one; empty: it can
  Overlay overlay = Overlay::None;
  std::string overlay_text;       // what is typed in the palette, the folder of the file panel
  std::string checkpoint_wanted;  // of which run the file panel asks for the checkpoint; empty: it opens anything
  SaveWish save;
  std::optional<RgbPicture> save_preview;  // what a picture would show, small; made by what shows the window
  std::map<std::string, std::string, std::less<>> save_folders;  // the last one, by the kind's word
  FigureWish figure;
  std::optional<Toast> toast;
  bool taking_picture = false;  // in this frame: what speaks to the person stays away, and settings.picture holds
  bool can_undo = false, can_redo = false;
  double memory_bytes = 0.0;   // resident, for the status bar
  bool developer = false;      // the developer panel is shown
  double ready_seconds = 0.0;  // process start to usable start page
  CorpusWish corpus_wish;      // a corpus to be run

  // By their ids; null: there is none.
  [[nodiscard]] const RunEntry* run(int id) const;
  [[nodiscard]] const ModelEntry* find_model(int id) const;
  [[nodiscard]] const TrainingEntry* training(int id) const;
  // The same, for the parts of the session.
  [[nodiscard]] RunEntry* edit_run(int id);
  [[nodiscard]] ModelEntry* edit_model(int id);
  [[nodiscard]] TrainingEntry* edit_training(int id);
  [[nodiscard]] const RunEntry* shown() const { return run(view.run); }
  [[nodiscard]] const RunEntry* other() const { return run(view.other_run); }
  // "layer 3", or what the shown run's model calls it.
  [[nodiscard]] std::string layer_name(std::int64_t layer) const;
  // Of the shown run where it is one; null elsewhere.
  [[nodiscard]] const CorpusEntry* corpus() const;
  // Of the shown run; null where there is none (yet).
  [[nodiscard]] const RunSnapshot* data() const;
  [[nodiscard]] const LayerSnapshot* selected_layer() const;
  // The checkpoint whose circuits are looked at: of the shown run, or the one that runs next; null: none is open.
  [[nodiscard]] const ModelEntry* circuit_model() const;
  // The token that a head of it reads: the chosen one, the pinned key's, or the first of the prompt that is a word.
  [[nodiscard]] std::optional<std::int64_t> circuit_token() const;
  // What the panels of heads show: the shown run, or, beside circuits, the heads of a model that has not run.
  [[nodiscard]] std::shared_ptr<const RunSnapshot> heads_shown() const;
  [[nodiscard]] const ModelEntry* opening_model() const;  // the latest that is being opened; null: none
  [[nodiscard]] bool nothing_open() const { return models.empty() && runs.empty() && trainings.empty(); }
  // The head that the training view shows: the one that was chosen, else that with the largest sink score at the end of
  // the first history that says, or of its last checkpoint.
  [[nodiscard]] HeadRef training_head() const;
  // The cursor's step: the last one of all histories that are shown, where none was chosen.
  [[nodiscard]] std::int64_t training_step() const;
  [[nodiscard]] std::int64_t last_training_step() const;
};

}  // namespace headroom
