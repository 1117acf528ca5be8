// The words of the command line as plain data, read from the parser itself: what the man page and the shells'
// completion are made of, so that neither can lack an option. Main thread only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace headroom {

// Names of values that stand for paths; every other value is text.
inline constexpr const char* kFileValue = "FILE";
inline constexpr const char* kFolderValue = "FOLDER";
inline constexpr const char* kPathValue = "PATH";  // either

struct OptionWords {
  std::vector<std::string> names;    // with their dashes, short ones first; empty: told by its place
  std::string label;                 // of one that is told by its place
  std::string value;                 // what follows, e.g. FILE; empty: a flag
  std::vector<std::string> choices;  // what the value can be, where that is a list
  std::string range;                 // "1 to 9", where the value has one
  std::string description;
  bool required = false;
  bool repeatable = false;

  [[nodiscard]] bool takes_path() const { return value == kFileValue || value == kPathValue || value == kFolderValue; }
};

struct CommandWords {
  std::string name;
  std::string description;
  std::vector<OptionWords> options;  // those with names
  std::vector<OptionWords> places;   // those without
};

struct ProgramWords {
  CommandWords program;  // what can be said without a command
  std::vector<CommandWords> commands;
};

[[nodiscard]] ProgramWords program_words(const CLI::App& app);

// "inspect, analyze, … and doctor", in the order in which they were added.
[[nodiscard]] std::string command_list(const CLI::App& app, std::string_view last);

}  // namespace headroom
