// Which experts tokens are sent to. Main thread only.
#pragma once

#include <cstdint>
#include <string>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// "“ freedom”", or its id.
[[nodiscard]] std::string quoted_token(const Prompt& prompt, std::int64_t token);

// "experts 3 (0.61), 7 (0.39)"; empty where the layer has none.
[[nodiscard]] std::string experts_of_token(const RunSnapshot& run, std::int64_t layer, std::int64_t token);

// One row for each expert of the selected layer: how many tokens it is sent, and which, by weight.
void draw_token_experts(PanelContext& context, const RunSnapshot& run, Rect area);

}  // namespace headroom
