// Compositions of earlier heads with later ones as panels: between the places of heads, one a line, and all by size.
// Pure; safe from any thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/kinds/circuit_pairs.h"

namespace headroom {

// Lines between heads, layers across; how the strongest ones are listed, and how all are counted.
[[nodiscard]] std::vector<std::unique_ptr<FigurePanel>> composition_panels(
    const std::shared_ptr<const HeadPairsOfFile>& pairs, const DrawnHeads& drawn, const std::optional<HeadRef>& chosen);

}  // namespace headroom
