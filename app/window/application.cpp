#include "app/window/application.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/chrome/save_overlay.h"
#include "app/panels/chrome/window_core.h"
#include "app/panels/chrome/window_layout.h"
#include "app/process/crash_report.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "app/process/user_folders.h"
#include "app/process/version.h"
#include "app/session/file_manager.h"
#include "app/session/kept_session.h"
#include "app/session/random_hands.h"
#include "app/session/script.h"
#include "app/session/synthetic_input.h"
#include "app/text/font_library.h"
#include "app/window/desktop_dialog.h"
#include "app/window/developer_panel.h"
#include "app/window/frame_loop.h"
#include "app/window/trace.h"
#include "core/base/data_folder.h"
#include "core/base/format.h"

namespace headroom {
namespace {

constexpr double kIdleSeconds = 1.0;     // between looks at files that may have changed
constexpr int kSettlingFrames = 3;       // hover shows in the frame after
constexpr double kPictureSeconds = 5.0;  // that a picture waits for its cells at most

double now_seconds() { return Trace::now_us() * 1e-6; }

double process_age_seconds() {
  // Start of the process in clock ticks after boot: field 22 of /proc/self/stat; after the name in parentheses.
  std::FILE* file = std::fopen("/proc/self/stat", "r");
  if (!file) return 0.0;
  char text[1024] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  const char* at = size ? std::strrchr(text, ')') : nullptr;
  std::istringstream fields(at ? at + 1 : "");
  std::string skipped;
  unsigned long long start = 0;
  for (int i = 3; i < 22; ++i) fields >> skipped;
  if (!(fields >> start)) return 0.0;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         static_cast<double>(start) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::filesystem::path assets_folder() {
  const std::filesystem::path found = find_data_folder("assets", "prompts");
  return found.empty() ? "assets" : found;
}

Result<void> parse_size(const std::string& text, WindowOptions& options) {
  if (text.empty()) return {};
  int width = 0, height = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, width);
  const bool read = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
  const auto second = read ? std::from_chars(first.ptr + 1, end, height) : first;
  if (!read || second.ec != std::errc() || second.ptr != end || width < 200 || height < 100 || width > 16384 ||
      height > 16384) {
    Error error(ErrorCode::InvalidArgument, "--size is not a size");
    return error.wanted("WIDTHxHEIGHT in pixels, such as 1440x900", text);
  }
  options.width = width;
  options.height = height;
  return {};
}

// A fact holds any text, a line of output one line: \n, \r and \\ stand for what cannot be in it.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\')
      line += "\\\\";
    else if (c == '\n')
      line += "\\n";
    else if (c == '\r')
      line += "\\r";
    else
      line += c;
  }
  return line;
}

class SystemClipboard final : public Clipboard {
 public:
  explicit SystemClipboard(GlfwWindow& window) : window_(window) {}
  std::string get() override { return window_.clipboard_text(); }
  void set(const std::string& text) override { window_.set_clipboard_text(text); }

 private:
  GlfwWindow& window_;
};

// `random COUNT [SEED]` of a script: hands that play until their events are used up.
struct RandomPlay {
  RandomPlay(const WindowRequest& request, const CommandTable& commands)
      : hands(static_cast<unsigned>(request.numbers.size() > 1 ? request.numbers[1] : 1.0), commands),
        left(request.numbers[0]) {}

  // In place of the real hands.
  void play(Input& real) {
    forget_frame(input);
    input.window = real.window;
    input.time += 0.016;
    left -= hands.events(input);
    real = input;
  }
  void choose(std::vector<std::string>& lines, const State& state) {
    lines.push_back(hands.line(state));
    std::erase_if(lines, [](const std::string& line) { return !RandomHands::may_run(line); });
    if (std::string line = hands.upkeep(state); !line.empty()) lines.push_back(std::move(line));
  }

  RandomHands hands;
  Input input;
  double left;
};

