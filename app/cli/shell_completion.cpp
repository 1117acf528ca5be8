#include "app/cli/shell_completion.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

std::string words_of(const std::vector<std::string>& list, const char* between = " ") {
  std::string text;
  for (const std::string& word : list) text += (text.empty() ? "" : between) + word;
  return text;
}

std::string command_names(const ProgramWords& words) {
  std::vector<std::string> names;
  for (const CommandWords& command : words.commands) names.push_back(command.name);
  return words_of(names);
}

std::string option_names(const CommandWords& command) {
  std::vector<std::string> names;
  for (const OptionWords& option : command.options) names.insert(names.end(), option.names.begin(), option.names.end());
  return words_of(names);
}

// `text` with a backslash before each of `special`.
std::string escaped(const std::string& text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// For POSIX shells: inside '…' nothing is special, and a quote ends it.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_values(const OptionWords& option) {
  if (!option.choices.empty()) return "_headroom_words '" + words_of(option.choices) + "'";
  if (option.value == kFolderValue) return "_headroom_paths -d";
  return option.takes_path() ? "_headroom_paths -f" : ":";
}

// One branch for the words of a command: what follows an option, then its options, then what its places take.
std::string bash_branch(const CommandWords& command, const std::string& label, const std::string& first_words) {
  std::string branch = "    " + label + ")\n      case $previous in\n";
  for (const OptionWords& option : command.options)
    if (!option.value.empty())
      branch += "        " + words_of(option.names, "|") + ") " + bash_values(option) + "; return ;;\n";
  branch +=
      "      esac\n      if [[ $current == -* ]]; then _headroom_words '" + option_names(command) + "'; return; fi\n";
  for (const OptionWords& place : command.places) {
    branch += "      " + bash_values(place) + "\n";
    break;  // further places take the same
  }
  if (!first_words.empty()) branch += "      _headroom_words '" + first_words + "'\n";
  return branch + "      ;;\n";
}

// _arguments' own marks, inside single quotes.
std::string zsh_text(const std::string& text) { return escaped(text, "[]:\\"); }

std::string zsh_values(const OptionWords& option) {
  const std::string label = ":" + zsh_text(option.value) + ":";
  if (!option.choices.empty()) return label + "(" + words_of(option.choices) + ")";
  if (option.value == kFolderValue) return label + "_files -/";
  return label + (option.takes_path() ? "_files" : " ");
}

std::string zsh_arguments(const CommandWords& command, bool with_places) {
  std::string text = "_arguments -s -S";
  for (const OptionWords& option : command.options) {
    const std::string what =
        "[" + zsh_text(option.description) + "]" + (option.value.empty() ? "" : zsh_values(option));
    const std::string others = option.repeatable ? "*" : "(" + words_of(option.names) + ")";
    for (const std::string& name : option.names) text += " \\\n        " + quoted(others + name + what);
  }
  if (with_places)
    for (const OptionWords& place : command.places)
      text += " \\\n        " + quoted((place.repeatable ? "*" : "") + zsh_values(place));
  return text;
}

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, "\\'") + "'"; }

std::string fish_option(const std::string& condition, const OptionWords& option) {
  std::string line = "complete -c headroom -n " + fish_quoted(condition);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty())
    line += " -x -a " + fish_quoted(words_of(option.choices));
  else if (option.value == kFolderValue)
    line += " -x -a '(__fish_complete_directories)'";
  else if (option.takes_path())
    line += " -r -F";
  else if (!option.value.empty())
    line += " -x";
  return line + " -d " + fish_quoted(option.description) + "\n";
}

}  // namespace

std::string bash_completion(const ProgramWords& words) {
  std::string script =
      "# bash completion of headroom, made by `headroom completion bash`.\n"
      "_headroom_words() { mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$1\" -- \"$current\"); }\n"
      "_headroom_paths() {\n"
      "  compopt -o filenames 2>/dev/null\n"
      "  mapfile -t COMPREPLY < <(compgen \"$1\" -- \"$current\")\n"
      "}\n"
      "_headroom() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word i\n"
      "  # bash takes --option=value apart.\n"
      "  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case \" " +
      command_names(words) +
      " \" in *\" $word \"*) command=$word; break ;; esac\n"
      "  done\n"
      "  case $command in\n";
  for (const CommandWords& command : words.commands) script += bash_branch(command, command.name, "");
  script += bash_branch(words.program, "*", command_names(words));
  return script + "  esac\n}\ncomplete -F _headroom headroom\n";
}

std::string zsh_completion(const ProgramWords& words) {
  std::string script =
      "#compdef headroom\n# zsh completion of headroom, made by `headroom completion zsh`.\n"
      "_headroom_first() {\n  local -a commands=(\n";
  for (const CommandWords& command : words.commands)
    script += "    " + quoted(escaped(command.name + ":", "") + escaped(command.description, ":\\")) + "\n";
  script +=
      "  )\n  _alternative 'commands:command:{_describe -t commands command commands}' 'files:path:_files'\n}\n"
      "_headroom() {\n  local curcontext=$curcontext\n  case $words[2] in\n";
  for (const CommandWords& command : words.commands)
    script += "    " + command.name + ")\n      shift words\n      ((CURRENT--))\n      " +
              zsh_arguments(command, true) + "\n      ;;\n";
  script += "    *)\n      " + zsh_arguments(words.program, false) +
            " \\\n        '1: :_headroom_first' '*:path:_files'\n      ;;\n  esac\n}\n";
  // Sourced, it tells compinit of itself; found in a folder of fpath, it is the function's first call.
  return script + "if [ \"$funcstack[1]\" = _headroom ]; then _headroom \"$@\"; else compdef _headroom headroom; fi\n";
}

std::string fish_completion(const ProgramWords& words) {
  std::string script = "# fish completion of headroom, made by `headroom completion fish`.\n";
  const std::string none = "not __fish_seen_subcommand_from " + command_names(words);
  for (const CommandWords& command : words.commands)
    script += "complete -c headroom -n " + fish_quoted(none) + " -a " + command.name + " -d " +
              fish_quoted(command.description) + "\n";
  for (const OptionWords& option : words.program.options) script += fish_option(none, option);
  for (const CommandWords& command : words.commands) {
    const std::string here = "__fish_seen_subcommand_from " + command.name;
    for (const OptionWords& option : command.options) script += fish_option(here, option);
    bool paths = false;
    for (const OptionWords& place : command.places) {
      paths = paths || place.takes_path();
      if (!place.choices.empty())
        script +=
            "complete -c headroom -n " + fish_quoted(here) + " -x -a " + fish_quoted(words_of(place.choices)) + "\n";
    }
    if (!paths) script += "complete -c headroom -n " + fish_quoted(here) + " -f\n";
  }
  return script;
}

}  // namespace headroom
