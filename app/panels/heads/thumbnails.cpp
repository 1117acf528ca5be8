#include "app/panels/heads/thumbnails.h"

#include <algorithm>
#include <any>
#include <bit>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr std::int64_t kLogitBlocks = 64;  // at most, of tiles of logits
constexpr std::size_t kMostAsked = 1024;   // tiles in a frame
constexpr double kLowestWeight = 1e-6;

// A whole map in one tile of few texels.
TileKey logits_key(const MapSource& source, std::int64_t head) {
  TileKey key;
  key.source = source.id, key.head = head;
  key.map = kernels::WindowMap::FirstLogits;
  while ((source.length + (std::int64_t{1} << key.level) - 1) >> key.level > kLogitBlocks) ++key.level;
  return key;
}

// What the picture was made of; it is made again where this differs.
struct Made {
  std::shared_ptr<const RunSnapshot> run;
  Rect seen;
  float scale = 0.0f, scrolled = 0.0f, size = 0.0f;
  MapKind kind = MapKind::Net;
  std::vector<std::size_t> heads;
  std::uint64_t tiles = 0;  // of logits that are there
  friend bool operator==(const Made&, const Made&) = default;
};

struct Kept {
  std::uint64_t id = next_image_id();
  Made made;
  MapImage image;
  std::size_t there = 0;
};

Kept& kept_picture(PanelContext& context) {
  std::any& value = context.ui.kept_value("thumbnails");
  if (!value.has_value()) value = std::make_shared<Kept>();
  return **std::any_cast<std::shared_ptr<Kept>>(&value);
}

class Maker {
 public:
  Maker(PanelContext& context, const RunSnapshot& run, const ThumbnailView& view)
      : context_(context), run_(run), view_(view) {}

  // The thumbnails in view. `tiles`: a number that changes where more logits are there.
  std::vector<Thumbnail> collect(std::uint64_t& tiles) {
    std::vector<Thumbnail> thumbnails;
    const MapsLayout& layout = view_.layout;
    const std::size_t begin = layout.first_row(view_.scrolled) * layout.places.columns,
                      end = layout.end_row(view_.scrolled) * layout.places.columns;
    for (std::size_t place = begin; place < std::min(end, layout.heads.size()); ++place) {
      if (layout.heads[place] == kNoHead) continue;
      Thumbnail thumbnail;
      thumbnail.square = layout.square(place, view_.scrolled);
      fill(layout.heads[place], thumbnail, tiles);
      there += thumbnail.blocks > 0 ? 1 : 0;
      thumbnails.push_back(thumbnail);
    }
    for (auto& [source, keys] : wanted_) context_.wanted.push_back({source, std::move(keys)});
    return thumbnails;
  }
  std::size_t there = 0;

 private:
  void fill(std::size_t row, Thumbnail& thumbnail, std::uint64_t& tiles) {
    const HeadRef head = head_of_row(run_, row);
    const LayerSnapshot* layer = run_.layer(head.layer);
    const std::int64_t index = layer ? layer->head_index(head.head) : -1;
    if (index < 0) return;
    if (view_.kind == MapKind::Logits) {
      if (!layer->maps || !layer->maps->find(head.head) ||
          !layer->programs[static_cast<std::size_t>(index)].has_first())
        return;
      const TileKey key = logits_key(*layer->maps, head.head);
      const std::shared_ptr<const Tile> tile = context_.tiles.find(key);
      if (!tile) {
        if (asked_++ < kMostAsked) wanted_[layer->maps].push_back(key);
        return;
      }
      tiles = tiles * 1099511628211ULL + tile->serial;
      held_.push_back(tile);
      thumbnail.cells = *tile->values;
      thumbnail.blocks = tile->columns;
      key_.emplace_back();
      for (std::int64_t r = 0; r < tile->rows; ++r)
        key_.back().push_back((*tile->values)[static_cast<std::size_t>(r * tile->columns)]);
      if (key.level == 0) thumbnail.key = key_.back();
      return;
    }
    if (!layer->pooled) return;
    const PooledKind kind = pooled_kind(view_.kind);
    thumbnail.cells = layer->pooled->map(kind, index);
    thumbnail.key = layer->pooled->key0(kind, index);
    if (!thumbnail.cells.empty()) thumbnail.blocks = layer->pooled->blocks;
  }

