// The number over which heads are counted, surrounded and stepped to. Pure; safe from any thread.
#pragma once

#include <optional>
#include <string>

#include "app/session/state.h"
#include "core/run/quantity_info.h"

namespace headroom {

// The quantity's own number, else the ε that was chosen. Numbers about zero have none, but for shares of a sink, which
// ε is about; null has none.
[[nodiscard]] std::optional<double> threshold_of(const QuantityInfo* info, const HeadsState& view);
// How that number is called: "ε", or the quantity's own, "0.5".
[[nodiscard]] std::string threshold_name(const QuantityInfo* info);

}  // namespace headroom
