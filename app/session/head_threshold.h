// The number over which heads are counted, surrounded and stepped to. Pure; safe from any thread.
#pragma once

#include <optional>

#include "app/session/state.h"
#include "core/run/quantity_info.h"

namespace headroom {

// The quantity's own number, else the ε that was chosen. Numbers about zero have none, but for shares of a sink, which
// ε is about; null has none.
[[nodiscard]] std::optional<double> threshold_of(const QuantityInfo* info, const HeadsState& view);

}  // namespace headroom