  PanelContext& context_;
  const RunSnapshot& run_;
  const ThumbnailView& view_;
  std::map<std::shared_ptr<const MapSource>, std::vector<TileKey>> wanted_;
  std::size_t asked_ = 0;
  std::vector<std::shared_ptr<const Tile>> held_;  // while the picture is made
  std::vector<std::vector<float>> key_;
};

// The ground between the thumbnails, which the picture covers with that of masked cells.
void draw_gaps(PanelContext& context, const ThumbnailView& view, Rect seen) {
  Painter& painter = context.painter();
  const Color ground = context.theme().panel;
  const MapsLayout& layout = view.layout;
  const AtlasLayout& places = layout.places;
  for (std::size_t column = 0; column + 1 < places.columns; ++column) {
    const Rect cell = places.cell(0, column);
    painter.fill_rect({cell.x0 + layout.size, seen.y0, cell.x1, seen.y1}, ground);
  }
  for (std::size_t row = layout.first_row(view.scrolled); row < layout.end_row(view.scrolled); ++row) {
    const Rect cell = places.row_rect(row).shifted(0.0f, -view.scrolled);
    painter.fill_rect(Rect{seen.x0, cell.y0 + layout.side(), seen.x1, cell.y1}.intersected(seen), ground);
    // A row that is not full.
    std::size_t last = places.columns;
    while (last > 0 && layout.heads[row * places.columns + last - 1] == kNoHead) --last;
    if (last < places.columns)
      painter.fill_rect(Rect{places.cell(row, last).x0, cell.y0, seen.x1, cell.y1}.intersected(seen), ground);
  }
  if (layout.strip > 0.0f && places.columns * (layout.end_row(view.scrolled) - layout.first_row(view.scrolled)) <= 4096)
    for (std::size_t column = 0; column < places.columns; ++column) {
      const float x = places.cell(0, column).x0 + layout.strip;
      painter.fill_rect({x - 1.0f, seen.y0, x, seen.y1}, ground);
    }
}

void draw_thumbnail_frames(PanelContext& context, const RunSnapshot& run, const ThumbnailView& view) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  const auto square_of = [&](HeadRef head) -> std::optional<Rect> {
    const auto row = row_of(run, head);
    const auto place = row ? view.layout.place_of(*row) : std::nullopt;
    if (!place) return {};
    return view.layout.square(*place, view.scrolled);
  };
  const auto framed = [&](const std::optional<HeadRef>& head, Color color) {
    if (!head) return;
    const auto square = square_of(*head);
    if (!square) return;
    painter.stroke_rect(square->inset(-3.0f), theme.panel, 1.0f);
    painter.stroke_rect(square->inset(-2.0f), color, 2.0f);
    if (square->width() > 16.0f) painter.stroke_rect(*square, theme.panel, 1.0f);
  };
  std::vector<std::uint8_t> chosen(run.layers.size() * run.heads.size(), 0);
  for (const HeadRef head : view.frames ? state.view.heads.lasso : std::vector<HeadRef>())
    if (const auto row = row_of(run, head)) chosen[*row] = 1;
  const std::size_t begin = view.layout.first_row(view.scrolled) * view.layout.places.columns,
                    end = view.layout.end_row(view.scrolled) * view.layout.places.columns;
  for (std::size_t place = begin; place < end; ++place)
    if (const std::size_t head = view.layout.heads[place]; head != kNoHead && chosen[head] != 0)
      painter.stroke_rect(view.layout.square(place, view.scrolled), theme.accent);
  framed(view.hovered ? view.hovered : state.hover.head, theme.text);
  framed(state.view.selection.head, theme.accent);
}

}  // namespace

PooledKind pooled_kind(MapKind kind) {
  return kind == MapKind::First ? PooledKind::First : kind == MapKind::Second ? PooledKind::Second : PooledKind::Net;
}

ColorScale thumbnail_scale(const RunSnapshot& run, RunCache& memory, MapKind kind, const Theme& theme) {
  ColorScale scale;
  if (kind == MapKind::Logits) {
    const HeadColumn &high = memory.column("logit_max"), &low = memory.column("logit_min");
    double most = 0.0;
    for (const double value : {high.high, low.low})
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
    scale.map = theme.diverging();
    scale.high = most > 0.0 ? static_cast<float>(nice_range(0.0, most, false).high) : 1.0f;
    scale.low = -scale.high;
    return scale;
  }
  const double uniform = 1.0 / static_cast<double>(std::max<std::int64_t>(run.length, 1));
  scale.map = theme.sequential();
  scale.kind = ScaleKind::Log10;
  scale.low = static_cast<float>(std::clamp(std::pow(10.0, std::floor(std::log10(uniform))), kLowestWeight, 0.1));
  scale.high = 1.0f;
  return scale;
}

