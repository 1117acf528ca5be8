#include "app/session/figure_desk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/figure_runs.h"
#include "app/paper/figure_page.h"
#include "app/plot/painter.h"
#include "app/session/compute_thread.h"
#include "app/session/enum_words.h"
#include "app/session/figure_screen.h"
#include "app/session/saving.h"
#include "app/text/font_library.h"
#include "core/base/shell_word.h"
#include "core/checkpoint/sha256.h"
#include "core/io/atomic_file.h"
#include "core/io/hdf5_error.h"
#include "core/io/run_file_writer.h"

namespace headroom {
namespace {

constexpr std::int64_t kMostExactTokens = 4096, kPooledBlocks = 512, kGridBlocks = 64;
constexpr const char* kAllMaps = "maps";  // in place of a head: the run's file with maps of all
constexpr const char* kSweep = "sweep ";  // in place of a head, before a way: what the loss is without each head
constexpr double kUsualPixelsPerPoint = 2.0, kMostPixelsPerPoint = 8.0;

// A folder of its own for this program's temporary runs.
Result<std::filesystem::path> make_folder() {
  std::error_code failed;
  const std::filesystem::path place = std::filesystem::temp_directory_path(failed);
  std::string name = ((failed ? std::filesystem::path("/tmp") : place) / "headroom-figures-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    return Error(ErrorCode::Io, "no folder for temporary files can be made in " + place.string());
  return std::filesystem::path(name);
}

// "no head has λ" of "lambda: no head of a.h5 has λ": the kind stands beside it, and the run is the one that is shown.
std::string without_names(std::string message, std::string_view kind, const std::string& run) {
  const std::string beginning = std::string(kind) + ": ", of_run = " of " + run;
  if (message.starts_with(beginning)) message.erase(0, beginning.size());
  if (const std::size_t at = message.find(of_run); at != std::string::npos && !run.empty())
    message.erase(at, of_run.size());
  return message;
}

// "needs headroom ablate": for a line of the list.
std::string needs_its_file(const FigureKind& kind) { return "needs headroom " + std::string(kind.written_by); }

// What can be done about it: files of ablations can be opened here.
std::string where_its_file_is(const FigureKind& kind) {
  const std::string file = "needs a file of headroom " + std::string(kind.written_by);
  return kind.schema == kAblationSchemaName
             ? file + ": open one, or ablate every head here (Run menu)"
             : file + ", which the window does not open: headroom figure FILE " + kind.name + " draws it";
}

// What the loss of the run is without each head was computed in the window, in the way that is chosen.
bool swept_here(const State& state) {
  const RunEntry* shown = state.shown();
  return shown != nullptr && shown->model >= 0 && sweep_of(shown->sweeps, state.view.importance.colour).has_value();
}

// A figure's file would hold the whole run: what is there of it is no figure yet.
std::string unfinished_text(const RunEntry& run) {
  const std::string done = std::to_string(run.data->finished_layers()) + " of " +
                           std::to_string(run.data->layers.size()) + " layers are there";
  if (run.status == RunStatus::Running)
    return "the run is not finished: " + done + "; the page is drawn as soon as all are";
  return "the run is not finished: " + done + "; run it again (Ctrl+R) for all of them";
}

std::string words_text(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

std::string run_file_name(const State& state, const std::string& head) {
  if (head.starts_with(kSweep)) return suggested_name(state, SaveKind::Importance, "");
  const std::filesystem::path name(suggested_name(state, SaveKind::Run, ""));
  return head.empty() ? name.string() : name.stem().string() + "_" + head + name.extension().string();
}

// Where a run comes to lie beside its figure; empty: it lies there already. Io where another file has its name.
Result<std::filesystem::path> place_for_run(const std::filesystem::path& run, const std::filesystem::path& folder) {
  const std::filesystem::path place = folder / run.filename();
  std::error_code ignored;
  if (!std::filesystem::exists(place, ignored)) return place;
  HEADROOM_TRY(const std::string there, sha256_of_file(place));
  HEADROOM_TRY(const std::string wanted, sha256_of_file(run));
  if (there == wanted) return std::filesystem::path();
  Error error(ErrorCode::Io, "another file has the name of the run that would lie beside the figure");
  error.in_file(place.string());
  return error.advise("save the run under another name first, or the figure without its run");
}

}  // namespace

// Files of runs, of trainings, of the other side; `lacking`: the run that has none yet.
struct FigureDesk::Files {
  std::vector<std::filesystem::path> runs, against;
  const RunEntry* lacking = nullptr;
  std::string head;  // whose maps the lacking file is to hold; empty: all of the run, without maps
  std::string problem;
};

struct FigureDesk::Temporary {
  std::filesystem::path path;
  std::shared_ptr<const RunSnapshot> data;  // that it was written for
  bool there = false;
  std::string failed;  // why it could not be written
};

// All that a page follows from.
struct FigureDesk::Order {
  std::string kind;
  FigureLook look;
  Files files;
  std::shared_ptr<const RunSnapshot> live;   // in place of a file that is not there yet
  std::shared_ptr<const RunSnapshot> whole;  // the run that has no file of its own; null: it has
  std::string live_name;
  double room_width = 0.0, room_height = 0.0;
  bool latex = false;
  std::string command;  // as files name it
  std::string program, git_commit;
  bool data = false, caption = false, run = false;  // written beside it

  [[nodiscard]] std::string key() const {
    std::string text = kind + "\n" + command + "\n" + live_name + "\n" + std::to_string(room_width) + " " +
                       std::to_string(room_height) + (latex ? " latex" : "") + "\n" +
                       std::to_string(reinterpret_cast<std::uintptr_t>(live.get()));
    for (const std::filesystem::path& file : files.runs) text += "\n" + file.string();
    for (const std::filesystem::path& file : files.against) text += "\n" + file.string();
    return text;
  }
};

// What the desk's thread keeps: fonts and run files that were read. On that thread alone.
class FigureDesk::Drawing {
 public:
  struct Made {
    FigurePage page;
    const FontLibrary& fonts;
  };

  Result<Made> make(const Order& order, Mutex& hdf5) {
    if (fonts_ == nullptr) {
      HEADROOM_TRY(fonts_, FontLibrary::create());
    }
    fonts_->trim();  // what the last picture's axes said is kept for this one, not for the whole session
    std::vector<FigureRun> runs, against;
    const auto read = [&]() -> Result<Figure> {
      const MutexLock lock(hdf5);
      prepare_hdf5();
      HEADROOM_TRY(runs, read_all(order.files.runs));
      HEADROOM_TRY(against, read_all(order.files.against));
      if (order.live) runs.push_back({std::filesystem::path(order.live_name), order.live});
      return figure_of(order.kind, runs, against, order.look.options, order.look.letters);
    };
    HEADROOM_TRY(Figure figure, read());
    runs.insert(runs.end(), against.begin(), against.end());
    std::erase_if(runs_, [&](const auto& kept) {
      const auto& files = order.files;
      return std::ranges::find(files.runs, kept.first) == files.runs.end() &&
             std::ranges::find(files.against, kept.first) == files.against.end();
    });
    HEADROOM_TRY(FigurePage page, lay_out_page(std::move(figure), std::move(runs), order.kind,
                                               page_style(order.look.options.theme), *fonts_));
    return Made{std::move(page), *fonts_};
  }

  // Which kinds the order's run has, and why not the others.
  std::vector<FigureKindLine> kinds(const Order& order, Mutex& hdf5) {
    const MutexLock lock(hdf5);
    prepare_hdf5();
    std::vector<FigureKindLine> lines;
    FigureRun run{order.live_name.empty() && !order.files.runs.empty() ? order.files.runs.front()
                                                                       : std::filesystem::path(order.live_name),
                  order.whole};
    if (order.whole == nullptr && !order.files.runs.empty()) {
      const auto read = read_all({&order.files.runs.front(), 1});
      if (!read) return lines;
      run = read->front();
    }
    for (const FigureKind& kind : figure_kinds()) {
      FigureChoice choice;
      choice.kind = kind.name;
      FigureKindLine line{kind.name, kind.brief, kind.summary, ""};
      if (kind.of_trainings || std::string_view(kind.name) == "compare") {
        lines.push_back(std::move(line));  // of other files: the desk says what is open
        continue;
      }
      if (order.whole != nullptr && kind.reads_file && kind.schema.empty()) {
        lines.push_back(std::move(line));  // its file comes when it is asked for
        continue;
      }
      if (!kind.schema.empty() && !takes_file(kind, run))
        line.missing = needs_its_file(kind);
      else if (run.run == nullptr)
        line.missing = "needs a run";
      else if (const Result<void> can = check_figure(kind, run, choice); !can)
        line.missing = without_names(can.error().message, kind.name, run.name());
      lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  struct Kept {
    std::filesystem::file_time_type written;
    FigureRun run;
  };

  Result<std::vector<FigureRun>> read_all(std::span<const std::filesystem::path> files) {
    std::vector<FigureRun> runs;
    for (const std::filesystem::path& file : files) {
      std::error_code ignored;
      const std::filesystem::file_time_type written = std::filesystem::last_write_time(file, ignored);
      const auto kept = runs_.find(file);
      if (kept == runs_.end() || kept->second.written != written) {
        HEADROOM_TRY(FigureRun run, read_figure_run(file));
        runs_.insert_or_assign(file, Kept{written, std::move(run)});
      }
      runs.push_back(runs_.at(file).run);
    }
    return runs;
  }

  std::unique_ptr<FontLibrary> fonts_;
  std::map<std::filesystem::path, Kept> runs_;
};

FigureDesk::FigureDesk(const SessionParts& parts, Runner& runner)
    : SessionParts(parts),
      runner_(runner),
      picture_id_(next_image_id()),
      drawing_(std::make_shared<Drawing>()),
      worker_(std::make_unique<Worker>(WorkerOptions{.at_start = [] { become_background_thread("figures", 1); }})) {}

FigureDesk::~FigureDesk() {
  stop();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void FigureDesk::stop() { worker_.reset(); }

FigureDesk::Files FigureDesk::files_of(const std::string& kind, const FigureLook& look) const {
  Files files;
  if (kind == "map") {
    const auto& selected = state_.view.selection.head;
    files.head = look.options.heads.substr(0, look.options.heads.find(','));
    if (files.head.empty()) files.head = head_text(selected.value_or(HeadRef{}));
  }
  if (kind == "grid") files.head = kAllMaps;
  const auto temporary_of = [&](const RunEntry& run) -> const Temporary* {
    const auto found = temporary_.find({run.id, files.head});
    return found == temporary_.end() || found->second.data != run.data ? nullptr : &found->second;
  };
  const auto add = [&](const RunEntry* run, std::vector<std::filesystem::path>& to) {
    if (!run || !run->data) {
      files.problem = "no run is shown";
    } else if (run->model < 0) {
      to.emplace_back(run->path);
    } else if (const Temporary* temporary = temporary_of(*run); temporary && temporary->there) {
      to.push_back(temporary->path);
    } else if (run->status != RunStatus::Done) {
      files.problem = unfinished_text(*run);
    } else if (temporary && !temporary->failed.empty()) {
      files.problem = temporary->failed;
    } else {
      files.lacking = run;
    }
  };
  if (kind == "training") {
    for (const TrainingEntry& training : state_.trainings) {
      if (training.hidden) continue;
      const std::filesystem::path path(training.path);
      std::error_code ignored;
      files.runs.push_back(std::filesystem::is_directory(path, ignored) ? path / "training.h5" : path);
    }
    if (files.runs.empty()) files.problem = "needs training.h5: no history is open";
    return files;
  }
  // What no run has, and none is written for.
  const RunEntry* shown = state_.shown();
  if (const auto known = find_figure_kind(kind);
      known && !(*known)->schema.empty() && (shown == nullptr || shown->model >= 0)) {
    // But for the changes that were computed here.
    if (kind == "importance" && swept_here(state_)) {
      files.problem = not_savable(state_, SaveKind::Importance);
      files.head = kSweep + std::string(word_of(state_.view.importance.colour));
    } else {
      files.problem = where_its_file_is(**known);
    }
    if (!files.problem.empty()) return files;
  }
  add(shown, files.runs);
  if (kind != "compare") return files;
  const RunEntry* other = state_.other();
  if (other == nullptr || files.lacking != nullptr || other->model >= 0)
    files.problem = "needs two run files: open both, and compare them";
  else
    add(other, files.against);
  return files;
}

FigureDesk::Order FigureDesk::order_of(const std::string& kind, const FigureLook& look) const {
  Order order;
  order.kind = kind, order.look = look, order.files = files_of(kind, look);
  order.program = options_.program, order.git_commit = options_.git_commit;
  if (order.files.lacking != nullptr) {
    order.live = order.files.lacking->data;
    order.live_name = run_file_name(state_, order.files.head);
  }
  if (const RunEntry* run = state_.shown(); run && run->model >= 0 && kind != "training") order.whole = run->data;
  order.room_width = state_.figure.room_width, order.room_height = state_.figure.room_height;
  order.latex = state_.figure.latex;
  order.data = state_.figure.data, order.caption = state_.figure.caption, order.run = state_.figure.run;
  std::vector<std::string> words{"figure"};
  for (const std::filesystem::path& file : order.files.runs) words.push_back(file.filename().string());
  if (order.live) words.push_back(order.live_name);
  words.push_back(kind);
  FigureOptions options = look.options;
  for (const std::filesystem::path& file : order.files.against) options.against.push_back(file.filename().string());
  for (std::string& word : option_words(options)) words.push_back(std::move(word));
  if (look.letters != "a") words.insert(words.end(), {"--letters", look.letters});
  order.command = words_text(words);
  return order;
}

Result<void> FigureDesk::begin_file(const Files& files) {
  const RunEntry& run = *files.lacking;
  const std::pair key{run.id, files.head};
  if (const auto found = temporary_.find(key); found != temporary_.end() && found->second.data == run.data)
    return {};  // it is being written
  if (folder_.empty()) {
    HEADROOM_TRY(folder_, make_folder());
  }
  // In a folder of its own, so that it is called as it would be saved.
  const std::filesystem::path folder = folder_ / std::to_string(inbox_.next_id());
  std::error_code failed;
  std::filesystem::create_directory(folder, failed);
  const std::filesystem::path path = folder / run_file_name(state_, files.head);
  temporary_[key] = {path, run.data, false, ""};
  const auto told = [this, key](const Result<std::string>& size) {
    Temporary& temporary = temporary_[key];
    temporary.there = size.has_value();
    if (!size) temporary.failed = describe(size.error());
    for (const auto& then : std::exchange(waiting_, {})) then();
  };
  if (files.head.starts_with(kSweep)) {
    const Result<void> begun = runner_.sweeps().save(path.string(), /*replace=*/true, [told](const Result<void>& done) {
      told(done ? Result<std::string>(std::string()) : Result<std::string>(done.error()));
    });
    if (!begun) temporary_[key].failed = describe(begun.error());
    return begun;
  }
  const auto maps_of_head = [&](AnalysisRequest& request) {
    if (files.head == kAllMaps) request.pool_blocks = kGridBlocks;
    const std::optional<HeadRef> head = files.head.empty() ? std::nullopt : parse_head(files.head);
    if (!head) return;
    request.layers = {head->layer}, request.heads = {head->head};
    request.components = true;
    request.exact_maps = run.data->length <= kMostExactTokens;
    if (!request.exact_maps) request.pool_blocks = kPooledBlocks;
  };
  Result<void> begun = runner_.write_run(path.string(), /*replace=*/true, told, maps_of_head);
  if (!begun) temporary_[key].failed = describe(begun.error());
  return begun;
}

// Files of runs that are closed or were run again, and what failed: it may be asked for again.
void FigureDesk::forget() {
  std::erase_if(temporary_, [&](const auto& one) {
    const Temporary& temporary = one.second;
    const RunEntry* run = state_.run(one.first.first);
    if (!temporary.there && temporary.failed.empty()) return false;  // it is being written
    if (temporary.there && run && run->data == temporary.data) return false;
    std::error_code ignored;
    std::filesystem::remove_all(temporary.path.parent_path(), ignored);
    return true;
  });
}

void FigureDesk::forget_other_places() {
  const RunSnapshot* run = state_.data();
  if (run == nullptr || run->prompt == nullptr) return;
  const auto known = std::exchange(places_prompt_, run->prompt);
  const std::string model = std::exchange(places_model_, run->model_name);
  if (known == nullptr) return;
  if (model == run->model_name && (known == run->prompt || known->ids == run->prompt->ids)) return;
  for (auto& [kind, look] : state_.figure.looks)
    for (const ScreenPart& option : chosen_options(look))
      if (names_place(option.name)) (void)set_figure_option(look, kind, option.name, "");
}

void FigureDesk::update() {
  forget_other_places();
  FigureWish& wish = state_.figure;
  if (state_.overlay != Overlay::Figure) {
    if (!pending_ && waiting_.empty()) forget();
    return;
  }
  const Order order = order_of(wish.kind, asked_look(state_, wish.kind));
  const RunEntry* run = state_.shown();
  wish.has_file = !run || run->model < 0 || wish.kind == "training";
  wish.problem = order.files.problem;
  wish.writing.clear();
  wish.command = order.files.problem.empty() ? order.command : "";
  wish.run_file = order.live_name;
  if (!order.files.runs.empty()) wish.run_file = order.files.runs.front().filename().string();
  if (order.files.lacking != nullptr) {
    wish.writing = "the run has no file yet: one is being written for its figures";
    if (const Result<void> begun = begin_file(order.files); !begun) wish.problem = describe(begun.error());
  }
  if (wish.kinds.empty())
    for (const FigureKind& kind : figure_kinds()) wish.kinds.push_back({kind.name, kind.brief, kind.summary, ""});
  if (!wish.problem.empty()) {
    wish.drawn.reset(), wish.drawing = false;
    asked_.clear();
    return;
  }
  const Result<const FigureKind*> kind = find_figure_kind(order.kind);
  if (order.live && kind && (*kind)->reads_file) {
    wish.drawn.reset(), wish.drawing = true;
    return;  // its time comes with the file
  }
  std::string key = order.key();
  if (key == asked_) return;
  asked_ = std::move(key);
  wish.drawing = true;
  const std::uint64_t serial = ++serial_;
  if (!std::exchange(pending_, true)) inbox_.begin();
  worker_->want(
      {{Worker::Key{serial, 0, 0}, [this, order, serial, id = picture_id_, drawing = drawing_](const std::stop_token&) {
          auto page = std::make_shared<FigureDrawn>();
          page->kind = order.kind;
          std::vector<FigureKindLine> kinds;
          Result<void> done = without_exceptions([&]() -> Result<void> {
            kinds = drawing->kinds(order, hdf5_);
            HEADROOM_TRY(const Drawing::Made made, drawing->make(order, hdf5_));
            const Figure& figure = made.page.figure;
            page->width_mm = figure.width_mm, page->height_mm = figure.height_mm;
            page->least_text = static_cast<double>(made.page.least_text);
            page->warnings = made.page.warnings, page->notes = figure.notes;
            page->caption = plain_caption(made.page.caption);
            if (order.latex) {
              FileKeys keys{{"command", order.command}};
              if (!order.live) {
                HEADROOM_TRY(keys, page_keys(made.page.runs, order.command, order.program, order.git_commit));
              }
              page->latex = latex_caption(made.page.caption, keys);
            }
            const double width = figure.width_mm * kPointsPerMillimetre,
                         height = figure.height_mm * kPointsPerMillimetre;
            const double fit = order.room_width > 0.0 && order.room_height > 0.0
                                   ? std::min(order.room_width / width, order.room_height / height)
                                   : kUsualPixelsPerPoint;
            HEADROOM_TRY(page->picture, page_picture(made.page, std::clamp(fit, 0.2, kMostPixelsPerPoint), made.fonts));
            page->picture.id = id, page->picture.generation = serial;
            return {};
          });
          if (!done) page->error = std::move(done.error());
          inbox_.post(
              [this, serial, kinds = std::move(kinds), page]() mutable { drawn(serial, std::move(kinds), page); });
        }}});
}

void FigureDesk::drawn(std::uint64_t serial, std::vector<FigureKindLine> kinds,
                       std::shared_ptr<const FigureDrawn> page) {
  FigureWish& wish = state_.figure;
  if (!kinds.empty()) wish.kinds = std::move(kinds);
  const bool swept = swept_here(state_);
  for (FigureKindLine& line : wish.kinds)
    if (line.name == "training" || line.name == "compare" || (line.name == "importance" && swept))
      line.missing = files_of(line.name, {}).problem;
  if (serial != serial_) return;  // another one is on its way
  pending_ = false, inbox_.end();
  wish.drawing = false;
  wish.drawn = std::move(page);
}

Result<void> FigureDesk::write(const std::string& kind, const FigureLook& look, const std::string& path, bool replace,
                               std::function<void(const Result<void>&)> told) {
  HEADROOM_TRY_VOID(find_figure_kind(kind));
  const Files files = files_of(kind, look);
  if (!files.problem.empty()) return Error(ErrorCode::InvalidArgument, "no figure: " + files.problem);
  if (files.lacking == nullptr) {
    write_now(order_of(kind, look), path, replace, std::move(told));
    return {};
  }
  HEADROOM_TRY_VOID(begin_file(files));
  waiting_.push_back([this, kind, look, path, replace, told = std::move(told)] {
    // Some file arrived, perhaps another one than this figure's: as if it were asked for now.
    if (const Result<void> again = write(kind, look, path, replace, told); !again) told(again.error());
  });
  return {};
}

void FigureDesk::write_now(const Order& order, const std::string& path, bool replace,
                           std::function<void(const Result<void>&)> told) {
  // A run without a file of its own comes along: the figure names it.
  const bool with_run = order.run && order.whole != nullptr;
  using Said = std::vector<std::pair<MessageLevel, std::string>>;
  inbox_.ask(
      *worker_,
      [this, order, path, replace, with_run, drawing = drawing_]() -> Result<Said> {
        return without_exceptions([&]() -> Result<Said> {
          const std::optional<PageFormat> format = page_format(path);
          if (!format)
            return Error(ErrorCode::InvalidArgument, "figure").wanted("a name that ends in .pdf, .svg or .png", path);
          std::filesystem::path run_place;
          if (with_run) {
            HEADROOM_TRY(run_place, place_for_run(order.files.runs.front(), std::filesystem::path(path).parent_path()));
          }
          HEADROOM_TRY(const Drawing::Made made, drawing->make(order, hdf5_));
          HEADROOM_TRY(const FileKeys keys, page_keys(made.page.runs, order.command, order.program, order.git_commit));
          HEADROOM_TRY(const PageBytes bytes, page_bytes(made.page, *format, 0.0, keys, made.fonts));
          const auto beside = [&](const char* ending) { return std::filesystem::path(path).replace_extension(ending); };
          std::vector<std::pair<std::filesystem::path, std::string>> texts{{path, bytes.bytes}};
          if (order.data) texts.emplace_back(beside(".csv"), page_marks_csv(made.page, keys));
          if (order.caption)
            texts.emplace_back(beside(order.latex ? ".tex" : ".txt"), order.latex
                                                                          ? latex_caption(made.page.caption, keys)
                                                                          : plain_caption(made.page.caption) + "\n");
          // All or none of them: what cannot be written is known before anything is.
          std::vector<AtomicFile> files;
          for (const auto& [place, text] : texts) {
            HEADROOM_TRY(AtomicFile file, AtomicFile::create(place, replace, order.files.runs));
            HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(text)), place));
            files.push_back(std::move(file));
          }
          for (AtomicFile& file : files) HEADROOM_TRY_VOID(file.commit());
          Said said;
          for (const std::string& note : made.page.figure.notes) said.emplace_back(MessageLevel::Info, note);
          for (const auto* warnings : {&made.page.warnings, &bytes.warnings})
            for (const std::string& warning : *warnings) said.emplace_back(MessageLevel::Warning, warning);
          if (run_place.empty()) return said;
          std::error_code failed;
          std::filesystem::copy_file(order.files.runs.front(), run_place, failed);
          if (failed)
            return Error(ErrorCode::Io, "the run could not be written beside the figure: " + failed.message())
                .in_file(run_place.string());
          return said;
        });
      },
      [this, path, told = std::move(told)](const Result<Said>& said) {
        if (!said) return told(said.error());
        const std::string name = std::filesystem::path(path).filename().string();
        for (const auto& [level, line] : *said) inbox_.message(level, name + ": " + line);
        told(Result<void>());
      });
}

}  // namespace headroom
