// Words that stand for values. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace headroom {

// The value of Enum, from 0, whose name `word` is; InvalidArgument with the option and all names for another.
template <typename Enum, std::size_t Count>
[[nodiscard]] Result<Enum> named_word(std::string_view word, const std::array<std::string_view, Count>& names,
                                      const char* option) {
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<Enum>(found - names.begin());
  std::string all;
  for (std::size_t i = 0; i < Count; ++i)
    all += std::string(i == 0 ? "" : i + 1 < Count ? ", " : " or ") + std::string(names[i]);
  Error error(ErrorCode::InvalidArgument, std::string("there is no such value of ") + option);
  return error.at_tensor(option).wanted(all, word);
}

}  // namespace headroom
