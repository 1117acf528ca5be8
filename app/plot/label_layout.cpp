#include "app/plot/label_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>

#include "app/plot/ticks.h"
#include "app/plot/token_text.h"

namespace headroom {

namespace {

OrientedBox line_box(Vec2 from, Vec2 to, float width) {
  const Vec2 way = to - from;
  return {(from + to) * 0.5f, 0.5f * std::hypot(way.x, way.y), 0.5f * width, std::atan2(-way.y, way.x)};
}

}  // namespace

void LabelSpace::block_line(std::span<const Vec2> points, float width) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const OrientedBox box = line_box(points[i - 1], points[i], width);
    if (std::isfinite(box.half_width)) taken_.push_back(box);
  }
}

void LabelSpace::lead(Vec2 from, Vec2 to, float width) {
  taken_.push_back(line_box(from, to, width));
  labels_.push_back(taken_.back());
}

bool LabelSpace::crosses_label(Vec2 from, Vec2 to, float width) const {
  const OrientedBox line = line_box(from, to, width);
  return std::ranges::any_of(labels_, [&](const OrientedBox& label) { return line.overlaps(label); });
}

std::size_t LabelSpace::crossed(Vec2 from, Vec2 to, float width) const {
  const OrientedBox line = line_box(from, to, width);
  return static_cast<std::size_t>(
      std::ranges::count_if(taken_, [&](const OrientedBox& other) { return line.overlaps(other); }));
}

bool LabelSpace::fits(const OrientedBox& box) const {
  // A hundredth of a pixel: what fits by arithmetic fits after rounding too.
  if (!box.inside(frame_, 0.01f)) return false;
  const OrientedBox grown = box.grown(margin_);
  return std::none_of(taken_.begin(), taken_.end(), [&](const OrientedBox& other) { return grown.overlaps(other); });
}

bool LabelSpace::place(const OrientedBox& box) {
  if (!fits(box)) return false;
  taken_.push_back(box);
  labels_.push_back(box);
  return true;
}

std::ptrdiff_t LabelSpace::place_first(std::span<const Rect> places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (place(OrientedBox::of(places[i]))) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

std::vector<std::ptrdiff_t> place_in_order(std::span<const std::vector<Rect>> candidates, Rect frame,
                                           std::span<const Rect> taken, float margin) {
  LabelSpace space(frame, margin);
  for (const Rect& rect : taken) space.block(rect);
  std::vector<std::ptrdiff_t> out;
  for (const std::vector<Rect>& places : candidates) out.push_back(space.place_first(places));
  return out;
}

namespace {

constexpr float kTickToText = 6.0f;

// How wide text may be from `baseline` at an angle between 0 and a right angle, so as to stay in the panel.
float room_at(Vec2 baseline, const SlantedOptions& options) {
  const float sine = std::sin(options.angle), cosine = std::cos(options.angle);
  float room = std::numeric_limits<float>::max();
  if (sine > 1e-3f) room = (baseline.y - kTextAscent * options.size * cosine - options.panel.y0) / sine;
  if (cosine > 1e-3f) {
    room = std::min(room, (options.panel.x1 - kTextDescent * options.size * sine - baseline.x) / cosine);
  }
  return room;
}

// Whether a position is at least `gap` from all in the set.
bool apart(const std::set<float>& positions, float x, float gap) {
  const auto next = positions.lower_bound(x);
  return (next == positions.end() || *next - x >= gap) && (next == positions.begin() || x - *std::prev(next) >= gap);
}

}  // namespace

std::vector<PlacedSlanted> place_slanted(std::span<const SlantedLabel> labels, const SlantedOptions& options,
                                         const TextMeasure& measure, std::span<const Rect> taken) {
  LabelSpace space(options.panel, 0.0f);
  for (const Rect& rect : taken) space.block(rect);
  const float lift = 0.36f * options.size;
  std::vector<PlacedSlanted> out;
  std::set<float> positions;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const SlantedLabel& label = labels[i];
    if (label.text.empty() || !std::isfinite(label.x) || !apart(positions, label.x, options.least_gap)) continue;
    // The middle of the letters, not the baseline, runs into the tick.
    const Vec2 baseline{label.x + lift * std::sin(options.angle),
                        options.axis_y - kTickToText + lift * std::cos(options.angle)};
    const Face face = label.strong ? options.strong_face : options.face;
    std::string text = elide_middle(label.text, room_at(baseline, options), measure, face, options.size);
    if (text.empty() || (text == "…" && label.text != text)) continue;
    const OrientedBox box = text_box(baseline, measure.width(text, face, options.size), options.size, options.angle);
    if (!space.place(box)) continue;
    positions.insert(label.x);
    out.push_back({i, baseline, options.angle, face, std::move(text), box});
  }
  std::sort(out.begin(), out.end(),
            [](const PlacedSlanted& a, const PlacedSlanted& b) { return a.baseline.x < b.baseline.x; });
  return out;
}

