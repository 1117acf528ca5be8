#include "app/panels/map/map_cells.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/tile_image.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kNaNf = std::numeric_limits<float>::quiet_NaN();

// Where a horizontal line at y, or a vertical one at x, meets the causal boundary.
float boundary_x(const MapLayout& layout, float y) { return layout.key_pixel(layout.query_at(y) + 1.0); }
float boundary_y(const MapLayout& layout, float x) { return layout.query_pixel(layout.key_at(x) - 1.0); }

// A frame of one pixel round `rect` that ends at the causal diagonal, and the level at its lower right.
void draw_coarse_frame(PanelContext& context, const MapLayout& layout, const Rect& rect, std::int32_t level,
                       bool causal, Rect avoid) {
  Painter& painter = context.painter();
  const Color color = context.theme().text.faded(0.45f);
  const auto horizontal = [&](float y) {
    const float x1 = causal ? std::min(rect.x1, boundary_x(layout, y)) : rect.x1;
    if (x1 > rect.x0) painter.line({rect.x0, y}, {x1, y}, color);
  };
  const auto vertical = [&](float x) {
    const float y0 = causal ? std::max(rect.y0, boundary_y(layout, x)) : rect.y0;
    if (y0 < rect.y1) painter.line({x, y0}, {x, rect.y1}, color);
  };
  horizontal(rect.y0 + 0.5f);
  horizontal(rect.y1 - 0.5f);
  vertical(rect.x0 + 0.5f);
  vertical(rect.x1 - 0.5f);
  const std::string text = "level " + std::to_string(level);
  const TextStyle style{Face::Sans, 11.0f, context.theme().text};
  const float width = context.ui.width(text, style) + 12;
  const Rect tag{rect.x1 - width - 6, rect.y1 - 22, rect.x1 - 6, rect.y1 - 5};
  if (tag.x0 < rect.x0 + 4 || tag.y0 < rect.y0 + 4 || tag.overlaps(avoid)) return;
  if (causal && boundary_x(layout, tag.y0) < tag.x1) return;
  painter.fill_rect(tag, context.theme().panel, 2);
  painter.text_at(tag.centre_x(), tag.centre_y(), text, style, Painter::Align::Centre);
}

}  // namespace

std::uint64_t map_image_id(MapImageSlot slot) { return (std::uint64_t{3} << 62) | static_cast<std::uint64_t>(slot); }

std::uint64_t values_generation(const std::vector<float>& values, std::int32_t width) {
  std::uint64_t hash = 1469598103934665603ull ^ static_cast<std::uint64_t>(width);
  for (const float v : values) hash = (hash ^ std::bit_cast<std::uint32_t>(v)) * 1099511628211ull;
  return hash;
}

std::string zoom_line(const MapWindow& window, std::int64_t length) {
  if (window.whole() || shows_whole(window, length)) return "map.fit";
  const double n = static_cast<double>(length);
  char line[160];
  const auto end = [n](double v) { return std::clamp(v, 0.0, n); };
  std::snprintf(line, sizeof line, "zoom %.9g %.9g %.9g %.9g", end(window.query0), end(window.query1), end(window.key0),
                end(window.key1));
  return line;
}

