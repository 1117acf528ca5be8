// What DeBERTa adds to the logits of a layer's heads (He et al. 2021, arXiv 2006.03654, eq. 4): for row i and key j,
// with b the row of the table of relative positions that their distance i − j has, by_row[i, b] + by_key[j, b].
// Immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/maps/head_masks.h"
#include "core/model/model_spec.h"
#include "kernels/mask.h"

namespace headroom {

// The row of the table of relative positions for each distance −(length − 1) … length − 1, in order. Buckets by
// logarithm as transformers' make_log_bucket_position counts them, in the type of the run.
template <typename Real>
[[nodiscard]] std::vector<std::int32_t> disentangled_rows(const DisentangledSpec& spec, std::int64_t length);

template <typename Real>
class DisentangledMasks final : public HeadMasks {
 public:
  struct Tables {
    std::int64_t heads = 0, length = 0, columns = 0;
    std::vector<std::int32_t> places;  // disentangled_rows
    std::vector<Real> by_row, by_key;  // [heads, length, columns]; empty: that term is not there
  };
  explicit DisentangledMasks(Tables tables);

  [[nodiscard]] const kernels::DenseMask* of_head(std::int64_t head) const override;
  [[nodiscard]] std::size_t size_bytes() const override;

 private:
  struct Head {
    const DisentangledMasks* all = nullptr;
    std::int64_t head = 0;
    kernels::DenseMask mask;
  };
  static void read(const void* source, std::int64_t row, std::int64_t rows, std::int64_t key, std::int64_t keys,
                   double* out);

  Tables tables_;
  std::vector<Head> heads_;
};

}  // namespace headroom
