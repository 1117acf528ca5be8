// Where labels go so that none touches another and none leaves its frame: in priority order, slanted along an axis,
// beside rows, at the ends of curves. Pure layout; one thread at a time per LabelSpace, the functions are safe from
// any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/plot/painter.h"
#include "app/plot/text_box.h"

namespace headroom {

// The room that is left in a frame: what is placed or blocked is taken.
class LabelSpace {
 public:
  explicit LabelSpace(Rect frame, float margin = 1.0f) : frame_(frame), margin_(margin) {}
  [[nodiscard]] const Rect& frame() const { return frame_; }
  // Takes the box whatever is there: a curve, a label drawn elsewhere.
  void block(const OrientedBox& box) { taken_.push_back(box); }
  void block(const Rect& rect) { taken_.push_back(OrientedBox::of(rect)); }
  // Blocks the line through the points.
  void block_line(std::span<const Vec2> points, float width);
  // Takes the line to a label, as a label is taken.
  void lead(Vec2 from, Vec2 to, float width);
  // Whether such a line would cross a label that was placed here, or the line to one.
  [[nodiscard]] bool crosses_label(Vec2 from, Vec2 to, float width) const;
  // How many of the things that are taken such a line would cross.
  [[nodiscard]] std::size_t crossed(Vec2 from, Vec2 to, float width) const;
  // Inside the frame, and `margin` pixels from everything that is taken.
  [[nodiscard]] bool fits(const OrientedBox& box) const;
  // Takes the box if it fits.
  bool place(const OrientedBox& box);
  // Takes the first of the places that fits and returns its position in the list; −1: none did.
  std::ptrdiff_t place_first(std::span<const Rect> places);

 private:
  Rect frame_;
  float margin_;
  std::vector<OrientedBox> taken_;
  std::vector<OrientedBox> labels_;  // of these the labels and the lines to them
};

// Places rectangles in priority order, each at the first of its `places` that is free: position in the list, −1 for
// those that find no room.
[[nodiscard]] std::vector<std::ptrdiff_t> place_in_order(std::span<const std::vector<Rect>> candidates, Rect frame,
                                                         std::span<const Rect> taken = {}, float margin = 1.0f);

// Labels that rise at an angle from points of a horizontal axis (keys above the map).
struct SlantedLabel {
  float x = 0.0f;         // of the tick, pixels
  std::string text = {};  // as it is drawn (plot/token_text.h); elided in the middle if the panel is too small for it
  bool strong = false;    // pinned, hovered: drawn in accent and semibold, measured so
};
struct SlantedOptions {
  float axis_y = 0.0f;  // where the ticks end; the text begins 6 pixels above
  Rect panel = {};      // no label leaves it
  float size = 11.0f, angle = 0.785398163f, least_gap = 17.0f;
  Face face = Face::Sans, strong_face = Face::SansSemibold;
};
struct PlacedSlanted {
  std::size_t index = 0;  // in the list of labels
  Vec2 baseline;          // for Painter::text with `angle`
  float angle = 0.0f;
  Face face = Face::Sans;
  std::string text;
  OrientedBox box;
};
// `labels` in priority order: hovered, pinned, key 0, then by attention received. Those that are nearer than least_gap
// to one already placed, or would touch one or anything in `taken`, are left out; so are those of which nothing fits.
// By position along the axis.
[[nodiscard]] std::vector<PlacedSlanted> place_slanted(std::span<const SlantedLabel> labels,
                                                       const SlantedOptions& options, const TextMeasure& measure,
                                                       std::span<const Rect> taken = {});

// Rows beside the map that get a label: at 1-2-5 steps at least `least_gap` pixels apart; `forced` ones (hovered,
// pinned; most important first) always, in place of regular ones too near. `from` and `to` are the pixels of the edges
// of rows `begin` and `end` (fractions where the view is panned); only rows whose centre is visible. Ascending.
struct RowLabel {
  std::int64_t index = 0;
  float centre = 0.0f;
  bool forced = false;
};
[[nodiscard]] std::vector<RowLabel> row_labels(double begin, double end, float from, float to,
                                               std::span<const std::int64_t> forced, float least_gap = 19.0f);

// Moves positions as little as can be (least squares) so that they are `gap` apart, in the order of their wanted
// places, and inside [low, high]. Where there is no room for all, the last of the list are dropped: NaN. NaN in: NaN
// out.
[[nodiscard]] std::vector<float> spread_labels(std::span<const float> wanted, float gap, float low, float high);

}  // namespace headroom
