// Chunks that are put together and encoded before HDF5 gets them: HDF5's own filters read them, whatever the order,
// the pieces and the kind of numbers.
#include "core/io/chunk_codec.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/io/blocks.h"
#include "core/io/run_file.h"
#include "core/io/run_file_writer.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

// What datasets hold: numbers of one size with noise in their mantissas, none at all, and the same one many times.
std::vector<double> measured_like(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(3.0F, 0.5F);
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(i / 500 % 3 == 0   ? static_cast<double>(noise(random))
                     : i / 500 % 3 == 1 ? kNaN
                                        : static_cast<double>(i / 1500));
  return values;
}

std::vector<std::byte> as_floats(const std::vector<double>& values) {
  std::vector<float> floats(values.begin(), values.end());
  std::vector<std::byte> bytes(floats.size() * sizeof(float));
  std::memcpy(bytes.data(), floats.data(), bytes.size());
  return bytes;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A dataset of three axes with values that are written piece by piece, and what ought to be in it.
class Written {
 public:
  Written(const std::filesystem::path& path, std::vector<std::int64_t> shape, ElementType type, const char* first)
      : path_(path), shape_(std::move(shape)), type_(type) {
    auto made = RunFileWriter::create(path, {});
    CATCH_REQUIRE(made);
    writer_ = std::move(made).value();
    const char* const names[] = {first, "row", "column"};
    DatasetDef def;
    def.name = "x";
    def.type = type;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      AxisDef added;
      added.name = names[axis];
      added.size = shape_[axis];
      CATCH_REQUIRE(writer_->add_axis(added));
      def.axes.emplace_back(names[axis]);
    }
    CATCH_REQUIRE(writer_->add_dataset(def));
    const double none = type == ElementType::UInt8                                     ? 0.0
                        : type == ElementType::Float32 || type == ElementType::Float64 ? kNaN
                                                                                       : -1.0;
    wanted_.assign(static_cast<std::size_t>(element_count(shape_)), none);
  }

  // Values from `value` on, each one more, modulo 251.
  void write(const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& count, double value) {
    std::vector<double> values;
    for (std::int64_t a = 0; a < count[0]; ++a)
      for (std::int64_t b = 0; b < count[1]; ++b)
        for (std::int64_t c = 0; c < count[2]; ++c) {
          values.push_back(std::fmod(value++, 251.0));
          wanted_[static_cast<std::size_t>(((start[0] + a) * shape_[1] + start[1] + b) * shape_[2] + start[2] + c)] =
              values.back();
        }
    CATCH_REQUIRE(writer_->write("x", start, count, values));
  }
  RunFileWriter& writer() { return *writer_; }

  void check() {
    CATCH_REQUIRE(writer_->commit());
    const auto file = RunFile::open(path_);
    CATCH_REQUIRE(file);
    const auto found = (*file)->read("x");
    CATCH_REQUIRE(found);
    CATCH_REQUIRE(found->size() == wanted_.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < wanted_.size(); ++i) wrong += same((*found)[i], wanted_[i]) ? 0 : 1;
    CATCH_CHECK(wrong == 0);
  }

 private:
  std::filesystem::path path_;
  std::vector<std::int64_t> shape_;
  ElementType type_;
  std::unique_ptr<RunFileWriter> writer_;
  std::vector<double> wanted_;
};

}  // namespace

CATCH_TEST_CASE("chunks: rows in any order, pieces across chunks and holes read back") {
  const TempFolder folder;
  for (const ElementType type :
       {ElementType::Float32, ElementType::Float64, ElementType::Int32, ElementType::Int64, ElementType::UInt8})
    for (const char* const first : {"layer", "sequence"}) {
      CATCH_INFO(element_type_name(type) << ", " << first);
      const std::string name = std::string(element_type_name(type)) + first + ".h5";
      // Neither rows nor columns are whole chunks.
      Written file(folder.path() / name, {3, 211, 1307}, type, first);
      std::vector<std::int64_t> rows(211);
      std::iota(rows.begin(), rows.end(), 0);
      std::shuffle(rows.begin(), rows.end(), std::mt19937(7));
      for (const std::int64_t row : rows) file.write({0, row, 0}, {1, 1, 1307}, static_cast<double>(row));
      file.write({1, 3, 5}, {1, 200, 700}, 17.0);
      CATCH_REQUIRE(file.writer().flush());
      file.write({1, 3, 705}, {2, 200, 602}, 3.0);
      file.check();
    }
}

