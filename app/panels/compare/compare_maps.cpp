#include "app/panels/compare/compare_maps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_geometry.h"
#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/map/map_view_range.h"
#include "app/panels/panel.h"
#include "app/panels/parts/data_range.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

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

FigureProgress draw_pair_map(PanelContext& context, CompareCache& memory, const MapPair& pair, const MapLayout& layout,
                             PairMap which) {
  if (layout.map.empty()) return {};
  if (which == PairMap::Difference && !pair.has_difference()) {
    context.painter().fill_rect(layout.map, context.theme().empty);
    return {};
  }
  MapFigure figure{&pair.a, pair.range.scale, FigureSlot::A};
  if (which == PairMap::B) figure = {&pair.b, pair.range.scale, FigureSlot::B};
  if (which == PairMap::Difference) figure = {&pair.b, pair.difference.scale, FigureSlot::Difference, &pair.a, &memory};
  figure.avoid = caption_band(layout, pair.a.causal || pair.b.causal);
  return draw_map_figure(context, layout, figure);
}

FigureProgress draw_pair_swipe(PanelContext& context, const MapPair& pair, const MapLayout& layout, double divider) {
  const float x = layout.map.x0 + static_cast<float>(std::clamp(divider, 0.0, 1.0)) * layout.map.width();
  MapLayout right = layout;
  right.strip = {};  // the strip shows what lies beside it: A
  MapFigure a{&pair.a, pair.range.scale, FigureSlot::A}, b{&pair.b, pair.range.scale, FigureSlot::B};
  a.part = b.part = layout.map;
  a.part.x1 = b.part.x0 = x;
  FigureProgress progress = draw_map_figure(context, layout, a);
  progress.add(draw_map_figure(context, right, b));
  return progress;
}

}  // namespace headroom
