// Predictions of the next token from a chunk of logits. Compute thread only.
#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "core/measure/predictions.h"

namespace headroom {

// Room for that many rows, of which the last one has no token that came.
[[nodiscard]] Predictions room_for_predictions(std::int64_t rows);

// Writes the rows [row, row + logits.size(0)). `logits`: [rows, vocabulary], float32 or float64, on any device. `ids`:
// of the whole sequence, whose token i + 1 comes after row i. On the processor rows are read where they lie; a device
// answers with a few numbers for each of them.
void predict_rows(const at::Tensor& logits, std::int64_t row, std::span<const std::int32_t> ids, Predictions& into);

}  // namespace headroom
