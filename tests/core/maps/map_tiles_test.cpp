// Tiles: which ones a view needs, what every texel holds, in which order they are computed, and what a small budget
// keeps.
#include "core/maps/map_tiles.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/core/maps/live_maps.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

using kernels::WindowMap;
using namespace std::chrono_literals;

constexpr std::size_t kPlenty = std::size_t{1} << 30;
constexpr std::size_t kTileBytes = std::size_t{kTileSize} * kTileSize * sizeof(float);

// Waits, as frames do, until `ready` holds; false after ten seconds.
// Patient: under a sanitizer, beside other work, a tile takes its time.
bool frames_until(TileStore& store, const std::function<bool()>& ready) {
  for (int i = 0; i < 60000; ++i) {
    (void)store.collect();
    if (ready()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

void want(TileStore& store, const std::shared_ptr<const MapSource>& source, std::span<const TileKey> keys,
          std::span<const TileKey> beside = {}) {
  const WantedTiles wanted[] = {{source, {keys.begin(), keys.end()}}, {source, {beside.begin(), beside.end()}}};
  store.want(wanted);
}

bool all_there(TileStore& store, std::span<const TileKey> keys) {
  return std::ranges::all_of(keys, [&](const TileKey& key) { return store.find(key) != nullptr; });
}

std::vector<TileKey> all_tiles(const MapSource& source, std::int64_t head, WindowMap map, Pooling pooling,
                               std::int32_t level) {
  const auto length = static_cast<double>(source.length);
  return visible_tiles({0, length, 0, length, 1.0, source.length}, {source.id, head, map, pooling, level, 0, 0},
                       source.causal);
}

// One texel by its definition.
double pooled(const MapSource& source, const TileKey& key, std::int64_t row, std::int64_t column) {
  const std::int64_t r = std::int64_t{1} << key.level;
  double sum = 0.0, positive = 0.0, largest = 0.0, count = 0.0;
  for (std::int64_t i = row * r; i < std::min(source.length, (row + 1) * r); ++i)
    for (std::int64_t j = column * r; j < std::min(source.length, (column + 1) * r); ++j) {
      const double x = shown(source.cell(key.head, i, j), key.map);
      if (std::isnan(x)) continue;
      count += 1.0, sum += x, positive += std::max(x, 0.0);
      if (std::abs(x) > std::abs(largest)) largest = x;
    }
  if (count == 0.0) return NAN;
  switch (key.pooling) {
    case Pooling::MaxMagnitude: return largest;
    case Pooling::Mean: return sum / count;
    case Pooling::Positive: return positive / count;
    case Pooling::Negative: return (positive - sum) / count;
  }
  return NAN;
}

// Lets a test hold the worker before it begins anything: its first act is to wait here.
struct Gate {
  std::atomic<bool> open{false};
  std::function<void()> hold() {
    return [this] {
      while (!open) std::this_thread::sleep_for(1ms);
    };
  }
};

}  // namespace

CATCH_TEST_CASE("tiles: the level of a view is the first whose texels are not smaller than a pixel") {
  const auto level = [](double pixels, std::int64_t length) { return tile_level({0, 1, 0, 1, pixels, length}); };
  CATCH_CHECK(top_level(1) == 0);
  CATCH_CHECK(top_level(256) == 0);
  CATCH_CHECK(top_level(257) == 1);
  CATCH_CHECK(top_level(7658) == 5);
  CATCH_CHECK(top_level(131072) == 9);
  CATCH_CHECK(level(64.0, 7658) == 0);
  CATCH_CHECK(level(1.0, 7658) == 0);
  CATCH_CHECK(level(0.999, 7658) == 1);
  CATCH_CHECK(level(0.5, 7658) == 1);
  CATCH_CHECK(level(0.49, 7658) == 2);
  CATCH_CHECK(level(692.0 / 7658.0, 7658) == 4);  // 11.07 cells a pixel
  CATCH_CHECK(level(1e-6, 7658) == 5);
  CATCH_CHECK(level(0.01, 200) == 0);
  for (std::int32_t exact = 0; exact <= 9; ++exact) CATCH_CHECK(level(std::ldexp(1.0, -exact), 131072) == exact);
}

CATCH_TEST_CASE("tiles: a view needs the tiles it touches, its centre first, none above the diagonal") {
  const TileKey like{1, 0, WindowMap::Net, Pooling::Mean, 1, 0, 0};  // 512 cells a side
  const auto places = [&](const TileView& view, bool causal) {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    for (const TileKey& key : visible_tiles(view, like, causal)) {
      CATCH_CHECK((key.source == 1 && key.level == 1 && key.pooling == Pooling::Mean));
      found.emplace_back(key.row, key.column);
    }
    return found;
  };
  using Places = std::vector<std::pair<std::int64_t, std::int64_t>>;
  CATCH_CHECK(places({0, 2000, 0, 2000, 1, 2000}, false).size() == 16);
  CATCH_CHECK(places({0, 2000, 0, 2000, 1, 2000}, true).size() == 10);
  CATCH_CHECK(places({512, 1024, 0, 512, 1, 2000}, true) == Places{{1, 0}});  // edges that touch need no neighbour
  CATCH_CHECK(places({511.5, 1024.5, 0, 512, 1, 2000}, true) == Places{{1, 0}, {0, 0}, {2, 0}});
  CATCH_CHECK(places({-900, 10, -900, 10, 1, 2000}, true) == Places{{0, 0}});
  CATCH_CHECK(places({5000, 6000, 0, 10, 1, 2000}, true).empty());
  CATCH_CHECK(places({0, 100, 600, 700, 1, 2000}, true).empty());
  CATCH_CHECK(places({0, 100, 600, 700, 1, 2000}, false) == Places{{0, 1}});
  CATCH_CHECK(places({0, 10, 0, 10, 1, 0}, false).empty());
  // Farther tiles never come before nearer ones.
  const TileView view{100, 1900, 300, 1500, 1, 2000};
  double last = 0.0;
  for (const auto& [row, column] : places(view, false)) {
    const double distance =
        std::hypot((static_cast<double>(row) + 0.5) * 512 - 1000, (static_cast<double>(column) + 0.5) * 512 - 900);
    CATCH_CHECK(distance >= last - 1e-9);
    last = distance;
  }
}

CATCH_TEST_CASE("tiles: every texel of every level is the pooling of exact cells") {
  const auto source = made_maps({.length = 600});
  TileStore store(kPlenty, 2, {});
  const std::tuple<std::int64_t, WindowMap> shown_maps[] = {
      {2, WindowMap::Net}, {2, WindowMap::SecondLogits}, {4, WindowMap::First}};
  for (const auto& [head, map] : shown_maps)
    for (std::int32_t level = 0; level <= top_level(source->length); ++level)
      for (const Pooling pooling : {Pooling::MaxMagnitude, Pooling::Mean, Pooling::Positive, Pooling::Negative}) {
        if (level == 0 && pooling == Pooling::Negative && map == WindowMap::First) continue;
        const std::vector<TileKey> keys = all_tiles(*source, head, map, pooling, level);
        want(store, source, keys);
        CATCH_REQUIRE(frames_until(store, [&] { return all_there(store, keys); }));
        int wrong = 0, negative = 0;
        std::set<std::uint64_t> serials;
        for (const TileKey& key : keys) {
          const auto tile = store.find(key);
          serials.insert(tile->serial);
          const std::int64_t texels = (source->length + (std::int64_t{1} << level) - 1) >> level;
          CATCH_CHECK(tile->rows == std::min<std::int64_t>(kTileSize, texels - key.row * kTileSize));
          CATCH_CHECK(tile->columns == std::min<std::int64_t>(kTileSize, texels - key.column * kTileSize));
          CATCH_REQUIRE(tile->values->size() == static_cast<std::size_t>(tile->rows * tile->columns));
          // At the finest level every third row is enough.
          for (std::int32_t row = 0; row < tile->rows; row += level == 0 ? 3 : 1)
            for (std::int32_t column = 0; column < tile->columns; ++column) {
              const double expected = pooled(*source, key, key.row * kTileSize + row, key.column * kTileSize + column);
              const auto found =
                  static_cast<double>((*tile->values)[static_cast<std::size_t>(row * tile->columns + column)]);
              const bool right = std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) <= 2e-5;
              wrong += !right;
              negative += found < 0.0;
            }
        }
        CATCH_INFO("head " << head << ", map " << static_cast<int>(map) << ", level " << level << ", pooling "
                           << static_cast<int>(pooling));
        CATCH_CHECK(wrong == 0);
        CATCH_CHECK(serials.size() == keys.size());
        CATCH_CHECK(!serials.contains(0));
        if (pooling == Pooling::MaxMagnitude && map != WindowMap::First) CATCH_CHECK(negative > 0);
      }
  CATCH_CHECK(store.statistics().dropped == 0);
  const auto levels = store.kept_by_level(source->id);
  CATCH_REQUIRE(levels.size() == 3);
  CATCH_CHECK(levels[2] == 12);  // one tile for each map and pooling
}

CATCH_TEST_CASE("tiles: rows and columns are exact, come before any tile and stay the same vector") {
  const auto source = made_maps({.length = 400});
  Gate gate;
  TileStore store(kPlenty, 1, {}, gate.hold());
  const std::vector<TileKey> keys = all_tiles(*source, 2, WindowMap::Net, Pooling::Mean, 0);
  want(store, source, keys);
  CATCH_CHECK(!store.row(source, 2, WindowMap::Net, 123));
  CATCH_CHECK(!store.column(source, 2, WindowMap::SecondLogits, 7));
  gate.open = true;
  CATCH_REQUIRE(frames_until(store, [&] {
    return store.row(source, 2, WindowMap::Net, 123) && store.column(source, 2, WindowMap::SecondLogits, 7);
  }));
  const auto row = store.row(source, 2, WindowMap::Net, 123),
             column = store.column(source, 2, WindowMap::SecondLogits, 7);
  CATCH_REQUIRE(row->size() == 400);
  CATCH_REQUIRE(column->size() == 400);
  for (std::int64_t i = 0; i < 400; ++i) {
    const double in_row = shown(source->cell(2, 123, i), WindowMap::Net);
    const double in_column = shown(source->cell(2, i, 7), WindowMap::SecondLogits);
    const auto at = static_cast<std::size_t>(i);
    CATCH_CHECK(
        (std::isnan(in_row) ? std::isnan((*row)[at]) : std::abs(static_cast<double>((*row)[at]) - in_row) < 1e-5));
    CATCH_CHECK((std::isnan(in_column) ? std::isnan((*column)[at])
                                       : std::abs(static_cast<double>((*column)[at]) - in_column) < 2e-5));
  }
  CATCH_CHECK(store.row(source, 2, WindowMap::Net, 123) == row);
  CATCH_CHECK(!store.row(source, 2, WindowMap::Net, 400));
  CATCH_CHECK(!store.row(source, 1, WindowMap::Net, 3));
  // Lines have their own few places: the one that is used stays, the oldest others go.
  for (std::int64_t i = 0; i < 100; ++i) {
    CATCH_REQUIRE(frames_until(store, [&] { return store.row(source, 0, WindowMap::First, i) != nullptr; }));
    CATCH_REQUIRE(store.row(source, 2, WindowMap::Net, 123) == row);
  }
  CATCH_CHECK(!store.row(source, 0, WindowMap::First, 1));
  CATCH_CHECK(store.row(source, 0, WindowMap::First, 99));
}

CATCH_TEST_CASE("tiles: lines first, then coarse before fine, then the order in which they were wanted") {
  const auto source = made_maps({.length = 700});
  Gate gate;
  TileStore store(kPlenty, 1, {}, gate.hold());
  std::vector<TileKey> fine = all_tiles(*source, 0, WindowMap::First, Pooling::Mean, 0);
  const std::vector<TileKey> coarse = all_tiles(*source, 0, WindowMap::First, Pooling::Mean, 2);
  std::vector<TileKey> both = fine;
  both.insert(both.end(), coarse.begin(), coarse.end());
  const std::vector<TileKey> middle = all_tiles(*source, 4, WindowMap::First, Pooling::Mean, 1);
  want(store, source, both, middle);
  CATCH_CHECK(store.statistics().waiting == both.size() + middle.size());
  gate.open = true;
  both.insert(both.end(), middle.begin(), middle.end());
  CATCH_REQUIRE(frames_until(store, [&] { return all_there(store, both); }));
  std::uint64_t last = 0;
  for (const auto& group : {coarse, middle, fine})
    for (const TileKey& key : group) {
      CATCH_CHECK(store.find(key)->serial > last);
      last = store.find(key)->serial;
    }
  CATCH_CHECK(store.statistics().computed == both.size());
}

CATCH_TEST_CASE("tiles: what is not wanted any more is not begun") {
  const auto source = made_maps({.length = 700});
  Gate gate;
  TileStore store(kPlenty, 1, {}, gate.hold());
  const std::vector<TileKey> before = all_tiles(*source, 0, WindowMap::First, Pooling::Mean, 0);
  const std::vector<TileKey> beside = all_tiles(*source, 4, WindowMap::First, Pooling::Mean, 1);
  const std::vector<TileKey> after = all_tiles(*source, 2, WindowMap::Net, Pooling::Mean, 1);
  want(store, source, before, beside);
  want(store, source, after, beside);  // beside is wanted again: not stale
  CATCH_CHECK(store.statistics().dropped == before.size());
  want(store, source, after, beside);
  CATCH_CHECK(store.statistics().dropped == before.size());
  gate.open = true;
  CATCH_REQUIRE(frames_until(store, [&] { return all_there(store, after) && all_there(store, beside); }));
  CATCH_CHECK(store.statistics().computed == after.size() + beside.size());
  CATCH_CHECK(!store.find(before.front()));
  // Keys of another source, of heads that are not there and beyond the map are no work.
  std::vector<TileKey> wrong = {before.front(), before.front(), before.front(), before.front()};
  wrong[0].source += 1000, wrong[1].head = 1, wrong[2].row = 99, wrong[3].level = 5;
  want(store, source, wrong);
  CATCH_CHECK(store.statistics().waiting == 0);
}

CATCH_TEST_CASE("tiles: a small budget evicts what was used longest ago and never what is wanted") {
  const auto source = made_maps({.length = 1024});
  TileStore store(3 * kTileBytes, 1, {});
  const auto key = [&](std::int64_t row, std::int64_t column) {
    return TileKey{source->id, 0, WindowMap::First, Pooling::Mean, 0, row, column};
  };
  const auto get = [&](const std::vector<TileKey>& keys) {
    want(store, source, keys);
    CATCH_REQUIRE(frames_until(store, [&] { return all_there(store, keys); }));
  };
  get({key(0, 0)});
  get({key(1, 0)});
  get({key(1, 1)});
  CATCH_CHECK(store.statistics().bytes == 3 * kTileBytes);
  CATCH_REQUIRE(store.find(key(0, 0)));  // used again: (1, 0) is the oldest
  get({key(2, 0)});
  CATCH_CHECK(!store.find(key(1, 0)));
  CATCH_CHECK(store.find(key(0, 0)));
  CATCH_CHECK(store.find(key(1, 1)));
  CATCH_CHECK(store.statistics().bytes == 3 * kTileBytes);
  // More is wanted than fits: all of it stays, nothing else does.
  const std::vector<TileKey> many = {key(3, 0), key(3, 1), key(3, 2), key(3, 3)};
  get(many);
  CATCH_CHECK(store.statistics().tiles == 4);
  CATCH_CHECK(store.statistics().bytes == 4 * kTileBytes);
  for (int frame = 0; frame < 3; ++frame) (void)store.collect();
  CATCH_CHECK(all_there(store, many));
  get({key(3, 0)});
  (void)store.collect();
  CATCH_CHECK(store.statistics().bytes == 3 * kTileBytes);
  store.set_budget(0);
  CATCH_CHECK(store.statistics().tiles == 1);
  CATCH_CHECK(store.find(key(3, 0)));
  get({key(2, 2)});  // evicted tiles are computed again
  CATCH_CHECK(store.find(key(2, 2)));
}

CATCH_TEST_CASE("tiles: the finest tile that covers a missing one stands in for it") {
  const auto source = made_maps({.length = 1000});
  TileStore store(kPlenty, 1, {});
  const TileKey wanted{source->id, 0, WindowMap::First, Pooling::Mean, 0, 3, 1};
  CATCH_CHECK(!store.find_covering(wanted));
  TileKey coarse = wanted, half = wanted;
  coarse.level = 2, coarse.row = coarse.column = 0;
  half.level = 1, half.row = 1, half.column = 0;
  const auto get = [&](const TileKey& key) {
    want(store, source, std::span(&key, 1));
    CATCH_REQUIRE(frames_until(store, [&] { return store.find(key) != nullptr; }));
    CATCH_CHECK(store.find_covering(wanted)->key == key);
  };
  get(coarse);
  get(half);
  TileKey elsewhere = half;
  elsewhere.row = 0;
  want(store, source, std::span(&elsewhere, 1));
  CATCH_REQUIRE(frames_until(store, [&] { return store.find(elsewhere) != nullptr; }));
  CATCH_CHECK(store.find_covering(wanted)->key == half);
  get(wanted);
}

CATCH_TEST_CASE("tiles: asking takes no time while the worker is busy, and it wakes the window") {
  // Long enough that the coarsest tile takes a while; nobody checks its numbers here.
  auto made = std::make_shared<MapSource>();
  made->id = next_map_source_id();
  made->length = 24000;
  made->head_dim = 64;
  made->num_query_blocks = made->num_key_blocks = 1;
  made->queries.assign(static_cast<std::size_t>(made->length * made->head_dim), 0.01F);
  made->keys = made->queries;
  MapSource::Head& head = made->heads.emplace_back();
  head.program.first = {0, 0, {0}};
  head.lse[0].assign(static_cast<std::size_t>(made->length), 5.0);
  const std::shared_ptr<const MapSource> source = made;
  std::atomic<int> woken{0};
  TileStore store(kPlenty, 1, [&] { ++woken; });
  const TileKey top{source->id, 0, WindowMap::First, Pooling::Mean, top_level(source->length), 0, 0};
  const TileKey fine{source->id, 0, WindowMap::First, Pooling::Mean, 0, 50, 20};
  // A yardstick of this machine and build: how long that tile takes.
  const auto seconds_since = [](std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto started = std::chrono::steady_clock::now();
  {
    TileStore alone(kPlenty, 1, [] {});
    want(alone, source, std::span(&top, 1));
    CATCH_REQUIRE(frames_until(alone, [&] { return alone.find(top) != nullptr; }));
  }
  const double tile = seconds_since(started);
  want(store, source, std::span(&top, 1));
  std::this_thread::sleep_for(20ms);  // it is being computed
  CATCH_REQUIRE(store.statistics().waiting == 0);
  const auto begin = std::chrono::steady_clock::now();
  for (int frame = 0; frame < 100; ++frame) {
    (void)store.collect();
    want(store, source, std::span(&top, 1));
    (void)store.find(top);
    (void)store.row(source, 0, WindowMap::First, 20000);
  }
  CATCH_CHECK(seconds_since(begin) < 0.5 * tile);
  // A row does not wait for it.
  CATCH_REQUIRE(frames_until(store, [&] { return store.row(source, 0, WindowMap::First, 20000) != nullptr; }));
  CATCH_CHECK(!store.find(top));
  CATCH_CHECK(woken >= 1);
  // And nobody wants it any more: the tile that is wanted does not wait for its end either.
  want(store, source, std::span(&fine, 1));
  const auto asked = std::chrono::steady_clock::now();
  CATCH_REQUIRE(frames_until(store, [&] { return store.find(fine) != nullptr; }));
  CATCH_CHECK(seconds_since(asked) < 0.5 * tile);
  CATCH_CHECK(!store.find(top));
  // A store that goes away while it computes ends soon.
  want(store, source, std::span(&top, 1));
}

CATCH_TEST_CASE("tiles: of tiles that take long the finer ones come first") {
  auto made = std::make_shared<MapSource>(*made_maps({.length = 2}));
  made->id = next_map_source_id();
  made->length = 17000;
  made->head_dim = 1;
  made->num_query_blocks = made->num_key_blocks = 1;
  made->queries.assign(17000, 0.1F);
  made->keys = made->queries;
  made->heads.resize(1);
  made->heads[0].lse[0].assign(17000, 3.0);
  const std::shared_ptr<const MapSource> source = made;
  Gate gate;
  TileStore store(kPlenty, 2, {}, gate.hold());
  const TileKey top{source->id, 0, WindowMap::First, Pooling::Mean, top_level(source->length), 0, 0};
  TileKey long_one = top, quick = top;
  long_one.level = 6, long_one.row = 1;
  quick.level = 2, quick.row = 3;
  const TileKey keys[] = {top, long_one, quick};
  want(store, source, keys);
  gate.open = true;
  CATCH_REQUIRE(frames_until(store, [&] { return all_there(store, keys); }));
  CATCH_CHECK(store.find(quick)->serial < store.find(long_one)->serial);
  CATCH_CHECK(store.find(long_one)->serial < store.find(top)->serial);
}

}  // namespace headroom::test
