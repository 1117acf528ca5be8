#include "app/panels/compare/compare_maps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "app/panels/map/map_cells.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/map/map_view_range.h"
#include "app/panels/panel.h"
#include "app/panels/parts/change_text.h"
#include "app/panels/parts/data_range.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

// Pictures of the window that are no tiles: strips of key 0 and hatches of A and B, in any map of the panel.
enum Picture : std::uint64_t {
  kStripOfA = 1,
  kStripOfB,
  kStripOfDifference,
  kHatchOfA,
  kHatchOfB = kHatchOfA + (std::uint64_t{1} << 20)
};
std::uint64_t picture_id(std::uint64_t picture, const MapLayout& layout) {
  // Maps of one panel differ in where they are.
  const auto place =
      static_cast<std::uint64_t>(std::lround(layout.map.x0) * 8192 + std::lround(layout.map.y0)) & 0x3FFFFFF;
  return map_image_id(MapImageSlot::User) + (place << 28) + (picture << 1);
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return (hash ^ (value + 1)) * 1099511628211ull; }

TileKey top_key(const MapSubject& subject, Pooling pooling) {
  TileKey key = subject.like();
  key.pooling = pooling;
  key.level = top_level(subject.length);
  key.row = key.column = 0;
  return key;
}

// One automatic range of both, from their coarsest tiles.
std::optional<DataRange> data_range_of_both(PanelContext& context, CompareCache& memory, const MapPair& pair) {
  const MapView& view = context.state.view.map;
  const std::vector<std::int64_t> excluded = excluded_keys(view, context.state.view.selection);
  std::vector<std::pair<const MapSubject*, std::shared_ptr<const Tile>>> tiles;
  std::uint64_t key = 1469598103934665603ull;
  for (const MapSubject* subject : {&pair.a, &pair.b}) {
    if (!subject->has_map() || !needs_data_range(*subject, view)) continue;
    if (auto tile = context.tiles.find(top_key(*subject, subject->pooling))) {
      key = mixed(key, tile->serial);
      tiles.emplace_back(subject, std::move(tile));
    }
  }
  if (tiles.empty()) return {};
  key = mixed(mixed(key, static_cast<std::uint64_t>(shown_scale(pair.any(), view))), pair.any().is_signed ? 1 : 0);
  for (const std::int64_t k : excluded) key = mixed(key, static_cast<std::uint64_t>(k));
  return memory.kept_range("both", key, [&] {
    std::optional<DataRange> both;
    const auto n = static_cast<double>(pair.any().length);
    const MapWindow all{0.0, n, 0.0, n};
    for (const auto& [subject, tile] : tiles) {
      const DataRange one = data_range(*subject, view, values_in_window(*tile, all, 1, excluded));
      if (!both) {
        both = one;
        continue;
      }
      both->low = std::min(both->low, one.low);
      both->high = std::max(both->high, one.high);
      both->clips_low = both->clips_low || one.clips_low;
      both->clips_high = both->clips_high || one.clips_high;
    }
    return *both;
  });
}

// Centred on 0, as wide as the largest cells differ by: of the coarsest tiles of largest magnitude.
MapRange difference_range(PanelContext& context, CompareCache& memory, const MapPair& pair) {
  MapRange out;
  const MapView& view = context.state.view.map;
  out.scale.map = context.theme().diverging();
  out.scale.kind = view.scale.value_or(ScaleKind::Symlog) == ScaleKind::Linear ? ScaleKind::Linear : ScaleKind::Symlog;
  DataRange range{-1.0, 1.0, false, false};
  const auto tile_a = context.tiles.find(top_key(pair.a, Pooling::MaxMagnitude));
  const auto tile_b = context.tiles.find(top_key(pair.b, Pooling::MaxMagnitude));
  const std::vector<std::int64_t> excluded = excluded_keys(view, context.state.view.selection);
  if (tile_a && tile_b && tile_a->values->size() == tile_b->values->size()) {
    std::uint64_t key = mixed(mixed(1469598103934665603ull, tile_a->serial), tile_b->serial);
    for (const std::int64_t k : excluded) key = mixed(key, static_cast<std::uint64_t>(k));
    range = memory.kept_range("difference", key, [&] {
      std::vector<float> values;
      values.reserve(tile_a->values->size());
      for (std::size_t i = 0; i < tile_a->values->size(); ++i) {
        const auto column = static_cast<std::int64_t>(i % static_cast<std::size_t>(tile_a->columns));
        if (std::ranges::any_of(excluded, [&](std::int64_t k) { return k >> tile_a->key.level == column; })) continue;
        values.push_back((*tile_b->values)[i] - (*tile_a->values)[i]);
      }
      const RobustRange robust = robust_signed_range(NumberView(values), 0.001);
      return DataRange{robust.low, robust.high, robust.clips_low, robust.clips_high};
    });
  }
  const double high = std::max(std::abs(range.low), std::abs(range.high));
  out.scale.high = static_cast<float>(high);
  out.scale.low = -out.scale.high;
  out.scale.threshold = static_cast<float>(std::pow(10.0, std::floor(std::log10(high)) - 2.0));
  out.clips_low = range.clips_low;
  out.clips_high = range.clips_high;
  out.statement = "B − A, automatic, ±" + short_text(high);
  return out;
}

}  // namespace

