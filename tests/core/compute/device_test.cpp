// Devices by name: what is refused, with which exit code, and that no other device ever takes the place of the named
// one.
#include "core/compute/device.h"

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "core/run/compute.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace headroom::test {
namespace {

bool driver_here() { return std::filesystem::exists("/proc/driver/nvidia/version"); }

}  // namespace

CATCH_TEST_CASE("device: the processor is always there") {
  const auto device = open_device("cpu");
  CATCH_REQUIRE(device.has_value());
  CATCH_CHECK(device->is_cpu());
}

CATCH_TEST_CASE("device: an unknown name is a usage error that names it and what there is") {
  for (const char* name : {"gpu", "", "CPU", "mps", "cudax", "cuda1", "cuda:", "cuda:x", "cuda:1x", "cuda:-1",
                           "cuda: 0", "cuda:99999999999999999999"}) {
    const auto device = open_device(name);
    CATCH_INFO("name '" << name << "'");
    CATCH_REQUIRE(!device.has_value());
    CATCH_CHECK(device.error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(exit_code(device.error().code) == 2);
    CATCH_CHECK(device.error().found == name);
    CATCH_CHECK(device.error().expected == "auto, cpu, cuda or cuda:N");
  }
}

CATCH_TEST_CASE("device: auto is no device that could be opened, and the message does not offer it") {
  const auto device = open_device("auto");
  CATCH_REQUIRE(!device.has_value());
  CATCH_CHECK(device.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(device.error().expected == "cpu, cuda or cuda:N");
  CATCH_CHECK(device.error().found == "auto");
}

CATCH_TEST_CASE("device: cuda without a driver says so, advises the processor and ends with the code of the GPU") {
  if (driver_here()) {
    skip("this machine has an NVIDIA driver");
    return;
  }
  for (const char* name : {"cuda", "cuda:0", "cuda:7"}) {
    const auto device = open_device(name);
    CATCH_INFO(name);
    CATCH_REQUIRE(!device.has_value());
    CATCH_CHECK(device.error().code == ErrorCode::Device);
    CATCH_CHECK(exit_code(device.error().code) == 7);
    CATCH_CHECK(describe(device.error()).find("no NVIDIA driver on this machine") != std::string::npos);
    CATCH_CHECK(device.error().expected == name);
    CATCH_CHECK(device.error().hint == "use --device cpu");
  }
}

CATCH_TEST_CASE("device: a CUDA device beyond the last one is refused") {
  const auto device = open_device("cuda:99");
  CATCH_REQUIRE(!device.has_value());
  CATCH_CHECK(device.error().code == ErrorCode::Device);
  CATCH_CHECK(device.error().expected == "cuda:99");
}

CATCH_TEST_CASE("device: the list begins with the processor, and a reason stands for missing CUDA devices") {
  std::string note = "stale";
  const std::vector<std::string> devices = list_devices(note);
  CATCH_REQUIRE(!devices.empty());
  CATCH_CHECK(devices.front() == "cpu");
  CATCH_CHECK((devices.size() > 1) == note.empty());
  CATCH_CHECK(note != "stale");
  if (!driver_here()) CATCH_CHECK(note == "no NVIDIA driver on this machine");
  // Every listed device opens: what `auto` chooses from is what there is.
  for (const std::string& name : devices) CATCH_CHECK(open_device(name).has_value());
}

CATCH_TEST_CASE("device: the backend reports versions, threads and the same devices") {
  auto backend = load_compute();
  CATCH_REQUIRE(backend.has_value());
  const BackendInfo info = (*backend)->info();
  std::string note;
  CATCH_CHECK(info.devices == list_devices(note));
  CATCH_CHECK(info.cuda_note == note);
  CATCH_CHECK(info.threads >= 1);
  CATCH_CHECK(!info.torch_version.empty());
  CATCH_CHECK(!info.cpu_capability.empty());
  CATCH_CHECK(!info.kernel_target.empty());
  CATCH_CHECK(info.backends.size() == 4);
}

}  // namespace headroom::test
