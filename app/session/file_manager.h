// The desktop's file manager, asked to show a file: over the session bus (org.freedesktop.FileManager1, with gdbus or
// dbus-send), else xdg-open of the file's folder. Programs are started with their arguments, never through a shell.
// Safe from any thread; showing takes seconds at worst: not on the main thread.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace headroom {

// What the environment says of the desktop.
struct Desktop {
  std::string programs;     // PATH
  std::string session_bus;  // DBUS_SESSION_BUS_ADDRESS; empty: none
  std::string name;         // XDG_CURRENT_DESKTOP; empty: none
};
[[nodiscard]] Desktop desktop_of_environment();

// The first executable of this name in the folders of `programs`; empty where there is none.
[[nodiscard]] std::string find_program(const std::string& programs, const std::string& name);

// Why no file manager can be asked; empty where one can.
[[nodiscard]] std::string file_manager_missing(const Desktop& desktop);

// "file:///a%20b" for "/a b": every byte beside letters, digits and -._~/ is escaped.
[[nodiscard]] std::string file_uri(const std::string& absolute_path);

// The programs with their arguments that show the absolute path, in the order in which they are tried.
[[nodiscard]] std::vector<std::vector<std::string>> file_manager_calls(const Desktop& desktop,
                                                                       const std::string& absolute_path);

// Shows the file or folder in the folder that holds it; the nearest folder that exists, where it does not. Device where
// no file manager answers: the reason of the last one asked.
[[nodiscard]] Result<void> show_in_file_manager(const Desktop& desktop, const std::string& path);

}  // namespace headroom
