// What-ifs of runs as the state has them: as text, with their scopes.
#pragma once

#include <string>
#include <vector>

#include "app/session/state.h"
#include "core/base/result.h"
#include "core/model/what_if.h"

namespace headroom {

// "sink=off" in a scope (head, layer, model): "L17.H4:sink=off".
[[nodiscard]] std::string scoped(const std::string& change, const std::string& scope, HeadRef head);
[[nodiscard]] Result<std::vector<WhatIf>> parsed_what_ifs(const std::vector<std::string>& texts);
// With which many texts would run as what is on the screen does: those of the run that is shown, and while the what-if
// is open those that are tried in it. None where a run of another checkpoint is shown, or a file.
[[nodiscard]] std::vector<std::string> shown_what_ifs(const State& state);

}  // namespace headroom
