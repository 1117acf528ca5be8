// A Painter without a screen: it keeps what is drawn, with its clip, panel and layer, and finds texts that are cut,
// leave their panel or touch each other. For tests and for reports on a layout. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/plot/painter.h"
#include "app/plot/text_box.h"

namespace headroom {

struct RecordedText {
  std::string text;
  TextStyle style;
  Vec2 baseline;
  float angle = 0.0f, width = 0.0f;
  OrientedBox box;
  Rect clip;       // everything, if none was set
  int panel = -1;  // in panels(), −1: outside of any
  int layer = 0;   // in order of appearance; 0 is the ground
};

struct RecordedPanel {
  std::string name;
  Rect frame;
  int parent = -1;
  int layer = 0;
};

struct RecordedShape {
  enum class Kind : std::uint8_t { FillRect, StrokeRect, Line, Polyline, Polygon, Disc, Ring, Points } kind;
  Rect bounds;  // of its geometry, line widths not counted
  Color color;
  float width = 0.0f;        // line width; radius of discs and rings; size of points
  std::vector<Vec2> points;  // of lines, polygons and clouds
  Rect clip;
  int panel = -1, layer = 0;
};

struct RecordedMap {
  Rect target, source;
  MapImage image;
  MapShading shading;
  Rect clip;
  int panel = -1, layer = 0;
};

struct RecordedPicture {
  Rect target;
  RgbPicture picture;
  int panel = -1, layer = 0;
};

// begin_panel("overlay: …") starts a layer of its own that may cover the others: texts are compared within a layer
// only.
class RecordingPainter final : public Painter {
 public:
  // `measure` outlives the painter. `ground` is the whole window: texts of no panel are held to it.
  RecordingPainter(const TextMeasure& measure, Rect ground, float scale = 1.0f);

  [[nodiscard]] const std::vector<RecordedText>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<RecordedPanel>& panels() const { return panels_; }
  [[nodiscard]] const std::vector<RecordedShape>& shapes() const { return shapes_; }
  [[nodiscard]] const std::vector<RecordedMap>& maps() const { return maps_; }
  [[nodiscard]] const std::vector<RecordedPicture>& pictures() const { return pictures_; }
  // Texts that hold `part`, and whether any does.
  [[nodiscard]] std::vector<const RecordedText*> find(std::string_view part) const;
  [[nodiscard]] bool shows(std::string_view part) const { return !find(part).empty(); }

  // What is wrong, one readable line each; empty if nothing is. Texts wholly outside their clip are not seen and do not
  // count. Slack: half a logical pixel.
  [[nodiscard]] std::vector<std::string> texts_outside() const;      // of their panel's frame, or cut by their clip
  [[nodiscard]] std::vector<std::string> texts_overlapping() const;  // each other, in the same layer
  [[nodiscard]] std::vector<std::string> misuses() const;  // unbalanced clips and panels, control bytes, NaN, size < 10
  [[nodiscard]] std::vector<std::string> violations() const;  // all of these
  void clear() override;

  [[nodiscard]] const TextMeasure& measure() const override { return measure_; }
  [[nodiscard]] float scale() const override { return scale_; }
  void begin_panel(std::string_view name, Rect frame) override;
  void end_panel() override;
  void push_clip(Rect clip) override;
  void pop_clip() override;
  void fill_rect(Rect rect, Color color, float radius = 0.0f) override;
  void stroke_rect(Rect rect, Color color, float width = 1.0f, float radius = 0.0f) override;
  void line(Vec2 from, Vec2 to, Color color, float width = 1.0f) override;
  void polyline(std::span<const Vec2> points, Color color, float width, bool closed = false) override;
  void fill_polygon(std::span<const Vec2> points, Color color) override;
  void disc(Vec2 centre, float radius, Color color) override;
  void ring(Vec2 centre, float radius, Color color, float width) override;
  void points(std::span<const Vec2> centres, Color color, float size) override;
  void text(Vec2 baseline, std::string_view text, const TextStyle& style, float angle = 0.0f) override;
  void map(Rect target, const MapImage& image, Rect source, const MapShading& shading) override;
  void picture(Rect target, const RgbPicture& picture) override;

 private:
  void add(RecordedShape::Kind kind, std::span<const Vec2> points, Rect bounds, Color color, float width);
  [[nodiscard]] int panel() const { return open_.empty() ? -1 : open_.back(); }
  [[nodiscard]] int layer() const { return open_.empty() ? 0 : panels_[static_cast<std::size_t>(open_.back())].layer; }
  [[nodiscard]] std::string described(const RecordedText& text) const;
  [[nodiscard]] bool seen(const RecordedText& text) const;

  const TextMeasure& measure_;
  Rect ground_;
  float scale_;
  std::vector<RecordedText> texts_;
  std::vector<RecordedPanel> panels_;
  std::vector<RecordedShape> shapes_;
  std::vector<RecordedMap> maps_;
  std::vector<RecordedPicture> pictures_;
  std::vector<Rect> clips_;
  std::vector<int> open_;
  std::vector<std::string> misuses_;
  int layers_ = 1;
};

}  // namespace headroom
