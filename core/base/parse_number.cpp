#include "core/base/parse_number.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace headroom {
namespace {

template <typename Number>
std::optional<Number> whole_word(std::string_view word) {
  Number value{};
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) return {};
  return value;
}

}  // namespace

std::optional<std::int64_t> parse_index(std::string_view word) {
  const auto value = whole_word<std::int64_t>(word);
  return value && *value >= 0 ? value : std::nullopt;
}

std::optional<double> parse_finite(std::string_view word) {
  const auto value = whole_word<double>(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace headroom
