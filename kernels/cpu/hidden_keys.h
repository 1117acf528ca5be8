// Hidden keys of a head as flags, for kernels that ask key by key. Empty where none is hidden.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/attention.h"

namespace headroom::kernels {

struct HiddenKeys {
  std::vector<std::uint8_t> hidden;     // [length], 1: hidden
  std::vector<std::uint8_t> keeps_own;  // [length], 1: the row would see nothing else and keeps its own key
};

template <typename Input>
[[nodiscard]] HiddenKeys hidden_key_flags(const HeadProblem<Input>& problem) {
  HiddenKeys flags;
  if (problem.hidden_keys.empty()) return flags;
  flags.hidden.assign(static_cast<std::size_t>(problem.length), 0);
  flags.keeps_own = flags.hidden;
  for (const std::int64_t key : problem.hidden_keys)
    if (key >= 0 && key < problem.length) flags.hidden[static_cast<std::size_t>(key)] = 1;
  std::vector<KeyRange> segments;
  for (std::int64_t row = 0; row < problem.length; ++row) {
    if (!flags.hidden[static_cast<std::size_t>(row)]) continue;
    visible_segments(problem, row, segments);
    // Segments of other keys never hold a hidden one.
    for (const KeyRange& segment : segments)
      if (segment.begin <= row && row < segment.end) flags.keeps_own[static_cast<std::size_t>(row)] = 1;
  }
  return flags;
}

}  // namespace headroom::kernels
