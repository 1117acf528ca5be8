// What the arguments of a command may be, as the table says it and `headroom --commands` prints it: words parted by
// blanks, each one of several parted by |. A word in small letters stands for itself, one in capitals for what
// placeholders() says, [words] may be left out, the last word may come again where … follows it, and whole forms are
// parted by " or ". Pure functions; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/commands.h"

namespace headroom {

struct Placeholder {
  std::string_view name;     // "QUERY"
  std::string_view meaning;  // "a whole number from 0 on"
  std::string_view example;  // a word that fits: "5"
  bool (*fits)(std::string_view word);
};
[[nodiscard]] std::span<const Placeholder> placeholders();
[[nodiscard]] const Placeholder* find_placeholder(std::string_view name);

// One form of a command's arguments, without what may be left out: for each place the words that may stand there.
struct ArgumentForm {
  std::vector<std::vector<std::string>> words;
  bool last_repeats = false;
};
[[nodiscard]] std::vector<ArgumentForm> argument_forms(std::string_view pattern);

// InvalidArgument with the pattern, what its placeholders mean and what was found, unless one of the forms fits.
[[nodiscard]] Result<void> check_arguments(const Command& command, std::span<const std::string> arguments);

}  // namespace headroom
