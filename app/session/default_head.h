// Which head of a run a person sees first. Pure; safe from any thread.
#pragma once

#include <optional>

#include "app/session/state.h"

namespace headroom {

// One whose map shows what it does: the head that looks most at what followed the same token earlier (the larger
// induction score of its maps). Where the prompt repeats nothing, or no score is finite: the one with the largest sink
// score that does not do nothing else (α₀ < 0.9); else the first. Nothing where no layer is there.
[[nodiscard]] std::optional<HeadRef> default_head(const RunSnapshot& run);

}  // namespace headroom
