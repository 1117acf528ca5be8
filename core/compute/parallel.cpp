#include "core/compute/parallel.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "kernels/cpu/flush_denormals.h"

// Only a LibTorch with MKL has this function.
extern "C" __attribute__((weak)) int MKL_Set_Num_Threads_Local(int threads);

namespace headroom {
namespace {

// The first product and the first exponential of a process choose code for its processor and set up MKL's threads: done
// once on one thread, before several could do so at the same time.
void choose_products_once() {
  static const bool chosen = [] {
    const c10::InferenceMode no_gradients;
    const OneThreadProducts one_thread;
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const at::Tensor ones = at::ones({16, 16}, at::TensorOptions().dtype(type));
      (void)at::exp(at::mm(ones, ones));
    }
    return true;
  }();
  (void)chosen;
}

}  // namespace

OneThreadProducts::OneThreadProducts() : saved_(MKL_Set_Num_Threads_Local ? MKL_Set_Num_Threads_Local(1) : 0) {}
OneThreadProducts::~OneThreadProducts() {
  if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(saved_);
}

void run_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  choose_products_once();
  std::atomic<std::int64_t> next{0};
  // Never a range of one: LibTorch runs that on the calling thread as if it were no task, and spreads what is inside.
  const std::int64_t workers = std::clamp<std::int64_t>(tasks, 2, std::max(2, at::get_num_threads()));
  at::parallel_for(0, workers, 1, [&](std::int64_t, std::int64_t) {
    std::int64_t task = next++;
    if (task >= tasks) return;  // without touching what the others compute with
    const c10::InferenceMode no_gradients;
    const kernels::FlushDenormals flush;
    const OneThreadProducts one_thread;
    for (; task < tasks; task = next++) body(task);
  });
}

void run_reported_tasks(std::int64_t tasks, const std::function<void(std::int64_t)>& body,
                        const ShareReport& progress) {
  if (!progress) return run_tasks(tasks, body);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::int64_t> done{0};
  run_tasks(tasks, [&](std::int64_t task) {
    body(task);
    const std::int64_t finished = ++done;
    if (std::this_thread::get_id() == caller) progress(static_cast<double>(finished) / static_cast<double>(tasks));
  });
}

}  // namespace headroom
