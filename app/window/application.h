// The window program: the session, the frame loop, and what goes between them. Main thread only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace headroom {

struct WindowArguments {
  std::vector<std::string> paths;  // checkpoints, run files, addresses
  std::string script;              // --script
  std::string size;                // --size 1440x900: pixels of the window
  double scale = 0.0;              // --scale; 0: the kept one
  std::string theme;               // --theme dark|light
  std::string config;              // folder of settings; empty: the desktop's usual one, none for scripts
  bool print_facts = false;        // --facts: everything `expect` knows, at the end of a script
  bool print_times = false;        // --times: frame times and start-up, as JSON on standard output
  std::string command_line;
};

// 0, or the exit code of the error that ended it: 7 without a display, 1 where a script's expectation failed.
[[nodiscard]] int run_window(const WindowArguments& arguments);

// The table of commands, as text or Markdown: name, arguments, title, key.
[[nodiscard]] std::string command_table_text(bool markdown);

}  // namespace headroom
