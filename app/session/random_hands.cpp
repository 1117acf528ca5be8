#include "app/session/random_hands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

#include "app/session/state.h"

namespace headroom {
namespace {

constexpr std::size_t kMostRuns = 8;
constexpr std::array kDemos = {"backcopy/diff_v2", "bytes/diff_v2", "bytes/softmax", "bytes/diff_v1",
                               "trigger_bos/softmax_sink"};

template <typename List>
const auto& one_of(RandomHands& hands, const List& list) {
  return list[static_cast<std::size_t>(hands.below(static_cast<int>(list.size())))];
}

}  // namespace

RandomHands::RandomHands(unsigned seed, const CommandTable& commands) : random_(seed), commands_(commands) {
  for (const CommandEntry& entry : commands.entries())
    if (const auto key = parse_key(entry.key)) keys_.push_back(*key);
  for (const Key key : {Key::Left, Key::Right, Key::Up, Key::Down, Key::Home, Key::End, Key::PageUp, Key::PageDown,
                        Key::Enter, Key::Escape, Key::Tab, Key::Backspace, Key::Delete, Key::Space})
    for (const bool shift : {false, true}) keys_.push_back({key, {.shift = shift}});
}

bool RandomHands::event(Input& input) {
  const Rect& w = input.window;
  switch (below(16)) {
    case 0:
    case 1:
    case 2: input.pointer = {between(w.x0 - 5, w.x1 + 5), between(w.y0 - 5, w.y1 + 5)}; return true;
    case 3:
      input.pointer = {between(w.x0, w.x1), between(w.y0, std::min(w.y1, 68.0f))};
      return true;  // menus and the tool bar
    case 4:
    case 5:
    case 6: input.pointer = input.pointer + Vec2{between(-30, 30), between(-30, 30)}; return true;
    case 7:
    case 8:
    case 9: {
      const std::size_t button = below(5) == 0 ? static_cast<std::size_t>(1 + below(2)) : 0;
      if (input.pressed[button] || input.released[button]) return true;
      input.down[button] = !input.down[button];
      (input.down[button] ? input.pressed : input.released)[button] = true;
      if (button == 0 && input.down[0]) input.clicks = 1 + (below(6) == 0 ? 1 : 0);
      return true;
    }
    case 10:
    case 11: input.wheel.y = static_cast<float>(below(9) - 4); return true;
    case 12: input.keys.push_back(one_of(*this, keys_)); return true;
    case 13: {
      constexpr std::array kTexts = {"a", " ", "sink", "0", "=", "é", "注", "\xFF", "\"", "\xE2\x80\xAE", "L1.H2", ">"};
      if (below(3) == 0)
        input.text += one_of(*this, kTexts);
      else if (below(2) == 0)
        input.keys.push_back({Key::Escape, {}});
      return true;
    }
    case 14:
      input.time += 0.1 * below(20);
      input.pointer_inside = below(30) != 0;
      input.focused = below(50) != 0;
      return true;
    default:
      if (below(8) == 0) return false;
      if (!input.keys.empty()) input.released_keys.push_back(input.keys.back());
      return true;
  }
}

int RandomHands::events(Input& input) {
  const int most = 1 + below(10);
  for (int i = 0; i < most; ++i) (void)event(input);
  return most;
}

std::string RandomHands::line(const State& state) {
  if (below(8) != 0) return {};
  const CommandEntry& entry = one_of(*this, commands_.entries());
  return !entry.needs_text && may_run(entry.line) && commands_.disabled_reason(state, entry.line).empty()
             ? entry.line
             : std::string();
}

bool RandomHands::may_run(const std::string& line) {
  static const std::set<std::string> kLeftOut = {"quit", "prompt-file", "prompt.built-in", "scale",
                                                 "demo", "random",      "developer",       "save.folder"};
  // Without a path they open the save panel.
  static const std::map<std::string, std::size_t> kSaving = {
      {"export", 1}, {"screenshot", 1}, {"heads.save", 1}, {"session.save", 1}, {"save", 2}, {"export.panel", 2}};
  const auto words = split_command_line(line);
  if (!words || words->empty() || kLeftOut.contains(words->front())) return false;
  if (const auto saving = kSaving.find(words->front()); saving != kSaving.end()) return words->size() <= saving->second;
  if (words->front() != "open" && words->front() != "open.run") return true;
  return words->size() > 1 && ((*words)[1].find("/demo/backcopy/") != std::string::npos ||
                               (*words)[1].find("/demo/trigger") != std::string::npos);
}

std::string RandomHands::upkeep(const State& state) {
  if (state.runs.size() > kMostRuns && state.shown()) return "close";
  // A second run of the same tokens, so that there is something to compare.
  if (state.runs.size() == 1 && state.runs[0].status == RunStatus::Done && below(50) == 0) return "run";
  if (!state.nothing_open() || below(20) != 0) return {};
  return std::string("demo ") + one_of(*this, kDemos);
}

}  // namespace headroom
