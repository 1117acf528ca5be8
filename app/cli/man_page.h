// The manual page headroom(1), in the troff macros of man(7). Main thread only.
#pragma once

#include <string>

#include "app/cli/command_words.h"

namespace headroom {

[[nodiscard]] std::string man_page(const ProgramWords& words);

}  // namespace headroom
