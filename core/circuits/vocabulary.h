// What the vocabulary makes of a direct path: EᵀU of embedding and unembedding, summed once over all tokens, and what a
// head promotes after it has read one token. Pure but for reading; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/result.h"
#include "core/circuits/factors.h"

namespace headroom {

using CircuitProgress = std::function<void(double fraction)>;
using CircuitStop = std::function<bool()>;

// Tokens that have both an embedding and an unembedding.
[[nodiscard]] std::int64_t path_vocabulary(const ModelSpec& model);

// Σ over tokens v of E[v] U[v]ᵀ, [D, D] in float64, over the whole vocabulary, by strips that are read and given up; on
// all processors. It is the one matrix of this size: D² multiply-adds a token, as much as one head's d × V factors for
// every d of D. OutOfMemory where it does not fit.
[[nodiscard]] Result<Thin> embedding_times_unembedding(const ModelSource& source, const ModelSpec& model,
                                                       const CircuitProgress& progress, const CircuitStop& stop);

// The row of a token in the embedding or unembedding: [columns].
[[nodiscard]] Result<std::vector<double>> read_token(const ModelSource& source, const WeightRef& weight,
                                                     std::int64_t token);

// Rows [first, first + count) of a matrix.
[[nodiscard]] Result<Thin> read_rows(const ModelSource& source, const WeightRef& weight, std::int64_t first,
                                     std::int64_t count);

}  // namespace headroom
