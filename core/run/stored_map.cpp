#include "core/run/stored_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/numbers.h"
#include "core/io/run_file.h"
#include "kernels/attention.h"
#include "kernels/mask.h"

namespace headroom {
namespace {

constexpr std::int64_t kEntriesAtOnce = std::int64_t{1} << 22;

std::int64_t place_in(std::span<const std::int64_t> indices, std::int64_t index) {
  return std::ranges::find(indices, index) - indices.begin();
}

std::int64_t cells_of(std::int64_t extent, std::int64_t cell) { return (extent + cell - 1) / cell; }

// What a layer's rows see, as far as the file says it.
struct StoredMask {
  kernels::Mask mask;
  bool dense = false;  // given entry by entry, which files do not keep: a weight of 0 counts as masked
};

Result<StoredMask> read_mask(const RunFile& file, const RunSnapshot& run, const LayerSnapshot& layer,
                             std::int64_t head) {
  const std::int64_t place = place_in(run.layers, layer.layer);
  const auto number = [&](std::string_view path, std::int64_t missing) -> Result<std::int64_t> {
    if (file.find(path) == nullptr) return missing;
    const std::array<std::int64_t, 1> start{place}, count{1};
    HEADROOM_TRY(const std::vector<double> value, file.read_part(path, start, count));
    return static_cast<std::int64_t>(value.front());
  };
  StoredMask stored;
  kernels::Mask& mask = stored.mask;
  mask.length = layer.rows, mask.key_length = layer.keys, mask.first_query = layer.first_query;
  HEADROOM_TRY(const std::int64_t causal, number("program/causal", 1));
  HEADROOM_TRY(mask.window, number("program/window", 0));
  HEADROOM_TRY(mask.chunk, number("program/chunk", 0));
  HEADROOM_TRY(mask.always_visible, number("program/always_visible", 0));
  HEADROOM_TRY(const std::int64_t dense, number("calls/dense_mask", 0));
  mask.causal = causal != 0, stored.dense = dense != 0;
  const std::int64_t index = layer.head_index(head);
  if (index >= 0 && static_cast<std::size_t>(index) < layer.programs.size())
    mask.hidden_keys = layer.programs[static_cast<std::size_t>(index)].hidden_keys;
  return stored;
}

// The keys of a row inside [keys[0], keys[1]).
void seen_in(const StoredMask& mask, std::int64_t row, const std::array<std::int64_t, 2>& keys,
             std::vector<kernels::KeyRange>& out) {
  mask.mask.segments(row, out);
  for (kernels::KeyRange& range : out)
    range.begin = std::max(range.begin, keys[0]), range.end = std::max(range.begin, std::min(range.end, keys[1]));
}

// As blocks of the file's pooled maps are.
double farther_from_0(double a, double b) {
  return kernels::signed_extreme(std::max({a, b, 0.0}), std::min({a, b, 0.0}));
}

// Blocks of entries as they are read, row after row.
class Cells {
 public:
  explicit Cells(MapPart& part) : part_(part) {}
  void add(std::int64_t row, std::int64_t key, double value) {
    const auto at =
        static_cast<std::size_t>((row - part_.rows[0]) / part_.cell * part_.width + (key - part_.keys[0]) / part_.cell);
    double& cell = part_.values[at];
    if (!std::isfinite(value) || std::isinf(cell))
      cell = kInfinity;
    else
      cell = std::isnan(cell) ? value : farther_from_0(cell, value);
  }

