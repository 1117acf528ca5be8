// What a file of `headroom circuits` says it is: the layout of a run file. A constant.
#pragma once

#include <string_view>

namespace headroom {

inline constexpr std::string_view kCircuitsSchemaName = "headroom-circuits";

}  // namespace headroom
