// What options of several commands may be given. Each says what is wrong with a word, or nothing. Pure functions.
#pragma once

#include <string>

namespace headroom {

// 0 … 2⁶⁴ − 1; CLI11's own conversion makes 2⁶⁴ − 1 of −1.
[[nodiscard]] std::string not_a_whole_number(const std::string& text);
// A number from 0, or above 0. CLI11's own check lets NaN through, which no comparison with a tolerance or budget
// survives.
[[nodiscard]] std::string not_a_size(const std::string& text);
[[nodiscard]] std::string not_a_positive_size(const std::string& text);
// Something, of which others make layers or heads.
[[nodiscard]] std::string not_a_list(const std::string& text);

}  // namespace headroom
