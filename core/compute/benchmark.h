// `headroom bench` on the side of LibTorch. Compute thread only.
#pragma once

#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/run/benchmark.h"
#include "kernels/attention.h"

namespace headroom {

// Holds LibTorch's threads and the kernels' instructions to the request while it runs, and gives them back.
[[nodiscard]] Result<BenchmarkReport> run_benchmark(
    const BenchmarkRequest& request, const std::function<void(double fraction, const std::string& what)>& progress,
    const kernels::StopRequested& stop);

}  // namespace headroom