std::string thumbnail_reason(const RunSnapshot& run, MapKind kind, HeadRef head) {
  const LayerSnapshot* layer = run.layer(head.layer);
  if (layer == nullptr) return run.complete ? "This layer was not computed." : "This layer is not computed yet.";
  const std::int64_t index = layer->head_index(head.head);
  if (index < 0) return "This head was not measured.";
  const auto at = static_cast<std::size_t>(index);
  const bool known = at < layer->programs.size();
  if (kind == MapKind::Second && known && !layer->programs[at].has_second()) return "This head has no second map.";
  if (kind != MapKind::Net && kind != MapKind::Second && known && !layer->programs[at].has_first())
    return "The first map is off in this run.";
  if (kind == MapKind::Logits)
    return layer->maps && layer->maps->find(head.head)
               ? ""
               : "Logits need the layer's queries and keys, which were not kept.";
  if (!layer->pooled) return "The file has no maps: analyze --maps 64 writes them.";
  if (layer->pooled->map(pooled_kind(kind), index).empty())
    return "The file has net maps only: analyze --components writes the others.";
  return "";
}

Rect seen_places(const MapsLayout& layout, float scrolled) {
  Rect seen = layout.view;
  seen.x1 = std::min(seen.x1, layout.places.grid.x1 - layout.gap);
  seen.y1 = std::min(seen.y1, layout.places.grid.y1 - scrolled - layout.gap);
  return seen;
}

std::size_t draw_thumbnails(PanelContext& context, RunCache& memory, const ThumbnailView& view) {
  const RunSnapshot& run = *memory.run();
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  Kept& kept = kept_picture(context);
  const Rect seen = seen_places(view.layout, view.scrolled);
  if (seen.empty()) return 0;
  Maker maker(context, run, view);
  Made made;
  const std::vector<Thumbnail> thumbnails = maker.collect(made.tiles);
  const RunEntry* entry = context.state.shown();
  made.run = entry ? entry->data : nullptr;
  made.seen = seen, made.scale = painter.scale(), made.scrolled = view.scrolled, made.size = view.layout.size;
  made.kind = view.kind, made.heads = view.layout.heads;
  if (!kept.image.values || !(kept.made == made)) {
    MapsPicture picture = make_maps_picture(seen, painter.scale(), thumbnails, view.layout.strip);
    kept.image.id = kept.id;
    kept.image.generation = next_image_id();
    kept.image.width = picture.width, kept.image.height = picture.height;
    kept.image.values = std::make_shared<const std::vector<float>>(std::move(picture.values));
    kept.made = std::move(made);
  }
  MapShading shading;
  shading.scale = thumbnail_scale(run, memory, view.kind, theme);
  painter.push_clip(view.layout.view);
  painter.map(seen, kept.image,
              {0.0f, 0.0f, static_cast<float>(kept.image.width), static_cast<float>(kept.image.height)}, shading);
  draw_gaps(context, view, seen);
  painter.pop_clip();
  // Frames reach three pixels beyond their square.
  painter.push_clip(view.layout.view.inset(-3.0f));
  draw_thumbnail_frames(context, run, view);
  painter.pop_clip();
  return maker.there;
}

std::string corner_text(const QuantityInfo& info, double value) {
  if (std::isnan(value)) return "–";
  if (info.percent || !info.natural || info.natural->high > 1.0 || info.natural->low < -1.0)
    return short_text(shown_value(info, value));
  const double magnitude = std::abs(value);
  std::string text = magnitude >= 0.0095 || magnitude < 0.0005 ? fixed_text(value, 2) : fixed_text(value, 3);
  if (magnitude < 0.0005) return "0";
  if (magnitude >= 0.995) return value < 0.0 ? "−1" : "1";
  if (const std::size_t zero = text.find("0."); zero != std::string::npos) text.erase(zero, 1);
  return text;
}

