// The λ of DIFF V1, one for all tokens of a layer, against where each layer began. Pure functions; safe from any
// thread.
#pragma once

#include <memory>
#include <vector>

#include "app/figures/figure.h"

namespace headroom {

// `heads` (at least one) have λ and stand in layers with a finite λ_init; `whole`: they are all that the file has.
[[nodiscard]] std::unique_ptr<FigurePanel> lambda_layer_panel(const RunSnapshot& run, const std::vector<HeadRef>& heads,
                                                              bool whole, const FigureChoice& choice);

}  // namespace headroom
