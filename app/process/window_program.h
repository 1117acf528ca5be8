// The window as the command line knows it: what to open it with, and the functions that main() names, so that neither
// includes the other. Plain data.
#pragma once

#include <string>
#include <vector>

namespace headroom {

struct WindowArguments {
  std::vector<std::string> paths;  // checkpoints, run files, addresses
  std::string script;              // --script
  std::string size;                // --size 1440x900: pixels of the window
  double scale = 0.0;              // --scale; 0: the kept one
  std::string theme;               // --theme dark|light
  std::string config;              // folder of settings; empty: the desktop's usual one, none for scripts
  std::string model_config;        // in place of the config.json of the checkpoints; empty: their own
  bool print_facts = false;        // --facts: everything `expect` knows, at the end of a script
  bool print_times = false;        // --times: frame times and start-up, as JSON on standard output
  std::string command_line;
};

// One line of what the window needs and finds: "opengl", "OpenGL 4.5 …".
struct WindowFact {
  std::string name, value;
};

struct WindowProgram {
  // 0, or the exit code of the error that ended it: 7 without a display, 1 where a script's expectation failed.
  int (*run)(const WindowArguments& arguments) = nullptr;
  // The table of commands, as text or Markdown: name, arguments, title, key.
  std::string (*command_table)(bool markdown) = nullptr;
  // Whether it would open here, and with what.
  std::vector<WindowFact> (*examine)() = nullptr;
};

}  // namespace headroom
