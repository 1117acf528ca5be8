#include "core/base/environment.h"

#include <cstdlib>

namespace headroom {

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace headroom
