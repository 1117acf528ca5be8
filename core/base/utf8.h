// UTF-8 decoding that never fails: an invalid byte comes back as one invalid scalar. Safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom {

struct Utf8Scalar {
  char32_t code_point = 0;     // the byte itself where not valid
  std::size_t size_bytes = 0;  // 1 … 4; 1 where not valid
  bool valid = false;
};

// The first scalar of non-empty `text`. Overlong forms, surrogates and values above U+10FFFF are invalid.
[[nodiscard]] Utf8Scalar decode_utf8(std::string_view text);

[[nodiscard]] bool is_valid_utf8(std::string_view text);

void append_utf8(std::string& out, char32_t code_point);

// `text` with every invalid byte replaced by U+FFFD.
[[nodiscard]] std::string to_valid_utf8(std::string_view text);

}  // namespace headroom
