// A word as a shell reads it back. Pure function; safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace headroom {

// In single quotes, whatever it is.
[[nodiscard]] inline std::string quoted_shell_word(std::string word) {
  for (std::size_t at = word.find('\''); at != std::string::npos; at = word.find('\'', at + 4))
    word.replace(at, 1, "'\\''");
  return "'" + word + "'";
}

// As it is where no character means anything to a shell, else in single quotes.
[[nodiscard]] inline std::string shell_word(std::string word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$*?;&|<>()`") == std::string::npos) return word;
  return quoted_shell_word(std::move(word));
}

}  // namespace headroom
