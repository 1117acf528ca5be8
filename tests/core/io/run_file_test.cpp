#include "core/io/run_file.h"

#include <hdf5.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/chunk_check.h"
#include "core/io/hdf5_handle.h"
#include "tests/core/io/sample_file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::unique_ptr<RunFile> open_sample(const TempFolder& folder) {
  CATCH_REQUIRE(write_sample(folder.path() / "run.h5") == "");
  auto file = RunFile::open(folder.path() / "run.h5");
  CATCH_INFO((file ? std::string() : describe(file.error())));
  CATCH_REQUIRE(file);
  return std::move(file).value();
}

std::unique_ptr<RunFileWriter> make_writer(const std::filesystem::path& path) {
  auto writer = RunFileWriter::create(path, {});
  CATCH_REQUIRE(writer);
  return std::move(writer).value();
}

// Where HDF5 has put what is stored of a chunk.
struct Chunk {
  std::string dataset;
  std::size_t address = 0, bytes = 0;
};

std::vector<Chunk> chunks_of(const std::filesystem::path& path) {
  std::vector<DatasetInfo> datasets;
  {
    const auto file = RunFile::open(path);
    CATCH_REQUIRE(file);
    datasets.assign((*file)->datasets().begin(), (*file)->datasets().end());
  }
  std::vector<Chunk> chunks;
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  CATCH_REQUIRE(file);
  for (const DatasetInfo& info : datasets) {
    const Hdf5Dataset dataset(H5Dopen2(file.get(), info.path.c_str(), H5P_DEFAULT));
    const Hdf5Space space(H5Dget_space(dataset.get()));
    const Hdf5Properties properties(H5Dget_create_plist(dataset.get()));
    hsize_t count = 0;
    if (H5Pget_layout(properties.get()) != H5D_CHUNKED) continue;
    CATCH_REQUIRE(H5Dget_num_chunks(dataset.get(), space.get(), &count) >= 0);
    for (hsize_t i = 0; i < count; ++i) {
      std::vector<hsize_t> offset(info.shape.size());
      unsigned skipped = 0;
      haddr_t address = 0;
      hsize_t bytes = 0;
      CATCH_REQUIRE(H5Dget_chunk_info(dataset.get(), space.get(), i, offset.data(), &skipped, &address, &bytes) >= 0);
      chunks.push_back({info.path, static_cast<std::size_t>(address), static_cast<std::size_t>(bytes)});
    }
  }
  return chunks;
}

bool checksums_are_right(const std::filesystem::path& path, const std::string& name) {
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const Hdf5Dataset dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
  const Hdf5Space space(H5Dget_space(dataset.get()));
  std::vector<hsize_t> extents(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  return chunks_have_their_checksums(dataset.get(), std::vector<std::int64_t>(extents.begin(), extents.end()));
}

}  // namespace

