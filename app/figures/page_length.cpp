#include "app/figures/page_length.h"

#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 10> kNamed = {{{"single", 84.0},
                                                                         {"wide", 120.0},
                                                                         {"double", 174.0},
                                                                         {"neurips", 139.7},
                                                                         {"icml", 82.6},
                                                                         {"icml-double", 171.5},
                                                                         {"acl", 77.0},
                                                                         {"nature", 89.0},
                                                                         {"nature-double", 183.0},
                                                                         {"ieee", 88.9}}};
constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
    {{"mm", 1.0}, {"cm", 10.0}, {"in", 25.4}, {"pt", 25.4 / 72.0}}};
constexpr double kLeast = 20.0, kMost = 2000.0;  // millimetres

}  // namespace

Result<double> page_length(std::string_view text) {
  for (const auto& [name, length] : kNamed)
    if (text == name) return length;
  double value = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(parsed.ptr, text.data() + text.size());
  for (const auto& [name, factor] : kUnits)
    if (parsed.ec == std::errc() && unit == name && value * factor >= kLeast && value * factor <= kMost)
      return value * factor;
  std::string names;
  for (const auto& [name, length] : kNamed) names += ", " + std::string(name);
  Error error(ErrorCode::InvalidArgument, "\"" + std::string(text) + "\" is no length of a page");
  return error.wanted("a number of mm, cm, in or pt from 20 to 2000 mm" + names, text);
}

}  // namespace headroom