TileProgress draw_tiles(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const TileKey& like,
                        const ColorScale& scale, Rect avoid) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  TileProgress progress;
  const TileView view = tile_view(layout);
  progress.level = tile_level(view);
  TileKey wanted_like = like;
  wanted_like.level = progress.level;
  const std::vector<TileKey> sharp = visible_tiles(view, wanted_like, subject.causal);
  MapShading shading;
  shading.scale = scale;
  if (std::min(layout.cell_x, layout.cell_y) >= 12.0f) {
    shading.cell_gap = 1.0f;
    shading.gap_color = theme.empty;
  }
  painter.fill_rect(layout.map, theme.empty);
  painter.push_clip(layout.map);
  struct Coarse {
    Rect bounds;
    float area = 0.0f;
    std::int32_t level = 0;
    std::vector<Rect> parts;
  };
  std::map<std::uint64_t, Coarse> coarse;
  for (const TileKey& key : sharp) {
    ++progress.needed;
    std::shared_ptr<const Tile> tile = context.tiles.find(key);
    if (tile) {
      ++progress.ready;
    } else {
      const double side = std::ldexp(static_cast<double>(kTileSize), key.level), n = static_cast<double>(layout.length);
      const auto texels = [&](std::int64_t at) {
        const double cells = std::min(side, n - static_cast<double>(at) * side);
        return static_cast<std::int64_t>(std::ceil(std::ldexp(cells, -key.level)));
      };
      progress.texels_pending += texels(key.row) * texels(key.column);
      tile = context.tiles.find_covering(key);
    }
    if (!tile) continue;
    const auto piece = tile_piece(layout, key, tile->key);
    if (!piece) continue;
    MapShading shade = shading;
    if (tile->key.level != 0) shade.cell_gap = 0.0f;
    painter.map(piece->target, tile_image(*tile), piece->source, shade);
    if (tile->key.level > key.level) {
      Coarse& group = coarse[tile->serial];
      group.level = tile->key.level;
      const Rect& t = piece->target;
      group.bounds = group.parts.empty() ? t
                                         : Rect{std::min(group.bounds.x0, t.x0), std::min(group.bounds.y0, t.y0),
                                                std::max(group.bounds.x1, t.x1), std::max(group.bounds.y1, t.y1)};
      group.area += t.width() * t.height();
      group.parts.push_back(t);
    }
  }
  for (const auto& [serial, group] : coarse) {
    const bool rectangle = group.area > 0.999f * group.bounds.width() * group.bounds.height();
    if (rectangle) {
      draw_coarse_frame(context, layout, group.bounds, group.level, subject.causal, avoid);
    } else {
      for (const Rect& part : group.parts) draw_coarse_frame(context, layout, part, group.level, subject.causal, avoid);
    }
  }
  painter.pop_clip();

  // The whole map in one tile first; then, where many sharp tiles are missing, a level between.
  TileKey top = like;
  top.level = top_level(layout.length);
  top.row = top.column = 0;
  progress.wanted.push_back(top);
  if (progress.needed - progress.ready > 2 && progress.level + 2 < top.level) {
    TileKey between = like;
    between.level = progress.level + 2;
    for (const TileKey& key : visible_tiles(view, between, subject.causal)) progress.wanted.push_back(key);
  }
  for (const TileKey& key : sharp)
    if (key != top) progress.wanted.push_back(key);
  // A margin of coarser tiles, so that a pan finds something.
  if (progress.level + 1 < top.level && progress.needed == progress.ready) {
    TileView wide = view;
    const double queries = 0.3 * (view.query1 - view.query0), keys = 0.3 * (view.key1 - view.key0),
                 n = static_cast<double>(layout.length);
    wide.query0 = std::max(0.0, wide.query0 - queries), wide.query1 = std::min(n, wide.query1 + queries);
    wide.key0 = std::max(0.0, wide.key0 - keys), wide.key1 = std::min(n, wide.key1 + keys);
    TileKey around = like;
    around.level = progress.level + 1;
    for (const TileKey& key : visible_tiles(wide, around, subject.causal)) progress.wanted.push_back(key);
  }
  return progress;
}

std::int64_t draw_non_finite(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                             std::uint64_t image) {
  if (!subject.head) return 0;
  const CellRange cells = visible_cells(layout);
  const bool first = subject.kind != MapKind::Second && subject.kind != MapKind::ScaledSecond;
  const bool second = subject.kind != MapKind::First && subject.kind != MapKind::Logits;
  const auto broken = [&](std::int64_t query) {
    const auto bad = [query](const std::vector<double>& values) {
      if (query >= static_cast<std::int64_t>(values.size())) return false;
      const double v = values[static_cast<std::size_t>(query)];
      return std::isnan(v) || v > std::numeric_limits<double>::max();
    };
    return (first && bad(subject.head->lse[0])) || (second && (bad(subject.head->lse[1]) || bad(subject.head->lambda)));
  };
  std::int64_t rows = 0;
  for (std::int64_t begin = cells.query0; begin < cells.query1;) {
    if (!broken(begin)) {
      ++begin;
      continue;
    }
    std::int64_t end = begin + 1;
    while (end < cells.query1 && broken(end)) ++end;
    rows += end - begin;
    // Texels of at most 512 a side, infinite where the row sees a key: the painter hatches what is infinite.
    const auto height = static_cast<std::int32_t>(std::min<std::int64_t>(end - begin, 512));
    const auto width = static_cast<std::int32_t>(std::min<std::int64_t>(cells.key1 - cells.key0, 512));
    auto values =
        std::make_shared<std::vector<float>>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), kNaNf);
    for (std::int32_t y = 0; y < height; ++y) {
      const std::int64_t query = begin + (end - begin) * (y + 1) / height - 1;
      for (std::int32_t x = 0; x < width; ++x) {
        const std::int64_t key = cells.key0 + (cells.key1 - cells.key0) * x / width;
        const bool seen =
            (!subject.causal || key <= query) && (subject.sliding <= 0 || std::abs(key - query) < subject.sliding);
        if (seen)
          (*values)[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)] =
              std::numeric_limits<float>::infinity();
      }
    }
    const Rect target{layout.key_pixel(static_cast<double>(cells.key0)), layout.query_pixel(static_cast<double>(begin)),
                      layout.key_pixel(static_cast<double>(cells.key1)), layout.query_pixel(static_cast<double>(end))};
    const std::uint64_t generation = values_generation(*values, width);
    context.painter().push_clip(layout.map);
    context.painter().map(target,
                          {image + 1024 * static_cast<std::uint64_t>(begin + 1), generation, width, height, values},
                          {0, 0, static_cast<float>(width), static_cast<float>(height)}, {});
    context.painter().pop_clip();
    begin = end;
  }
  return rows;
}

