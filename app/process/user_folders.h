// Where a person's own files of the program lie (XDG base directories). Empty where the environment names no home. Main
// thread.
#pragma once

#include <filesystem>

namespace headroom {

[[nodiscard]] std::filesystem::path config_folder();  // settings: XDG_CONFIG_HOME/headroom, ~/.config/headroom
[[nodiscard]] std::filesystem::path
state_folder();  // what it was doing: XDG_STATE_HOME/headroom, ~/.local/state/headroom

}  // namespace headroom
