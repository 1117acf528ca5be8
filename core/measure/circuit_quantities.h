// The datasets of a file of circuits, as the table of quantities has those of a run file (core/measure/CIRCUITS.md).
// Immutable; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/measure/quantity.h"

namespace headroom {

[[nodiscard]] std::span<const Quantity> circuit_quantities();
[[nodiscard]] const Quantity* find_circuit_quantity(std::string_view name);

// core/measure/CIRCUITS.md as it stands.
[[nodiscard]] std::string circuits_document();

}  // namespace headroom
