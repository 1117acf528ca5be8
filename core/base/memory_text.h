// Sizes of memory as people read them. Pure; safe from any thread.
#pragma once

#include <string>

namespace headroom {

// "0.43 GB", "18 MB".
[[nodiscard]] std::string memory_text(double bytes);

}  // namespace headroom
