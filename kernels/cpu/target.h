// Which instructions the kernels of this folder use. They take the best that the processor has; a lower set can be
// asked for, to measure or to test it. Not while a kernel runs.
#pragma once

#include <string>
#include <vector>

namespace headroom::kernels {

// Names of the targets that this build and this processor have, best first: "AVX3", "AVX2", …, whatever was chosen.
[[nodiscard]] std::vector<std::string> cpu_targets();

// Holds every kernel to `name` and what is below it, for the whole process; "" gives the best back. False, and nothing
// changed, where there is no such target.
[[nodiscard]] bool choose_cpu_target(const std::string& name);

}  // namespace headroom::kernels
