// Titles and sentences made from words in small letters. Pure functions; safe from any thread.
#pragma once

#include <string>

namespace headroom {

// The first letter large where it is one of a to z: "ρ" and "λ" stay as they are.
[[nodiscard]] inline std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

}  // namespace headroom
