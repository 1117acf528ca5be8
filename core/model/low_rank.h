// What a LoRA adapter adds to a matrix W [out, in]: scale · B A with A [r, in] and B [out, r] (arXiv 2106.09685,
// section 4.1), read where W is read. Of an embedding [vocab, width] A is [r, vocab] and B [width, r], and the sum is
// transposed. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/model_spec.h"

namespace headroom {

struct LowRank {
  const TensorInfo* a = nullptr;  // null: nothing is added
  const TensorInfo* b = nullptr;
  double scale = 1.0;
  bool embedding = false;

  [[nodiscard]] bool present() const { return a != nullptr; }
  [[nodiscard]] std::int64_t rank() const { return a->shape[0]; }
  // Of the matrix that it is added to.
  [[nodiscard]] std::int64_t rows() const { return embedding ? a->shape[1] : b->shape[0]; }
  [[nodiscard]] std::int64_t columns() const { return embedding ? b->shape[0] : a->shape[1]; }
};

// Adds it to `values` [rows, columns], the used rows first_row … of `weight`, in the arithmetic of Real.
[[nodiscard]] Result<void> add_low_rank(const Checkpoint& checkpoint, const LowRank& change, const WeightRef& weight,
                                        std::int64_t first_row, std::span<float> values);
[[nodiscard]] Result<void> add_low_rank(const Checkpoint& checkpoint, const LowRank& change, const WeightRef& weight,
                                        std::int64_t first_row, std::span<double> values);

}  // namespace headroom
