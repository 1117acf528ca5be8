// What the command palette finds and completes: pure functions of the table of commands and a typed line. Main thread
// only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/commands.h"
#include "app/session/state.h"

namespace headroom {

struct PaletteItem {
  std::string line;  // what Enter runs
  std::string title;
  std::vector<std::size_t> positions;  // bytes of the title that matched
  std::string key;
  std::string disabled;     // the reason; empty: it runs
  bool needs_text = false;  // Enter completes it instead
  bool typed = false;       // the line itself, as it stands
};

struct PaletteList {
  std::vector<PaletteItem> items;  // the best first; a typed line with arguments before all
  std::size_t commands = 0;        // how many there are
};

[[nodiscard]] PaletteList palette_list(const CommandTable& table, const State& state, std::string_view query);
// "linear|log10|symlog|next": the arguments of the command that the line begins with; empty if it begins with none.
[[nodiscard]] std::string palette_arguments(const CommandTable& table, std::string_view query);
// What the last word of the line can become, first to last: one of the command's choices, a file or folder for PATH, a
// head for L0.H0. Whole lines.
[[nodiscard]] std::vector<std::string> palette_completions(const CommandTable& table, const State& state,
                                                           std::string_view query);

}  // namespace headroom
