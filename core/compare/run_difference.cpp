#include "core/compare/run_difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>

namespace headroom {
namespace {

constexpr double kEntriesOfADistance = 67108864.0;  // of each map
constexpr std::int64_t kStripEntries = std::int64_t{1} << 19;

// Whether the row's weights are numbers.
bool row_is_finite(const MapSource::Head& head, std::int64_t row) {
  const auto bad = [row](const std::vector<double>& values) {
    return !values.empty() && !std::isfinite(values[static_cast<std::size_t>(row)]);
  };
  return !bad(head.lse[0]) && !bad(head.lse[1]) && !bad(head.lambda);
}

std::int64_t overlap(kernels::KeyRange keys, std::int64_t begin, std::int64_t end) {
  return std::max<std::int64_t>(0, std::min(keys.end, end) - std::max(keys.begin, begin));
}

// Entries of a texel that A sees, that B sees, that one of them sees.
struct Counts {
  std::int64_t a = 0, b = 0, either = 0;
};

struct Visibility {
  kernels::Mask a, b;
  std::vector<std::int64_t> hidden;  // in A or in B

  [[nodiscard]] bool hides_any(std::int64_t key0, std::int64_t key1) const {
    const auto first = std::ranges::lower_bound(hidden, key0);
    return first != hidden.end() && *first < key1;
  }

  [[nodiscard]] Counts count(std::int64_t row0, std::int64_t row1, std::int64_t key0, std::int64_t key1) const {
    Counts counts;
    for (std::int64_t row = row0; row < row1; ++row) {
      // Near keys and those that are always visible do not overlap within one mask.
      const std::array in_a = {a.near_keys_of(row), a.always_keys_of(row)};
      const std::array in_b = {b.near_keys_of(row), b.always_keys_of(row)};
      const auto holds = [](const std::array<kernels::KeyRange, 2>& keys, std::int64_t key) {
        return keys[0].holds(key) || keys[1].holds(key);
      };
      std::int64_t only_a = overlap(in_a[0], key0, key1) + overlap(in_a[1], key0, key1);
      std::int64_t only_b = overlap(in_b[0], key0, key1) + overlap(in_b[1], key0, key1);
      std::int64_t either = only_a + only_b;
      for (const kernels::KeyRange& of_a : in_a)
        for (const kernels::KeyRange& of_b : in_b)
          either -= overlap({std::max(of_a.begin, of_b.begin), std::min(of_a.end, of_b.end)}, key0, key1);
      // The hidden keys one by one.
      const auto from = std::ranges::lower_bound(hidden, key0), to = std::ranges::lower_bound(hidden, key1);
      for (auto key = from; key != to; ++key) {
        const bool reached_a = holds(in_a, *key), reached_b = holds(in_b, *key);
        const bool seen_a = a.sees(row, *key), seen_b = b.sees(row, *key);
        only_a -= reached_a && !seen_a ? 1 : 0;
        only_b -= reached_b && !seen_b ? 1 : 0;
        either -= (reached_a || reached_b) && !seen_a && !seen_b ? 1 : 0;
      }
      counts.a += only_a;
      counts.b += only_b;
      counts.either += either;
    }
    return counts;
  }
};

}  // namespace

std::int64_t distance_rows(std::int64_t length) {
  const double rows = kEntriesOfADistance / static_cast<double>(std::max<std::int64_t>(1, length));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(rows), 64, std::int64_t{1} << 20);
}

Result<RowDistance> row_distance(const MapSource& a, const MapSource& b, std::int64_t head, std::int64_t most_rows,
                                 const kernels::ParallelFor& parallel, const kernels::StopRequested& stop) {
  const MapSource::Head* in_a = a.find(head);
  const MapSource::Head* in_b = b.find(head);
  if (!in_a || !in_b) return Error(ErrorCode::InvalidArgument, "the maps of a head to compare were not kept");
  if (a.length != b.length) {
    Error error(ErrorCode::InvalidArgument, "maps of different lengths have no row distance");
    return error.wanted(std::to_string(a.length) + " tokens", std::to_string(b.length));
  }
  const std::int64_t n = a.length;
  const bool causal = a.causal && b.causal;
  const std::int64_t looked_at = std::min(n, std::max<std::int64_t>(1, most_rows));
  const std::int64_t strip =
      looked_at < n ? 1 : std::clamp<std::int64_t>(kStripEntries / std::max<std::int64_t>(1, n), 1, 256);
  std::vector<float> rows_a(static_cast<std::size_t>(strip * n)), rows_b(rows_a.size());
  RowDistance distance;
  double sum = 0.0;
  for (std::int64_t k = 0; k < looked_at; k += strip) {
    // The middle of each step; all rows where every one counts.
    const std::int64_t row0 = looked_at < n ? (2 * k + 1) * n / (2 * looked_at) : k;
    kernels::WindowRequest request;
    request.row_begin = row0;
    request.rows = looked_at < n ? 1 : std::min(strip, n - row0);
    request.keys = causal ? row0 + request.rows : n;
    kernels::WindowCells cells;
    cells.stride = request.keys;
    cells.mean = rows_a.data();
    HEADROOM_TRY_VOID(a.window_of(head, request, cells, parallel, stop));
    cells.mean = rows_b.data();
    HEADROOM_TRY_VOID(b.window_of(head, request, cells, parallel, stop));
    for (std::int64_t r = 0; r < request.rows; ++r) {
      if (!row_is_finite(*in_a, row0 + r) || !row_is_finite(*in_b, row0 + r)) continue;
      const float* const from_a = rows_a.data() + r * request.keys;
      const float* const from_b = rows_b.data() + r * request.keys;
      double row = 0.0;
      for (std::int64_t key = 0; key < request.keys; ++key) {
        const double x = std::isnan(from_a[key]) ? 0.0 : static_cast<double>(from_a[key]);
        const double y = std::isnan(from_b[key]) ? 0.0 : static_cast<double>(from_b[key]);
        row += std::abs(y - x);
      }
      sum += 0.5 * row;
      ++distance.rows;
    }
  }
  if (distance.rows > 0) distance.mean = sum / static_cast<double>(distance.rows);
  return distance;
}

