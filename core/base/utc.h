// The time of day as files and reports write it. Safe from any thread.
#pragma once

#include <string>

namespace headroom {

// ISO 8601 to the second: 2026-01-31T09:05:00Z.
[[nodiscard]] std::string utc_now();

}  // namespace headroom
