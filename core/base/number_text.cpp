#include "core/base/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace headroom {
namespace {

constexpr const char* kMinus = "−";
constexpr const char* kNothing = "–";

template <typename... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 64> buffer;
  const int length = std::snprintf(buffer.data(), buffer.size(), format, values...);
  if (length < static_cast<int>(buffer.size())) return std::string(buffer.data(), static_cast<std::size_t>(length));
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

// What stands for a value that is not finite; empty for one that is.
std::string not_finite(double value) {
  if (std::isnan(value)) return kNothing;
  if (std::isinf(value)) return value < 0.0 ? std::string(kMinus) + "∞" : "∞";
  return {};
}

bool all_zero(std::string_view digits) {
  return std::none_of(digits.begin(), digits.end(), [](char c) { return c >= '1' && c <= '9'; });
}

// The magnitude as printed, with the sign before it unless it rounds to zero.
std::string with_sign(double value, const std::string& magnitude, const char* plus) {
  if (all_zero(magnitude)) return magnitude;
  return (value < 0.0 ? kMinus : plus) + magnitude;
}

std::string fixed_magnitude(double value, int decimals) {
  return printed("%.*f", std::max(0, decimals), std::abs(value));
}

// Of a number printed with %e: the sign and digits behind the e.
int exponent_in(std::string_view text) {
  text.remove_prefix(text.find('e') + 1);
  if (text.starts_with('+')) text.remove_prefix(1);
  int exponent = 0;
  std::from_chars(text.data(), text.data() + text.size(), exponent);
  return exponent;
}

// "5.0e-05" as "5.0e−5".
std::string scientific_magnitude(double value, int decimals) {
  const std::string text = printed("%.*e", decimals, std::abs(value));
  const std::size_t e = text.find('e');
  const int exponent = exponent_in(text);
  return text.substr(0, e + 1) + (exponent < 0 ? kMinus : "") + std::to_string(std::abs(exponent));
}

int exponent_of(double value, int decimals) { return exponent_in(printed("%.*e", decimals, std::abs(value))); }

}  // namespace

std::string fixed_text(double value, int decimals) {
  if (std::string text = not_finite(value); !text.empty()) return text;
  return with_sign(value, fixed_magnitude(value, decimals), "");
}

std::string signed_text(double value, int decimals) {
  if (std::isinf(value) && value > 0.0) return "+∞";
  if (std::string text = not_finite(value); !text.empty()) return text;
  return with_sign(value, fixed_magnitude(value, decimals), "+");
}

std::string readout_text(double value) {
  if (std::string text = not_finite(value); !text.empty()) return text;
  if (value == 0.0) return "0";
  const int exponent = exponent_of(value, 2);
  std::string magnitude;
  if (exponent < -3 && exponent_of(value, 1) < -3) {
    magnitude = scientific_magnitude(value, 1);
  } else if (exponent >= 6) {
    magnitude = scientific_magnitude(value, 2);
  } else {
    magnitude = fixed_magnitude(value, std::clamp(2 - exponent, 0, 5));
  }
  return with_sign(value, magnitude, "");
}

std::string short_text(double value) {
  if (std::string text = not_finite(value); !text.empty()) return text;
  if (value == 0.0) return "0";
  const double whole = std::round(value), magnitude = std::abs(value);
  if (magnitude < 1e7 && std::abs(value - whole) <= 1e-9 * magnitude)
    return grouped_text(static_cast<std::int64_t>(whole));
  const int exponent = exponent_of(value, 2);
  if (exponent >= -3 && magnitude < 1e7) {
    std::string text = fixed_text(value, std::max(0, 2 - exponent));
    if (text.find('.') == std::string::npos) return text;
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
  }
  const double mantissa = magnitude / std::pow(10.0, exponent);
  if (value > 0.0 && std::abs(mantissa - 1.0) < 1e-6) return power_text(exponent);
  std::string text = scientific_magnitude(value, 2);
  std::size_t e = text.find('e');
  while (text[e - 1] == '0') text.erase(--e, 1);
  if (text[e - 1] == '.') text.erase(--e, 1);
  return with_sign(value, text, "");
}

std::string cell_text(double value) {
  if (std::string text = not_finite(value); !text.empty()) return text;
  if (std::abs(value) < 0.005) return "·";
  std::string magnitude = fixed_magnitude(value, 2);
  if (magnitude.front() == '0') {
    magnitude.erase(0, 1);
  } else {
    magnitude = fixed_magnitude(value, 1);
    if (magnitude.size() > 3) magnitude = fixed_magnitude(value, 0);
  }
  return with_sign(value, magnitude, "");
}

std::array<std::string, 2> log_cell_texts(double value) {
  if (const std::string text = not_finite(value); !text.empty()) return {text, text};
  if (value == 0.0) return {"0", "0"};
  const auto with_digits = [&](int digits) {
    const int exponent = exponent_of(value, digits - 1);  // of the rounded value
    if (exponent < -3) return with_sign(value, scientific_magnitude(value, digits - 1), "");
    std::string magnitude = fixed_magnitude(value, std::max(0, digits - 1 - exponent));
    if (magnitude.front() == '0') magnitude.erase(0, 1);
    return with_sign(value, magnitude, "");
  };
  return {with_digits(2), with_digits(1)};
}

std::string full_text(double value) {
  if (std::isnan(value)) return "nan";
  return printed("%.17g", value);
}

std::string grouped_text(std::int64_t value) {
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  std::string digits = std::to_string(magnitude);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), "\u2009");
  }
  return (value < 0 ? kMinus : "") + digits;
}

std::string size_text(double bytes) {
  if (!std::isfinite(bytes) || bytes < 0.0) return kNothing;
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  // 999.5 kB is 1.0 MB: a number of four digits never appears.
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000.0;
    ++unit;
  }
  return fixed_text(bytes, unit > 0 && bytes < 9.95 ? 1 : 0) + " " + kUnits[unit];
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0.0) return kNothing;
  if (seconds < 0.0995) return fixed_text(seconds * 1000.0, seconds < 0.00995 && seconds > 0.0 ? 1 : 0) + " ms";
  if (seconds < 9.995) return fixed_text(seconds, 2) + " s";
  if (seconds < 59.5) return fixed_text(seconds, 0) + " s";
  if (seconds < 3599.5) {
    const long whole = std::lround(seconds);
    return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  }
  const long long minutes = std::llround(seconds / 60.0);
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

std::string estimated_seconds_text(double seconds) {
  const double whole = std::ceil(seconds);
  return whole < 60.0 && whole >= 0.0 ? fixed_text(whole, 0) + " s" : seconds_text(whole);
}

std::string power_text(int exponent) {
  if (exponent == 0) return "1";
  if (exponent == 1) return "10";
  constexpr std::array kDigits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[static_cast<std::size_t>(digit - '0')];
  return text;
}

}  // namespace headroom
