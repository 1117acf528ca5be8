// The sentences of the needle test: a number for each of some cities in a long text, and a question for one of them
// (after Ye et al., arXiv 2410.05258, §3.4). Each part is tokenised alone. Pure functions; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

inline constexpr std::array<std::string_view, 24> kNeedleCities = {
    "Amsterdam", "Athens", "Bangkok",  "Barcelona", "Berlin",  "Boston", "Cairo",  "Chicago",
    "Dublin",    "Geneva", "Helsinki", "Istanbul",  "Jakarta", "Lisbon", "London", "Madrid",
    "Moscow",    "Mumbai", "Oslo",     "Paris",     "Prague",  "Seoul",  "Tokyo",  "Vienna"};

// A needle is its opening, its number and its end; behind the text come the question and the answer's number.
[[nodiscard]] inline std::string needle_opening(std::string_view city) {
  return "\nThe special magic number for " + std::string(city) + " is";
}
[[nodiscard]] inline std::string needle_number(std::int64_t number) { return " " + std::to_string(number); }
inline constexpr std::string_view kNeedleEnd = ".\n";
[[nodiscard]] inline std::string needle_question(std::string_view city) {
  const std::string name(city);
  return "\nQuestion: What is the special magic number for " + name + "?\nAnswer: The special magic number for " +
         name + " is";
}

}  // namespace headroom