class Application {
 public:
  Application(const WindowArguments& arguments, FrameLoop& loop, Session& session, const JobLog& jobs,
              std::optional<Script> script)
      : arguments_(arguments),
        loop_(loop),
        session_(session),
        script_(std::move(script)),
        clipboard_(loop.window()),
        core_(session, clipboard_),
        developer_(loop, session, jobs) {}

  int run() {
    session_.documents().refresh_start_page();
    // A frame is on the screen before LibTorch takes the processor.
    session_.update(now_seconds());
    frame();
    session_.edit().ready_seconds = process_age_seconds();
    first_frame_s_ = session_.state().ready_seconds;
    session_.runner().compute().load();
    const bool first_time = session_.state().recent.empty();
    for (const std::string& path : arguments_.paths)
      session_.run_line("open.run " + quote_word(path) +
                        (arguments_.model_config.empty() ? "" : " " + quote_word(arguments_.model_config)));
    open_demo_ = arguments_.paths.empty() && !script_ && first_time;
    dirty_ = kSettlingFrames;
    while (!quit_) step();
    session_.keeping().set_window_size(last_size_);
    session_.save_settings();
    session_.keeping().leave();
    session_.finish_files();
    if (arguments_.print_facts)
      for (const auto& [name, value] : core_.facts().all())
        std::printf("%s = %s\n", name.c_str(), one_line(value).c_str());
    if (arguments_.print_times) print_times("all");
    return exit_code_;
  }

 private:
  void step() {
    const bool working = dirty_ > 0 || picture_ || hands_pending() || !requests_.empty() ||
                         (script_ && !script_->finished() && !holding_);
    const double due = std::min({ui_wait_s_, kIdleSeconds, script_ ? 0.02 : kIdleSeconds});
    const bool event = loop_.wait(working ? 0.0 : due);
    const bool changed = session_.update(now_seconds());
    if (event || changed) dirty_ = kSettlingFrames;
    if (ui_wait_s_ <= 0.0 || now_seconds() >= ui_due_s_) dirty_ = std::max(dirty_, 1);
    if (loop_.window().close_requested()) session_.run_line("quit");
    if (signal_received()) {
      exit_code_ = signal_exit_code();
      quit_ = true;
    }
    open_demo();
    // A script means what its pointer shows: no frame of the window stands between its picture and that.
    const bool of_script = picture_ && !picture_->by_person;
    if (!of_script && (dirty_ > 0 || hands_pending())) {
      frame();
      --dirty_;
      preview();
    }
    if (picture_) take_picture();
    if (!picture_) handle_requests();
    step_script();
  }

  // The first time somebody starts the program there is something to look at.
  void open_demo() {
    if (!open_demo_ || session_.state().demos.empty()) return;
    open_demo_ = false;
    session_.run_line("open.run " + quote_word(session_.state().demos.front().path));
  }

  // `hidden_times`: of the window's pixels, in a frame that is not shown; 0: it is.
  void frame(int hidden_times = 0) {
    const double begin_s = now_seconds();
    const Theme& theme = core_.theme();
    GlfwWindow& window = loop_.window();
    const float wanted = scale_wanted();
    if (wanted != window.ui_scale()) window.set_ui_scale(wanted);
    loop_.painter().set_theme(theme);
    Input input = loop_.begin_frame(theme.bg, std::max(1, hidden_times));
    if (script_) synthetic_.apply(input);
    if (random_) random_->play(input);
    shown_window_ = input.window;
    if (session_.state().developer) developer_.draw(input);
    // As the window is made: before the scale that the settings add.
    if (!window.maximised() && !window.fullscreen())
      last_size_ = {input.window.width() * window.ui_scale(), input.window.height() * window.ui_scale()};
    WindowCore::Choose choose;
    if (random_) choose = [this](std::vector<std::string>& lines) { random_->choose(lines, session_.state()); };
    const FrameResult result = core_.frame(loop_.painter(), input, choose);
    if (result.again) dirty_ = std::max(dirty_, 2);
    ui_wait_s_ = result.wait_seconds;
    ui_due_s_ = now_seconds() + ui_wait_s_;
    window.set_cursor(result.cursor);
    if (script_ || arguments_.print_facts) describe_session();
    if (hidden_times > 0) return;
    loop_.end_frame();
    const double end_s = now_seconds();
    if (random_) loop_.compare_shown();
    frame_ms_.push_back(1e3 * (end_s - begin_s));
    // What a click or a key did is on the screen with this frame.
    if (input.pressed[kLeftButton] || input.released[kLeftButton] || !input.keys.empty() || input.wheel.y != 0.0f)
      reaction_ms_.push_back(1e3 * (end_s - begin_s));
    ++frames_since_line_;
    if (!result.lines.empty()) dirty_ = kSettlingFrames;
    take_requests();
  }

