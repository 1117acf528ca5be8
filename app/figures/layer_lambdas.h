// DIFF V1's one λ for all tokens of a layer, and where it began. Pure; safe from any thread.
#pragma once

#include <span>
#include <vector>

#include "core/base/numbers.h"
#include "core/model/head_address.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct LayerLambda {
  HeadRef head;
  double value = 0.0, first = kNaN;  // λ, λ_init
};

// One for each layer of these heads, in their order; more than one of a layer whose heads differ, where a λ is known.
[[nodiscard]] std::vector<LayerLambda> layer_lambdas(const RunSnapshot& run, std::span<const HeadRef> heads);

}  // namespace headroom
