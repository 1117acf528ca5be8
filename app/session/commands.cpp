#include "app/session/commands.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "app/session/state.h"
#include "app/ui/file_list.h"

namespace headroom {
namespace {

constexpr std::array<std::pair<const char*, Key>, 26> kKeyNames = {{
    {"Left", Key::Left},     {"Right", Key::Right}, {"Up", Key::Up},         {"Down", Key::Down},
    {"Home", Key::Home},     {"End", Key::End},     {"PageUp", Key::PageUp}, {"PageDown", Key::PageDown},
    {"Enter", Key::Enter},   {"Esc", Key::Escape},  {"Tab", Key::Tab},       {"Backspace", Key::Backspace},
    {"Delete", Key::Delete}, {"Space", Key::Space}, {"F1", Key::F1},         {"F2", Key::F2},
    {"F3", Key::F3},         {"F4", Key::F4},       {"F5", Key::F5},         {"F6", Key::F6},
    {"F7", Key::F7},         {"F8", Key::F8},       {"F9", Key::F9},         {"F10", Key::F10},
    {"F11", Key::F11},       {"F12", Key::F12},
}};
constexpr std::string_view kKeyCharacters = ",-./=?";

bool same_press(const KeyPress& a, const KeyPress& b) { return a.key == b.key && a.modifiers == b.modifiers; }

}  // namespace

Result<std::vector<std::string>> split_command_line(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false, quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '\\' && i + 1 < line.size() && (line[i + 1] == '"' || line[i + 1] == '\\'))
        word += line[++i];
      else if (c == '"')
        quoted = false;
      else
        word += c;
    } else if (c == '"') {
      quoted = in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
    } else if (c == '#' && !in_word) {
      break;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quoted) {
    Error error(ErrorCode::InvalidArgument, "a quotation mark is not closed");
    return error.wanted("\"…\"", std::string(line));
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::string quote_word(std::string_view word) {
  if (!word.empty() && word.find_first_of(" \t\r\n\"#") == std::string_view::npos) return std::string(word);
  std::string quoted = "\"";
  for (const char c : word) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::optional<KeyPress> parse_key(std::string_view text) {
  KeyPress press;
  for (;;) {
    if (text.starts_with("Ctrl+") && text.size() > 5)
      press.modifiers.ctrl = true, text.remove_prefix(5);
    else if (text.starts_with("Shift+") && text.size() > 6)
      press.modifiers.shift = true, text.remove_prefix(6);
    else if (text.starts_with("Alt+") && text.size() > 4)
      press.modifiers.alt = true, text.remove_prefix(4);
    else
      break;
  }
  if (text.size() == 1) {
    const char c = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || kKeyCharacters.find(c) != std::string_view::npos) {
      press.key = static_cast<Key>(c);
      return press;
    }
    return {};
  }
  for (const auto& [name, key] : kKeyNames)
    if (text == name) {
      press.key = key;
      return press;
    }
  return {};
}

std::string key_name(const KeyPress& press) {
  std::string text;
  if (press.modifiers.ctrl) text += "Ctrl+";
  if (press.modifiers.shift) text += "Shift+";
  if (press.modifiers.alt) text += "Alt+";
  for (const auto& [name, key] : kKeyNames)
    if (key == press.key) return text + name;
  return press.key == Key::None ? std::string() : text + static_cast<char>(press.key);
}

void CommandTable::add(Command command) { commands_.push_back(std::move(command)); }
void CommandTable::add_entry(CommandEntry entry) { entries_.push_back(std::move(entry)); }

const Command* CommandTable::find(std::string_view name) const {
  for (const Command& command : commands_)
    if (command.name == name) return &command;
  return nullptr;
}

const CommandEntry* CommandTable::entry(std::string_view line) const {
  for (const CommandEntry& entry : entries_)
    if (entry.line == line) return &entry;
  return nullptr;
}

Result<std::vector<std::string>> CommandTable::words(std::string_view line) const {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string_view rest = line.substr(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view name = rest.substr(0, rest.find_first_of(kBlanks));
  rest = rest.substr(std::min(rest.find_first_not_of(kBlanks, name.size()), rest.size()));
  rest = rest.substr(0, rest.find_last_not_of(kBlanks) + 1);
  const Command* command = find(name);
  if (rest.empty() || !command || !command->arguments.begins_with_path()) return split_command_line(line);
  std::error_code none;
  if (std::filesystem::exists(expand_home(rest), none)) return std::vector{std::string(name), expand_home(rest)};
  HEADROOM_TRY(std::vector<std::string> words, split_command_line(line));
  for (std::string& word : std::span(words).subspan(1)) word = expand_home(word);
  return words;
}

std::string CommandTable::disabled_reason(const State& state, std::string_view line) const {
  const auto parted = words(line);
  if (!parted) return parted.error().message;
  if (parted->empty()) return "";
  const Command* command = find(parted->front());
  if (!command) return "no such command";
  const std::span<const std::string> arguments = std::span(*parted).subspan(1);
  if (const auto read = command->arguments.read(command->name, arguments)) return command->disabled(state, *read);
  const std::string reason = command->disabled(state, Arguments());
  return reason.empty() ? command->arguments.misfit(arguments) : reason;
}

std::string CommandTable::key_of(const State& state, std::string_view line) const {
  const auto changed = state.settings.keys.find(std::string(line));
  if (changed != state.settings.keys.end()) return changed->second;
  const CommandEntry* found = entry(line);
  return found ? found->key : "";
}

const CommandEntry* CommandTable::entry_of_key(const State& state, const KeyPress& press) const {
  for (const CommandEntry& entry : entries_) {
    const std::string key = key_of(state, entry.line);
    if (key.empty()) continue;
    const std::optional<KeyPress> parsed = parse_key(key);
    if (parsed && same_press(*parsed, press)) return &entry;
  }
  return nullptr;
}

}  // namespace headroom
