#include "app/figures/layer_lambdas.h"

#include <algorithm>
#include <cmath>

namespace headroom {

std::vector<LayerLambda> layer_lambdas(const RunSnapshot& run, std::span<const HeadRef> heads) {
  std::vector<LayerLambda> layers;
  for (const HeadRef& head : heads) {
    const LayerSnapshot* layer = run.layer(head.layer);
    if (layer == nullptr) continue;
    const LayerLambda found{head, run.at("lambda_mean", head.layer, head.head), layer->lambda_init};
    const bool known = std::ranges::any_of(layers, [&](const LayerLambda& other) {
      return other.head.layer == found.head.layer && other.value == found.value;
    });
    if (std::isfinite(found.value) && !known) layers.push_back(found);
  }
  return layers;
}

}  // namespace headroom
