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

// Its name as its driver gives it, "NVIDIA H100 80GB HBM3"; empty for the CPU and in a build without CUDA.
[[nodiscard]] std::string device_description(at::Device device);

// Returns when the device has done what it was given.
void wait_for(at::Device device);

// "cpu" and every CUDA device with its description; `cuda_note` says why there is none.
[[nodiscard]] std::vector<std::string> list_devices(std::string& cuda_note);

}  // namespace headroom
