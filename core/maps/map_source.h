// What the maps of a layer's heads are computed from: queries and keys as they enter the products, the log-sum-exp of
// each row, λ. Any window of any map, exactly, without LibTorch and without an n × n array. Immutable; safe from any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/maps/head_masks.h"
#include "core/model/distance_bias.h"
#include "core/model/model_spec.h"
#include "kernels/window.h"

namespace headroom {

class MapSource {
 public:
  struct Head {
    std::int64_t head = 0;
    HeadProgram program;
    double sink = 0.0;                       // logit of the sink; used where the program has one
    std::array<std::vector<double>, 2> lse;  // per row; empty where there is no such map
    std::vector<double> lambda;              // per row; empty without a second map
  };

  std::uint64_t id = 0;                     // unique in this process
  std::int64_t length = 0;                  // positions of the run: side of the square that windows are asked of
  std::int64_t rows = -1, key_length = -1;  // beyond them nothing is visible; −1: as many as positions
  std::int64_t first_query = 0;             // position of row 0 among the keys
  std::int64_t head_dim = 0;
  std::int64_t num_query_blocks = 0, num_key_blocks = 0;
  std::vector<float> queries, keys;  // [blocks, rows or keys, head_dim], after norms and rotation
  double scale = 1.0, softcap = 0.0;
  bool causal = true;
  std::int64_t window = 0, chunk = 0, always_visible = 0;
  std::shared_ptr<const DistanceBias> bias;  // of every head of the layer; null: none
  std::shared_ptr<const HeadMasks> dense;    // null: none
  std::vector<Head> heads;                   // ascending

  [[nodiscard]] const Head* find(std::int64_t head) const;
  [[nodiscard]] std::int64_t row_count() const { return rows < 0 ? length : rows; }
  [[nodiscard]] std::int64_t key_count() const { return key_length < 0 ? length : key_length; }
  [[nodiscard]] kernels::Mask mask(const Head& head) const;
  [[nodiscard]] std::size_t size_bytes() const;

  // One window; `head` must be there. Cells of a map that the head lacks are not-a-number. Cancelled when `stop` says
  // so.
  [[nodiscard]] Result<void> window_of(std::int64_t head, const kernels::WindowRequest& request,
                                       const kernels::WindowCells& cells, const kernels::ParallelFor& parallel,
                                       const kernels::StopRequested& stop) const;

  // One entry in double; not-a-number where it is masked or the head has no such map.
  struct Cell {
    double first, second, lambda, net, first_logit, second_logit;
    bool visible;
  };
  [[nodiscard]] Cell cell(std::int64_t head, std::int64_t query, std::int64_t key) const;
};

[[nodiscard]] std::uint64_t next_map_source_id();

}  // namespace headroom
