// Variables of the environment. Safe from any thread: nothing here sets them once threads run.
#pragma once

#include <string>

namespace headroom {

[[nodiscard]] std::string environment_text(const char* name);  // "" where it is not set

}  // namespace headroom
