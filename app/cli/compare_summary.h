// What changed between two runs before the list of all that differs: loss, sink heads, signed means over the heads that
// both have. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/run/run_overview.h"

namespace headroom {

// Lines that end with an empty one; empty where the runs have no head and no loss in common.
[[nodiscard]] std::string change_lines(const RunOverview& a, const RunOverview& b);
// {"next_token_loss": {a, b, change}, "sink_heads": {a, b, of}, "means": {name: {a, b, change, heads, rose, largest}}};
// null where a run lacks it.
[[nodiscard]] nlohmann::ordered_json change_json(const RunOverview& a, const RunOverview& b);

}  // namespace headroom
