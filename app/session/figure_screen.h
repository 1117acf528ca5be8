// Figures of what is on the screen: which kind a panel's plot is, and its look as options of the command. Pure
// functions of the state.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/state.h"

namespace headroom {

// The kind of figure that a panel shows ("heads", "map", "head", "tokens"), or that one of its plots is, by the kind's
// own name; Unsupported says that there is none.
[[nodiscard]] Result<std::string> figure_of_panel(const State& state, std::string_view panel);
// The kind to begin with: of the panel in focus, else of the centre.
[[nodiscard]] std::string figure_in_focus(const State& state);

// What screen_parts() can name.
inline constexpr std::array<const char*, 9> kScreenPartNames = {"head",  "rows",     "keys",    "cell",      "range",
                                                                "scale", "quantity", "epsilon", "colour-map"};
// The head, zoom, ranges, the pinned cell and so on, as far as the kind has an option for them.
[[nodiscard]] std::vector<ScreenPart> screen_parts(const State& state, std::string_view kind);

// What was chosen for the kind, and what is on the screen where nothing was.
[[nodiscard]] FigureLook asked_look(const State& state, const std::string& kind);

// What a shell takes to make the file that is asked for, under its suggested name; empty: there is nothing to make.
[[nodiscard]] std::string figure_command_line(const State& state);

// What was chosen of a look by name, as set_figure_option() takes it: all that is not the kind's own choice.
[[nodiscard]] std::vector<ScreenPart> chosen_options(const FigureLook& look);
// The option says where to look in one run ("head", "rows"): another run may have no such place.
[[nodiscard]] bool names_place(std::string_view option);

// One option by its name without dashes; an empty value or "auto": the kind's choice. InvalidArgument names the
// options.
[[nodiscard]] Result<void> set_figure_option(FigureLook& look, const std::string& kind, std::string_view name,
                                             const std::string& value);

}  // namespace headroom
