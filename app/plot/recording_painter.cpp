#include "app/plot/recording_painter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include "app/plot/unicode.h"

namespace headroom {
namespace {

constexpr float kSlack = 0.5f, kLeastSize = 10.0f;
constexpr Rect kEverything{-1e9f, -1e9f, 1e9f, 1e9f};

std::string number(float value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.1f", static_cast<double>(value));
  return buffer;
}

std::string described(const Rect& r) {
  return "[" + number(r.x0) + ", " + number(r.y0) + " – " + number(r.x1) + ", " + number(r.y1) + "]";
}

bool is_finite(const Rect& r) {
  return std::isfinite(r.x0) && std::isfinite(r.y0) && std::isfinite(r.x1) && std::isfinite(r.y1);
}

Rect bounds_of(std::span<const Vec2> points) {
  if (points.empty()) return {};
  Rect r{points[0].x, points[0].y, points[0].x, points[0].y};
  for (const Vec2 p : points) {
    // Written so that a NaN stays.
    r.x0 = p.x >= r.x0 ? r.x0 : p.x, r.x1 = p.x <= r.x1 ? r.x1 : p.x;
    r.y0 = p.y >= r.y0 ? r.y0 : p.y, r.y1 = p.y <= r.y1 ? r.y1 : p.y;
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) return {p.x, p.y, p.x, p.y};
  }
  return r;
}

bool starts_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }

// What a font cannot show: control characters and bytes that are not UTF-8.
bool drawable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_utf8(text, at);
    if (!point || point->value < 0x20 || point->value == 0x7F || (point->value >= 0x80 && point->value < 0xA0))
      return false;
    at += point->bytes;
  }
  return true;
}

}  // namespace

RecordingPainter::RecordingPainter(const TextMeasure& measure, Rect ground, float scale)
    : measure_(measure), ground_(ground), scale_(scale) {}

std::vector<const RecordedText*> RecordingPainter::find(std::string_view part) const {
  std::vector<const RecordedText*> out;
  for (const RecordedText& text : texts_) {
    if (text.text.find(part) != std::string::npos) out.push_back(&text);
  }
  return out;
}

std::string RecordingPainter::described(const RecordedText& text) const {
  const std::string where = text.panel < 0 ? "no panel" : panels_[static_cast<std::size_t>(text.panel)].name;
  return "\"" + text.text + "\" " + headroom::described(text.box.bounds()) + " in " + where;
}

bool RecordingPainter::seen(const RecordedText& text) const {
  return text.width > 0.0f && text.style.color.a > 0 && text.box.overlaps(OrientedBox::of(text.clip));
}

std::vector<std::string> RecordingPainter::texts_outside() const {
  std::vector<std::string> out;
  for (const RecordedText& text : texts_) {
    if (!seen(text)) continue;
    const Rect& frame = text.panel < 0 ? ground_ : panels_[static_cast<std::size_t>(text.panel)].frame;
    if (!text.box.inside(frame, kSlack)) {
      out.push_back(described(text) + " leaves its frame " + headroom::described(frame));
    } else if (!text.box.inside(text.clip, kSlack)) {
      out.push_back(described(text) + " is cut by its clip " + headroom::described(text.clip));
    }
  }
  return out;
}

std::vector<std::string> RecordingPainter::texts_overlapping() const {
  struct Item {
    const RecordedText* text;
    OrientedBox box;
    Rect bounds;
  };
  std::vector<Item> items;
  for (const RecordedText& text : texts_) {
    if (!seen(text)) continue;
    // Half of the slack each: together they may share half a pixel.
    const OrientedBox box = text.box.grown(-0.5f * kSlack);
    items.push_back({&text, box, box.bounds()});
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.bounds.y0 < b.bounds.y0; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t j = i + 1; j < items.size() && items[j].bounds.y0 < items[i].bounds.y1; ++j) {
      const Item &a = items[i], &b = items[j];
      if (a.text->layer != b.text->layer || !a.bounds.overlaps(b.bounds) || !a.box.overlaps(b.box)) continue;
      // Only what is visible of both can touch.
      if (const Rect shared = a.bounds.intersected(b.bounds).intersected(a.text->clip).intersected(b.text->clip);
          shared.empty()) {
        continue;
      }
      out.push_back(described(*a.text) + " overlaps " + described(*b.text));
    }
  }
  return out;
}

std::vector<std::string> RecordingPainter::misuses() const {
  std::vector<std::string> out = misuses_;
  if (!clips_.empty()) out.push_back(std::to_string(clips_.size()) + " clips are left open");
  for (const int panel : open_)
    out.push_back("panel " + panels_[static_cast<std::size_t>(panel)].name + " is left open");
  return out;
}

std::vector<std::string> RecordingPainter::violations() const {
  std::vector<std::string> out = texts_outside();
  for (auto& more : {texts_overlapping(), misuses()}) out.insert(out.end(), more.begin(), more.end());
  return out;
}

void RecordingPainter::clear() {
  texts_.clear(), panels_.clear(), shapes_.clear(), maps_.clear();
  pictures_.clear();
  clips_.clear(), open_.clear(), misuses_.clear();
  layers_ = 1;
}

