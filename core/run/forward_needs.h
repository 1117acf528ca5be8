// What the layers of a model ask of the backend that computes their attention. Pure; safe from any thread.
#pragma once

#include "core/model/model_spec.h"
#include "core/run/compute.h"

namespace headroom {

// Sets softmax_only, widest_query, widest_value, square_masks, always_visible and dense_masks: of a capture by its
// calls in options.layers, else by all layers.
void set_needs(ForwardOptions& options, const ModelSpec& model);

}  // namespace headroom
