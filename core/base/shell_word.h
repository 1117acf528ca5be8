// A word as a shell reads it back. Pure function; safe from any thread.
#pragma once

#include <cstddef>
#include <string>

namespace headroom {

// As it is where no character means anything to a shell, else in single quotes.
[[nodiscard]] inline std::string shell_word(std::string word) {
  if (!word.empty() && word.find_first_of(" \t\n'\"\\$*?;&|<>()") == std::string::npos) return word;
  for (std::size_t at = word.find('\''); at != std::string::npos; at = word.find('\'', at + 4))
    word.replace(at, 1, "'\\''");
  return "'" + word + "'";
}

}  // namespace headroom