  void take_requests() {
    for (WindowRequest& request : session_.inbox().take_requests())
      if (request.kind == WindowRequest::Kind::RandomHands)
        random_.emplace(request, session_.commands());
      else if (!synthetic_.add(request))
        requests_.push_back(std::move(request));
  }

  [[nodiscard]] bool hands_pending() const { return synthetic_.pending() || random_; }

  // What a script asks of the session rather than of what is drawn.
  void describe_session() {
    const State& state = session_.state();
    Facts& facts = core_.facts();
    facts.set("opening", session_.inbox().opening() ? 1.0 : 0.0);
    facts.set("message", state.messages.empty() ? "" : state.messages.back().text);
    facts.set("messages", static_cast<double>(state.messages.size()));
    facts.set("error",
              state.errors.empty() ? "" : state.errors.back().title + ": " + describe(state.errors.back().error));
    facts.set("recent", static_cast<double>(state.recent.size()));
    facts.set("device", state.device.text);
    facts.set("device.cuda", state.device.info ? state.device.info->cuda_note : "");
    facts.set("clipboard", copied_);
    facts.set("frames.differ", loop_.frames_differ());
    facts.set("developer.vertices", static_cast<double>(loop_.painter().work().widget_vertices));
    const RunEntry* run = state.shown();
    const ModelEntry* model = run ? state.find_model(run->model) : nullptr;
    facts.set("checkpoint.changed", model && model->changed_on_disk ? 1.0 : 0.0);
  }

  float scale_wanted() const {
    const double kept = session_.state().settings.scale;
    return static_cast<float>(kept > 0.0 ? kept : 1.0);
  }

  void handle_requests() {
    take_requests();
    if (random_ && random_->left <= 0.0) random_.reset();
    while (!requests_.empty()) {
      const WindowRequest request = std::move(requests_.front());
      requests_.erase(requests_.begin());
      switch (request.kind) {
        case WindowRequest::Kind::Quit: quit_ = true; break;
        case WindowRequest::Kind::CopyText:
          copied_ = request.text;
          loop_.window().set_clipboard_text(request.text);
          break;
        case WindowRequest::Kind::Screenshot: picture_ = request, picture_until_s_ = 0.0; return;
        case WindowRequest::Kind::NativeDialog: ask_desktop(); break;
        case WindowRequest::Kind::Times: print_times(request.text); break;
        default: break;
      }
    }
  }

  // Frames that nobody sees, until the cells that more pixels show are there; the window goes on meanwhile.
  void take_picture() {
    const int size = static_cast<int>(session_.state().settings.picture.size);
    const auto complete = [&] { return size == 1 || session_.tiles().statistics().waiting == 0; };
    if (picture_until_s_ == 0.0) picture_until_s_ = now_seconds() + kPictureSeconds;
    // Before and after: what comes while it is drawn is not in it.
    bool ready = complete();
    if (picture_->by_person) {
      std::vector<WantedTiles> wanted = draw_hidden(size);
      if (size > 1) core_.want_for_picture(std::move(wanted));
    } else {
      session_.edit().taking_picture = true;
      frame(size);
      session_.edit().taking_picture = false;
    }
    ready = ready && complete();
    if (!ready && now_seconds() < picture_until_s_) return;
    screenshot(*picture_, static_cast<float>(size));
    picture_.reset();
    core_.want_for_picture({});
    dirty_ = kSettlingFrames;
  }

