// What models and runs are called in the window: "bytes/diff_v2 · λ = 0 in L1.H0". No two of a kind are alike: where
// they would be, what differs is added, further folders first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/session/state.h"

namespace headroom {

// The last parts of what was opened, without the file's ending: "SmolLM2-135M-Instruct.Q4_1", "bytes/diff_v2". A
// folder, and a file whose name says nothing ("model.safetensors"), comes with the folder it lies in. `more`: with so
// many further folders. Looks whether the path is a folder.
[[nodiscard]] std::string opened_title(std::string_view opened, std::size_t more = 0);

// The beginning of a text on one line: "GNU GENERAL PUBLIC LICENSE Version 3, 29…".
[[nodiscard]] std::string text_title(std::string_view text, std::size_t most_bytes = 40);

// Gives all of them their names. Of runs of the same checkpoint with the same changes the prompt, device and precision
// tell which is which, then the order in which they came: " (2)".
void name_models_and_runs(State& state);

}  // namespace headroom
