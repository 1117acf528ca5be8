#include "app/text/bidi.h"

#include <fribidi.h>

#include <algorithm>
#include <cstddef>

namespace headroom {

std::vector<BidiRun> bidi_runs(std::span<const char32_t> text) {
  constexpr char32_t kFirstRightToLeft = 0x0590;
  if (text.empty()) return {};
  if (std::all_of(text.begin(), text.end(), [](char32_t c) { return c < kFirstRightToLeft; }))
    return {{0, text.size(), false}};

  const auto count = static_cast<FriBidiStrIndex>(text.size());
  const std::vector<FriBidiChar> characters(text.begin(), text.end());
  std::vector<FriBidiCharType> types(text.size());
  std::vector<FriBidiBracketType> brackets(text.size());
  std::vector<FriBidiLevel> levels(text.size());
  fribidi_get_bidi_types(characters.data(), count, types.data());
  fribidi_get_bracket_types(characters.data(), count, types.data(), brackets.data());
  FriBidiParType base = FRIBIDI_PAR_LTR;
  const FriBidiLevel top =
      fribidi_get_par_embedding_levels_ex(types.data(), brackets.data(), count, &base, levels.data());
  if (top <= 1) return {{0, text.size(), false}};  // 0: out of memory; 1: nothing but level 0

  std::vector<BidiRun> runs;
  std::vector<FriBidiLevel> run_levels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || levels[i] != levels[i - 1]) {
      runs.push_back({i, i, (levels[i] & 1) != 0});
      run_levels.push_back(levels[i]);
    }
    runs.back().end = i + 1;
  }
  // Rule L2: from the highest level down to the lowest odd one, turn every stretch at that level or above round.
  for (FriBidiLevel level = top; level >= 1; --level) {
    for (std::size_t i = 0; i < runs.size();) {
      std::size_t j = i;
      while (j < runs.size() && run_levels[j] >= level) ++j;
      std::reverse(runs.begin() + static_cast<std::ptrdiff_t>(i), runs.begin() + static_cast<std::ptrdiff_t>(j));
      std::reverse(run_levels.begin() + static_cast<std::ptrdiff_t>(i),
                   run_levels.begin() + static_cast<std::ptrdiff_t>(j));
      i = std::max(j, i + 1);
    }
  }
  return runs;
}

}  // namespace headroom
