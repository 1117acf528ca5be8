// Why a head has no value of a quantity, as the window says it. A pure function; safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/quantity_info.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// One sentence, for the tooltip of a hatched cell. Without a head (−1) it is about the layer.
[[nodiscard]] std::string missing_reason(const RunSnapshot& run, const QuantityRef& ref, std::int64_t layer,
                                         std::int64_t head = -1);

}  // namespace headroom