void RecordingPainter::begin_panel(std::string_view name, Rect frame) {
  const bool overlay = starts_with(name, "overlay:");
  if (!OrientedBox::of(frame).inside(ground_, kSlack)) {
    misuses_.push_back("panel " + std::string(name) + " " + headroom::described(frame) + " leaves the window");
  }
  panels_.push_back({std::string(name), frame, panel(), overlay ? layers_++ : layer()});
  open_.push_back(static_cast<int>(panels_.size()) - 1);
}

void RecordingPainter::end_panel() {
  if (open_.empty()) {
    misuses_.push_back("end_panel without begin_panel");
  } else {
    open_.pop_back();
  }
}

void RecordingPainter::push_clip(Rect clip) {
  if (!is_finite(clip)) misuses_.push_back("a clip is not finite");
  clips_.push_back(clips_.empty() ? clip : clips_.back().intersected(clip));
}

void RecordingPainter::pop_clip() {
  if (clips_.empty()) {
    misuses_.push_back("pop_clip without push_clip");
  } else {
    clips_.pop_back();
  }
}

void RecordingPainter::add(RecordedShape::Kind kind, std::span<const Vec2> points, Rect bounds, Color color,
                           float width) {
  if (!is_finite(bounds) || !std::isfinite(width)) {
    misuses_.push_back("a shape is not finite: " + headroom::described(bounds));
  }
  shapes_.push_back({kind,
                     bounds,
                     color,
                     width,
                     {points.begin(), points.end()},
                     clips_.empty() ? kEverything : clips_.back(),
                     panel(),
                     layer()});
}

void RecordingPainter::fill_rect(Rect rect, Color color, float) {
  add(RecordedShape::Kind::FillRect, {}, rect, color, 0.0f);
}

void RecordingPainter::stroke_rect(Rect rect, Color color, float width, float) {
  add(RecordedShape::Kind::StrokeRect, {}, rect, color, width);
}

void RecordingPainter::line(Vec2 from, Vec2 to, Color color, float width) {
  const Vec2 ends[] = {from, to};
  add(RecordedShape::Kind::Line, ends, bounds_of(ends), color, width);
}

void RecordingPainter::polyline(std::span<const Vec2> points, Color color, float width, bool) {
  add(RecordedShape::Kind::Polyline, points, bounds_of(points), color, width);
}

void RecordingPainter::fill_polygon(std::span<const Vec2> points, Color color) {
  add(RecordedShape::Kind::Polygon, points, bounds_of(points), color, 0.0f);
}

void RecordingPainter::disc(Vec2 centre, float radius, Color color) {
  add(RecordedShape::Kind::Disc, {&centre, 1}, Rect{centre.x, centre.y, centre.x, centre.y}.inset(-radius), color,
      radius);
}

void RecordingPainter::ring(Vec2 centre, float radius, Color color, float width) {
  add(RecordedShape::Kind::Ring, {&centre, 1}, Rect{centre.x, centre.y, centre.x, centre.y}.inset(-radius), color,
      width);
}

void RecordingPainter::points(std::span<const Vec2> centres, Color color, float size) {
  add(RecordedShape::Kind::Points, centres, bounds_of(centres), color, size);
}

void RecordingPainter::text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle) {
  const float width = measure_.width(text, style.face, style.size);
  RecordedText record{std::string(text),
                      style,
                      baseline,
                      angle,
                      width,
                      text_box(baseline, width, style.size, angle),
                      clips_.empty() ? kEverything : clips_.back(),
                      panel(),
                      layer()};
  if (!is_finite(record.box.bounds())) misuses_.push_back("a text is not at a finite place: \"" + record.text + "\"");
  if (!drawable(text)) misuses_.push_back("a text holds control characters or no UTF-8: " + described(record));
  if (style.size < kLeastSize) misuses_.push_back("a text is smaller than 10 px: " + described(record));
  texts_.push_back(std::move(record));
}

void RecordingPainter::map(Rect target, const MapImage& image, Rect source, const MapShading& shading) {
  if (!is_finite(target) || !is_finite(source)) misuses_.push_back("a map is not finite");
  const bool sized = image.width >= 0 && image.height >= 0 &&
                     (!image.values || image.values->size() == static_cast<std::size_t>(image.width) *
                                                                   static_cast<std::size_t>(image.height));
  if (!sized || !image.values) misuses_.push_back("a map's values do not match its size");
  maps_.push_back({target, source, image, shading, clips_.empty() ? kEverything : clips_.back(), panel(), layer()});
}

void RecordingPainter::picture(Rect target, const RgbPicture& picture) {
  const bool sized = picture.rgb && picture.rgb->size() == std::size_t{3} * static_cast<std::size_t>(picture.width) *
                                                               static_cast<std::size_t>(picture.height);
  if (!is_finite(target) || !sized) misuses_.push_back("a picture's pixels do not match its size, or its place");
  pictures_.push_back({target, picture, panel(), layer()});
}

}  // namespace headroom
