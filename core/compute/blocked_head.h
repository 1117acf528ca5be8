// One head of the blocked backend on its device: views of its queries, keys and values, which keys its rows see, and
// the softmax of a strip of rows. LibTorch's operations only, so that it runs wherever the tensors are.
// Immutable once made; safe from any thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/compute/mask_tensor.h"
#include "kernels/attention.h"

namespace headroom {

// Rows [row, row + rows) and every key that one of them may see; without keys the rows are padding.
struct Strip {
  std::int64_t row = 0, rows = 0;
  kernels::KeyRange keys;

  [[nodiscard]] std::int64_t count() const { return keys.size(); }
};

// What a strip's softmax leaves behind per row, [rows]; in double but for the maxima. A row is `dead` that sees no key,
// or none but the sink.
struct RowNorms {
  at::Tensor raw_max;  // of scale·q·k + bias
  at::Tensor max;      // of z; −∞ where dead
  at::Tensor dead;
  at::Tensor lse;        // includes the sink's term; NaN in undefined rows, as the next three
  at::Tensor log_top;    // ln of the largest weight: max − lse; 0 where dead; not there for softpick
  at::Tensor top;        // the largest weight; 0 where dead
  at::Tensor total;      // Σ a as it must be: 1 − the sink's share; 0 where dead
  at::Tensor undefined;  // rows without a softmax; not there where every row has one
};

template <typename Real>
class BlockedHead {
 public:
  struct Map {
    at::Tensor query, key, value;  // [rows or keys, channels]; values with 0 for what is not finite
    at::Tensor mean_square;        // [keys]: r_j²; 0 for odd values
    at::Tensor odd_channels;       // [keys, channels], Real: 1 where a value is not finite; undefined: nowhere
    at::Tensor odd;                // [keys, 1], Real: 1 where r_j² is not; with odd_channels
  };

  // `positions`: 0 … the longer of rows and keys (int32), on the device that the problem's pointers belong to.
  BlockedHead(const kernels::HeadProblem<Real>& problem, const at::Tensor& positions);

  [[nodiscard]] const Map& map(std::size_t m) const { return maps_[m]; }
  // [rows, 1], NaN where it is not finite, in rows that see something; undefined without a second map.
  [[nodiscard]] const at::Tensor& lambda() const { return lambda_; }
  [[nodiscard]] bool lambda_is_finite() const { return lambda_is_finite_; }
  [[nodiscard]] const at::Tensor& induction_key() const { return induction_key_; }  // [rows]; undefined without

  [[nodiscard]] Strip strip(std::int64_t row, std::int64_t rows) const;
  [[nodiscard]] MaskTensor::Tile mask(const Strip& strip) const {
    return mask_.tile({strip.row, strip.row + strip.rows}, strip.keys);
  }
  // Entries of the strip that are not `hidden`, those of the rows `without` [rows] left out; undefined: of no row.
  [[nodiscard]] std::int64_t visible(const Strip& strip, const at::Tensor& hidden, const at::Tensor& without) const;
  // p − j, in Real.
  void distances(const Strip& strip, at::Tensor& out) const;

  // `sums` [rows, …], which are sums over the keys of the strip with the values or their mean squares of map m, with
  // NaN where a row sees an odd one.
  [[nodiscard]] at::Tensor with_odd_values(std::size_t m, const Strip& strip, const at::Tensor& hidden,
                                           const at::Tensor& sums) const;
  [[nodiscard]] at::Tensor with_odd_squares(std::size_t m, const Strip& strip, const at::Tensor& hidden,
                                            const at::Tensor& sums) const;

  // Writes z, z − max and a, [rows, keys] each, into the given tensors: −∞, a large negative number and 0 where hidden.
  // `z` and `shifted` may be one tensor; z is lost then.
  [[nodiscard]] RowNorms weigh(std::size_t m, const Strip& strip, const MaskTensor::Tile& mask, at::Tensor& z,
                               at::Tensor& shifted, at::Tensor& weights) const;

 private:
  // What the distance adds to the logits of the strip, [rows, keys].
  [[nodiscard]] at::Tensor bias(const Strip& strip) const;
  // The same from z and its maxima by softpick (kernels/attention.h).
  [[nodiscard]] RowNorms pick(const at::Tensor& hidden, RowNorms norms, const at::Tensor& z, at::Tensor& shifted,
                              at::Tensor& weights) const;

  const kernels::HeadProblem<Real>& problem_;
  at::Tensor positions_;
  std::array<Map, 2> maps_;
  at::Tensor lambda_, induction_key_;
  at::Tensor bias_;  // by j − p, [rows + keys − 1] from that of the last row and key 0 on; undefined: none
  bool lambda_is_finite_ = true;
  MaskTensor mask_;
  at::Tensor blind_;                          // [rows]: the row sees nothing; undefined where it follows from the tile
  std::vector<std::int64_t> visible_before_;  // [rows + 1]: visible entries of the rows before; empty: dense mask
};

}  // namespace headroom
