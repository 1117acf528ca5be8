#include "app/cli/command_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>

namespace headroom {
namespace {

// "TEXT:{auto,always,never}" or "INT:INT in [1 - 9]": the name of the value, then what the checks say of themselves.
void read_type_name(const std::string& text, OptionWords& words) {
  const std::size_t colon = text.find(':');
  words.value = text.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string checks = text.substr(colon + 1);
  const auto between = [&checks](char open, char close) {
    const std::size_t from = checks.find(open), to = checks.find(close, from);
    return from == std::string::npos || to == std::string::npos ? "" : checks.substr(from + 1, to - from - 1);
  };
  if (std::string range = between('[', ']'); !range.empty()) {
    if (const std::size_t dash = range.find(" - "); dash != std::string::npos) range.replace(dash, 3, " to ");
    words.range = range;
  }
  const std::string list = between('{', '}');
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    words.choices.push_back(list.substr(from, to - from));
    from = to + 1;
  }
}

OptionWords option_words(const CLI::Option& option) {
  OptionWords words;
  words.description = option.get_description();
  words.required = option.get_required();
  words.repeatable = option.get_items_expected_max() > 1;
  if (option.nonpositional()) {
    for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  } else {
    words.label = option.get_name();
  }
  if (option.get_type_size_max() > 0) read_type_name(option.get_type_name(), words);
  return words;
}

CommandWords command_words(const CLI::App& app) {
  CommandWords words;
  words.name = app.get_name();
  words.description = app.get_description();
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? words.options : words.places).push_back(option_words(*option));
  return words;
}

}  // namespace

ProgramWords program_words(const CLI::App& app) {
  ProgramWords words{command_words(app), {}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    words.commands.push_back(command_words(*command));
  return words;
}

std::string command_list(const CLI::App& app, std::string_view last) {
  std::string list;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (i > 0) list += i + 1 == commands.size() ? " " + std::string(last) + " " : ", ";
    list += commands[i]->get_name();
  }
  return list;
}

}  // namespace headroom
