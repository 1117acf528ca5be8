// What a shell completes after `headroom`: commands, options, choices, files. Main thread only.
#pragma once

#include <string>

#include "app/cli/command_words.h"

namespace headroom {

// Scripts to be sourced, or to be put where the shell looks for them.
[[nodiscard]] std::string bash_completion(const ProgramWords& words);
[[nodiscard]] std::string zsh_completion(const ProgramWords& words);
[[nodiscard]] std::string fish_completion(const ProgramWords& words);

}  // namespace headroom
