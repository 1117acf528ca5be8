// Two runs of the same tokens at one head, drawn with one window, one range and one pointer: the map of A, that of B, B
// − A, and A and B with a divider between them. Main thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/compare_geometry.h"
#include "app/panels/compare_memory.h"
#include "app/panels/map_cells.h"
#include "app/panels/map_labels.h"
#include "app/panels/map_subject.h"
#include "app/panels/panel.h"

namespace headroom {

// Borrows from the runs it was made of.
struct MapPair {
  MapSubject a, b;
  MapRange range;       // of A and B
  MapRange difference;  // of B − A
  std::string symbol;   // "a"
  [[nodiscard]] bool same_length() const {
    return a.length == b.length && (!a.has_map() || !b.has_map() || (a.rows == b.rows && a.keys == b.keys));
  }
  [[nodiscard]] MapExtent extent() const { return {std::max<std::int64_t>(1, any().length), any().rows, any().keys}; }
  [[nodiscard]] bool has_difference() const { return a.has_map() && b.has_map() && same_length(); }
  [[nodiscard]] const MapSubject& any() const { return a.has_map() || !b.has_map() ? a : b; }
};
// Either may be null. Where the head has different kinds of maps in the two, both show the net one.
[[nodiscard]] MapPair make_map_pair(PanelContext& context, CompareMemory& memory, const RunEntry* a, const RunEntry* b);

// B − A of a row or a column; what one of them masks is 0 there.
[[nodiscard]] std::vector<float> difference_of(std::span<const float> a, std::span<const float> b);

enum class PairMap : std::uint8_t { A, B, Difference };

// Draws maps of a pair and gathers the tiles they wait for; the tiles are asked for at its end.
class PairPainter {
 public:
  PairPainter(PanelContext& context, CompareMemory& memory, const MapPair& pair)
      : context_(context), memory_(memory), pair_(pair) {}
  ~PairPainter();
  PairPainter(const PairPainter&) = delete;
  PairPainter& operator=(const PairPainter&) = delete;

  // The cells, the strip of key 0, the hairline. Nothing but the ground where the run has no map.
  void draw(const MapLayout& layout, PairMap which);
  // A left of the divider, B right of it.
  void draw_swipe(const MapLayout& layout, double divider);
  [[nodiscard]] std::int32_t level() const { return level_; }  // of the last map
  [[nodiscard]] std::int64_t texels_pending() const { return texels_pending_; }

 private:
  void draw_one(const MapLayout& layout, const MapSubject& subject, bool is_b);
  void draw_difference(const MapLayout& layout);
  void draw_difference_numbers(const MapLayout& layout);
  void draw_difference_strip(const MapLayout& layout);
  void want(const std::shared_ptr<const MapSource>& source, std::vector<TileKey> keys);

  PanelContext& context_;
  CompareMemory& memory_;
  const MapPair& pair_;
  std::vector<std::pair<std::shared_ptr<const MapSource>, std::vector<TileKey>>> wanted_;
  std::int32_t level_ = 0;
  std::int64_t texels_pending_ = 0;
};

// Of the map view that both runs share; one large map in every mode but side by side.
[[nodiscard]] PairLayoutRequest pair_layout_request(PanelContext& context, Rect body, const MapPair& pair,
                                                    CompareMode mode);

// What the pointer does on one of the maps: hover, zoom, pan, pin. The cell under it.
std::optional<MapLayout::Cell> pair_pointer(PanelContext& context, std::string_view id, const MapLayout& layout);
// The marks of all maps: under the pointer, hovered elsewhere, pinned.
[[nodiscard]] MapMarks pair_marks(const PanelContext& context, const MapExtent& extent,
                                  std::optional<MapLayout::Cell> cell);
void draw_pair_cross(PanelContext& context, const MapLayout& layout, const MapMarks& marks);

// Lines at the right edge of the masked corner, as many as find room there.
struct CaptionLine {
  std::string text;
  TextStyle style;
};
void draw_caption(PanelContext& context, const MapLayout& layout, bool causal, std::span<const CaptionLine> lines);
// Sentences where a map would be.
void draw_map_note(PanelContext& context, const MapLayout& layout, std::string_view headline, std::string_view why,
                   bool warn);

// Both rows (or columns) on one axis and the map's scale, of each key the shorter bar before the longer; either may be
// null. Nothing where the area is empty.
struct PairBars {
  Rect area;
  const std::vector<float>* a = nullptr;
  const std::vector<float>* b = nullptr;
  ColorScale scale;
  Color color_a, color_b;
  bool column = false;
};
void draw_pair_bars(PanelContext& context, const MapLayout& layout, const PairBars& bars);
// The row and the column of the crosshair in both runs and what they differ by, with sums and norms in numbers.
void draw_pair_profiles(PanelContext& context, const PairLayout& layout, const MapPair& pair, const MapMarks& marks);

// Modes at the left, scale, pooling and Fit at the right; what does not fit is left out.
void draw_pair_tool_bar(PanelContext& context, Rect bar, std::span<const Choice> modes, const MapPair& pair,
                        bool difference);
// A divider that can be dragged, with the names of what lies on its sides.
void draw_pair_divider(PanelContext& context, const MapLayout& layout, double divider, std::string_view left,
                       std::string_view right);

// What the numbers under the pointer are, for the status bar and scripts ("compare.a", "compare.b",
// "compare.difference").
void set_pair_facts(PanelContext& context, const MapPair& pair, const MapLayout& layout, std::int32_t level,
                    const MapMarks& marks, std::string_view name_a, std::string_view name_b, bool difference);

}  // namespace headroom
