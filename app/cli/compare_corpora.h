// What changed between two corpora, as text and as JSON. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/corpus/paired.h"

namespace headroom {

// Loss and sinks with their intervals, then the quantities that heads are told by: the mean over heads, how many heads
// changed, and the largest change.
[[nodiscard]] std::string paired_text(const PairedCorpora& paired);
// Everything that was compared; arrays row-major by `axes` and `shape`, null for what is not defined.
[[nodiscard]] nlohmann::ordered_json paired_json(const PairedCorpora& paired);

}  // namespace headroom
