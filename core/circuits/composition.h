// How much of what an earlier head writes a later one reads as queries, keys or values (Elhage et al. 2021, section
// "Attention Head Composition"). Pure but for reading; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/circuits/vocabulary.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

// Of the heads of one layer with those of one earlier layer, [heads, from heads]; NaN where a side is refused.
//   Q: ‖W_QKᵀ W_OV‖ / (‖W_QK‖ ‖W_OV‖),   K: ‖W_QK W_OV‖ / (…),   V: ‖W_OV' W_OV‖ / (…)
struct Composition {
  std::int64_t layer = 0, from_layer = 0;
  std::vector<double> q[2], k[2];  // of the first and the second map; empty where no head has one
  std::vector<double> v;
};

struct CompositionRequest {
  std::vector<std::int64_t> layers;  // ascending
  std::vector<std::int64_t> heads;   // ascending, of every layer
};

// √ of the mean of the square over all rotations of the earlier head's output against the later one's input: of two
// matrices that have nothing to do with one another, whatever their singular values.
[[nodiscard]] double composition_null(std::int64_t hidden);

// What is kept in float32 meanwhile: what every head of these layers writes.
[[nodiscard]] double composition_bytes(const ModelSpec& model, const CompositionRequest& request);

// Each pair of layers is handed over as it is done, on the calling thread. In float32, sums of squares in float64.
[[nodiscard]] Result<void> measure_composition(const ModelSource& source, const ModelSpec& model,
                                               const CompositionRequest& request,
                                               const std::function<Result<void>(const Composition&)>& take,
                                               const CircuitProgress& progress, const CircuitStop& stop);

}  // namespace headroom
