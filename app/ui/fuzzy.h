// Finds what a few typed letters mean: words and letters in order, the better match first. Pure functions; safe from
// any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom {

[[nodiscard]] constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct FuzzyMatch {
  double score = 0.0;                  // higher is better
  std::vector<std::size_t> positions;  // bytes of `text` that matched, ascending
};

// Every word of `query` must be found in `text`, in any order: as a run of letters, at the beginning of a word best,
// else as letters in order that begin words. Case does not count for ASCII. An empty query matches with score 0.
[[nodiscard]] std::optional<FuzzyMatch> fuzzy_match(std::string_view query, std::string_view text);

}  // namespace headroom
