#include <dlfcn.h>

#include <filesystem>

#include "core/run/compute.h"

namespace headroom {

const char* dtype_name(ComputeDtype dtype) {
  switch (dtype) {
    case ComputeDtype::Float32: return "float32";
    case ComputeDtype::Float64: return "float64";
    case ComputeDtype::BFloat16: return "bfloat16";
  }
  return "";
}

Result<ComputeBackend*> load_compute() {
  Dl_info here{};
  std::filesystem::path folder;
  if (dladdr(reinterpret_cast<void*>(&dtype_name), &here) != 0) folder = std::filesystem::path(here.dli_fname).parent_path();
  const std::filesystem::path library = folder / "libheadroom_compute.so";
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* entry = handle ? dlsym(handle, "headroom_compute_backend") : nullptr;
  if (!entry) {
    const char* reason = dlerror();
    Error error(ErrorCode::Device, "LibTorch could not be loaded");
    error.in_file(library.string()).wanted("", reason ? reason : "unknown reason");
    error.advise("app/run.sh installs LibTorch and builds against it");
    return error;
  }
  return reinterpret_cast<ComputeBackend* (*)()>(entry)();
}

}  // namespace headroom
