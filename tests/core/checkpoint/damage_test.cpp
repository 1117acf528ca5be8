// Truncation at every byte, every single-bit flip of the header, and every length field set to the values that break
// careless arithmetic: the result is the same data, other data that is well-formed, or an error; never a crash.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/core/checkpoint/torch_builders.h"
#include "tests/core/checkpoint/work.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

struct Seed {
  const char* name;
  std::string bytes;
  std::size_t header_size;
  std::vector<std::size_t> length_fields;  // offsets of 8-byte lengths and counts
};

Seed safetensors_seed() {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a.weight":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("b\u0041":{"dtype":"BF16","shape":[4],"data_offsets":[16,24]}})";
  return {"safetensors", safetensors(header, std::string(24, '\x3f')), 8 + header.size(), {0}};
}

Seed gguf_seed() {
  std::string header = gguf_header(2, 3);
  std::vector<std::size_t> fields = {8, 16, header.size()};
  header += gguf_entry("general.alignment", 4, little_endian(std::uint32_t{32}));
  fields.push_back(header.size());
  header += gguf_string("general.architecture") + little_endian<std::uint32_t>(8);
  fields.push_back(header.size());
  header += gguf_string("llama");
  fields.push_back(header.size());
  header += gguf_string("tokenizer.ggml.tokens") + little_endian<std::uint32_t>(9) + little_endian<std::uint32_t>(8);
  fields.push_back(header.size());
  header += little_endian<std::uint64_t>(2) + gguf_string("x") + gguf_string("yz");
  fields.push_back(header.size());
  header += gguf_string("a") + little_endian<std::uint32_t>(2);
  fields.push_back(header.size());
  fields.push_back(header.size() + 8);
  header += little_endian<std::uint64_t>(4) + little_endian<std::uint64_t>(2) + little_endian<std::uint32_t>(0);
  fields.push_back(header.size());
  header += little_endian<std::uint64_t>(0) + gguf_tensor("b", {32}, 3, 32);
  const std::string bytes = gguf_file(header, std::string(32 + 20, '\x3c'));
  return {"gguf", bytes, header.size(), fields};
}

std::string torch_pickle() {
  return pickle_dict({{"a.weight", pickle_tensor("0", 8, 2, {2, 3}, {3, 1})},
                      {"b", pickle_tensor("0", 8, 0, {4, 2}, {1, 4})},
                      {"step", pickle_int(7)}});
}

// The archive's directory is at its end: all of it is header but for the storage.
Seed torch_zip_seed() {
  const std::string bytes = torch_zip(torch_pickle(), {std::string(32, '\x3f')});
  return {"torch", bytes, bytes.size(), {}};
}

Seed torch_old_seed() {
  const std::string bytes = torch_old(torch_pickle(), {std::string(32, '\x3f')});
  return {"torch before 1.6", bytes, bytes.size() - 32, {bytes.size() - 40}};
}

std::vector<Seed> seeds() { return {safetensors_seed(), gguf_seed(), torch_zip_seed(), torch_old_seed()}; }

// Reads every tensor that can be read; each lies in the file and has no more numbers than its bytes can hold.
void read_all(const Checkpoint& checkpoint, std::size_t file_bytes) {
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    CATCH_REQUIRE(tensor.offset + tensor.size_bytes <= file_bytes);
    if (tensor.dtype == DType::Unsupported) continue;
    // Q4_0 packs 32 numbers into 18 bytes.
    CATCH_REQUIRE(tensor.element_count() <= 2 * static_cast<std::int64_t>(tensor.size_bytes));
    std::vector<float> values(static_cast<std::size_t>(tensor.element_count()));
    CATCH_REQUIRE(checkpoint.read(tensor, 0, std::span<float>(values)).has_value());
  }
}

