// The loss of each token over its place in the text, with a running median. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "core/measure/predictions.h"

namespace headroom {

// Of each value the median of those in a window of `width` round it, fewer at the ends; what is not finite does not
// count.
[[nodiscard]] std::vector<double> running_median(std::span<const double> values, std::size_t width);

// A click goes to the token.
void draw_loss_along(PanelContext& context, RunCache& memory, const Predictions& predictions, std::int64_t token,
                     Rect area);

}  // namespace headroom
