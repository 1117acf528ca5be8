// What options of several commands may be given. Each says what is wrong with a word, or nothing. Pure functions.
#pragma once

#include <string>

namespace headroom {

// 0 … 2⁶⁴ − 1; CLI11's own conversion makes 2⁶⁴ − 1 of −1.
[[nodiscard]] std::string not_a_whole_number(const std::string& text);

}  // namespace headroom
