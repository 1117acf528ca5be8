// Lengths as people give them: "84mm", "3.3in", or the name of a column. Pure function; safe from any thread.
#pragma once

#include <string_view>

#include "core/base/result.h"

namespace headroom {

// Millimetres. A number takes mm, cm, in or pt. Names: single, wide, double; neurips, icml, icml-double, acl, nature,
// nature-double, ieee. InvalidArgument says what there is.
[[nodiscard]] Result<double> page_length(std::string_view text);

}  // namespace headroom