 private:
  MapPart& part_;
};

Result<MapPart> read_exact(const RunFile& file, const RunSnapshot& run, const MapPartRequest& request,
                           const StoredMask& mask, MapPart part) {
  const bool net = request.kind == PooledKind::Net;
  const std::string path = net ? "exact/net_weights" : "exact/weights";
  const std::int64_t layer = place_in(run.layers, request.layer), head = place_in(run.heads, request.head);
  part.exact = true;
  const std::int64_t height = part.rows[1] - part.rows[0], width = part.keys[1] - part.keys[0];
  if (request.most_cells > 0) part.cell = cells_of(std::max(height, width), request.most_cells);
  part.height = cells_of(height, part.cell), part.width = cells_of(width, part.cell);
  part.values.assign(static_cast<std::size_t>(part.height * part.width), kNaN);
  Cells cells(part);
  const std::int64_t strip = std::max<std::int64_t>(1, kEntriesAtOnce / width);
  std::vector<kernels::KeyRange> seen;
  for (std::int64_t row = part.rows[0]; row < part.rows[1]; row += strip) {
    const std::int64_t rows = std::min(strip, part.rows[1] - row);
    std::vector<std::int64_t> start{layer, head}, count{1, 1};
    if (!net) start.push_back(request.kind == PooledKind::Second ? 1 : 0), count.push_back(1);
    start.insert(start.end(), {row, part.keys[0]});
    count.insert(count.end(), {rows, width});
    HEADROOM_TRY(const std::vector<double> values, file.read_part(path, start, count));
    for (std::int64_t i = 0; i < rows; ++i) {
      seen_in(mask, row + i, part.keys, seen);
      for (const kernels::KeyRange& range : seen)
        for (std::int64_t key = range.begin; key < range.end; ++key) {
          const double value = values[static_cast<std::size_t>(i * width + key - part.keys[0])];
          if (!mask.dense || value != 0.0) cells.add(row + i, key, value);
        }
    }
  }
  return part;
}

// The pooled cells of a map, and what they hold of their entries.
struct PooledCells {
  std::span<const float> values;
  bool mean = false;
};

PooledCells pooled_cells(const LayerSnapshot& layer, std::int64_t head, PooledKind kind, bool with_sign) {
  if (!layer.pooled || layer.pooled->size < 1) return {};
  const auto size = static_cast<std::size_t>(layer.pooled->blocks * layer.pooled->blocks);
  if (kind == PooledKind::Net) {
    // Older files keep no extreme with its sign: of these the mean has one.
    for (const bool mean : {false, true}) {
      const std::span<const float> cells = layer.row_values(mean        ? "maps/pooled_mean"
                                                            : with_sign ? "maps/pooled_signed_extreme"
                                                                        : "maps/pooled_max_abs",
                                                            head);
      if (cells.size() == size) return {cells, mean};
      if (!with_sign) break;
    }
    return {};
  }
  const std::span<const float> cells = layer.row_values("maps/pooled_max_components", head);
  if (cells.size() != 2 * size) return {};
  return {cells.subspan(kind == PooledKind::Second ? size : 0, size)};
}

MapPart cut_pooled(const LayerSnapshot& layer, const StoredMask& mask, std::span<const float> cells, MapPart part) {
  const std::int64_t blocks = layer.pooled->blocks;
  part.cell = layer.pooled->size;
  const auto widened = [&](std::array<std::int64_t, 2> range, std::int64_t end) {
    return std::array<std::int64_t, 2>{range[0] / part.cell * part.cell,
                                       std::min(end, cells_of(range[1], part.cell) * part.cell)};
  };
  part.rows = widened(part.rows, layer.rows), part.keys = widened(part.keys, layer.keys);
  part.height = cells_of(part.rows[1] - part.rows[0], part.cell);
  part.width = cells_of(part.keys[1] - part.keys[0], part.cell);
  // A block without a number has no visible entry, or one that is not finite.
  std::vector<std::uint8_t> visible(static_cast<std::size_t>(part.height * part.width));
  std::vector<kernels::KeyRange> seen;
  for (std::int64_t row = part.rows[0]; row < part.rows[1] && !mask.dense; ++row) {
    seen_in(mask, row, part.keys, seen);
    for (const kernels::KeyRange& range : seen)
      for (std::int64_t key = range.begin; key < range.end; key = (key / part.cell + 1) * part.cell)
        visible[static_cast<std::size_t>((row - part.rows[0]) / part.cell * part.width +
                                         (key - part.keys[0]) / part.cell)] = 1;
  }
  const std::int64_t top = part.rows[0] / part.cell, left = part.keys[0] / part.cell;
  for (std::int64_t y = 0; y < part.height; ++y)
    for (std::int64_t x = 0; x < part.width; ++x) {
      const auto value = static_cast<double>(cells[static_cast<std::size_t>((top + y) * blocks + left + x)]);
      const bool lost = !std::isfinite(value) && visible[static_cast<std::size_t>(y * part.width + x)] != 0;
      part.values.push_back(lost ? kInfinity : value);
    }
  return part;
}

bool has_two_maps(const LayerSnapshot& layer, std::int64_t head) {
  const std::int64_t index = layer.head_index(head);
  return index >= 0 && static_cast<std::size_t>(index) < layer.programs.size() &&
         layer.programs[static_cast<std::size_t>(index)].has_second();
}

}  // namespace

Result<bool> has_exact_maps(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  return file->find("exact/net_weights") != nullptr && file->find("exact/weights") != nullptr;
}

bool has_pooled_map(const LayerSnapshot& layer, std::int64_t head, PooledKind kind) {
  return !pooled_cells(layer, head, kind, has_two_maps(layer, head)).values.empty();
}

Result<MapPart> read_map_part(const std::filesystem::path& path, const RunSnapshot& run,
                              const MapPartRequest& request) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  return read_map_part(*file, run, request);
}

Result<MapPart> read_map_part(const RunFile& file, const RunSnapshot& run, const MapPartRequest& request) {
  const LayerSnapshot* layer = run.layer(request.layer);
  if (layer == nullptr || layer->head_index(request.head) < 0)
    return Error(ErrorCode::NotFound, "the run has no such head");
  HEADROOM_TRY(const StoredMask mask, read_mask(file, run, *layer, request.head));
  MapPart part;
  part.rows = request.rows, part.keys = request.keys;
  part.with_sign = request.kind == PooledKind::Net && has_two_maps(*layer, request.head);
  const DatasetInfo* exact = file.find(request.kind == PooledKind::Net ? "exact/net_weights" : "exact/weights");
  if (exact != nullptr) return read_exact(file, run, request, mask, std::move(part));
  const PooledCells cells = pooled_cells(*layer, request.head, request.kind, part.with_sign);
  if (cells.values.empty()) return Error(ErrorCode::NotFound, "the run keeps no such map");
  part.mean = cells.mean;
  return cut_pooled(*layer, mask, cells.values, std::move(part));
}

void make_coarser(MapPart& part, std::int64_t times) {
  const std::int64_t height = (part.height + times - 1) / times, width = (part.width + times - 1) / times;
  std::vector<double> values(static_cast<std::size_t>(height * width), kNaN);
  for (std::int64_t i = 0; i < height; ++i)
    for (std::int64_t j = 0; j < width; ++j) {
      double best = kNaN, sum = 0.0, count = 0.0;
      for (std::int64_t y = times * i; y < std::min(part.height, times * (i + 1)); ++y)
        for (std::int64_t x = times * j; x < std::min(part.width, times * (j + 1)); ++x) {
          const double value = part.values[static_cast<std::size_t>(y * part.width + x)];
          if (std::isnan(value)) continue;
          sum += value, count += 1.0;
          best = std::isnan(best) ? value : farther_from_0(best, value);
        }
      values[static_cast<std::size_t>(i * width + j)] = part.mean && count > 0.0 ? sum / count : best;
    }
  part.values = std::move(values);
  part.height = height, part.width = width, part.cell *= times;
}

}  // namespace headroom