std::vector<float> difference_of(std::span<const float> a, std::span<const float> b) {
  std::vector<float> out(std::min(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = std::isnan(a[i]) && std::isnan(b[i]) ? a[i]
                                                  : (std::isnan(b[i]) ? 0.0f : b[i]) - (std::isnan(a[i]) ? 0.0f : a[i]);
  return out;
}

MapPair make_map_pair(PanelContext& context, CompareCache& memory, const RunEntry* a, const RunEntry* b) {
  MapPair pair;
  if (a) pair.a = map_subject(context.state, a);
  if (b) pair.b = map_subject(context.state, b);
  MapSubject* both[] = {&pair.a, &pair.b};
  const bool two = pair.a.has_map() && pair.b.has_map();
  const bool differential = pair.a.differential || pair.b.differential;
  if (two && pair.a.kind != pair.b.kind)
    for (MapSubject* subject : both) subject->kind = MapKind::Net, subject->is_logits = false;
  const bool is_signed =
      keeps_sign(pair.any().pooling) && (pair.any().is_logits || (pair.any().kind == MapKind::Net && differential));
  for (MapSubject* subject : both) subject->is_signed = is_signed;
  pair.symbol = value_symbol(pair.any().kind, differential);
  pair.range =
      map_range(pair.any(), context.state.view.map, data_range_of_both(context, memory, pair), context.theme());
  pair.difference = difference_range(context, memory, pair);
  return pair;
}

PairPainter::~PairPainter() {
  if (wanted_.empty()) {
    context_.tiles.want(nullptr, {});
    return;
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (i == 0)
      context_.tiles.want(wanted_[i].first, wanted_[i].second);
    else
      context_.tiles.also_want(wanted_[i].first, wanted_[i].second);
  }
}

void PairPainter::want(const std::shared_ptr<const MapSource>& source, std::vector<TileKey> keys) {
  if (source && !keys.empty()) wanted_.emplace_back(source, std::move(keys));
}

void PairPainter::draw(const MapLayout& layout, PairMap which) {
  if (layout.map.empty()) return;
  if (which == PairMap::Difference) {
    draw_difference(layout);
  } else {
    const bool is_b = which == PairMap::B;
    draw_one(layout, is_b ? pair_.b : pair_.a, is_b);
  }
}

void PairPainter::draw_one(const MapLayout& layout, const MapSubject& subject, bool is_b) {
  if (!subject.has_map() || subject.length != layout.length) {
    context_.painter().fill_rect(layout.map, context_.theme().empty);
    return;
  }
  TileProgress progress = draw_tiles(context_, layout, subject, subject.like(), pair_.range.scale);
  level_ = progress.level;
  texels_pending_ += progress.texels_pending;
  want(subject.source, std::move(progress.wanted));
  (void)draw_non_finite(context_, layout, subject, picture_id(is_b ? kHatchOfB : kHatchOfA, layout));
  draw_numbers(context_, layout, subject, pair_.range.scale);
  draw_hairline(context_, layout, subject);
  if (!layout.strip.empty())
    draw_strip_of_key(context_, layout, subject, layout.strip, 0, pair_.range.scale,
                      picture_id(is_b ? kStripOfB : kStripOfA, layout));
}

void PairPainter::draw_swipe(const MapLayout& layout, double divider) {
  Painter& painter = context_.painter();
  const float x = layout.map.x0 + static_cast<float>(std::clamp(divider, 0.0, 1.0)) * layout.map.width();
  MapLayout left = layout, right = layout;
  right.strip = {};  // the strip shows what lies beside it: A
  const Rect far{layout.map.x0 - 200.0f, layout.map.y0 - 200.0f, layout.map.x1 + 200.0f, layout.map.y1 + 200.0f};
  painter.push_clip({far.x0, far.y0, x, far.y1});
  draw_one(left, pair_.a, false);
  painter.pop_clip();
  painter.push_clip({x, far.y0, far.x1, far.y1});
  draw_one(right, pair_.b, true);
  painter.pop_clip();
}

void PairPainter::draw_difference(const MapLayout& layout) {
  Painter& painter = context_.painter();
  const Theme& theme = context_.theme();
  painter.fill_rect(layout.map, theme.empty);
  if (!pair_.has_difference() || layout.length != pair_.a.length) return;
  const TileView view = tile_view(layout);
  const std::int32_t level = level_ = tile_level(view);
  const bool causal = pair_.a.causal && pair_.b.causal;
  const auto key_of = [&](const MapSubject& subject, TileKey at) {
    TileKey key = subject.like();
    key.pooling = Pooling::Mean;
    key.level = at.level;
    key.row = at.row;
    key.column = at.column;
    return key;
  };
  TileKey like = key_of(pair_.a, {});
  like.level = level;
  MapShading shading;
  shading.scale = pair_.difference.scale;
  std::vector<TileKey> wanted_a = {top_key(pair_.a, Pooling::MaxMagnitude), top_key(pair_.a, Pooling::Mean)};
  std::vector<TileKey> wanted_b = {top_key(pair_.b, Pooling::MaxMagnitude), top_key(pair_.b, Pooling::Mean)};
  painter.push_clip(layout.map);
  for (const TileKey& key : visible_tiles(view, like, causal)) {
    wanted_a.push_back(key);
    wanted_b.push_back(key_of(pair_.b, key));
    // The finest level at which both are there.
    for (TileKey at = key; at.level <= top_level(layout.length); ++at.level, at.row /= 2, at.column /= 2) {
      const auto tile_a = context_.tiles.find(at), tile_b = context_.tiles.find(key_of(pair_.b, at));
      if (!tile_a || !tile_b) {
        if (at.level == level) texels_pending_ += std::int64_t{kTileSize} * kTileSize;
        continue;
      }
      const auto piece = tile_piece(layout, key, at);
      if (!piece) break;
      MapShading shade = shading;
      if (at.level == 0 && std::min(layout.cell_x, layout.cell_y) >= 12.0f)
        shade.cell_gap = 1.0f, shade.gap_color = theme.empty;
      painter.map(piece->target, memory_.difference(*pair_.a.source, *pair_.b.source, *tile_a, *tile_b), piece->source,
                  shade);
      break;
    }
  }
  painter.pop_clip();
  want(pair_.a.source, std::move(wanted_a));
  want(pair_.b.source, std::move(wanted_b));
  draw_difference_numbers(layout);
  draw_hairline(context_, layout, pair_.a);
  draw_difference_strip(layout);
}

void PairPainter::draw_difference_numbers(const MapLayout& layout) {
  if (!layout.numbers()) return;
  Painter& painter = context_.painter();
  const CellRange cells = visible_cells(layout);
  painter.push_clip(layout.map);
  for (std::int64_t query = cells.query0; query < cells.query1; ++query)
    for (std::int64_t key = cells.key0; key < cells.key1; ++key) {
      const double in_a = pair_.a.value(query, key), in_b = pair_.b.value(query, key);
      if (std::isnan(in_a) && std::isnan(in_b)) continue;
      const double value = (std::isnan(in_b) ? 0.0 : in_b) - (std::isnan(in_a) ? 0.0 : in_a);
      const Rect rect = layout.cell_rect(query, key);
      if (std::abs(value) < 0.005 || !Rect(layout.map.inset(-0.5f)).contains({rect.x0, rect.y0}) ||
          rect.x1 > layout.map.x1 + 0.5f || rect.y1 > layout.map.y1 + 0.5f)
        continue;
      const TextStyle style{Face::Mono, 10.0f, text_on(scale_color(pair_.difference.scale, static_cast<float>(value)))};
      std::string text = delta_text(value, 2);
      if (text.starts_with('+')) text.erase(0, 1);  // the colour says it, and there is little room
      if (context_.ui.width(text, style) <= rect.width() - 1.0f)
        painter.text_at(rect.centre_x(), rect.centre_y(), text, style, Painter::Align::Centre);
    }
  painter.pop_clip();
}

void PairPainter::draw_difference_strip(const MapLayout& layout) {
  if (layout.strip.empty()) return;
  Painter& painter = context_.painter();
  painter.fill_rect(layout.strip, context_.theme().empty);
  const auto in_a = context_.tiles.column(pair_.a.source, pair_.a.ref.head, window_map(pair_.a.kind), 0);
  const auto in_b = context_.tiles.column(pair_.b.source, pair_.b.ref.head, window_map(pair_.b.kind), 0);
  if (!in_a || !in_b || in_a->size() != in_b->size()) return;
  const std::vector<float> column = difference_of(*in_a, *in_b);
  const auto pixels = static_cast<std::size_t>(
      std::max(1.0, std::round(static_cast<double>(layout.strip.height()) * layout.pixel_scale)));
  auto values =
      std::make_shared<std::vector<float>>(pool_to_pixels(column, layout.window.query0, layout.window.query1, pixels));
  MapShading shading;
  shading.scale = pair_.difference.scale;
  const MapImage picture{picture_id(kStripOfDifference, layout), values_generation(*values, 1), 1,
                         static_cast<std::int32_t>(pixels), values};
  painter.map(layout.strip, picture, {0, 0, 1, static_cast<float>(pixels)}, shading);
}

}  // namespace headroom
