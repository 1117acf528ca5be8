// Changes of the loss without heads: what the panels of the figure share, and that of one point a head. Pure; safe from
// any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/figures/figure.h"
#include "app/figures/kinds/head_changes.h"
#include "app/figures/page_axes.h"

namespace headroom {

using AllChanges = std::shared_ptr<const HeadChanges>;
inline constexpr const char* kLossChange = "delta_loss";

[[nodiscard]] std::string heads_word(std::int64_t count);  // "270 heads"
// Black where the interval leaves out 0, else grey.
[[nodiscard]] Color change_color(bool apart);
// What is asked for, else symlog where few changes are much larger than the others.
[[nodiscard]] ScaleKind change_scale(const HeadChanges& all, const FigureChoice& choice);
// With 0 and these ends in it.
[[nodiscard]] PageAxis change_axis(double low, double high, ScaleKind scale);

// The change against the sink score or, of files of two ways, against the change by the first way; null where no head
// has both.
[[nodiscard]] std::unique_ptr<FigurePanel> change_scatter(const AllChanges& all, const FigureChoice& choice);

}  // namespace headroom
