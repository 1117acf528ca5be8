// What the panels of a training share: histories by kind with a colour each, the curves of the head that is shown, and
// values as they are printed. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"

namespace headroom {

struct TrainingKind {
  std::string name;
  Color color;
  std::vector<const TrainingEntry*> entries;  // that are read, in the order they were opened
};
// In the order they were opened.
[[nodiscard]] std::vector<TrainingKind> training_kinds(const State& state, const Theme& theme);

// What is drawn of an entry's heads: the curves of one head, or the band of all; null: it has none (yet).
struct ShownHeads {
  const StepSeries *sink_score = nullptr, *sink_score_net = nullptr, *logit_max = nullptr;
  const HeadBand *sink_band = nullptr, *logit_band = nullptr;  // of all heads
};
[[nodiscard]] ShownHeads shown_heads(const TrainingEntry& entry, const State& state);

// The value nearest to a step; NaN where there is none.
[[nodiscard]] double value_at_step(const StepSeries* series, std::int64_t step);

// The step that the panels show: under the pointer, else the cursor's.
[[nodiscard]] std::int64_t shown_step(const State& state);

// Steps at which a checkpoint of the film strip was kept, ascending, and the place of the one nearest to a step.
[[nodiscard]] std::vector<std::int64_t> kept_steps(const State& state);
[[nodiscard]] std::ptrdiff_t nearest_step(const std::vector<std::int64_t>& steps, std::int64_t step);

// "L0.H3", "median of 8 heads".
[[nodiscard]] std::string training_head_text(const State& state);
// The most layers and heads of a history that is open.
[[nodiscard]] HeadRef training_shape(const State& state);

}  // namespace headroom
