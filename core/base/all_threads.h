// Work that falls into parts, on all processors that the process may use. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>

namespace headroom {

// OMP_NUM_THREADS where it is a number, as LibTorch takes it; else allowed_threads(). At most 16.
[[nodiscard]] std::int64_t computing_threads();

// job(0) … job(count − 1), each once, in any order on computing_threads() threads, of which the caller's is one;
// returns when all are done. Jobs do not throw.
void on_all_threads(std::int64_t count, const std::function<void(std::int64_t index)>& job);

}  // namespace headroom
