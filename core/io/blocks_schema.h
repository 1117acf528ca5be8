// What a file of `headroom blocks` says it is: the layout of a run file. A constant.
#pragma once

#include <string_view>

namespace headroom {

inline constexpr std::string_view kBlocksSchemaName = "headroom-blocks";

}  // namespace headroom
