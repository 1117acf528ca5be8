#include "app/ui/fuzzy.h"

#include <algorithm>
#include <string>

namespace headroom {
namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), ascii_lower);
  return out;
}

bool in_word(char c) {
  const auto b = static_cast<unsigned char>(c);
  return b >= 0x80 || (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z');
}

bool begins_word(std::string_view text, std::size_t at) { return at == 0 || !in_word(text[at - 1]); }

// A run of letters: at the text's beginning, at a word's, anywhere.
std::optional<FuzzyMatch> run_of(std::string_view word, std::string_view text) {
  std::optional<FuzzyMatch> best;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    double score = 10.0 + 2.0 * static_cast<double>(word.size());
    if (begins_word(text, at)) score += 20.0;
    if (at == 0) score += 10.0;
    if (at + word.size() == text.size() || !in_word(text[at + word.size()])) score += 4.0;
    score -= 0.05 * static_cast<double>(at);
    if (best && best->score >= score) continue;
    best = FuzzyMatch{score, {}};
    for (std::size_t i = 0; i < word.size(); ++i) best->positions.push_back(at + i);
  }
  return best;
}

// Letters in order, each the beginning of a word or beside the one before it: "ms" finds "map scale".
std::optional<FuzzyMatch> initials_of(std::string_view word, std::string_view text) {
  FuzzyMatch match;
  std::size_t from = 0;
  for (const char c : word) {
    std::size_t at = from;
    const auto fits = [&](std::size_t i) {
      return text[i] == c && (begins_word(text, i) || (!match.positions.empty() && i == match.positions.back() + 1));
    };
    while (at < text.size() && !fits(at)) ++at;
    if (at == text.size()) return std::nullopt;
    match.positions.push_back(at);
    from = at + 1;
  }
  match.score = 6.0 + static_cast<double>(word.size()) - 0.05 * static_cast<double>(match.positions.front());
  return match;
}

}  // namespace

std::optional<FuzzyMatch> fuzzy_match(std::string_view query, std::string_view text) {
  const std::string needle = lowered(query), hay = lowered(text);
  FuzzyMatch all;
  std::size_t at = 0;
  while (at < needle.size()) {
    if (needle[at] == ' ') {
      ++at;
      continue;
    }
    std::size_t end = needle.find(' ', at);
    if (end == std::string::npos) end = needle.size();
    const std::string_view word = std::string_view(needle).substr(at, end - at);
    std::optional<FuzzyMatch> match = run_of(word, hay);
    if (!match && word.size() > 1) match = initials_of(word, hay);
    if (!match) return std::nullopt;
    all.score += match->score;
    all.positions.insert(all.positions.end(), match->positions.begin(), match->positions.end());
    at = end;
  }
  std::sort(all.positions.begin(), all.positions.end());
  all.positions.erase(std::unique(all.positions.begin(), all.positions.end()), all.positions.end());
  return all;
}

}  // namespace headroom
