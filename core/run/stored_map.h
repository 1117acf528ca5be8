// A part of one head's map out of a run file: entry by entry where the file has exact maps, else in the blocks of its
// pooled ones. Reads what is asked for and never n × n numbers. One thread at a time: HDF5.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/result.h"
#include "core/io/run_file.h"
#include "core/run/pooled_maps.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct MapPartRequest {
  std::int64_t layer = 0, head = 0;
  PooledKind kind = PooledKind::Net;
  std::array<std::int64_t, 2> rows{0, 0}, keys{0, 0};  // half open, not empty, inside the layer
  std::int64_t most_cells = 0;                         // along a side: above it cells are made of blocks
};

// A cell of one entry holds it. A cell of more holds the largest of an attention map, and of a net map of two the
// visible entry that is farthest from 0, with its sign; of older files their mean.
struct MapPart {
  bool exact = false;                                  // from /exact
  bool with_sign = false;                              // a net map of two
  bool mean = false;                                   // a cell of more than one entry holds their mean
  std::array<std::int64_t, 2> rows{0, 0}, keys{0, 0};  // as asked for; where blocks are stored, widened to whole ones
  std::int64_t cell = 1;                               // rows and keys of a cell; the last one may have fewer
  std::int64_t height = 0, width = 0;
  std::vector<double> values;  // [height, width]: NaN where nothing is visible, infinity where it is not finite
};

// Whether the file holds whole maps. Errors as of opening a run file.
[[nodiscard]] Result<bool> has_exact_maps(const std::filesystem::path& path);
// Whether a map of this kind is among the pooled ones of the run.
[[nodiscard]] bool has_pooled_map(const LayerSnapshot& layer, std::int64_t head, PooledKind kind);
// `run` is what read_run made of the file. NotFound where it holds neither.
[[nodiscard]] Result<MapPart> read_map_part(const std::filesystem::path& path, const RunSnapshot& run,
                                            const MapPartRequest& request);
// The same of an open file: opening one takes longer than a head's map.
[[nodiscard]] Result<MapPart> read_map_part(const RunFile& file, const RunSnapshot& run, const MapPartRequest& request);
// Cells of `times` × `times` of these, at least 1: the one farthest from 0, or the mean.
void make_coarser(MapPart& part, std::int64_t times);

}  // namespace headroom
