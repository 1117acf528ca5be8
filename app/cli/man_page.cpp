#include "app/cli/man_page.h"

#include <cstddef>

#include "app/process/exit_codes.h"
#include "app/process/version.h"

namespace headroom {
namespace {

// Text of a line: a backslash would begin an escape, a leading dot or quote a request; a dash is a minus, as it is
// typed.
std::string troff_text(const std::string& text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\')
      line += "\\e";
    else if (c == '-')
      line += "\\-";
    else if (c == '\n')
      line += ' ';
    else
      line += c;
  }
  return line.starts_with('.') || line.starts_with('\'') ? "\\&" + line : line;
}

std::string bold(const std::string& text) { return "\\fB" + troff_text(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + troff_text(text) + "\\fR"; }

// What follows an option: its choices, as they are typed, or the name of its value.
std::string value_text(const OptionWords& option) {
  if (option.choices.empty()) return italic(option.value);
  std::string text;
  for (const std::string& choice : option.choices) text += (text.empty() ? "" : "|") + bold(choice);
  return text;
}

std::string man_place(const OptionWords& place) {
  const std::string text =
      (place.choices.empty() ? italic(place.label) : value_text(place)) + (place.repeatable ? " ..." : "");
  return place.required ? text : "[" + text + "]";
}

std::string described(const OptionWords& option) {
  std::string text = option.description;
  if (text.find(option.range) == std::string::npos) text += (text.empty() ? "" : "; ") + option.range;
  if (option.required && !option.names.empty()) text += (text.empty() ? "required" : "; required");
  return troff_text(text) + "\n";
}

std::string entries(const CommandWords& command) {
  std::string page;
  for (const OptionWords& place : command.places) page += ".TP\n" + italic(place.label) + "\n" + described(place);
  for (const OptionWords& option : command.options) {
    page += ".TP\n";
    for (std::size_t i = 0; i < option.names.size(); ++i) page += (i ? ", " : "") + bold(option.names[i]);
    if (!option.value.empty()) page += " " + value_text(option);
    page += "\n" + described(option);
  }
  return page;
}

std::string synopsis(const std::string& name, const CommandWords& command) {
  std::string line = bold(name);
  for (const OptionWords& option : command.options)
    if (option.required) line += " " + bold(option.names.front()) + " " + value_text(option);
  line += " [" + italic("OPTION") + " ...]";
  for (const OptionWords& place : command.places) line += " " + man_place(place);
  return line + "\n";
}

struct ManEntry {
  const char* name;
  const char* text;
};

constexpr ManEntry kVariables[] = {
    {"HEADROOM_SHADERS", "folder of the window's shaders, in place of the installed one"},
    {"HEADROOM_TRACE", "file that gets a trace of frames and jobs, in Chrome's format"},
    {"OMP_NUM_THREADS", "how many threads compute"},
    {"XDG_CONFIG_HOME", "where settings are kept; without it, ~/.config"},
};
constexpr ManEntry kFiles[] = {
    {"~/.config/headroom/headroom.json", "settings and recent files of the window"},
    {"*.h5", "a run: netCDF\\-4, and so HDF5; xarray, h5py, h5dump and Julia read it"},
    {"*.headroom", "a session: what was open in the window, with prompt, what\\-ifs and view"},
};

template <std::size_t count>
std::string section(const char* title, const ManEntry (&list)[count]) {
  std::string page = std::string(".SH ") + title + "\n";
  for (const ManEntry& entry : list) page += ".TP\n" + bold(entry.name) + "\n" + entry.text + "\n";
  return page;
}

}  // namespace

std::string man_page(const ProgramWords& words) {
  const std::string name = words.program.name;
  std::string page = ".\\\" Made by `" + name + " man` from the program's own command line.\n";
  page += ".TH HEADROOM 1 " + std::string(kReleaseDate) + " \"" + name + " " + kVersion + "\" \"User Commands\"\n";
  page += ".SH NAME\n" + name + " \\- what every attention head of a transformer checkpoint does\n";
  page += ".SH SYNOPSIS\n" + synopsis(name, words.program);
  for (const CommandWords& command : words.commands) page += ".br\n" + synopsis(name + " " + command.name, command);
  page +=
      ".SH DESCRIPTION\n"
      "Headroom opens transformer checkpoints, runs their attention on a text, and shows and measures what every head does.\n"
      "Without a command it opens its window on what is named; the commands do the same work in a terminal, and write run\n"
      "files (HDF5).\n";
  page += ".SH OPTIONS\nOf the window, without a command:\n" + entries(words.program);
  page += ".SH COMMANDS\n";
  for (const CommandWords& command : words.commands)
    page += ".SS \"" + troff_text(name + " " + command.name) + "\"\n" + troff_text(command.description) + ".\n" +
            entries(command);
  page += ".SH EXIT STATUS\n";
  for (const ExitCode& exit : kExitCodes)
    page += ".TP\n" + bold(std::to_string(exit.code)) + "\n" + troff_text(exit.meaning) + "\n";
  return page + section("ENVIRONMENT", kVariables) + section("FILES", kFiles);
}

}  // namespace headroom
