#include "app/cli/option_checks.h"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace headroom {

std::string not_a_whole_number(const std::string& text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()
             ? ""
             : "expected a whole number from 0, found " + text;
}

}  // namespace headroom
