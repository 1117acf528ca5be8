// The desktop's own file dialog, through zenity or kdialog. Blocks the calling thread: not the main one.
#pragma once

#include <optional>
#include <string>

namespace headroom {

[[nodiscard]] bool desktop_dialog_available();
// The chosen path; nothing where it was cancelled or no dialog could be shown.
[[nodiscard]] std::optional<std::string> ask_desktop_for_file();

}  // namespace headroom