// Opens and reads everything readable. The only thing that can be wrong is a crash or a hang.
void exercise(const TempFolder& folder, const std::string& bytes, bool lenient, std::size_t& opened_count) {
  CheckpointOptions options;
  options.lenient = lenient;
  // Writing over a file makes some file systems flush the old content first.
  std::filesystem::remove(folder.path() / "file");
  const auto path = folder.write("file", bytes);
  const Work work = work_of([&] {
    const auto opened = Checkpoint::open(path, options);
    if (opened.has_value()) {
      ++opened_count;
      read_all(**opened, bytes.size());
      return;
    }
    CATCH_REQUIRE(!opened.error().message.empty());
    const int code = exit_code(opened.error().code);
    CATCH_REQUIRE((code == 3 || code == 4 || code == 6));
  });
  // As much as a whole file of this size takes, whatever lengths it claims.
  const auto size = static_cast<std::int64_t>(bytes.size());
  CATCH_REQUIRE(work.peak_bytes <= 16 * size + 16384);
  CATCH_REQUIRE(work.read_bytes <= 2 * size + 1024);
  CATCH_REQUIRE(work.allocations <= 200);
}

}  // namespace

CATCH_TEST_CASE("damage: truncation at every byte is an error") {
  const TempFolder folder;
  for (const Seed& seed : seeds()) {
    CATCH_INFO(seed.name);
    std::size_t opened = 0;
    exercise(folder, seed.bytes, false, opened);
    CATCH_REQUIRE(opened == 1);
    for (std::size_t size = 0; size < seed.bytes.size(); ++size)
      exercise(folder, seed.bytes.substr(0, size), true, opened);
    CATCH_CHECK(opened == 1);
  }
}

CATCH_TEST_CASE("damage: every single-bit flip of the header") {
  const TempFolder folder;
  for (const Seed& seed : seeds()) {
    std::size_t opened = 0;
    for (std::size_t bit = 0; bit < seed.header_size * 8; ++bit) {
      std::string bytes = seed.bytes;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      exercise(folder, bytes, bit % 2 == 0, opened);
    }
    // A flip inside a name is another valid file; most others are refused.
    CATCH_CHECK(opened < seed.header_size * 4);
  }
}

CATCH_TEST_CASE("damage: every length field at its limits") {
  const TempFolder folder;
  for (const Seed& seed : seeds()) {
    for (const std::size_t field : seed.length_fields) {
      const std::uint64_t remaining = seed.bytes.size() - field - 8;
      const std::uint64_t max = ~std::uint64_t{0};
      for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, max, max >> 1, (max >> 1) + 1,
                                        remaining - 1, remaining, remaining + 1}) {
        CATCH_INFO(seed.name << " field at " << field << " = " << value);
        std::size_t opened = 0;
        exercise(folder, seed.bytes.substr(0, field) + little_endian(value) + seed.bytes.substr(field + 8), false,
                 opened);
        // Only an empty string value, a 1 × 4 shape or one token may still be a whole file.
        CATCH_CHECK((opened == 0 || value <= 1));
      }
    }
  }
}

CATCH_TEST_CASE("damage: random bytes over random places") {
  const TempFolder folder;
  std::mt19937_64 random(20240607);
  for (const Seed& seed : seeds()) {
    std::size_t opened = 0;
    for (int i = 0; i < 5000; ++i) {
      std::string bytes = seed.bytes;
      for (auto changes = random() % 4 + 1; changes > 0; --changes) {
        const std::size_t place = random() % seed.header_size;
        constexpr auto kTelling = std::to_array("\x01\xFF{}[]\",:0123456789-.eE\\u ");
        bytes[place] = random() % 2 ? kTelling[random() % kTelling.size()] : static_cast<char>(random());
      }
      if (random() % 4 == 0) bytes.erase(random() % seed.header_size, random() % 16);
      if (random() % 4 == 0)
        bytes.insert(random() % std::min(seed.header_size, bytes.size()), random() % 16, static_cast<char>(random()));
      exercise(folder, bytes, i % 2 == 0, opened);
    }
    // Most are refused; of those that open every tensor is read.
    CATCH_INFO(seed.name << ": " << opened << " of 5000 open");
    CATCH_CHECK((opened > 20 && opened < 1000));
  }
}

}  // namespace headroom::test