std::vector<float> difference_texels(const MapSource& a, const MapSource& b, const Tile& tile_a, const Tile& tile_b) {
  const std::vector<float>& from_a = *tile_a.values;
  const std::vector<float>& from_b = *tile_b.values;
  std::vector<float> out(from_a.size(), std::numeric_limits<float>::quiet_NaN());
  const MapSource::Head* in_a = a.find(tile_a.key.head);
  const MapSource::Head* in_b = b.find(tile_b.key.head);
  if (!in_a || !in_b || from_a.size() != from_b.size() || a.length != b.length) return out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = from_b[i] - from_a[i];

  using kernels::WindowMap;
  if (tile_a.key.map == WindowMap::FirstLogits || tile_a.key.map == WindowMap::SecondLogits) return out;
  Visibility visibility{a.mask(*in_a), b.mask(*in_b), {}};
  const std::vector<std::int64_t>&hidden_a = visibility.a.hidden_keys, &hidden_b = visibility.b.hidden_keys;
  std::ranges::set_union(hidden_a, hidden_b, std::back_inserter(visibility.hidden));
  const kernels::Mask &of_a = visibility.a, &of_b = visibility.b;
  const bool same_reach = of_a.near_behind() == of_b.near_behind() && of_a.near_ahead() == of_b.near_ahead() &&
                          of_a.chunk == of_b.chunk && of_a.always_visible == of_b.always_visible;
  if (same_reach && hidden_a == hidden_b) return out;
  const std::int64_t texel = std::int64_t{1} << tile_a.key.level, n = a.length;
  const std::int64_t first_row = tile_a.key.row * kTileSize * texel, first_key = tile_a.key.column * kTileSize * texel;
  for (std::int64_t column = 0; column < tile_a.columns; ++column) {
    const std::int64_t key0 = first_key + column * texel, key1 = std::min(n, key0 + texel);
    if (same_reach && !visibility.hides_any(key0, key1)) continue;
    for (std::int64_t row = 0; row < tile_a.rows; ++row) {
      const std::int64_t row0 = first_row + row * texel, row1 = std::min(n, row0 + texel);
      const Counts counts = visibility.count(row0, row1, key0, key1);
      const auto at = static_cast<std::size_t>(row * tile_a.columns + column);
      if (counts.either == 0) {
        out[at] = std::numeric_limits<float>::quiet_NaN();
        continue;
      }
      const double sum_a = counts.a > 0 ? static_cast<double>(from_a[at]) * static_cast<double>(counts.a) : 0.0;
      const double sum_b = counts.b > 0 ? static_cast<double>(from_b[at]) * static_cast<double>(counts.b) : 0.0;
      out[at] = static_cast<float>((sum_b - sum_a) / static_cast<double>(counts.either));
    }
  }
  return out;
}

std::vector<KeyChange> most_changed_keys(std::span<const float> a, std::span<const float> b, std::size_t count,
                                         std::int64_t end) {
  std::vector<KeyChange> changes;
  const std::size_t keys = std::min({a.size(), b.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, end))});
  for (std::size_t key = 0; key < keys; ++key)
    changes.push_back({static_cast<std::int64_t>(key), static_cast<double>(a[key]), static_cast<double>(b[key])});
  // A key that one run hides has no number there, and receives nothing.
  for (KeyChange& change : changes) {
    if (std::isnan(change.a) && !std::isnan(change.b)) change.a = 0.0;
    if (std::isnan(change.b) && !std::isnan(change.a)) change.b = 0.0;
  }
  std::erase_if(changes, [](const KeyChange& change) { return !std::isfinite(change.a) || !std::isfinite(change.b); });
  std::ranges::stable_sort(changes, [](const KeyChange& x, const KeyChange& y) {
    if ((x.key == 0) != (y.key == 0)) return x.key == 0;
    return std::abs(x.change()) > std::abs(y.change());
  });
  if (changes.size() > count) changes.resize(count);
  std::ranges::sort(changes, {}, &KeyChange::key);
  return changes;
}

std::int64_t keys_seen_often(std::int64_t length, bool causal) {
  return causal ? std::max<std::int64_t>(1, length - std::max<std::int64_t>(1, length / 16) + 1) : length;
}

}  // namespace headroom