  // As draw_for_picture(), of `times` the window's pixels, for capture().
  std::vector<WantedTiles> draw_hidden(int times) {
    State& state = session_.edit();
    state.taking_picture = true;
    const Theme theme = core_.theme();
    state.taking_picture = false;
    loop_.painter().set_theme(theme);
    loop_.begin_hidden_frame(theme.bg, times);
    return core_.draw_for_picture(loop_.painter(), shown_window_);
  }

  // What the save panel is about to save, as often as it would be another picture.
  void preview() {
    State& state = session_.edit();
    const bool asked = state.overlay == Overlay::Save && state.save.kind == SaveKind::Picture;
    const PictureTheme look = state.settings.picture.theme;
    const auto key = std::tuple(state.save.serial, state.save.panel, look, state.settings.dark, shown_window_.width(),
                                shown_window_.height(), asked);
    if (key == previewed_) return;
    previewed_ = key;
    if (!asked) return state.save_preview.reset();
    (void)draw_hidden(1);
    const float scale = loop_.window().scale();
    if (auto image = loop_.capture()) {
      if (!state.save.panel.empty()) *image = cropped(*image, panel_rect(state.save.panel), scale);
      const auto most = [&](float size) { return static_cast<std::int32_t>(std::lround(size * scale)); };
      state.save_preview = shrunk(image->rgb, image->width, image->height, most(kPreviewWidth), most(kPreviewHeight));
      state.save_preview->id = preview_id_;
      state.save_preview->generation = ++preview_generation_;
    }
    dirty_ = std::max(dirty_, 2);
  }

  void ask_desktop() {
    session_.in_background([] { return ask_desktop_for_file(); },
                           [this](const std::optional<std::string>& chosen) {
                             if (chosen) session_.run_line("open.run " + quote_word(*chosen));
                           });
  }

  Rect panel_rect(const std::string& panel) const {
    const WindowLayout layout = window_layout(shown_window_, session_.state());
    for (const PanelSlot* slot : layout.slots())
      if (panel == slot->name) return slot->rect;
    return layout.centre.rect;
  }

  // In logical pixels; the whole picture where the rectangle is empty: the panel is not shown.
  static PixelImage cropped(const PixelImage& image, Rect rect, float scale) {
    if (rect.empty()) return image;
    const int x0 = std::clamp(static_cast<int>(std::lround(rect.x0 * scale)), 0, image.width),
              x1 = std::clamp(static_cast<int>(std::lround(rect.x1 * scale)), x0, image.width);
    const int y0 = std::clamp(static_cast<int>(std::lround(rect.y0 * scale)), 0, image.height),
              y1 = std::clamp(static_cast<int>(std::lround(rect.y1 * scale)), y0, image.height);
    PixelImage part{x1 - x0, y1 - y0, {}};
    for (int y = y0; y < y1; ++y) {
      const auto row = image.rgb.begin() + 3 * (static_cast<std::ptrdiff_t>(y) * image.width + x0);
      part.rgb.insert(part.rgb.end(), row, row + std::ptrdiff_t{3} * part.width);
    }
    return part;
  }

  void screenshot(const WindowRequest& request, float times) {
    const std::string &path = request.text, &panel = request.panel;
    auto image = loop_.capture();
    if (image && !panel.empty()) *image = cropped(*image, panel_rect(panel), loop_.window().scale() * times);
    Result<void> written;
    if (image) {
      std::error_code ignored;
      if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
        std::filesystem::create_directories(folder, ignored);
      written = write_png(path, *image);
    } else {
      written = image.error();
    }
    if (written)
      session_.saver().saved(SaveKind::Picture, path, request.by_person);
    else if (script_)
      fail(script_->blamed(written.error()));
    else
      session_.saver().not_saved(SaveKind::Picture, path, request.by_person, written.error());
  }

