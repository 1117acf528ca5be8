#include "app/figures/figure_data.h"

#include <array>
#include <charconv>
#include <cmath>

namespace headroom {
namespace {

std::string shortest(double value) {
  if (std::isnan(value)) return {};
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

std::string whole(std::int64_t value) { return value < 0 ? std::string() : std::to_string(value); }

// Names of quantities may hold a comma: "top_key_mass[first,4]".
std::string field(const std::string& text) { return text.find(',') == std::string::npos ? text : '"' + text + '"'; }

}  // namespace

std::string FigureData::csv() const {
  std::string text = "panel,series,mark,layer,head,component,row,key,x,y,low,high,n\n";
  for (const FigureMark& mark : marks_) {
    text += mark.panel + "," + field(mark.series) + "," + mark.kind;
    for (const std::int64_t value : {mark.layer, mark.head, mark.component, mark.row, mark.key})
      text += "," + whole(value);
    for (const double value : {mark.x, mark.y, mark.low, mark.high}) text += "," + shortest(value);
    text += "," + whole(mark.n) + "\n";
  }
  return text;
}

}  // namespace headroom
