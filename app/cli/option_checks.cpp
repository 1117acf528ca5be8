#include "app/cli/option_checks.h"

#include <charconv>
#include <cmath>
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

std::string not_a_size(const std::string& text) {
  double value = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return number && value >= 0.0 && std::isfinite(value) ? "" : "expected a number from 0, found " + text;
}

std::string not_a_positive_size(const std::string& text) {
  double value = 0.0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value > 0.0 && not_a_size(text).empty() ? "" : "expected a number above 0, found " + text;
}

std::string not_a_list(const std::string& text) {
  return text.empty() ? "takes a list such as 0,2-5; found nothing" : "";
}

}  // namespace headroom
