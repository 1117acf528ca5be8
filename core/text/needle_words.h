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

// What all of them say before and behind the names of cities.
inline constexpr std::string_view kNeedleBeforeCity = "\nThe special magic number for";
inline constexpr std::string_view kQuestionBeforeCity = "\nQuestion: What is the special magic number for";
inline constexpr std::string_view kAnswerBeforeCity = "?\nAnswer: The special magic number for";
inline constexpr std::string_view kBehindCity = " is";

// A needle is its opening, its number and its end; behind the text come the question and the answer's number.
[[nodiscard]] inline std::string needle_opening(std::string_view city) {
  return std::string(kNeedleBeforeCity).append(" ").append(city).append(kBehindCity);
}
[[nodiscard]] inline std::string needle_number(std::int64_t number) { return " " + std::to_string(number); }
inline constexpr std::string_view kNeedleEnd = ".\n";
[[nodiscard]] inline std::string needle_question(std::string_view city) {
  std::string text(kQuestionBeforeCity);
  text.append(" ").append(city).append(kAnswerBeforeCity);
  return text.append(" ").append(city).append(kBehindCity);
}

}  // namespace headroom
