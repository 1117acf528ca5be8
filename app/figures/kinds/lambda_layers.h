// The λ of DIFF V1, one for all tokens of a layer, against where each layer began. Pure functions; safe from any
// thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/figures/figure.h"

namespace headroom {

// `heads` (at least one) have λ and stand in layers with a finite λ_init. The caption begins with `of`, which run this
// is, and ends with `share`, how many of the file's they are.
[[nodiscard]] Result<std::unique_ptr<FigurePanel>> lambda_layer_panel(const RunSnapshot& run,
                                                                      const std::vector<HeadRef>& heads,
                                                                      const std::string& of, const std::string& share,
                                                                      const FigureChoice& choice);

}  // namespace headroom
