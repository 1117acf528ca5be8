// The middle panel of `sinks`: what share of all attention the most attended keys hold, and what its panels share. Pure
// functions; safe from any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/page_axes.h"
#include "core/run/head_values.h"

namespace headroom {

inline constexpr float kStrip = 6.0f;  // millimetres: the plot of one layer

// Empty where there is no such quantity.
[[nodiscard]] QuantityRef sinks_quantity(const std::string& text);
// [layers, heads] of those that are drawn; NaN where there is none.
[[nodiscard]] std::vector<double> sinks_values(const RunSnapshot& run, const QuantityRef& ref, const DrawnHeads& drawn);
// What the last label of an axis of layers takes; the panel may become narrower than it is thought to be.
[[nodiscard]] float right_of_layers(const PageAxis& x, Vec2 inner, const Page& page);

// Medians over the heads of a layer; `pair`: of the first map.
[[nodiscard]] std::unique_ptr<FigurePanel> sink_keys(const RunSnapshot& run, const DrawnHeads& drawn, bool pair);

}  // namespace headroom
