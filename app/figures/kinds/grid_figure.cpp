// Every head's map at once, as small pictures: layers across, heads down.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/head_places.h"
#include "app/figures/map_panel.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_bar.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/io/run_file.h"
#include "core/run/stored_map.h"

namespace headroom {
namespace {

constexpr std::int64_t kGridCells = 64;                   // of a picture along a side, at most
constexpr double kGridDots = 300.0;                       // to the inch: more cells than that are not to be seen
constexpr float kGridGapShare = 0.06f;                    // of a picture, between two
constexpr double kLargestPicture = 26.0, kLeastMm = 1.6;  // millimetres

struct GridMap {
  HeadRef head;
  MapPart part;  // without cells: the file has none of this head
};

class GridPanel final : public FigurePanel {
 public:
  HeadPlaces places;
  std::vector<GridMap> maps;  // [layers, heads]
  std::optional<HeadRef> chosen;
  PageBar bar;
  std::string quantity, symbol, sentence;

  PanelRoom room(const Page& page, Vec2) const override {
    PanelRoom room;
    room.left = places.left(page);
    room.right = page.style.pt(2.0f);
    room.bottom = below_axis(places.across(), page);
    return room;
  }
  Vec2 least_inner(const Page& page) const override {
    const float least = page.style.mm(static_cast<float>(kLeastMm));
    return {least * static_cast<float>(places.layers.size()),
            least * static_cast<float>(places.heads.size()) + bar_height(page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect inner{frame.inner.x0, frame.inner.y0, frame.inner.x1, frame.inner.y1 - bar_height(page)};
    painter.begin_plot(
        {id, kind, placed_axis(places.across(), inner.x0, inner.x1), placed_axis(places.down(), inner.y0, inner.y1)});
    MapShading shading;
    shading.scale = bar.scale;
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const Rect place = picture(inner, i / places.heads.size(), i % places.heads.size());
      painter.begin_series({quantity, head_text(maps[i].head), "map"});
      if (maps[i].part.values.empty()) {
        draw_hatch(painter, place, page);
      } else {
        const MapImage image = image_of(maps[i].part);
        painter.map(place, image, whole_image(image), shading);
      }
      painter.end_series();
      painter.stroke_rect(place, ink::kGuide, style.pt(0.25f));
    }
    if (chosen) {
      const auto l = std::ranges::find(places.layers, chosen->layer), h = std::ranges::find(places.heads, chosen->head);
      if (l != places.layers.end() && h != places.heads.end())
        painter.stroke_rect(picture(inner, static_cast<std::size_t>(l - places.layers.begin()),
                                    static_cast<std::size_t>(h - places.heads.begin())),
                            ink::kHead.mark, style.pt(1.1f));
    }
    places.draw_numbers(painter, inner, page);
    painter.end_plot();
    const float top = inner.y1 + below_axis(places.across(), page) + style.mm(1.6f) - name_line(page);
    const RichText bar_name = rich("attention " + symbol);
    const float width =
        std::max(rich_width(page.measure, bar_name, style.text()) + style.mm(3.5f), 0.27f * inner.width());
    const float bar_width = std::min(inner.width() - width, style.mm(70.0f));
    const Rect area{inner.x0 + width, top, inner.x0 + width + bar_width, top + page_bar_height(page)};
    draw_rich(painter, {inner.x0, area.y1 - page_bar_below(page) - style.mm(1.0f) + 0.36f * style.size()}, bar_name,
              style.text());
    draw_page_bar(painter, area, bar, page);
  }

  // One line a head: the picture has more cells than a table of them would be read for.
  void add_data(FigureData& data) const override {
    for (const GridMap& map : maps) {
      FigureMark mark;
      mark.panel = id, mark.series = quantity, mark.kind = "map", mark.layer = map.head.layer,
      mark.head = map.head.head;
      double largest = kNaN;
      std::int64_t cells = 0;
      for (const double value : map.part.values) {
        if (!std::isfinite(value)) continue;
        ++cells;
        if (std::isnan(largest) || std::abs(value) > std::abs(largest)) largest = value;
      }
      mark.y = largest, mark.n = cells;
      data.add(std::move(mark));
    }
  }

  std::string caption() const override { return sentence; }

 private:
  // Its name stands at the left of the bar, not above it.
  static float name_line(const Page& page) { return page.style.size() + page.style.pt(2.0f); }
  [[nodiscard]] float bar_height(const Page& page) const {
    return page.style.mm(1.6f) + page_bar_height(page) - name_line(page);
  }
  [[nodiscard]] Rect picture(const Rect& inner, std::size_t l, std::size_t h) const {
    const Rect whole = places.place(inner, l, h);
    const float side = (1.0f - kGridGapShare) * std::min(whole.width(), whole.height());
    return Rect::sized(whole.centre_x() - 0.5f * side, whole.centre_y() - 0.5f * side, side, side);
  }
};

Result<void> some_map(const FigureRun& run, const DrawnHeads& drawn) {
  HEADROOM_TRY(const bool exact, has_exact_maps(run.path));
  if (exact) return {};
  for (const std::int64_t l : drawn.layers)
    if (const LayerSnapshot* layer = run.run->layer(l))
      for (const std::int64_t head : drawn.heads)
        if (has_pooled_map(*layer, head, PooledKind::Net)) return {};
  return lacks(run, "grid", "/maps/pooled_max_abs", "written without --maps", "run analyze again with --maps 64");
}

}  // namespace

Result<void> check_grid(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, {}));
  return some_map(run, drawn);
}

