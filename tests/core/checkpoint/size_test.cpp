// Large headers and large files: time and memory stay bounded by the header.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

// Sanitizers and a busy machine: figures are multiplied by this.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kSlack = 10;
constexpr bool kMemoryCounts = false;
#else
constexpr double kSlack = 2;
constexpr bool kMemoryCounts = true;
#endif

template <typename Function>
double seconds_of(Function function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string many_tensors(std::size_t count, bool overlapping) {
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = overlapping ? 0 : i;
    header += (i ? ",\"t" : "\"t") + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[" +
              std::to_string(begin) + "," + std::to_string(begin + 1) + "]}";
  }
  return header + "}";
}

// The most memory the process has held, in bytes; reset first through clear_refs.
std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

CATCH_TEST_CASE("size: 1,000 tensors open within 50 ms") {
  const TempFolder folder;
  const fs::path file = folder.write("file", safetensors(many_tensors(1000, false), std::string(1000, 'x')));
  const double seconds = seconds_of([&] { CATCH_REQUIRE(Checkpoint::open(file).value()->tensors().size() == 1000); });
  CATCH_CHECK(seconds < 0.05 * kSlack);
}

CATCH_TEST_CASE("catalogue 35: 1,000,000 tensors open within 5 s and 1 GB") {
  const TempFolder folder;
  const fs::path file = folder.write("file", safetensors(many_tensors(1'000'000, false), std::string(1'000'000, 'x')));
  reset_peak();
  const double seconds = seconds_of([&] {
    const auto opened = Checkpoint::open(file);
    CATCH_REQUIRE(opened.has_value());
    CATCH_CHECK((*opened)->tensors().size() == 1'000'000);
    CATCH_CHECK((*opened)->find("t999999")->size_bytes == 1);
  });
  CATCH_INFO("seconds " << seconds << ", peak bytes " << peak_bytes());
  CATCH_CHECK(seconds < 5 * kSlack);
  if (kMemoryCounts) CATCH_CHECK(peak_bytes() < std::size_t{1} << 30);
}

CATCH_TEST_CASE("catalogue 27: 1,000,000 tensors on one range are refused within 2 s, bounded by the header") {
  const TempFolder folder;
  const std::size_t header_size = many_tensors(1'000'000, true).size();
  const fs::path file = folder.write("file", safetensors(many_tensors(1'000'000, true), "x"));
  reset_peak();
  const std::size_t before = peak_bytes();
  const double seconds = seconds_of([&] {
    const auto opened = Checkpoint::open(file);
    CATCH_REQUIRE(!opened.has_value());
    CATCH_CHECK(opened.error().message.find("overlap") != std::string::npos);
  });
  CATCH_CHECK(seconds < 2 * kSlack);
  const std::size_t extra = peak_bytes() - before;
  CATCH_INFO("header " << header_size << ", extra " << extra);
  if (kMemoryCounts) CATCH_CHECK(extra < header_size + (std::size_t{64} << 20));
}

CATCH_TEST_CASE("catalogue 13: a sparse file of 1 TB opens within 1 s with correct numbers") {
  const TempFolder folder;
  const std::uint64_t elements = (std::uint64_t{1} << 38) - 64;  // F32: 1 TiB − 256 bytes
  const std::string size = std::to_string(elements * 4);
  const std::string header = "{\"big\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(elements / 64) +
                             ",64],\"data_offsets\":[0," + size + "]}}";
  const fs::path file = folder.write("file", safetensors(header, ""));
  std::error_code code;
  fs::resize_file(file, 8 + header.size() + elements * 4, code);
  if (code) {
    skip("the file system has no sparse files of 1 TB: " + code.message());
    return;
  }
  {
    std::fstream last(file, std::ios::in | std::ios::out | std::ios::binary);
    last.seekp(-4, std::ios::end);
    last.write(little_endian(2.5F).data(), 4);
  }
  const double seconds = seconds_of([&] {
    const auto opened = Checkpoint::open(file);
    CATCH_REQUIRE(opened.has_value());
    const TensorInfo& tensor = (*opened)->tensors()[0];
    CATCH_CHECK(tensor.element_count() == static_cast<std::int64_t>(elements));
    std::vector<float> values(3);
    CATCH_REQUIRE((*opened)->read(tensor, tensor.element_count() - 3, std::span<float>(values)).has_value());
    CATCH_CHECK(values == std::vector<float>{0, 0, 2.5F});
  });
  CATCH_CHECK(seconds < 1 * kSlack);
}

CATCH_TEST_CASE("size: 200 shards with 30,000 tensors open within 1.5 s") {
  const TempFolder folder;
  nlohmann::json weight_map;
  for (std::size_t shard = 0; shard < 200; ++shard) {
    const std::string file = "model-" + std::to_string(shard) + ".safetensors";
    std::string header = "{";
    for (std::size_t i = 0; i < 150; ++i) {
      const std::string name = "layers." + std::to_string(shard) + ".experts." + std::to_string(i) + ".weight";
      weight_map[name] = file;
      header += (i ? ",\"" : "\"") + name + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" +
                std::to_string(4 * i) + "," + std::to_string(4 * i + 4) + "]}";
    }
    folder.write(file, safetensors(header + "}", std::string(600, '\0')));
  }
  folder.write("model.safetensors.index.json", nlohmann::json{{"weight_map", weight_map}}.dump());
  const double seconds = seconds_of([&] {
    const auto opened = Checkpoint::open(folder.path());
    CATCH_REQUIRE(opened.has_value());
    CATCH_CHECK((*opened)->tensors().size() == 30'000);
    CATCH_CHECK((*opened)->warnings().empty());
  });
  CATCH_CHECK(seconds < 1.5 * kSlack);
}

}  // namespace headroom::test
