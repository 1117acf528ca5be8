// Histories of trainings by kind, as plots show them: one recipe and one variant, whose seeds differ, in one colour.
// Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/training/stored_history.h"

namespace headroom {

struct HistoryKind {
  std::string recipe_sha256, recipe, variant;
  std::string name, short_name;      // "DIFF V2", "V2"; the name with the recipe where there are several
  std::size_t ink = 0;               // the variant's place among the colours, else the first that is free
  std::vector<std::size_t> members;  // places in the list, in its order
};

// Variants that have a colour of their own: softmax, DIFF V2, DIFF V1, gated, off-by-one, sink logit.
inline constexpr std::size_t kVariantInks = 6;
// In the order of their first histories. `inks`: colours that there are, at least kVariantInks; kinds beyond them share
// some.
[[nodiscard]] std::vector<HistoryKind> history_kinds(std::span<const StoredHistory* const> histories,
                                                     std::size_t inks = kVariantInks);

// Lowest and highest of the seeds at the steps of the one that goes farthest, as far as every seed goes: the range of
// fewer would be narrower. At most 4096 places, each of all steps up to the next. Null: a seed without such a series.
[[nodiscard]] std::pair<StepSeries, StepSeries> seed_range(std::span<const StepSeries* const> seeds);

}  // namespace headroom
