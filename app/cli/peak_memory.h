// Safe from any thread.
#pragma once

#include <cstdint>

namespace headroom {

// The most memory that this process has held so far.
[[nodiscard]] std::uint64_t peak_rss_bytes();

}  // namespace headroom
