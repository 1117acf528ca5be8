// How many multiply-adds a core can do: the yardstick that a kernel's rate is a share of. Safe from any thread.
#pragma once

#include <cstdint>

namespace headroom::kernels {

// Does `steps` rounds of independent float multiply-adds in registers, with the instructions that the kernels use, and
// returns the floating-point operations it did (two for each). The caller times it.
[[nodiscard]] double run_multiply_adds(std::int64_t steps);

}  // namespace headroom::kernels
