// Whole words as numbers: "17", "-0.5", "1e3"; nothing for a word with anything before, behind or between. Pure
// functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

[[nodiscard]] std::optional<std::int64_t> parse_index(std::string_view word);  // 0 or more
[[nodiscard]] std::optional<double> parse_finite(std::string_view word);       // neither "inf" nor "nan"

}  // namespace headroom
