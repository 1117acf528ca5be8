// printf-style text as std::string, in the C locale's spelling whatever the user's locale. Safe from any thread.
#pragma once

#include <string>

namespace headroom {

[[nodiscard]] std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace headroom
