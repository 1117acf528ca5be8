// Runs tasks on LibTorch's thread pool with dynamic order. Inside a task LibTorch works single-threaded, without
// gradients and with denormals flushed to zero; the caller's settings come back afterwards. Compute thread only.
#pragma once

#include <cstdint>
#include <functional>

namespace headroom {

// Told how much of a piece of work is done, 0 … 1.
using ShareReport = std::function<void(double share)>;

void run_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body);
// The same; `progress` is given the share of tasks that are done, on the calling thread, between its own ones.
void run_reported_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body, const ShareReport& progress);

}  // namespace headroom
