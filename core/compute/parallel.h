// Runs tasks on LibTorch's thread pool with dynamic order. Inside a task LibTorch works single-threaded, without
// gradients and with denormals flushed to zero; the caller's settings come back afterwards. Compute thread only.
#pragma once

#include <cstdint>
#include <functional>

namespace headroom {

// Told how much of a piece of work is done, 0 … 1.
using ShareReport = std::function<void(double share)>;

// MKL plans a product for its number of threads even inside a task, where one of them does it all; another plan rounds
// otherwise. With one thread for the life of a scope the bits do not depend on the machine's cores.
class OneThreadProducts {
 public:
  OneThreadProducts();
  ~OneThreadProducts();
  OneThreadProducts(const OneThreadProducts&) = delete;
  OneThreadProducts& operator=(const OneThreadProducts&) = delete;

 private:
  int saved_;
};

void run_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body);
// The same; `progress` is given the share of tasks that are done, on the calling thread, between its own ones.
void run_reported_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body, const ShareReport& progress);

}  // namespace headroom
