// The table of commands: every action of the window by name. Menus, the palette, keys, context menus and scripts run
// command lines; nothing else changes the state. Main thread only.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/session/command_arguments.h"
#include "app/ui/input.h"
#include "app/ui/ui.h"
#include "core/base/result.h"

namespace headroom {

class Session;
struct State;

// Of a function that returns it, or nothing.
template <typename Work, typename... Given>
Result<void> result_of(const Work& work, Given&&... given) {
  if constexpr (std::is_void_v<std::invoke_result_t<const Work&, Given...>>) {
    work(std::forward<Given>(given)...);
    return {};
  } else {
    return work(std::forward<Given>(given)...);
  }
}

// Why a command cannot run now, "" where it can: from a function of the state, or of the state and the arguments of the
// line, which are none while they are not all there yet.
class CommandReason {
 public:
  CommandReason() = default;
  template <typename Why>
  CommandReason(Why why) {
    if constexpr (std::is_invocable_v<Why, const State&>)
      why_ = [why](const State& state, const Arguments&) -> std::string { return why(state); };
    else
      why_ = std::move(why);
  }
  [[nodiscard]] std::string operator()(const State& state, const Arguments& arguments) const {
    return why_ ? why_(state, arguments) : std::string();
  }

 private:
  std::function<std::string(const State&, const Arguments&)> why_;
};

// What a command does: from a function of the session, or of the session and the arguments, which returns Result<void>,
// or nothing where it cannot fail. What depends on the state is checked there, and refused with what is allowed.
class CommandWork {
 public:
  template <typename Work>
  CommandWork(Work work) {
    work_ = [work = std::move(work)](Session& session, const Arguments& arguments) {
      if constexpr (std::is_invocable_v<Work, Session&>)
        return result_of(work, session);
      else
        return result_of(work, session, arguments);
    };
  }
  Result<void> operator()(Session& session, const Arguments& arguments) const { return work_(session, arguments); }

 private:
  std::function<Result<void>(Session&, const Arguments&)> work_;
};

struct Command {
  std::string name;           // "map.scale"
  ArgumentPattern arguments;  // "linear|log10|symlog|next", "QUERY KEY or none", ""
  std::string title;          // "Map: log₁₀ scale"; sentence case
  std::string group;  // Heads, Map, Run, Window, Compare, What-if, File, Export, Script: the key overlay's columns
  CommandReason disabled;
  CommandWork run;
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
  // split_command_line(), where all behind a command that takes a path is one word if a file of that name is there:
  // who types or pastes a path does not think of quotation marks. ~ is the home folder.
  [[nodiscard]] Result<std::vector<std::string>> words(std::string_view line) const;
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
