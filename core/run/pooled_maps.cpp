#include "core/run/pooled_maps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>

#include "core/base/numbers.h"
#include "core/run/run_snapshot.h"
#include "kernels/mask.h"

namespace headroom {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

std::span<const float> part(const std::vector<float>& all, std::int64_t index, std::int64_t size) {
  const auto begin = static_cast<std::size_t>(index * size), count = static_cast<std::size_t>(size);
  return index >= 0 && begin + count <= all.size() ? std::span(all).subspan(begin, count) : std::span<const float>();
}

void append(std::vector<float>& all, const std::vector<double>& cells, const std::vector<std::int64_t>& visible) {
  for (std::size_t cell = 0; cell < visible.size(); ++cell)
    all.push_back(visible[cell] > 0 && cell < cells.size() ? static_cast<float>(cells[cell]) : kNoNumber);
}

std::vector<double> largest_magnitudes(const kernels::HeadStatistics& statistics) {
  std::vector<double> cells(statistics.pooled_highest.size());
  for (std::size_t cell = 0; cell < cells.size(); ++cell)
    cells[cell] = kernels::larger_or_nan(statistics.pooled_highest[cell], -statistics.pooled_lowest[cell]);
  return cells;
}

// The largest |value(row)| of the rows of each block that `sees` lets pass.
template <typename Value, typename Sees>
void append_key(std::vector<float>& all, std::int64_t rows, std::int64_t blocks, std::int64_t size, const Value& value,
                const Sees& sees) {
  for (std::int64_t block = 0; block < blocks; ++block) {
    double largest = kNaN;
    bool any = false;
    for (std::int64_t row = block * size; row < std::min(rows, (block + 1) * size); ++row) {
      if (!sees(row)) continue;
      const double here = std::abs(value(row));
      largest = any ? kernels::larger_or_nan(largest, here) : here;
      any = true;
    }
    all.push_back(static_cast<float>(largest));
  }
}

const std::vector<float>& map_of(const PooledMaps& maps, PooledKind kind) {
  return kind == PooledKind::Net || maps.first.empty() ? maps.net
         : kind == PooledKind::First                   ? maps.first
                                                       : maps.second;
}

const std::vector<float>& key_of(const PooledMaps& maps, PooledKind kind) {
  return kind == PooledKind::Net || maps.first.empty() ? maps.net_key
         : kind == PooledKind::First                   ? maps.first_key
                                                       : maps.second_key;
}

// Heads with the same hidden keys and no mask of their own see the same entries.
bool same_mask(const HeadRecord& a, const HeadRecord& b) { return a.program.hidden_keys == b.program.hidden_keys; }

}  // namespace

std::span<const float> PooledMaps::map(PooledKind kind, std::int64_t index) const {
  if (kind == PooledKind::Second && second.empty()) return {};
  return part(map_of(*this, kind), index, blocks * blocks);
}

std::span<const float> PooledMaps::key0(PooledKind kind, std::int64_t index) const {
  if (kind == PooledKind::Second && second.empty()) return {};
  return part(key_of(*this, kind), index, blocks);
}

std::size_t PooledMaps::size_bytes() const {
  std::size_t bytes = 0;
  for (const std::vector<float>* values : {&net, &first, &second, &net_key, &first_key, &second_key})
    bytes += values->capacity() * sizeof(float);
  return bytes;
}

std::int64_t pooled_blocks(std::int64_t heads) { return heads > 1024 ? 32 : 64; }

std::size_t pooled_bytes(std::int64_t blocks, std::size_t heads, bool differential) {
  return static_cast<std::size_t>(blocks * (blocks + 1)) * heads * sizeof(float) * (differential ? 3 : 1);
}

