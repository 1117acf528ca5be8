#include "app/panels/chrome/window_core.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "app/panels/chrome/state_facts.h"
#include "app/panels/chrome/window_frame.h"
#include "app/panels/chrome/window_layout.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/ui/file_list.h"

namespace headroom {
namespace {

constexpr int kCompareNice = 10;

// A text becomes the prompt of the model that is open; beside the fields of a corpus it is what shall be run; anything
// else is opened.
std::string line_of_dropped(const std::string& path, const CommandTable& commands, const State& state) {
  if (state.overlay == Overlay::Corpus) return "corpus.data " + quote_word(path);
  const std::string prompt = "prompt-file " + quote_word(path);
  const bool text = kind_of_name(path) == FileKind::Text && !path.ends_with(".json");
  return text && commands.disabled_reason(state, prompt).empty() ? prompt : "open.run " + quote_word(path);
}

}  // namespace

WindowCore::WindowCore(Session& session, Clipboard& clipboard)
    : session_(session),
      clipboard_(clipboard),
      lookup_(session),
      memory_(make_ui_state()),
      compare_cache_(session.options().wake, [] { become_background_thread("compare", kCompareNice); }),
      folders_(session.options().wake),
      tokens_(session.options().wake) {}

FrameResult WindowCore::frame(Painter& painter, const Input& input, const Choose& choose) {
  FrameResult result = draw_settled(painter, input, choose);
  want();
  return result;
}

void WindowCore::want() {
  std::vector<WantedTiles> all = wanted_;
  all.insert(all.end(), wanted_for_picture_.begin(), wanted_for_picture_.end());
  session_.tiles().want(all);
}

void WindowCore::want_for_picture(std::vector<WantedTiles> wanted) {
  wanted_for_picture_ = std::move(wanted);
  want();
}

FrameResult WindowCore::draw_settled(Painter& painter, const Input& input, const Choose& choose) {
  FrameResult result = draw(painter, input);
  if (choose) choose(result.lines);
  if (result.lines.empty()) return result;
  for (const std::string& line : result.lines) session_.run_line(line);
  painter.clear();
  Input rest = input;
  forget_frame(rest);
  FrameResult after = draw(painter, rest);
  // Nobody asked for these: a panel that has just come says what it stands for.
  for (const std::string& line : after.lines) session_.run_line(line);
  after.again = after.again || !after.lines.empty();
  after.lines = std::move(result.lines);
  return after;
}

FrameResult WindowCore::draw(Painter& painter, const Input& input) {
  FrameResult result;
  Hover hover;
  facts_.clear();
  {
    Ui ui(painter, theme(), input, *memory_, lookup_, clipboard_);
    PanelContext context{ui,     session_.state(), session_.tiles(), session_.commands(), hover,
                         facts_, &run_cache_,      &compare_cache_,  &folders_,           &tokens_};
    draw_window(context, input.window);
    run_keys(context);
    result.again = ui.finish();
    result.wait_seconds = ui.wait_seconds();
    result.cursor = ui.cursor();
    result.lines = ui.take_commands();
    wanted_ = std::move(context.wanted);
  }
  for (const std::string& path : input.dropped)
    result.lines.push_back(line_of_dropped(path, session_.commands(), session_.state()));
  State& state = session_.edit();
  result.again = result.again || hover != state.hover;
  state.hover = hover;
  state.panels_shown.clear();
  const WindowLayout layout = window_layout(input.window, state);
  for (const PanelSlot* slot : layout.slots())
    if (slot->drawn()) state.panels_shown.emplace_back(slot->name);
  describe_state(state, facts_);
  return result;
}

std::vector<WantedTiles> WindowCore::draw_for_picture(Painter& painter, Rect window) {
  State& state = session_.edit();
  const Overlay overlay = std::exchange(state.overlay, Overlay::None);
  const bool taking = std::exchange(state.taking_picture, true);
  const Hover hover = std::exchange(state.hover, {});
  const Facts facts = facts_;
  const std::vector<std::string> panels = state.panels_shown;
  std::vector<WantedTiles> wanted = wanted_;
  UiStatePtr memory = copy_at_rest(*memory_);
  std::swap(memory, memory_);
  Input input;
  input.window = window;
  (void)draw(painter, input);
  std::swap(memory, memory_);
  std::swap(wanted, wanted_);
  facts_ = facts;
  state.panels_shown = panels;
  state.hover = hover;
  state.taking_picture = taking;
  state.overlay = overlay;
  return wanted;
}

const Theme& WindowCore::theme() {
  const Settings& settings = session_.state().settings;
  bool dark = settings.dark;
  if (session_.state().taking_picture && settings.picture.theme != PictureTheme::AsShown)
    dark = settings.picture.theme == PictureTheme::Dark;
  theme_ = dark ? dark_theme() : light_theme();
  theme_.colours = settings.colours;
  theme_.signed_colours = settings.signed_colours;
  return theme_;
}

bool WindowCore::overlay_waits() {
  const Overlay overlay = session_.state().overlay;
  if (overlay == Overlay::Prompt) return tokens_.waiting();
  constexpr std::array kOfFolders{Overlay::Files, Overlay::PromptFile, Overlay::Save, Overlay::Corpus,
                                  Overlay::CorpusFile};
  return std::ranges::find(kOfFolders, overlay) != kOfFolders.end() && folders_.waiting();
}

std::string WindowCore::TableLookup::disabled_reason(std::string_view line) const {
  return session_.commands().disabled_reason(session_.state(), line);
}

std::string WindowCore::TableLookup::key_text(std::string_view line) const {
  return session_.commands().key_of(session_.state(), line);
}

}  // namespace headroom
