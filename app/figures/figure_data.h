// What a figure draws, as a table: one mark a line, for --data and for tests. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

// A cell that a mark has no use for is empty: −1 of whole numbers, NaN of others.
struct FigureMark {
  std::string panel;   // its id
  std::string series;  // "rows", "median"
  std::string kind;    // "point", "line", "bar", "cell", …
  std::int64_t layer = -1, head = -1, component = -1, row = -1, key = -1;
  double x = kNone, y = kNone, low = kNone, high = kNone;
  std::int64_t n = -1;

  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
};

class FigureData {
 public:
  void add(FigureMark mark) { marks_.push_back(std::move(mark)); }
  [[nodiscard]] const std::vector<FigureMark>& marks() const { return marks_; }
  // "panel,series,mark,layer,head,component,row,key,x,y,low,high,n" and a line for each; numbers as the shortest text
  // that reads back as they are. Empty: the mark has no such number, or it is not a number.
  [[nodiscard]] std::string csv() const;

 private:
  std::vector<FigureMark> marks_;
};

}  // namespace headroom
