// What a head does in every row, and the tokens of a run, as CSV: for the clipboard. Pure functions; safe from any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/run_snapshot.h"

namespace headroom {

// A line for each position: position, id, text, and every series of the head that has a value for each position, by
// the names of the run file ("rows/lse"); components are parted: "rows/logit_max[0]". Values as a float is written.
[[nodiscard]] std::string head_rows_csv(const RunSnapshot& run, const LayerSnapshot& layer, std::int64_t head);

// A line for each token: position, id, text.
[[nodiscard]] std::string tokens_csv(const RunSnapshot& run);

}  // namespace headroom