std::vector<RowLabel> row_labels(double begin, double end, float from, float to, std::span<const std::int64_t> forced,
                                 float least_gap) {
  std::vector<RowLabel> out;
  if (!(end > begin) || !std::isfinite(begin) || !std::isfinite(end) || from == to) return out;
  const Axis axis{begin, end, false, from, to};
  const auto centre = [&](std::int64_t row) { return axis.pixel(static_cast<double>(row) + 0.5); };
  const auto visible = [&](std::int64_t row) {
    const double middle = static_cast<double>(row) + 0.5;
    return middle >= begin && middle <= end;
  };
  const auto add = [&](std::int64_t row, bool is_forced) {
    const float at = centre(row);
    const bool free = std::none_of(out.begin(), out.end(), [&](const RowLabel& other) {
      return (is_forced || other.forced) && std::abs(other.centre - at) < least_gap;
    });
    if (visible(row) && free) out.push_back({row, at, is_forced});
  };
  for (const std::int64_t row : forced) add(row, true);
  const std::int64_t first = static_cast<std::int64_t>(std::ceil(begin - 0.5));
  const std::int64_t last = static_cast<std::int64_t>(std::floor(end - 0.5));
  const double per_row = std::abs(static_cast<double>(to) - static_cast<double>(from)) / (end - begin);
  // Between the first and the last centre, so that the step is the one that fits the rows' own distance.
  const double length = per_row * static_cast<double>(last - first);
  if (first == last) {
    add(first, false);
  } else if (last > first) {
    for (const Tick& tick : index_ticks(first, last, length, static_cast<double>(least_gap))) {
      add(std::llround(tick.value), false);
    }
  }
  std::sort(out.begin(), out.end(), [](const RowLabel& a, const RowLabel& b) { return a.index < b.index; });
  return out;
}

std::vector<float> spread_labels(std::span<const float> wanted, float gap, float low, float high) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> out(wanted.size(), kNaN);
  if (!(high >= low)) return out;
  const std::size_t most =
      gap > 0.0f ? static_cast<std::size_t>(std::floor((high - low) / gap + 1e-4f)) + 1 : wanted.size();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < wanted.size() && order.size() < most; ++i) {
    if (std::isfinite(wanted[i])) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });

  // With i · gap taken off, "gap apart" is "not descending": isotonic regression by pooling neighbours that violate it,
  // whose solution within bounds is the unbounded one, clamped.
  struct Pool {
    double sum;
    std::size_t count;
    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < order.size(); ++i) {
    pools.push_back({static_cast<double>(wanted[order[i]]) - static_cast<double>(gap) * static_cast<double>(i), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  const double last_low = std::max(
      static_cast<double>(low),
      static_cast<double>(high) - static_cast<double>(gap) * static_cast<double>(order.empty() ? 0 : order.size() - 1));
  std::size_t i = 0;
  for (const Pool& pool : pools) {
    const double at = std::clamp(pool.mean(), static_cast<double>(low), last_low);
    for (std::size_t k = 0; k < pool.count; ++k, ++i) {
      out[order[i]] = static_cast<float>(at + static_cast<double>(gap) * static_cast<double>(i));
    }
  }
  return out;
}

}  // namespace headroom
