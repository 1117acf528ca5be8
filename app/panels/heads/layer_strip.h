// What is known of a model before it runs. Main thread only.
#pragma once

#include <cstdint>
#include <string>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

// What is known of a model before it runs: a strip of its layers, coloured by what attends there, and what is not
// measured and why.
void draw_layer_strip(PanelContext& context, const ModelEntry& model, Rect area);
// The facts of a layer, a line each; empty where they are not known (of a run file).
[[nodiscard]] std::string layer_tip(const State& state, std::int64_t layer);

}  // namespace headroom