void draw_hairline(PanelContext& context, const MapLayout& layout, const MapSubject& subject) {
  if (!(subject.source ? subject.source->causal : subject.causal)) return;
  const auto draw = [&](std::int64_t offset) {
    for (const Segment& s : diagonal_segments(layout, offset))
      context.painter().line(s.from, s.to, context.theme().faint);
  };
  context.painter().push_clip(layout.map);
  const std::int64_t first = subject.source ? subject.source->first_query : 0;
  const std::int64_t sliding = subject.source ? subject.source->window : subject.sliding;
  draw(first + 1);
  if (sliding > 0 && sliding < subject.length) draw(first + 1 - sliding);
  context.painter().pop_clip();
}

void draw_numbers(PanelContext& context, const MapLayout& layout, const MapSubject& subject, const ColorScale& scale) {
  if (!layout.numbers() || (subject.is_signed && layout.cell_x < kSignedNumberCellWidth)) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const CellRange cells = visible_cells(layout);
  const Selection& pinned = context.state.view.selection;
  std::vector<Vec2> dots;
  painter.push_clip(layout.map);
  for (std::int64_t query = cells.query0; query < cells.query1; ++query)
    for (std::int64_t key = cells.key0; key < cells.key1; ++key) {
      TileKey tile_key = subject.like();
      tile_key.level = 0;
      tile_key.row = query / kTileSize;
      tile_key.column = key / kTileSize;
      if (subject.causal && key > query) continue;
      const std::shared_ptr<const Tile> tile = context.tiles.find(tile_key);
      if (!tile) continue;
      const float value =
          (*tile->values)[static_cast<std::size_t>((query % kTileSize) * tile->columns + key % kTileSize)];
      if (!std::isfinite(value)) continue;
      const Rect rect = layout.cell_rect(query, key);
      if (rect.x0 < layout.map.x0 - 0.5f || rect.y0 < layout.map.y0 - 0.5f || rect.x1 > layout.map.x1 + 0.5f ||
          rect.y1 > layout.map.y1 + 0.5f)
        continue;  // half a number is no number
      const double v = static_cast<double>(value);
      const bool log = !subject.is_logits && scale.kind != ScaleKind::Linear;
      if (!subject.is_logits && !log && std::abs(value) < 0.005f) {
        dots.push_back(rect.centre());
        continue;
      }
      std::string text = subject.is_logits ? fixed_text(v, 1) : log ? log_cell_texts(v)[0] : cell_text(v);
      const bool dim = !subject.is_logits && std::abs(value) < 0.03f;
      TextStyle style{dim ? Face::Mono : Face::MonoSemibold, 10.0f, text_on(scale_color(scale, value))};
      if (dim) style.color = style.color.faded(0.7f);
      if (context.ui.width(text, style) > rect.width() - 2 && (subject.is_logits || log))
        text = subject.is_logits ? fixed_text(v, 0) : log_cell_texts(v)[1];
      if (context.ui.width(text, style) > rect.width() - 1) {
        if (log) dots.push_back(rect.centre());  // there is a value, and no room for it
        continue;
      }
      painter.text_at(rect.centre_x(), rect.centre_y(), text, style, Painter::Align::Centre);
      if (pinned.query == query && pinned.key == key) context.facts.set("map.printed", text);
    }
  if (!dots.empty()) painter.points(dots, theme.text3.faded(0.6f), 1.5f);
  painter.pop_clip();
}

void draw_strip_of_key(PanelContext& context, const MapLayout& layout, const MapSubject& subject, Rect strip,
                       std::int64_t key, const ColorScale& scale, std::uint64_t image) {
  if (strip.empty() || !subject.source) return;
  context.painter().fill_rect(strip, context.theme().empty);
  const auto column = context.tiles.column(subject.source, subject.ref.head, window_map(subject.kind), key);
  if (!column) return;
  const MapWindow& w = layout.window;
  MapShading shading;
  shading.scale = scale;
  const double texels = static_cast<double>(strip.height()) * layout.pixel_scale;
  if (layout.cell_y >= 2.0f) {  // one texel a query
    const CellRange cells = visible_cells(layout);
    auto values = std::make_shared<std::vector<float>>(column->begin() + cells.query0, column->begin() + cells.query1);
    if (layout.cell_y >= 12.0f) shading.cell_gap = 1.0f, shading.gap_color = context.theme().empty;
    const float from = static_cast<float>(w.query0 - static_cast<double>(cells.query0));
    const MapImage picture{image, values_generation(*values, 1), 1, static_cast<std::int32_t>(values->size()), values};
    context.painter().map(strip, picture, {0, from, 1, from + static_cast<float>(w.query1 - w.query0)}, shading);
    return;
  }
  const auto pixels = static_cast<std::size_t>(std::max(1.0, std::round(texels)));
  auto values = std::make_shared<std::vector<float>>(pool_to_pixels(*column, w.query0, w.query1, pixels));
  const MapImage picture{image, values_generation(*values, 1), 1, static_cast<std::int32_t>(pixels), values};
  context.painter().map(strip, picture, {0, 0, 1, static_cast<float>(pixels)}, shading);
}

}  // namespace headroom
