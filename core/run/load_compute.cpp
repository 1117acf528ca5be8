#include <dlfcn.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/run/compute.h"

namespace headroom {
namespace {

// LibTorch's static constructors and the OpenMP runtime end the process where memory cannot be mapped. Measured: 490 MB
// with two threads.
constexpr double kLibraryMiB = 640.0, kThreadMiB = 16.0;

Result<void> check_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  const double needed = kLibraryMiB + kThreadMiB * std::thread::hardware_concurrency();
  const double given = static_cast<double>(limit.rlim_cur) / 1048576.0;
  if (given >= needed) return {};
  Error error(ErrorCode::OutOfMemory, "the limit on address space is too small for LibTorch");
  error.wanted(format("at least %.0f MiB", needed), format("%.0f MiB", given));
  return error.advise("raise it with ulimit -v");
}

}  // namespace

Result<std::vector<ForwardSummary>> ComputeBackend::run_batch(const ModelSource& source, const ModelSpec& model,
                                                              const ForwardOptions& options,
                                                              std::span<const std::vector<std::int32_t>> sequences,
                                                              std::span<ForwardObserver* const> observers) {
  std::vector<ForwardSummary> summaries;
  ForwardOptions own = options;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    own.ids = sequences[i];
    HEADROOM_TRY(ForwardSummary summary, run(source, model, own, *observers[i]));
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

Result<void> ComputeBackend::run_gradients(const ModelSource& /*source*/, const ModelSpec& /*model*/,
                                           const ForwardOptions& /*options*/,
                                           std::span<const std::vector<std::int32_t>> /*sequences*/,
                                           const GradientReport& /*report*/, const kernels::StopRequested& /*stop*/) {
  return Error(ErrorCode::Unsupported, "this library computes no gradients");
}

const char* dtype_name(ComputeDtype dtype) {
  switch (dtype) {
    case ComputeDtype::Float32: return "float32";
    case ComputeDtype::Float64: return "float64";
    case ComputeDtype::BFloat16: return "bfloat16";
  }
  return "";
}

Result<ComputeDtype> parse_dtype(std::string_view name) {
  for (const ComputeDtype dtype : {ComputeDtype::Float32, ComputeDtype::Float64, ComputeDtype::BFloat16})
    if (name == dtype_name(dtype)) return dtype;
  return Error(ErrorCode::InvalidArgument, "unknown dtype").wanted("float32, float64 or bfloat16", std::string(name));
}

Result<ComputeBackend*> load_compute() {
  HEADROOM_TRY_VOID(check_address_space());
  Dl_info here{};
  std::filesystem::path folder;
  if (dladdr(reinterpret_cast<void*>(&dtype_name), &here) != 0)
    folder = std::filesystem::path(here.dli_fname).parent_path();
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
