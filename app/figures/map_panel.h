// Panels of maps: one map of a head with its colour bar in the corner that is masked, the strip of key 0 and a lens;
// and λ of each row beside the maps that it weighs. Values; drawing is as the painter says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_bar.h"
#include "core/run/stored_map.h"

namespace headroom {

// Cells around one of them, entry by entry.
struct MapLens {
  std::int64_t row = 0, key = 0;
  double value = 0.0;
  std::string row_text, key_text;  // of the tokens, as they are drawn; empty: none
  MapPart part;
};

class MapPanel final : public FigurePanel {
 public:
  HeadRef head;
  std::string quantity, series;  // "exact/net_weights"; "map", "first map", …
  std::string symbol;            // in markup: "*a*_{*ij*}"
  std::int64_t component = -1;
  MapPart part;
  std::vector<double> key0;  // [part.height]: the strip; empty: none
  PageBar bar;
  std::string note;  // what a cell is, where it is more than an entry
  std::optional<MapLens> lens;
  std::string sign;        // before the panel: "×", "="
  bool names_rows = true;  // numbers and title of the rows' axis
  std::string sentence;

  [[nodiscard]] PanelRoom room(const Page& page, Vec2 inner) const override;
  [[nodiscard]] Vec2 least_inner(const Page& page) const override;
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override;
  void add_data(FigureData& data) const override;
  [[nodiscard]] std::string caption() const override { return sentence; }

  // Whether the upper right corner, where bar and lens are, holds no visible cell.
  [[nodiscard]] bool corner_is_free() const;
  [[nodiscard]] RichText bar_name() const;                                  // of a bar below the map
  [[nodiscard]] bool names_bar_above(float width, const Page& page) const;  // no room beside a bar in that width

 private:
  [[nodiscard]] double value(std::int64_t y, std::int64_t x) const {
    return part.values[static_cast<std::size_t>(y * part.width + x)];
  }
  // One more than the last visible cell of a row of cells; 0: none is.
  [[nodiscard]] std::int64_t end_of_row(std::int64_t y) const;
  // From where on nothing is drawn at this height.
  [[nodiscard]] float free_from(float y, const Rect& inner) const;
  void draw_cells(Painter& painter, const Rect& inner, const Axis& across, const Axis& down, const Page& page) const;
  void draw_edge(Painter& painter, const Rect& inner, const Axis& across, const Axis& down, const Page& page) const;
  void draw_axes(Painter& painter, const Rect& inner, const Page& page) const;
  void draw_bar(Painter& painter, const PanelFrame& frame, const Page& page) const;
  void draw_note(Painter& painter, const Rect& inner, float baseline, const Page& page) const;
  void draw_lens(Painter& painter, const Rect& inner, const Axis& across, const Axis& down, const Page& page) const;
  void draw_lens_texts(Painter& painter, const Rect& inner, const Rect& box, const Page& page) const;
};

// One bar a row; of a λ that all rows share, one bar for all.
class LambdaPanel final : public FigurePanel {
 public:
  HeadRef head;
  std::array<std::int64_t, 2> rows{0, 0};
  std::int64_t each = 1;       // rows of a bar: their mean
  std::vector<double> values;  // by bar; infinite: not finite
  bool shared = false;
  double low = 0.0, high = 1.0;
  std::string sign = "−";
  std::string sentence;

  [[nodiscard]] PanelRoom room(const Page& page, Vec2 inner) const override;
  [[nodiscard]] Vec2 least_inner(const Page& page) const override {
    return {page.style.mm(5.0f), page.style.mm(10.0f)};
  }
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override;
  void add_data(FigureData& data) const override;
  [[nodiscard]] std::string caption() const override { return sentence; }
};

// The colours of maps: logarithmic from 10⁻⁴, of net maps linear to a tenth and logarithmic beyond, but for what is
// chosen; they reach as far as the largest entry of all parts.
[[nodiscard]] PageBar map_bar(const FigureChoice& choice, bool with_sign, std::span<const MapPart> parts);
// The cells as a painter takes them, and all of them.
[[nodiscard]] MapImage image_of(const MapPart& part);
[[nodiscard]] Rect whole_image(const MapImage& image);

// Positions [first, last), each one wide around its index.
[[nodiscard]] PageAxis position_axis(const std::array<std::int64_t, 2>& range);

}  // namespace headroom
