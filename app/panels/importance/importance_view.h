// What the parts of the importance view share: the shown way, its numbers, and the axis that all of them are on.
// Borrows from the state; for one frame.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/plot_frame.h"
#include "app/session/importance.h"

namespace headroom {

struct ImportanceView {
  const RunEntry* run = nullptr;  // never null
  const RunSnapshot* data = nullptr;
  AblationWay way = AblationWay::Off;
  const LossSweep* sweep = nullptr;  // of the way; null: not begun
  const LossTable* table = nullptr;  // null: nothing of it is there
  double half_width = kNaN;          // of the table's intervals, in standard errors

  [[nodiscard]] bool differs(std::size_t place) const;
  [[nodiscard]] bool running() const { return sweep && sweep->status == SweepStatus::Running; }
};

// Nothing where no run with results is shown.
[[nodiscard]] std::optional<ImportanceView> importance_view(const State& state);

// The symlog axis that holds the changes of all ways that there are.
[[nodiscard]] AxisSpec loss_axis(const LossSweeps& sweeps);

// LossTable::detectable() of what is shown, worked out once for each table: it takes some milliseconds.
[[nodiscard]] double detectable_change(PanelContext& context, const ImportanceView& view);

// "180 of 270 heads", "270 heads"; what is asked for among what there is.
[[nodiscard]] std::string done_text(const LossTable& table);
// What goes on: "layer 9, from the last upward".
[[nodiscard]] std::string doing_text(const LossSweep& sweep);
// "+0.3054 ± 0.1201"; the interval where there is one.
[[nodiscard]] std::string change_text(const ImportanceView& view, std::size_t place);
// "not yet", "–" or the change.
[[nodiscard]] std::string cell_of_way(const LossSweeps& sweeps, AblationWay way, std::size_t place);

// Not computed (yet): lines at 45°.
void draw_hatched(PanelContext& context, Rect area);

}  // namespace headroom