  void step_script() {
    if (!script_ || quit_) return;
    const bool asked = hands_pending() || picture_ || !requests_.empty();
    if (script_->finished()) {
      quit_ = !asked;  // what its last line asked for is done first
      return;
    }
    Script::Surroundings around;
    around.busy = session_.busy() || session_.tiles().statistics().waiting > 0 || session_.state().device.loading ||
                  core_.overlay_waits();
    around.opening = session_.inbox().opening();
    around.drawn = frames_since_line_ >= 2 && dirty_ <= 0;
    around.request_pending = asked;
    around.now_s = now_seconds();
    const double step_s = now_seconds();
    const Result<bool> stepped = script_->step(session_, core_.facts(), around);
    if (!stepped) {
      fail(stepped.error());
      return;
    }
    holding_ = !script_->ran_line();
    if (script_->ran_line()) {
      if (script_->waited()) wait_ms_.push_back(1e3 * (step_s - line_s_));
      line_s_ = step_s;
      frames_since_line_ = 0;
      dirty_ = kSettlingFrames;
    }
  }

  void fail(const Error& error) {
    const int code = report_error(error, /*json=*/false);
    exit_code_ = code == 2 ? 1 : code;
    quit_ = true;
  }

  // A line of JSON about the frames since the last one.
  void print_times(const std::string& label) {
    const auto quantiles = [](std::vector<double> values) {
      nlohmann::ordered_json out = {{"count", values.size()}};
      std::ranges::sort(values);
      for (const auto& [name, q] : {std::pair{"p50", .5}, {"p95", .95}, {"p99", .99}, {"max", 1.0}})
        if (!values.empty()) out[name] = values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
      return out;
    };
    const nlohmann::ordered_json out = {{"label", label},
                                        {"seconds", now_seconds() - times_since_s_},
                                        {"first_frame_s", first_frame_s_},
                                        {"frame_ms", quantiles(frame_ms_)},
                                        {"reaction_ms", quantiles(reaction_ms_)},
                                        {"wait_ms", quantiles(wait_ms_)},
                                        {"cancel_ms", 1e3 * session_.runner().compute().cancel_seconds()},
                                        {"gl_errors", loop_.gl_error_count()},
                                        {"resident_bytes", session_.state().memory_bytes},
                                        {"gl", loop_.window().gl_description()}};
    std::printf("%s\n", out.dump().c_str());
    std::fflush(stdout);
    frame_ms_.clear();
    reaction_ms_.clear();
    wait_ms_.clear();
    times_since_s_ = now_seconds();
  }

  const WindowArguments& arguments_;
  FrameLoop& loop_;
  Session& session_;
  std::optional<Script> script_;
  SystemClipboard clipboard_;
  WindowCore core_;
  DeveloperPanel developer_;
  SyntheticInput synthetic_;
  std::optional<RandomPlay> random_;
  std::vector<WindowRequest> requests_;
  std::string copied_;  // by a command, last
  int dirty_ = kSettlingFrames;
  int frames_since_line_ = 0;
  bool holding_ = false, open_demo_ = false, quit_ = false;
  std::optional<WindowRequest> picture_;  // being taken
  double picture_until_s_ = 0.0;
  std::tuple<int, std::string, PictureTheme, bool, float, float, bool> previewed_{};
  const std::uint64_t preview_id_ = next_image_id();
  std::uint64_t preview_generation_ = 0;
  double ui_wait_s_ = 0.0, ui_due_s_ = 0.0, first_frame_s_ = 0.0;
  int exit_code_ = 0;
  Vec2 last_size_;
  Rect shown_window_;
  std::vector<double> frame_ms_, reaction_ms_, wait_ms_;  // since the last `times`
  double times_since_s_ = now_seconds(), line_s_ = now_seconds();
};