CATCH_TEST_CASE("A run file reads back what was written") {
  const TempFolder folder;
  const auto file = open_sample(folder);

  CATCH_SECTION("numbers, with the rest of an unwritten dataset missing") {
    const auto lse = file->read("rows/lse");
    CATCH_REQUIRE(lse);
    CATCH_REQUIRE(lse->size() == static_cast<std::size_t>(kLayers * kHeads * kPositions));
    std::size_t i = 0;
    std::size_t wrong = 0;
    for (std::int64_t layer = 0; layer < kLayers; ++layer) {
      for (std::int64_t head = 0; head < kHeads; ++head) {
        for (std::int64_t position = 0; position < kPositions; ++position, ++i) {
          const double wanted = sample_lse(layer, head, position);
          if ((*lse)[i] != wanted && !(std::isnan(wanted) && std::isnan((*lse)[i]))) ++wrong;
        }
      }
    }
    CATCH_CHECK(wrong == 0);
    const auto scalar = file->read("sink_null");
    CATCH_REQUIRE(scalar);
    CATCH_CHECK(*scalar == std::vector<double>{0.125});
    const auto kv = file->read("kv_head");
    CATCH_REQUIRE(kv);
    CATCH_CHECK(std::vector<double>(kv->begin(), kv->begin() + 5) == std::vector<double>{0, 0, 1, 1, -1});
    const auto counts = file->read("hist/count");
    CATCH_REQUIRE(counts);
    CATCH_CHECK(counts->back() == 2.0 * 4294967296.0 + 4.0);
    const auto special = file->read("rows/is_special");
    CATCH_REQUIRE(special);
    CATCH_CHECK(std::vector<double>(special->begin(), special->begin() + 4) == std::vector<double>{0, 1, 1, 0});
    const auto untouched = file->read("untouched");
    CATCH_REQUIRE(untouched);
    CATCH_REQUIRE(untouched->size() == 10);
    for (const double value : *untouched) CATCH_CHECK(std::isnan(value));
  }
  CATCH_SECTION("strings and attributes") {
    const auto kinds = file->read_strings("attention_kind");
    CATCH_REQUIRE(kinds);
    CATCH_CHECK(*kinds == std::vector<std::string>{"", "softmax", "diff_v2 λ"});
    CATCH_CHECK(file->root_attribute("schema_name").value() == "headroom-run");
    CATCH_CHECK(file->root_attribute("schema_version").value() == "1.0");
    CATCH_CHECK(file->root_attribute("title").value() == "Sample ✓ of every kind");
    CATCH_CHECK(file->root_attribute("empty").value().empty());
    CATCH_CHECK(file->root_attribute("seed").value() == "-7");
    CATCH_CHECK(file->root_attribute("epsilon").value() == "1e-05");
    CATCH_CHECK(file->root_attribute("long_text").value().size() == 100'000);
    CATCH_CHECK(file->root_attribute("absent").error().code == ErrorCode::NotFound);
  }
  CATCH_SECTION("the description, in the order of creation and without axes") {
    std::vector<std::string> paths;
    for (const DatasetInfo& info : file->datasets()) paths.push_back(info.path);
    CATCH_CHECK(paths == std::vector<std::string>{"sink_null", "kv_head", "attention_kind", "inside", "none",
                                                  "untouched", "rows/lse", "rows/is_special", "hist/count"});
    const DatasetInfo* lse = file->find("rows/lse");
    CATCH_REQUIRE(lse != nullptr);
    CATCH_CHECK(lse->axes == std::vector<std::string>{"layer", "head", "position"});
    CATCH_CHECK(lse->shape == std::vector<std::int64_t>{3, 5, 2100});
    CATCH_CHECK(lse->type == ElementType::Float32);
    CATCH_CHECK(lse->units == "nat");
    CATCH_CHECK(lse->long_name == "long name of lse");
    CATCH_CHECK(lse->definition == "definition of lse");
    CATCH_CHECK(file->find("none")->shape == std::vector<std::int64_t>{3, 0});
    CATCH_CHECK(file->read("none").value().empty());
    CATCH_CHECK(file->find("sink_null")->axes.empty());
    CATCH_CHECK(file->find("hist/count")->type == ElementType::Int64);
    CATCH_CHECK(file->find("layer") == nullptr);
  }
  CATCH_SECTION("parts, and requests that make no sense") {
    const std::vector<std::int64_t> start{2, 3, 10};
    const std::vector<std::int64_t> count{1, 1, 3};
    CATCH_CHECK(file->read_part("rows/lse", start, count).value() ==
                std::vector<double>{sample_lse(2, 3, 10), sample_lse(2, 3, 11), sample_lse(2, 3, 12)});
    const std::vector<std::int64_t> beyond{2, 3, 2098};
    CATCH_CHECK(file->read_part("rows/lse", beyond, count).error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(file->read("rows/absent").error().code == ErrorCode::NotFound);
    CATCH_CHECK(file->read("attention_kind").error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(file->read_strings("kv_head").error().code == ErrorCode::InvalidArgument);
  }
}

CATCH_TEST_CASE("Two equal runs write equal files") {
  const TempFolder folder;
  CATCH_REQUIRE(write_sample(folder.path() / "a.h5") == "");
  CATCH_REQUIRE(write_sample(folder.path() / "b.h5") == "");
  const std::string first = content(folder.path() / "a.h5");
  CATCH_CHECK(first.size() > 10'000);
  CATCH_CHECK((first == content(folder.path() / "b.h5")));
}

CATCH_TEST_CASE("What the writer refuses, and goes on after") {
  const TempFolder folder;
  const auto writer = make_writer(folder.path() / "run.h5");
  AxisDef axis;
  axis.name = "layer";
  axis.size = 2;
  CATCH_REQUIRE(writer->add_axis(axis));
  CATCH_CHECK(writer->add_axis(axis).error().code == ErrorCode::InvalidArgument);
  axis.name = "wrong";
  axis.values = {1, 2, 3};
  CATCH_CHECK(writer->add_axis(axis).error().code == ErrorCode::InvalidArgument);
  DatasetDef definition;
  definition.name = "count";
  definition.axes = {"layer"};
  definition.type = ElementType::Int32;
  CATCH_REQUIRE(writer->add_dataset(definition));
  CATCH_CHECK(writer->add_dataset(definition).error().code == ErrorCode::InvalidArgument);
  definition.name = "other";
  definition.axes = {"absent"};
  CATCH_CHECK(writer->add_dataset(definition).error().code == ErrorCode::InvalidArgument);
  using Index = std::vector<std::int64_t>;
  using Values = std::vector<double>;
  const auto code = [&](std::string_view path, const Index& start, const Index& count, const Values& values) {
    const auto result = writer->write(path, start, count, values);
    CATCH_REQUIRE_FALSE(result);
    return result.error().code;
  };
  CATCH_CHECK(code("absent", {0}, {1}, {1}) == ErrorCode::InvalidArgument);
  CATCH_CHECK(code("count", {0}, {3}, {1, 2, 3}) == ErrorCode::InvalidArgument);
  CATCH_CHECK(code("count", {0, 0}, {1, 1}, {1}) == ErrorCode::InvalidArgument);
  CATCH_CHECK(code("count", {0}, {2}, {1}) == ErrorCode::InvalidArgument);
  CATCH_CHECK(code("count", {-1}, {1}, {1}) == ErrorCode::InvalidArgument);
  CATCH_CHECK(code("count", {0}, {1}, {0.5}) == ErrorCode::InvalidArgument);
  CATCH_CHECK(code("count", {0}, {1}, {2147483648.0}) == ErrorCode::InvalidArgument);
  const std::vector<std::string> text{"x"};
  CATCH_CHECK(writer->write_strings("count", Index{0}, Index{1}, text).error().code == ErrorCode::InvalidArgument);
  CATCH_REQUIRE(writer->write("count", Index{0}, Index{2}, Values{-2147483648.0, 2147483647.0}));
  CATCH_REQUIRE(writer->commit());
  CATCH_CHECK_FALSE(writer->commit());
  const auto file = RunFile::open(folder.path() / "run.h5");
  CATCH_REQUIRE(file);
  CATCH_CHECK((*file)->read("count").value() == Values{-2147483648.0, 2147483647.0});
}

CATCH_TEST_CASE("Names that netCDF refuses are kept under an escaped name") {
  const TempFolder folder;
  const auto writer = make_writer(folder.path() / "run.h5");
  DatasetDef definition;
  definition.name = "a/b ";
  CATCH_REQUIRE(writer->add_dataset(definition));
  const std::vector<double> value{3};
  CATCH_REQUIRE(writer->write("a/b ", {}, {}, value));
  CATCH_REQUIRE(writer->set_attribute("", "bad\xFF text", std::string("nul \0 and \xFF", 11)));
  CATCH_REQUIRE(writer->commit());
  const auto file = RunFile::open(folder.path() / "run.h5");
  CATCH_REQUIRE(file);
  CATCH_REQUIRE((*file)->datasets().size() == 1);
  CATCH_CHECK((*file)->datasets()[0].path == "a%2Fb%20");
  CATCH_CHECK((*file)->read("a%2Fb%20").value() == value);
  CATCH_CHECK((*file)->root_attribute("bad%FF text").value() == "nul \uFFFD and \uFFFD");
}

CATCH_TEST_CASE("Damage in a run file is an error") {
  const TempFolder folder;
  CATCH_REQUIRE(write_sample(folder.path() / "good.h5") == "");
  const std::string good = content(folder.path() / "good.h5");

  CATCH_SECTION("not HDF5, empty, missing, a folder") {
    CATCH_CHECK(RunFile::open(folder.write("text.h5", "no HDF5 at all")).error().code == ErrorCode::Corrupt);
    CATCH_CHECK(RunFile::open(folder.write("empty.h5", "")).error().code == ErrorCode::Corrupt);
    CATCH_CHECK(RunFile::open(folder.path() / "absent.h5").error().code == ErrorCode::NotFound);
    CATCH_CHECK(RunFile::open(folder.path()).error().code == ErrorCode::Corrupt);
    CATCH_CHECK(RunFile::open("/dev/zero").error().code == ErrorCode::Corrupt);
  }
  CATCH_SECTION("cut off anywhere") {
    for (std::size_t part = 1; part < 24; ++part) {
      const auto path = folder.write("cut.h5", good.substr(0, good.size() * part / 24));
      const auto file = RunFile::open(path);
      CATCH_INFO(part);
      CATCH_CHECK_FALSE(file);
    }
  }
  CATCH_SECTION("a flipped bit in compressed data fails its checksum") {
    bool noticed = false;
    for (std::size_t at = 0; at < good.size() && !noticed; at += 197) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      const auto file = RunFile::open(folder.write("bad.h5", bad));
      if (!file) continue;
      const auto verified = (*file)->verify();
      if (verified) continue;
      CATCH_CHECK(verified.error().code == ErrorCode::Corrupt);
      noticed = verified.error().tensor == "rows/lse";
    }
    CATCH_CHECK(noticed);
  }
  CATCH_SECTION("a flipped bit in any chunk is found in its dataset, first, last or between") {
    const std::vector<Chunk> chunks = chunks_of(folder.path() / "good.h5");
    CATCH_REQUIRE(chunks.size() >= 3);
    for (const Chunk& chunk : chunks) {
      CATCH_CHECK(checksums_are_right(folder.path() / "good.h5", chunk.dataset));
      std::vector<std::size_t> places{chunk.bytes - 5, chunk.bytes - 4, chunk.bytes - 1};  // the checksum are four
      for (std::size_t at = 0; at < chunk.bytes; at += 997) places.push_back(at);
      for (const std::size_t at : places) {
        std::string bad = good;
        bad[chunk.address + at] = static_cast<char>(bad[chunk.address + at] ^ 0x10);
        const auto path = folder.write("bad.h5", bad);
        CATCH_INFO(chunk.dataset << ", byte " << at << " of " << chunk.bytes);
        CATCH_CHECK_FALSE(checksums_are_right(path, chunk.dataset));
        const auto file = RunFile::open(path);
        CATCH_REQUIRE(file.has_value());
        const auto verified = (*file)->verify();
        CATCH_REQUIRE_FALSE(verified.has_value());
        CATCH_CHECK(verified.error().code == ErrorCode::Corrupt);
        CATCH_CHECK(verified.error().tensor == chunk.dataset);
      }
    }
  }
}

}  // namespace headroom::test
