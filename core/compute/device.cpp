#include "core/compute/device.h"

#include <ATen/Context.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include "kernels/cuda/attention.h"

namespace headroom {
namespace {

bool driver_present() {
  return std::filesystem::exists("/proc/driver/nvidia/version") || std::filesystem::exists("/dev/nvidiactl");
}

// Global symbols, so that the library registers its kernels with the LibTorch that is already there. Empty on success.
std::string open_cuda_library() {
  if (!driver_present()) return "no NVIDIA driver on this machine";
  Dl_info torch{};
  dladdr(reinterpret_cast<void*>(&at::globalContext), &torch);
  const std::filesystem::path library = std::filesystem::path(torch.dli_fname).parent_path() / "libtorch_cuda.so";
  if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    const char* reason = dlerror();
    return std::string("libtorch_cuda could not be opened: ") + (reason ? reason : "unknown reason");
  }
  return at::Context::hasCUDA() ? "" : "LibTorch sees no CUDA device";
}

int device_count() {
  const auto* implementation = c10::impl::device_guard_impl_registry[static_cast<std::size_t>(at::kCUDA)].load();
  return implementation ? implementation->deviceCount() : 0;
}

}  // namespace

Result<at::Device> open_device(const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  Error error(ErrorCode::Device, "the device cannot be used");
  int index = 0;
  const bool named = name == "cuda" || name.starts_with("cuda:");
  if (named && name.size() > 4) {
    const auto parsed = std::from_chars(name.data() + 5, name.data() + name.size(), index);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size() || index < 0) index = -1;
  }
  if (!named || index < 0) {
    // `auto` is chosen from what there is before a device is opened; here it names none.
    const bool automatic = name == "auto";
    error = Error(ErrorCode::InvalidArgument, automatic ? "auto is not the name of one device" : "unknown device");
    error.wanted(automatic ? "cpu, cuda or cuda:N" : "auto, cpu, cuda or cuda:N", name);
    return error;
  }
  const std::string reason = open_cuda_library();
  if (!reason.empty()) {
    error.wanted(name, reason).advise("use --device cpu");
    return error;
  }
  if (index >= device_count()) {
    error.wanted(name, std::to_string(device_count()) + " CUDA devices");
    return error;
  }
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

std::string device_description(at::Device device) {
  return device.is_cuda() ? kernels::cuda_device_name(device.index()) : "";
}

void wait_for(at::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

std::vector<std::string> list_devices(std::string& cuda_note) {
  std::vector<std::string> names = {"cpu"};
  cuda_note = open_cuda_library();
  if (cuda_note.empty())
    for (int i = 0; i < device_count(); ++i) {
      const std::string name = kernels::cuda_device_name(i);
      names.push_back("cuda:" + std::to_string(i) + (name.empty() ? "" : " " + name));
    }
  return names;
}

}  // namespace headroom
