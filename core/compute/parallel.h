// Runs tasks on LibTorch's thread pool with dynamic order. Inside a task LibTorch works single-threaded, without
// gradients and with denormals flushed to zero; the caller's settings come back afterwards. Compute thread only.
#pragma once

#include <cstdint>
#include <functional>

namespace headroom {

void run_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body);

}  // namespace headroom