std::shared_ptr<const PooledMaps> keep_pooled(const LayerRecord& record) {
  if (record.heads.empty() || record.heads.front().statistics.pool_blocks == 0) return nullptr;
  auto maps = std::make_shared<PooledMaps>();
  maps->blocks = record.heads.front().statistics.pool_blocks;
  maps->size = record.heads.front().statistics.pool_size;
  const bool two = std::ranges::any_of(record.heads, [](const HeadRecord& head) { return head.program.has_second(); });
  const std::size_t cells = static_cast<std::size_t>(maps->blocks * maps->blocks) * record.heads.size(),
                    keys = static_cast<std::size_t>(maps->blocks) * record.heads.size();
  for (std::vector<float>* values : {&maps->net, &maps->first, &maps->second})
    if (two || values == &maps->net) values->reserve(cells);
  for (std::vector<float>* values : {&maps->net_key, &maps->first_key, &maps->second_key})
    if (two || values == &maps->net_key) values->reserve(keys);

  std::vector<std::int64_t> visible;
  const HeadRecord* counted = nullptr;
  for (const HeadRecord& head : record.heads) {
    const kernels::HeadStatistics& statistics = head.statistics;
    const kernels::Mask mask = record.mask(head);
    if (counted == nullptr || mask.dense != nullptr || !same_mask(*counted, head)) {
      visible = kernels::pooled_counts(mask, maps->size, maps->blocks);
      counted = mask.dense == nullptr ? &head : nullptr;
    }
    const auto key = [&](std::vector<float>& into, const std::vector<double>& rows) {
      append_key(
          into, record.length, maps->blocks, maps->size,
          [&](std::int64_t row) { return rows.empty() ? kNaN : rows[static_cast<std::size_t>(row)]; },
          [&](std::int64_t row) { return mask.sees(row, 0); });
    };
    append(maps->net, largest_magnitudes(statistics), visible);
    key(maps->net_key, statistics.first_key_absolute);
    if (!two) continue;
    append(maps->first, statistics.maps[0].pooled_max, visible);
    append(maps->second, statistics.maps[1].pooled_max, visible);
    key(maps->first_key, statistics.maps[0].first_key_weight);
    key(maps->second_key, statistics.maps[1].first_key_weight);
  }
  return maps;
}

std::shared_ptr<const PooledMaps> stored_pooled(const LayerSnapshot& layer) {
  const auto find = [&](std::string_view name) -> std::span<const float> {
    const auto found = layer.series.find(name);
    return found == layer.series.end() ? std::span<const float>() : std::span<const float>(found->second);
  };
  const std::span<const float> net = find("maps/pooled_max_abs");
  const std::size_t heads = layer.heads.size(), length = static_cast<std::size_t>(layer.length);
  if (net.empty() || heads == 0 || length == 0) return nullptr;
  const auto blocks =
      static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(net.size()) / static_cast<double>(heads))));
  if (blocks < 1 || static_cast<std::size_t>(blocks * blocks) * heads != net.size()) return nullptr;
  auto maps = std::make_shared<PooledMaps>();
  maps->blocks = blocks;
  maps->size = (layer.length + blocks - 1) / blocks;
  maps->net.assign(net.begin(), net.end());

  const std::size_t cells = static_cast<std::size_t>(blocks * blocks);
  const std::span<const float> both = find("maps/pooled_max_components");
  const bool two = std::ranges::any_of(layer.programs, [](const HeadProgram& program) { return program.has_second(); });
  if (two && both.size() == 2 * net.size())
    for (std::size_t head = 0; head < heads; ++head) {
      const auto of_head = both.subspan(head * 2 * cells, 2 * cells);
      maps->first.insert(maps->first.end(), of_head.begin(), of_head.begin() + static_cast<std::ptrdiff_t>(cells));
      maps->second.insert(maps->second.end(), of_head.begin() + static_cast<std::ptrdiff_t>(cells), of_head.end());
    }

  const std::span<const float> weights = find("rows/first_key_weight"), lambda = find("rows/lambda");
  if (weights.size() != 2 * length * heads || (two && lambda.size() != length * heads)) return maps;
  for (std::size_t head = 0; head < heads; ++head) {
    const auto first = weights.subspan(head * 2 * length, length),
               second = weights.subspan((2 * head + 1) * length, length);
    const bool has_first = head >= layer.programs.size() || layer.programs[head].has_first();
    const bool has_second = head < layer.programs.size() && layer.programs[head].has_second();
    // What its block of the map says of the visible: a block without a visible entry has none of key 0.
    const auto seen = [&](std::int64_t row) {
      return !std::isnan(maps->net[head * cells + static_cast<std::size_t>(row / maps->size * blocks)]);
    };
    const auto net_weight = [&](std::int64_t row) {
      const auto i = static_cast<std::size_t>(row);
      const double a = has_first ? static_cast<double>(first[i]) : 0.0;
      return has_second ? a - static_cast<double>(lambda[head * length + i]) * static_cast<double>(second[i]) : a;
    };
    append_key(maps->net_key, layer.rows, blocks, maps->size, net_weight, seen);
    if (maps->first.empty()) continue;
    const auto value_of = [](std::span<const float> rows) {
      return [rows](std::int64_t row) { return static_cast<double>(rows[static_cast<std::size_t>(row)]); };
    };
    append_key(maps->first_key, layer.rows, blocks, maps->size, value_of(first), seen);
    append_key(maps->second_key, layer.rows, blocks, maps->size, value_of(second), seen);
  }
  return maps;
}

}  // namespace headroom
