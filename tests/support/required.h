// The value of a result that a test cannot do without; throws with the error's text where there is none.
#pragma once

#include <stdexcept>
#include <utility>

#include "core/base/error.h"
#include "core/base/result.h"

namespace headroom::test {

template <typename T>
[[nodiscard]] T required(Result<T> result) {
  if (!result) throw std::runtime_error(describe(result.error()));
  return std::move(*result);
}

inline void required_void(const Result<void>& result) {
  if (!result) throw std::runtime_error(describe(result.error()));
}

}  // namespace headroom::test
