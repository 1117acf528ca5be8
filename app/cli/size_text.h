// Bytes for a person to read.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/format.h"

namespace headroom {

// "12.3 MiB".
[[nodiscard]] inline std::string size_text(std::uint64_t bytes) {
  const double value = static_cast<double>(bytes);
  if (value >= 1073741824.0) return format("%.2f GiB", value / 1073741824.0);
  if (value >= 1048576.0) return format("%.1f MiB", value / 1048576.0);
  return format("%.1f KiB", value / 1024.0);
}

}  // namespace headroom