Result<int> open_window(const WindowArguments& arguments) {
  HEADROOM_TRY(std::unique_ptr<Trace> trace, Trace::from_environment());
  FrameLoopOptions options;
  HEADROOM_TRY_VOID(parse_size(arguments.size, options.window));
  const bool scripted = !arguments.script.empty();
  options.window.resizable = !scripted;
  options.window.ignore_content_scale = !arguments.size.empty() || arguments.scale > 0.0;
  options.window.vertical_sync = !scripted;
  options.trace = trace.get();
  std::vector<std::string> early;  // reports before there is a session
  std::function<void(const std::string&)> report = [&](const std::string& text) { early.push_back(text); };
  options.report = [&](const std::string& text) { report(text); };
  HEADROOM_TRY(std::unique_ptr<FontLibrary> fonts, FontLibrary::create());

  // The session goes first: its threads wake the window.
  std::unique_ptr<FrameLoop> loop;
  std::function<void()> wake;
  Session::Options given;
  given.assets = assets_folder();
  given.config = !arguments.config.empty() ? std::filesystem::path(arguments.config)
                 : scripted                ? std::filesystem::path()
                                           : config_folder();
  if (!scripted) given.kept = state_folder();
  if (!given.kept.empty()) {
    given.own_name = own_name();
    given.note = note_for_crash_report;
    install_crash_report(
        crash_report_path(given.kept, given.own_name),
        std::string("headroom ") + kVersion + " (" + kGitCommit + ")\n" + arguments.command_line + "\n");
  }
  given.wake = [&wake] {
    if (wake) wake();
  };
  given.program = std::string("headroom ") + kVersion;
  given.git_commit = kGitCommit;
  given.command_line = arguments.command_line;
  JobLog jobs;
  given.trace = [&trace, &jobs](const char* name, double begin_s, double end_s) {
    jobs.add(name, begin_s, end_s);
    trace->event(name, 1e6 * begin_s, 1e6 * (end_s - begin_s));
  };
  given.desktop_dialog = !scripted && desktop_dialog_available();
  given.no_file_manager = file_manager_missing(desktop_of_environment());
  Session session(given);
  const Vec2 kept = session.keeping().window_size();
  if (arguments.size.empty() && kept.x >= 400.0f && kept.y >= 300.0f) {
    options.window.width = static_cast<int>(kept.x);
    options.window.height = static_cast<int>(kept.y);
  }
  HEADROOM_TRY(loop, FrameLoop::create(options, *fonts));
  wake = loop->window().waker();
  report = [&](const std::string& text) { session.inbox().message(MessageLevel::Warning, text); };
  for (const std::string& text : early) report(text);
  if (!arguments.theme.empty()) HEADROOM_TRY_VOID(session.execute("theme " + arguments.theme));
  if (arguments.scale > 0.0) HEADROOM_TRY_VOID(session.execute("scale " + std::to_string(arguments.scale)));
  std::optional<Script> script;
  if (scripted) {
    HEADROOM_TRY(script, Script::read(arguments.script, session.commands()));
  }
  const GracefulStop graceful;
  Application application(arguments, *loop, session, jobs, std::move(script));
  const int code = application.run();
  report = [](const std::string&) {};
  return code;
}

}  // namespace

int run_window(const WindowArguments& arguments) {
  const Result<int> result = open_window(arguments);
  return result ? *result : report_error(result.error(), /*json=*/false);
}

std::string command_table_text(bool markdown) {
  const CommandTable table = make_command_table();
  std::string text = markdown ? "| command | what it does | key |\n|---|---|---|\n" : "";
  for (const Command& command : table.commands()) {
    std::string keys;
    for (const CommandEntry& entry : table.entries())
      if (!entry.key.empty() && (entry.line == command.name || entry.line.starts_with(command.name + " ")))
        keys += (keys.empty() ? "" : ", ") + entry.key +
                (entry.line == command.name ? "" : " (" + entry.line.substr(command.name.size() + 1) + ")");
    const std::string call = command.name + (command.arguments.text().empty() ? "" : " " + command.arguments.text());
    std::string cell = call;
    if (markdown)
      for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2))
        cell.replace(at, 1, "\\|");
    text += markdown ? "| `" + cell + "` | " + command.title + " | " + keys + " |\n"
                     : format("%-52s %-58s %s\n", call.c_str(), command.title.c_str(), keys.c_str());
  }
  return text;
}

}  // namespace headroom