CATCH_TEST_CASE("chunks: what is written again takes the place of what was there") {
  const TempFolder folder;
  Written file(folder.path() / "again.h5", {2, 90, 1000}, ElementType::Float32, "layer");
  file.write({0, 0, 0}, {1, 40, 1000}, 1.0);
  file.write({0, 20, 0}, {1, 70, 1000}, 2.0);  // 20 rows twice: the chunk seems whole before it is
  file.write({0, 85, 10}, {2, 5, 100}, 3.0);   // a part of a chunk that is in the file, and of one that is not
  file.write({1, 0, 0}, {1, 90, 1000}, 4.0);
  file.write({1, 7, 7}, {1, 1, 1}, 5.0);
  file.check();
}

CATCH_TEST_CASE("chunks: many that are not complete do not stay in memory, and are right") {
  const TempFolder folder;
  // The first number of each of 150 chunks of half a MiB, then the rest.
  Written file(folder.path() / "many.h5", {150, 128, 1024}, ElementType::Float32, "layer");
  for (std::int64_t layer = 0; layer < 150; ++layer) file.write({layer, 0, 0}, {1, 1, 1}, 1.0);
  for (std::int64_t layer = 0; layer < 150; layer += 7) file.write({layer, 0, 1}, {1, 1, 1023}, 9.0);
  for (std::int64_t layer = 0; layer < 150; layer += 10) file.write({layer, 1, 0}, {1, 127, 1024}, 8.0);
  file.check();
}

CATCH_TEST_CASE("chunks: noise is stored, and the rest is not larger than zlib makes it") {
  ChunkEncoder encoder;
  std::mt19937 random(11);
  std::vector<std::byte> noise(40000);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  const EncodedChunk stored = encoder.encode(noise, 8);
  CATCH_CHECK(stored.skipped == 2);
  CATCH_CHECK(stored.bytes.size() == noise.size() + 4);
  const std::vector<std::byte> same_number(40000, std::byte{3});
  CATCH_CHECK(encoder.encode(same_number, 4).bytes.size() < 400);
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{260}, std::size_t{16384}}) {
    const std::vector<std::byte> raw = as_floats(measured_like(count, 5));
    std::vector<Bytef> planes;
    for (std::size_t byte = 0; byte < 4; ++byte)
      for (std::size_t i = 0; i < count; ++i) planes.push_back(static_cast<Bytef>(raw[4 * i + byte]));
    uLongf size = compressBound(static_cast<uLong>(planes.size()));
    std::vector<Bytef> room(size);
    CATCH_REQUIRE(compress2(room.data(), &size, planes.data(), static_cast<uLong>(planes.size()), 4) == Z_OK);
    const EncodedChunk chunk = encoder.encode(raw, 4);
    CATCH_INFO(count << " floats: " << chunk.bytes.size() << " and zlib's " << size);
    CATCH_CHECK(static_cast<double>(chunk.bytes.size()) < 1.03 * static_cast<double>(size) + 64.0);
    if (chunk.skipped != 0) continue;
    // As any reader of zlib's format takes it.
    std::vector<Bytef> back(planes.size());
    uLongf found = static_cast<uLongf>(back.size());
    CATCH_REQUIRE(uncompress(back.data(), &found, reinterpret_cast<const Bytef*>(chunk.bytes.data()),
                             static_cast<uLong>(chunk.bytes.size() - 4)) == Z_OK);
    CATCH_CHECK(back == planes);
  }
  // One after the other, from one encoder.
  const std::vector<std::byte> raw = as_floats(measured_like(5000, 6));
  CATCH_CHECK(encoder.encode(raw, 4).bytes == ChunkEncoder().encode(raw, 4).bytes);
}

}  // namespace headroom::test
