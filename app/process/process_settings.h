// Settings of the whole process that LibTorch's speed depends on. While there is one thread: the OpenMP runtime reads
// its variables when it is loaded, with LibTorch.
#pragma once

#include <cstdint>

#include "core/base/process_threads.h"

namespace headroom {

// Call once, first thing in main. No more threads will compute than the process may run, unless OMP_NUM_THREADS says
// so.
void apply_process_settings();

// Before LibTorch is loaded: so many threads are to compute, or as many as are allowed where that is less; what limits
// them is in `limit`, which is empty where nothing does.
[[nodiscard]] AllowedThreads take_threads(std::int64_t wanted);

}  // namespace headroom
