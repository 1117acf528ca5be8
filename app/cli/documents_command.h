// `headroom man` and `headroom completion SHELL`: what the system wants to know of the command line, from the parser
// itself. Main thread only.
#pragma once

#include <string>

#include "app/cli/command_words.h"

namespace headroom {

[[nodiscard]] int run_man(const ProgramWords& words);

// `shell`: bash, zsh or fish, as the parser has checked.
[[nodiscard]] int run_completion(const ProgramWords& words, const std::string& shell);

}  // namespace headroom
