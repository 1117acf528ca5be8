#include "app/cli/peak_memory.h"

#include <sys/resource.h>

namespace headroom {

std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace headroom
