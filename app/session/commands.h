// The table of commands: every action of the window by name. Menus, the palette, keys, context menus and scripts run
// command lines; nothing else changes the state. Main thread only.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/ui/input.h"
#include "app/ui/ui.h"
#include "core/base/result.h"

namespace headroom {

class Session;
struct State;

struct Command {
  std::string name;       // "map.scale"
  std::string arguments;  // "linear|log10|symlog|next", "QUERY KEY or none", "": see session/command_arguments.h
  std::string title;      // "Map: log₁₀ scale"; sentence case
  std::string group;      // Heads, Map, Run, Window, Compare, What-if, File, Export, Script: the key overlay's columns
  // "" enabled; else why not. Asked with the arguments of the line.
  std::function<std::string(const State&, std::span<const std::string> arguments)> disabled;
  // With arguments that have the form above; what depends on the state is checked here, and refused with what is
  // allowed.
  std::function<Result<void>(Session&, std::span<const std::string> arguments)> run;
};

// A line of the palette and of menus: a command with its arguments filled in.
struct CommandEntry {
  std::string line;  // "map.scale log10"
  std::string title;
  std::string group;
  std::string key;          // the default; "" none
  bool needs_text = false;  // arguments must be typed
};

// Words of a line: quotes "…" keep spaces, \" and \\ inside them; # begins a comment outside of quotes.
[[nodiscard]] Result<std::vector<std::string>> split_command_line(std::string_view line);
// A word as it must be written in a line.
[[nodiscard]] std::string quote_word(std::string_view word);

// "Ctrl+Shift+R" to a key press and back; nothing for text that is none.
[[nodiscard]] std::optional<KeyPress> parse_key(std::string_view text);
[[nodiscard]] std::string key_name(const KeyPress& press);

class CommandTable {
 public:
  void add(Command command);
  void add_entry(CommandEntry entry);
  [[nodiscard]] std::span<const Command> commands() const { return commands_; }
  [[nodiscard]] std::span<const CommandEntry> entries() const { return entries_; }
  [[nodiscard]] const Command* find(std::string_view name) const;
  [[nodiscard]] const CommandEntry* entry(std::string_view line) const;
  [[nodiscard]] std::string disabled_reason(const State& state, std::string_view line) const;
  // The key that runs this line; settings come before defaults.
  [[nodiscard]] std::string key_of(const State& state, std::string_view line) const;
  [[nodiscard]] const CommandEntry* entry_of_key(const State& state, const KeyPress& press) const;

 private:
  std::vector<Command> commands_;
  std::vector<CommandEntry> entries_;
};

// All commands of the window.
[[nodiscard]] CommandTable make_command_table();

}  // namespace headroom
