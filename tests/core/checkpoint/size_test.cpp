// Large headers and large files: what opening them takes is bounded by the header.
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
#include "tests/core/checkpoint/work.h"
#include "tests/support/catch.h"
#include "tests/support/counted_new.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

std::string many_tensors(std::size_t count, bool overlapping) {
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = overlapping ? 0 : i;
    header += (i ? ",\"t" : "\"t") + std::to_string(i) + "\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[" +
              std::to_string(begin) + "," + std::to_string(begin + 1) + "]}";
  }
  return header + "}";
}

constexpr std::int64_t kMebibyte = 1 << 20;

// Nothing but the header is read, once, and a start of each file; what is made of it takes memory in proportion.
void check_work(const Work& work, std::size_t header_bytes, std::int64_t tensors) {
  CATCH_INFO("allocations " << work.allocations << ", peak " << work.peak_bytes << ", read " << work.read_bytes);
  const auto header = static_cast<std::int64_t>(header_bytes);
  CATCH_CHECK(work.read_bytes <= header + kMebibyte);
  CATCH_CHECK(work.peak_bytes <= 6 * header + kMebibyte);
  CATCH_CHECK(work.allocations <= 20 * tensors + 1000);
}

}  // namespace

CATCH_TEST_CASE("size: 1,000 tensors take a thousandth of what a million take") {
  const TempFolder folder;
  const fs::path file = folder.write("file", safetensors(many_tensors(1000, false), std::string(1000, 'x')));
  const std::size_t header = many_tensors(1000, false).size();
  check_work(work_of([&] { CATCH_REQUIRE(Checkpoint::open(file).value()->tensors().size() == 1000); }), header, 1000);
}

CATCH_TEST_CASE("catalogue 35: 1,000,000 tensors open, in proportion to the header") {
  const TempFolder folder;
  const fs::path file = folder.write("file", safetensors(many_tensors(1'000'000, false), std::string(1'000'000, 'x')));
  const std::size_t header = many_tensors(1'000'000, false).size();
  const Work work = work_of([&] {
    const auto opened = Checkpoint::open(file);
    CATCH_REQUIRE(opened.has_value());
    CATCH_CHECK((*opened)->tensors().size() == 1'000'000);
    CATCH_CHECK((*opened)->find("t999999")->size_bytes == 1);
  });
  check_work(work, header, 1'000'000);
}

CATCH_TEST_CASE("catalogue 27: 1,000,000 tensors on one range are refused, in proportion to the header") {
  const TempFolder folder;
  const std::size_t header_size = many_tensors(1'000'000, true).size();
  const fs::path file = folder.write("file", safetensors(many_tensors(1'000'000, true), "x"));
  const Work work = work_of([&] {
    const auto opened = Checkpoint::open(file);
    CATCH_REQUIRE(!opened.has_value());
    CATCH_CHECK(opened.error().message.find("overlap") != std::string::npos);
  });
  check_work(work, header_size, 1'000'000);
  CATCH_CHECK(work.peak_bytes <= static_cast<std::int64_t>(header_size) + 64 * kMebibyte);
}

CATCH_TEST_CASE("catalogue 13: a sparse file of 1 TB opens without being read, with correct numbers") {
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
  const Work work = work_of([&] {
    const auto opened = Checkpoint::open(file);
    CATCH_REQUIRE(opened.has_value());
    const TensorInfo& tensor = (*opened)->tensors()[0];
    CATCH_CHECK(tensor.element_count() == static_cast<std::int64_t>(elements));
    std::vector<float> values(3);
    CATCH_REQUIRE((*opened)->read(tensor, tensor.element_count() - 3, std::span<float>(values)).has_value());
    CATCH_CHECK(values == std::vector<float>{0, 0, 2.5F});
  });
  check_work(work, header.size(), 1);
}

CATCH_TEST_CASE("size: 200 shards with 30,000 tensors open, in proportion to their headers") {
  const TempFolder folder;
  nlohmann::json weight_map;
  std::size_t headers = 0;
  for (std::size_t shard = 0; shard < 200; ++shard) {
    const std::string file = "model-" + std::to_string(shard) + ".safetensors";
    std::string header = "{";
    for (std::size_t i = 0; i < 150; ++i) {
      const std::string name = "layers." + std::to_string(shard) + ".experts." + std::to_string(i) + ".weight";
      weight_map[name] = file;
      header += (i ? ",\"" : "\"") + name + "\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[" +
                std::to_string(4 * i) + "," + std::to_string(4 * i + 4) + "]}";
    }
    headers += header.size();
    folder.write(file, safetensors(header + "}", std::string(600, '\0')));
  }
  const std::string index = nlohmann::json{{"weight_map", weight_map}}.dump();
  headers += index.size();
  folder.write("model.safetensors.index.json", index);
  const Work work = work_of([&] {
    const auto opened = Checkpoint::open(folder.path());
    CATCH_REQUIRE(opened.has_value());
    CATCH_CHECK((*opened)->tensors().size() == 30'000);
    CATCH_CHECK((*opened)->warnings().empty());
  });
  check_work(work, headers, 30'000);
}

}  // namespace headroom::test