Result<Figure> make_grid(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  const RunSnapshot& run = *one.run;
  HEADROOM_TRY_VOID(check_grid(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  Figure figure;
  auto panel = std::make_unique<GridPanel>();
  panel->kind = "grid", panel->name = "maps", panel->places = {drawn.layers, drawn.heads, drawn.all_layers};
  if (!choice.heads.empty()) panel->chosen = choice.heads.front();
  figure.width_mm = choice.width_mm.value_or(
      std::clamp(static_cast<double>(drawn.layers.size()) * kLargestPicture + 14.0, 84.0, 174.0));
  const double side = std::min(kLargestPicture, (figure.width_mm - 12.0) / static_cast<double>(drawn.layers.size()));
  bool with_sign = false;
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(one.path));
  std::vector<MapPart> parts;
  std::int64_t shown = 0, cell = 1;
  bool mean = false, of_blocks = false;
  for (const std::int64_t l : drawn.layers)
    for (const std::int64_t h : drawn.heads) {
      GridMap map{{l, h}, {}};
      const LayerSnapshot* layer = run.layer(l);
      if (layer && layer->head_index(h) >= 0 && layer->rows > 0 && layer->keys > 0) {
        MapPartRequest request;
        request.layer = l, request.head = h;
        request.rows = {0, layer->rows}, request.keys = {0, layer->keys};
        request.most_cells = std::clamp<std::int64_t>(std::llround(side / 25.4 * kGridDots), 8, kGridCells);
        Result<MapPart> part = read_map_part(*file, run, request);
        if (!part && part.error().code != ErrorCode::NotFound) return part.error();
        if (part) {
          map.part = std::move(*part);
          // What is stored in blocks comes as it is.
          const std::int64_t wide = std::max(map.part.height, map.part.width);
          const std::int64_t times = (wide + request.most_cells - 1) / request.most_cells;
          of_blocks = of_blocks || times > 1;
          make_coarser(map.part, times);
          with_sign = with_sign || layer->programs[static_cast<std::size_t>(layer->head_index(h))].has_second();
          parts.push_back(map.part);
          cell = map.part.cell, mean = mean || map.part.mean;
          ++shown;
        }
      }
      panel->maps.push_back(std::move(map));
    }
  panel->bar = map_bar(choice, with_sign, parts);
  HEADROOM_TRY_VOID(check_range(choice, panel->bar.scale));
  panel->quantity = mean ? "maps/pooled_mean" : with_sign ? "maps/pooled_signed_extreme" : "maps/pooled_max_abs";
  panel->symbol = with_sign ? "*w*_{*ij*}" : "*a*_{*ij*}";
  panel->title = rich(std::string(with_sign ? "net maps" : "attention maps") + " of all heads");
  if (!drawn.whole(run)) panel->title = rich(with_sign ? "net maps" : "attention maps");
  panel->right = rich(grouped_text(shown) + (shown == 1 ? " head" : " heads"));
  panel->sentence =
      std::string(with_sign ? "Net maps *w*_{*ij*} = *a*^{1}_{*ij*} − *λ*_{*i*} *a*^{2}_{*ij*}"
                            : "Attention maps *a*_{*ij*}") +
      " of " + grouped_text(shown) + (shown == 1 ? " head" : " heads") +
      ", layers across, heads down; in each queries down and keys across, one range for all. White: what a "
      "query does not see.";
  if (cell > 1)
    panel->sentence +=
        " Cells are blocks of " + std::to_string(cell) + " × " + std::to_string(cell) + " entries, " +
        (!mean       ? with_sign ? "the visible one that is farthest from 0." : "the largest of the visible ones."
         : of_blocks ? "the mean of the blocks in the file."
                     : "the mean of the visible ones.");
  if (shown < std::ssize(panel->maps))
    panel->sentence +=
        " Hatched: " + grouped_text(std::ssize(panel->maps) - shown) + " heads without a map in the file.";
  // As high as makes the pictures square.
  figure.height_mm = choice.height_mm.value_or(side * static_cast<double>(drawn.heads.size()) + 20.0);
  figure.panels.push_back(std::move(panel));
  figure.rows = {{0}};
  return figure;
}

}  // namespace headroom
