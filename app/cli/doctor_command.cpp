#include "app/cli/doctor_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "app/process/report_error.h"
#include "app/process/version.h"
#include "core/base/error.h"
#include "core/io/hdf5_info.h"
#include "core/model/family.h"
#include "core/run/compute.h"

namespace headroom {

int run_doctor(bool json, const WindowProgram& window_program) {
  nlohmann::ordered_json report;
  report["headroom"] = kVersion;
  report["git_commit"] = kGitCommit;
  report["compiler"] = __VERSION__;
  const Hdf5Info hdf5 = hdf5_info();
  report["hdf5"] = hdf5.version + (hdf5.thread_safe ? ", thread-safe" : ", not thread-safe (one thread owns it)");
  std::string types;
  for (const Family* family : families()) types += (types.empty() ? "" : ", ") + std::string(family->model_type);
  report["model_types"] = types;
  report["containers"] = "safetensors, GGUF v2 and v3, PyTorch files";
  report["processors"] = std::thread::hardware_concurrency();
  auto backend = load_compute();
  if (backend) {
    const BackendInfo info = (*backend)->info();
    report["libtorch"] = info.torch_version + ", " + info.cpu_capability;
    report["threads"] = info.threads;
    report["kernels"] = info.kernel_target;
    std::string devices;
    for (const std::string& device : info.devices) devices += (devices.empty() ? "" : ", ") + device;
    report["devices"] = devices;
    if (!info.cuda_note.empty()) report["cuda"] = info.cuda_note;
    std::string usable;
    for (const BackendState& state : info.backends)
      if (state.unusable.empty()) usable += (usable.empty() ? "" : ", ") + state.name;
    report["backends"] = usable;
    for (const BackendState& state : info.backends)
      if (!state.unusable.empty()) report["no backend " + state.name] = state.unusable;
  } else {
    report["libtorch"] = describe(backend.error());
    if (json) report["error"] = error_object(backend.error());
  }
  for (const WindowFact& fact : window_program.examine()) report[fact.name] = fact.value;
  if (json) {
    std::printf("%s\n", report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    for (const auto& [name, value] : report.items())
      std::printf("%-12s %s\n", name.c_str(),
                  value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
  }
  return backend ? 0 : report_error(backend.error(), false);
}

}  // namespace headroom
