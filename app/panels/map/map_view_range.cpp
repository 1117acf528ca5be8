#include "app/panels/map/map_view_range.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "app/panels/map/map_range.h"

namespace headroom {
namespace {

// That a range is made of: of a part of a map, while it is dragged, in a millisecond; of the whole in five.
constexpr double kMostValues = 16384.0, kMostOfWhole = 65536.0;
constexpr double kHysteresis = 0.1;

// What the map shows now: the tiles of its level, or coarser ones until these are there.
std::vector<std::shared_ptr<const Tile>> shown_tiles(PanelContext& context, const MapLayout& layout,
                                                     const MapSubject& subject) {
  const TileView view = tile_view(layout);
  TileKey like = subject.like();
  like.level = tile_level(view);
  std::vector<std::shared_ptr<const Tile>> tiles;
  std::set<std::uint64_t> taken;
  for (const TileKey& key : visible_tiles(view, like, subject.causal)) {
    std::shared_ptr<const Tile> tile = context.tiles.find(key);
    if (!tile) tile = context.tiles.find_covering(key);
    if (tile && taken.insert(tile->serial).second) tiles.push_back(std::move(tile));
  }
  return tiles;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 1099511628211ull; }
double as_number(std::uint64_t hash) { return static_cast<double>(hash % (std::uint64_t{1} << 52)); }

}  // namespace

std::vector<float> values_in_window(const Tile& tile, const MapWindow& window, std::int64_t stride,
                                    std::span<const std::int64_t> excluded) {
  const TileSpan columns = tile_columns(tile.key), rows = tile_rows(tile.key);
  const double texel = std::ldexp(1.0, tile.key.level);
  const auto first = [&](double from, const TileSpan& span) {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor((from - span.begin) / texel)));
  };
  const auto last = [&](double to, const TileSpan& span, std::int32_t count) {
    return std::min<std::int64_t>(count, static_cast<std::int64_t>(std::ceil((to - span.begin) / texel)));
  };
  std::vector<bool> skip(static_cast<std::size_t>(tile.columns), false);
  for (const std::int64_t key : excluded) {
    const double column = std::floor((static_cast<double>(key) - columns.begin) / texel);
    if (column >= 0 && column < static_cast<double>(tile.columns)) skip[static_cast<std::size_t>(column)] = true;
  }
  std::vector<float> values;
  for (std::int64_t row = first(window.query0, rows); row < last(window.query1, rows, tile.rows); row += stride)
    for (std::int64_t column = first(window.key0, columns); column < last(window.key1, columns, tile.columns);
         column += stride)
      if (!skip[static_cast<std::size_t>(column)])
        values.push_back((*tile.values)[static_cast<std::size_t>(row * tile.columns + column)]);
  return values;
}

bool has_moved(const DataRange& shown, const DataRange& now, bool log) {
  const auto at = [&](double v) { return log ? std::log10(std::max(v, 1e-300)) : v; };
  const double span = std::abs(at(shown.high) - at(shown.low));
  const double most = kHysteresis * span;
  return !(std::abs(at(now.low) - at(shown.low)) <= most && std::abs(at(now.high) - at(shown.high)) <= most);
}

std::optional<DataRange> range_in_view(PanelContext& context, const MapLayout& layout, const MapSubject& subject,
                                       const MapView& view) {
  if (!needs_data_range(subject, view)) return {};
  double& of = context.ui.kept_number("range of", -1.0);
  double& key = context.ui.kept_number("range key", -1.0);
  double& low = context.ui.kept_number("range low");
  double& high = context.ui.kept_number("range high");
  double& clips = context.ui.kept_number("range clips");
  const auto tiles = shown_tiles(context, layout, subject);
  if (tiles.empty()) return {};
  const std::vector<std::int64_t> excluded = excluded_keys(view, context.state.view.selection);
  const TileKey like = subject.like();
  const ScaleKind scale = shown_scale(subject, view);
  std::uint64_t hash = mixed(mixed(14695981039346656037ull, like.source), static_cast<std::uint64_t>(like.head));
  hash = mixed(mixed(hash, static_cast<std::uint64_t>(like.map)), static_cast<std::uint64_t>(like.pooling));
  hash = mixed(hash, static_cast<std::uint64_t>(scale));
  for (const std::int64_t k : excluded) hash = mixed(hash, static_cast<std::uint64_t>(k) + 1);
  const double wanted_of = as_number(hash);
  for (const auto& tile : tiles) hash = mixed(hash, tile->serial);
  const MapWindow& window = layout.window;
  for (const double end : {window.query0, window.query1, window.key0, window.key1})
    hash = mixed(hash, static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(4.0 * end)) + (1 << 20)));
  const double wanted = as_number(hash);
  if (key != wanted) {
    const double texel = std::ldexp(1.0, tiles.front()->key.level);
    const double texels = (window.query1 - window.query0) * (window.key1 - window.key0) / (texel * texel);
    const auto stride = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil(std::sqrt(texels / (layout.whole() ? kMostOfWhole : kMostValues)))));
    std::vector<float> values;
    for (const auto& tile : tiles) {
      const std::vector<float> some = values_in_window(*tile, window, stride, excluded);
      values.insert(values.end(), some.begin(), some.end());
    }
    const bool any = std::ranges::any_of(values, [](float v) { return std::isfinite(v); });
    const DataRange now = any ? data_range(subject, view, values) : DataRange{low, high};
    const DataRange shown{low, high};
    if (of != wanted_of || layout.whole() || has_moved(shown, now, scale == ScaleKind::Log10)) {
      low = now.low;
      high = now.high;
      clips = (now.clips_low ? 1.0 : 0.0) + (now.clips_high ? 2.0 : 0.0);
    }
    of = wanted_of;
    key = wanted;
  }
  const int flags = static_cast<int>(clips);
  DataRange range{low, high, (flags & 1) != 0, (flags & 2) != 0};
  range.in_view = !layout.whole();
  return range;
}

}  // namespace headroom
