// Compute devices by name. libtorch_cuda is opened at run time, and only where an NVIDIA driver is. Compute thread
// only.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "core/base/result.h"

namespace headroom {

// "cpu", "cuda" or "cuda:N"; Device with the reason where it cannot be used. Never another device than the one named.
[[nodiscard]] Result<at::Device> open_device(const std::string& name);

// "cpu" and every CUDA device; `cuda_note` says why there is none.
[[nodiscard]] std::vector<std::string> list_devices(std::string& cuda_note);

}  // namespace headroom
