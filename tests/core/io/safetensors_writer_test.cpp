// Safetensors files that are written, byte by byte and as Checkpoint::open reads them.
#include "core/io/safetensors_writer.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

template <typename Value>
TensorBytes tensor(const std::string& name, const char* dtype, std::vector<std::int64_t> shape,
                   const std::vector<Value>& values) {
  return {name, dtype, std::move(shape), std::as_bytes(std::span(values))};
}

}  // namespace

CATCH_TEST_CASE("safetensors writer: header, alignment, order of names, and the bytes as they were") {
  const TempFolder folder;
  const auto path = folder.path() / "model.safetensors";
  const std::vector<float> floats = {1.0f, -2.5f, 3.25f, 1e-30f, 0.0f, -0.0f};
  const std::vector<double> doubles = {0.1, 1e300};
  const std::vector<std::uint16_t> halves = {0x3F80, 0xC000, 0x0001};
  const std::vector<float> nothing;
  // Names of every length: the header's length takes every value modulo 8.
  for (int length = 1; length <= 9; ++length) {
    const std::string last = "z" + std::string(static_cast<std::size_t>(length), '"');
    const TensorBytes tensors[] = {tensor(last, "F32", {2, 3}, floats), tensor("a", "BF16", {3}, halves),
                                   tensor("m", "F64", {2}, doubles), tensor("empty", "F32", {0, 4}, nothing)};
    CATCH_REQUIRE(write_safetensors(path, tensors, {{"format", "pt"}, {"ключ", "λ"}}).has_value());
    const std::string file = content(path);
    std::uint64_t size = 0;
    CATCH_REQUIRE(file.size() > sizeof size);
    std::memcpy(&size, file.data(), sizeof size);
    CATCH_CHECK(size % 8 == 0);
    const nlohmann::json header = nlohmann::json::parse(file.substr(8, size));
    CATCH_CHECK(file.size() == 8 + size + 6 + 16 + 24);
    CATCH_CHECK(header["__metadata__"] == nlohmann::json{{"format", "pt"}, {"ключ", "λ"}});
    CATCH_CHECK(header["a"] == nlohmann::json{{"dtype", "BF16"}, {"shape", {3}}, {"data_offsets", {0, 6}}});
    CATCH_CHECK(header["empty"] == nlohmann::json{{"dtype", "F32"}, {"shape", {0, 4}}, {"data_offsets", {6, 6}}});
    CATCH_CHECK(header["m"] == nlohmann::json{{"dtype", "F64"}, {"shape", {2}}, {"data_offsets", {6, 22}}});
    CATCH_CHECK(header[last] == nlohmann::json{{"dtype", "F32"}, {"shape", {2, 3}}, {"data_offsets", {22, 46}}});
    CATCH_CHECK(std::memcmp(file.data() + 8 + size + 22, floats.data(), 24) == 0);

    const auto opened = Checkpoint::open(path);
    if (!opened) CATCH_FAIL(describe(opened.error()));
    CATCH_CHECK((*opened)->warnings().empty());
    CATCH_REQUIRE((*opened)->tensors().size() == 4);
    std::vector<float> read(6);
    const TensorInfo* info = (*opened)->find(last);
    CATCH_REQUIRE(info != nullptr);
    CATCH_CHECK(info->shape == std::vector<std::int64_t>{2, 3});
    CATCH_REQUIRE((*opened)->read(*info, 0, std::span<float>(read)).has_value());
    CATCH_CHECK(std::memcmp(read.data(), floats.data(), 24) == 0);
    std::vector<double> wide(2);
    CATCH_REQUIRE((*opened)->read(*(*opened)->find("m"), 0, std::span<double>(wide)).has_value());
    CATCH_CHECK(wide == doubles);
    read.resize(3);
    CATCH_REQUIRE((*opened)->read(*(*opened)->find("a"), 0, std::span<float>(read)).has_value());
    CATCH_CHECK(read == std::vector<float>{1.0f, -2.0f, 9.18354961579912e-41f});
  }
}

CATCH_TEST_CASE("safetensors writer: an existing file is replaced, and one that cannot be written leaves nothing") {
  const TempFolder folder;
  const auto path = folder.write("model.safetensors", "old");
  const std::vector<float> values = {1.0f};
  const TensorBytes tensors[] = {tensor("a", "F32", {1}, values)};
  CATCH_REQUIRE(write_safetensors(path, tensors, {}).has_value());
  const std::string file = content(path);
  CATCH_CHECK(file.find("__metadata__") == std::string::npos);
  CATCH_CHECK(Checkpoint::open(path).has_value());
  CATCH_CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  const auto nowhere = write_safetensors(folder.path() / "none" / "model.safetensors", tensors, {});
  CATCH_REQUIRE(!nowhere.has_value());
  CATCH_CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

}  // namespace headroom::test