void draw_thumbnail_numbers(PanelContext& context, const RunSnapshot& run, const HeadColumn& column,
                            const ThumbnailView& view, std::optional<double> threshold) {
  if (!view.layout.numbers || column.ref.info == nullptr) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const MapsLayout& layout = view.layout;
  painter.push_clip(seen_places(layout, view.scrolled));
  for (std::size_t row = layout.first_row(view.scrolled); row < layout.end_row(view.scrolled); ++row)
    for (std::size_t place = row * layout.places.columns; place < (row + 1) * layout.places.columns; ++place) {
      const std::size_t head = layout.heads[place];
      if (head == kNoHead || head >= column.values.size() || std::isnan(column.values[head])) continue;
      const Rect square = layout.square(place, view.scrolled);
      if (square.y1 > layout.view.y1 + 0.5f || square.y0 < layout.view.y0 - 0.5f) continue;
      if (square.overlaps(view.covered)) continue;
      const std::string text = corner_text(*column.ref.info, column.values[head]);
      const bool over = threshold && column.values[head] > *threshold;
      const TextStyle style{over ? Face::MonoSemibold : Face::Mono, 10.0f, over ? theme.text : theme.text2};
      const float width = context.ui.width(text, style);
      if (width > 0.75f * square.width()) continue;
      // Where the corner is not masked the number stands on a ground of its own.
      const HeadRef ref = head_of_row(run, head);
      const LayerSnapshot* layer = run.layer(ref.layer);
      const auto cells = layer && layer->pooled ? layer->pooled->map(PooledKind::Net, layer->head_index(ref.head))
                                                : std::span<const float>();
      if (!cells.empty() && !std::isnan(cells[static_cast<std::size_t>(layer->pooled->blocks) - 1]))
        painter.fill_rect({square.x1 - width - 3.0f, square.y0, square.x1, square.y0 + 12.0f}, theme.panel.faded(0.8f));
      painter.text_at(square.x1 - 1.0f, square.y0 + 6.0f, text, style, Painter::Align::Right);
    }
  painter.pop_clip();
}

void draw_thumbnail_names(PanelContext& context, const RunSnapshot& run, const ThumbnailView& view) {
  if (!view.layout.names) return;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const MapsLayout& layout = view.layout;
  painter.push_clip(layout.view);
  for (std::size_t row = layout.first_row(view.scrolled); row < layout.end_row(view.scrolled); ++row)
    for (std::size_t place = row * layout.places.columns; place < (row + 1) * layout.places.columns; ++place) {
      if (layout.heads[place] == kNoHead) continue;
      const Rect square = layout.square(place, view.scrolled);
      if (square.y1 + 13.0f > layout.view.y1 + 0.5f || square.y0 < layout.view.y0 - 0.5f) continue;
      if (Rect{square.x0 - 4.0f, square.y0, square.x1 + 4.0f, square.y1 + 14.0f}.overlaps(view.covered)) continue;
      const HeadRef head = head_of_row(run, layout.heads[place]);
      const bool selected = context.state.view.selection.head == head;
      painter.text_at(square.centre_x(), square.y1 + 8.0f, head_text(head),
                      {selected ? Face::MonoSemibold : Face::Mono, 10.0f, selected ? theme.accent : theme.text2},
                      Painter::Align::Centre);
    }
  painter.pop_clip();
}

void select_by_arrows(PanelContext& context, const RunSnapshot& run, const MapsLayout& layout, bool wraps) {
  Ui& ui = context.ui;
  const std::optional<HeadRef>& selected = context.state.view.selection.head;
  const auto row = selected ? row_of(run, *selected) : std::nullopt;
  const auto from = row ? layout.place_of(*row) : std::nullopt;
  if (!from) return;
  struct Arrow {
    Key key;
    int right, down;
  };
  for (const Arrow& arrow : {Arrow{Key::Left, -1, 0}, {Key::Right, 1, 0}, {Key::Up, 0, -1}, {Key::Down, 0, 1}}) {
    if (!ui.key(arrow.key)) continue;
    auto to = layout.beside(*from, arrow.right, arrow.down);
    // A row goes on in the next; before the first place there is none, whose number is beyond all.
    const std::size_t along = *from + static_cast<std::size_t>(arrow.right);
    if (!to && wraps && arrow.right != 0 && along < layout.heads.size() && layout.heads[along] != kNoHead) to = along;
    if (to) ui.run("select " + head_text(head_of_row(run, layout.heads[*to])));
    ui.capture_keys();
    return;
  }
}

}  // namespace headroom
