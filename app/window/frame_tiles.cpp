#include "app/window/frame_tiles.h"

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr std::size_t kMostParts = 16, kMostRuns = 64;  // drawn, and before they are joined
constexpr float kMostShare = 0.75f;                     // of the frame, above which it is drawn whole

float area(const Rect& rect) { return rect.width() * rect.height(); }
Rect around(const Rect& a, const Rect& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

// Fewer parts: the two that grow least when they become one, and whatever that one meets.
void join_nearest(std::vector<Rect>& parts) {
  std::size_t first = 0, second = 1;
  float least = INFINITY;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t k = i + 1; k < parts.size(); ++k)
      if (const float grown = area(around(parts[i], parts[k])) - area(parts[i]) - area(parts[k]); grown < least)
        least = grown, first = i, second = k;
  Rect joined = around(parts[first], parts[second]);
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(second));
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(first));
  for (;;) {
    const auto met = std::ranges::find_if(parts, [&](const Rect& part) { return part.overlaps(joined); });
    if (met == parts.end()) break;
    joined = around(joined, *met);
    parts.erase(met);
  }
  parts.push_back(joined);
}

// Whether each of `columns` × `rows` squares differs.
struct Cells {
  int columns = 0, rows = 0;
  std::vector<std::uint8_t> differ;

  [[nodiscard]] std::size_t place(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x);
  }
  [[nodiscard]] bool at(int x, int y) const { return differ[place(x, y)] != 0; }
  // Of twice the side.
  [[nodiscard]] Cells coarser() const {
    Cells coarse{(columns + 1) / 2, (rows + 1) / 2, {}};
    coarse.differ.resize(static_cast<std::size_t>(coarse.columns) * static_cast<std::size_t>(coarse.rows));
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) coarse.differ[coarse.place(x / 2, y / 2)] |= differ[place(x, y)];
    return coarse;
  }
};

// Runs of cells along their rows, those of the same width below each other as one; no more than one beyond kMostRuns.
std::vector<Rect> runs_of(const Cells& cells, int side, const Rect& whole) {
  std::vector<Rect> parts;
  for (int y = 0; y < cells.rows; ++y)
    for (int x = 0; x < cells.columns && parts.size() <= kMostRuns; ++x) {
      if (!cells.at(x, y)) continue;
      const int from = x;
      while (x < cells.columns && cells.at(x, y)) ++x;
      const Rect run = Rect{static_cast<float>(from * side), static_cast<float>(y * side), static_cast<float>(x * side),
                            static_cast<float>((y + 1) * side)}
                           .intersected(whole);
      // The run above of the same width becomes higher.
      const auto above = std::ranges::find_if(
          parts, [&](const Rect& part) { return part.y1 == run.y0 && part.x0 == run.x0 && part.x1 == run.x1; });
      if (above != parts.end())
        above->y1 = run.y1;
      else
        parts.push_back(run);
    }
  return parts;
}

}  // namespace

void FrameTiles::begin(int width, int height, std::uint64_t ground) {
  width_ = width, height_ = height;
  columns_ = (width + kSide - 1) / kSide, rows_ = (height + kSide - 1) / kSide;
  tiles_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), mixed(0, ground));
}

void FrameTiles::add(const Rect& box, std::uint64_t content) {
  // Not a number and what lies outside covers nothing; inside whole numbers are rounded down by a cast.
  const float width = static_cast<float>(width_), height = static_cast<float>(height_);
  if (!(box.x1 > 0.0f && box.y1 > 0.0f && box.x0 < width && box.y0 < height)) return;
  const int x0 = static_cast<int>(std::max(box.x0, 0.0f)) / kSide,
            y0 = static_cast<int>(std::max(box.y0, 0.0f)) / kSide;
  const auto end = [](float at) {
    const int whole = static_cast<int>(at);
    return (whole + (static_cast<float>(whole) < at ? kSide : kSide - 1)) / kSide;
  };
  add(x0, y0, end(std::min(box.x1, width)), end(std::min(box.y1, height)), content);
}

void FrameTiles::add(int x0, int y0, int x1, int y1, std::uint64_t content) {
  for (int y = y0; y < y1; ++y)
    for (int x = x0; x < x1; ++x) {
      std::uint64_t& sum = tiles_[place(x, y)];
      sum = mixed(sum, content);
    }
}

std::vector<Rect> FrameTiles::differences(const FrameTiles& before) const {
  const Rect whole{0.0f, 0.0f, static_cast<float>(width_), static_cast<float>(height_)};
  if (before.width_ != width_ || before.height_ != height_) return {whole};
  Cells cells{columns_, rows_, std::vector<std::uint8_t>(tiles_.size())};
  for (std::size_t i = 0; i < tiles_.size(); ++i) cells.differ[i] = tiles_[i] != before.tiles_[i] ? 1 : 0;
  const auto most = static_cast<std::ptrdiff_t>(kMostShare * static_cast<float>(tiles_.size()));
  if (std::ranges::count(cells.differ, 1) > most) return {whole};
  // What is scattered all over is looked at in larger tiles.
  int side = kSide;
  std::vector<Rect> parts = runs_of(cells, side, whole);
  for (; parts.size() > kMostRuns; parts = runs_of(cells, side, whole)) cells = cells.coarser(), side *= 2;
  while (parts.size() > kMostParts) join_nearest(parts);
  float drawn = 0.0f;
  for (const Rect& part : parts) drawn += area(part);
  if (drawn > kMostShare * area(whole)) return {whole};
  return parts;
}

}  // namespace headroom
