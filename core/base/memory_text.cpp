#include "core/base/memory_text.h"

#include <cmath>

#include "core/base/format.h"

namespace headroom {

std::string memory_text(double bytes) {
  if (bytes >= 99.5e9) return format("%.0f GB", bytes / 1e9);
  if (bytes >= 9.95e9) return format("%.1f GB", bytes / 1e9);
  if (bytes >= 99.5e6) return format("%.2f GB", bytes / 1e9);
  if (bytes >= 0.95e6) return format("%.0f MB", bytes / 1e6);
  return format("%.0f kB", std::ceil(bytes / 1e3));
}

}  // namespace headroom
