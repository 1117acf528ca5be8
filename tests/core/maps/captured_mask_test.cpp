// Masks of captured calls read from their file: what they hide and add, by type, by head, by sequence; rows that see
// nothing; maps of calls whose keys are not their rows.
#include "core/maps/captured_mask.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/model/capture.h"
#include "core/model/family.h"
#include "core/run/open_model.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

struct Tensor {
  std::string name, type, shape;
  std::string bytes;
};

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A capture of one call; `call` is its JSON.
std::filesystem::path write_capture(const TempFolder& folder, const std::vector<Tensor>& tensors,
                                    const std::string& call = "{}") {
  std::string quoted;
  for (const char c : call) quoted += c == '"' ? "\\\"" : std::string(1, c);
  std::string header = R"({"__metadata__":{"format":"headroom-capture","version":"1","calls":"[)" + quoted + R"(]"})",
              data;
  for (const Tensor& tensor : tensors) {
    header += ",\"calls.0." + tensor.name + "\":{\"dtype\":\"" + tensor.type + "\",\"shape\":" + tensor.shape +
              ",\"data_offsets\":[" + std::to_string(data.size()) + "," +
              std::to_string(data.size() + tensor.bytes.size()) + "]}";
    data += tensor.bytes;
  }
  header += "}";
  const std::filesystem::path path = folder.path() / "capture.safetensors";
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t size = header.size();
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file << header << data;
  return path;
}

// q of two heads and three rows, k and v of four keys, one channel each, and the mask.
std::vector<Tensor> with_mask(const Tensor& mask) {
  return {{"q", "F32", "[2,3,1]", bytes_of(std::vector<float>(6, 0.5F))},
          {"k", "F32", "[2,4,1]", bytes_of(std::vector<float>(8, 0.5F))},
          {"v", "F32", "[2,4,1]", bytes_of(std::vector<float>(8, 0.5F))},
          mask};
}

std::vector<double> read_all(const kernels::DenseMask& mask, std::int64_t row, std::int64_t rows, std::int64_t key,
                             std::int64_t keys) {
  std::vector<double> values(static_cast<std::size_t>(rows * keys));
  mask.read(mask.source, row, rows, key, keys, values.data());
  return values;
}

std::shared_ptr<const CapturedMask> mask_of(const OpenedModel& model) {
  return CapturedMask::create(model.checkpoint, *model.spec.blocks.front().attention.call);
}

}  // namespace

CATCH_TEST_CASE("captured masks: truth values show what is true, the same for every head") {
  const TempFolder folder;
  const std::vector<std::uint8_t> seen = {1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0};
  const auto model = open_model(write_capture(folder, with_mask({"mask", "BOOL", "[3,4]", bytes_of(seen)})), {});
  CATCH_REQUIRE(model.has_value());
  const auto mask = mask_of(*model);
  CATCH_CHECK(mask->of_head(0) == mask->of_head(1));
  CATCH_CHECK_FALSE(mask->of_head(0)->additive);
  CATCH_CHECK(read_all(*mask->of_head(0), 1, 2, 1, 2) == std::vector<double>{0.0, kHidden, 0.0, 0.0});
  const std::vector<double> whole = read_all(*mask->of_head(0), 0, 3, 0, 4);
  for (std::size_t i = 0; i < seen.size(); ++i) CATCH_CHECK(whole[i] == (seen[i] != 0 ? 0.0 : kHidden));
  CATCH_CHECK(mask->check().has_value());
}

CATCH_TEST_CASE("captured masks: numbers are added, and hide where they are as low as half the lowest of their type") {
  const TempFolder folder;
  const float lowest = std::numeric_limits<float>::lowest(), infinity = std::numeric_limits<float>::infinity();
  std::vector<float> added(24, 0.25F);
  added[0] = lowest, added[1] = 0.5F * lowest, added[2] = 0.49F * lowest, added[3] = -infinity;
  added[12] = -3.0F;
  const auto model = open_model(write_capture(folder, with_mask({"mask", "F32", "[2,3,4]", bytes_of(added)})), {});
  CATCH_REQUIRE(model.has_value());
  const auto mask = mask_of(*model);
  CATCH_CHECK(mask->of_head(0) != mask->of_head(1));
  CATCH_CHECK(mask->of_head(0)->additive);
  const std::vector<double> first = read_all(*mask->of_head(0), 0, 1, 0, 4);
  CATCH_CHECK(first[0] == kHidden);
  CATCH_CHECK(first[1] == kHidden);
  CATCH_CHECK(std::isfinite(first[2]));
  CATCH_CHECK(first[3] == kHidden);
  CATCH_CHECK(mask->of_head(1)->at(0, 0) == -3.0);
  CATCH_CHECK(mask->of_head(1)->at(2, 3) == 0.25);
}

CATCH_TEST_CASE("captured masks: a row without any key is refused, by its number") {
  const TempFolder folder;
  const std::vector<std::uint8_t> seen = {1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1};
  const auto model = open_model(write_capture(folder, with_mask({"mask", "BOOL", "[3,4]", bytes_of(seen)})), {});
  CATCH_REQUIRE(model.has_value());
  const auto mask = mask_of(*model);
  kernels::Mask rows;
  rows.length = 3;
  rows.key_length = 4;
  rows.causal = false;
  rows.dense = mask->of_head(0);
  const auto checked = mask->check_rows(rows);
  CATCH_REQUIRE(!checked.has_value());
  CATCH_CHECK(checked.error().code == ErrorCode::Corrupt);
  CATCH_CHECK(checked.error().found == "none for row 1");
  CATCH_CHECK(checked.error().tensor == "calls.0.mask");
}

CATCH_TEST_CASE("captured masks: a file that is cut off while it is open is an error, and its rows are NaN") {
  const TempFolder folder;
  const std::vector<std::uint8_t> seen(12, 1);
  const std::filesystem::path path = write_capture(folder, with_mask({"mask", "BOOL", "[3,4]", bytes_of(seen)}));
  const auto model = open_model(path, {});
  CATCH_REQUIRE(model.has_value());
  const auto mask = mask_of(*model);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  CATCH_CHECK(std::isnan(mask->of_head(0)->at(2, 3)));
  CATCH_CHECK(!mask->check().has_value());
}

CATCH_TEST_CASE("captures: a call becomes a layer with its heads, mask and place among the keys") {
  const TempFolder folder;
  const std::vector<Tensor> tensors = {{"q", "F32", "[4,3,2]", bytes_of(std::vector<float>(24, 0.5F))},
                                       {"k", "F32", "[2,9,2]", bytes_of(std::vector<float>(36, 0.5F))},
                                       {"v", "F32", "[2,9,5]", bytes_of(std::vector<float>(90, 0.5F))},
                                       {"lambda", "F32", "[2]", bytes_of(std::vector<float>(2, 0.5F))}};
  const auto model = open_model(
      write_capture(folder, tensors,
                    R"({"name":"decoder.attn","kind":"diff_v2","causal":true,"window":4,"pairing":"halves"})"),
      {});
  CATCH_REQUIRE(model.has_value());
  CATCH_REQUIRE(model->spec.capture != nullptr);
  CATCH_CHECK(model->spec.capture->length == 9);
  CATCH_CHECK(model->spec.num_heads == 2);
  const AttentionSpec& attention = model->spec.blocks.front().attention;
  CATCH_CHECK(attention.call->name == "decoder.attn");
  CATCH_CHECK(attention.call->first_query == 6);
  CATCH_CHECK(attention.scale == 1.0 / std::sqrt(2.0));
  CATCH_CHECK(attention.window == 4);
  CATCH_CHECK(attention.context_dim() == 5);
  CATCH_CHECK(attention.heads[1].first.query_block == 1);
  CATCH_CHECK(attention.heads[1].second.query_block == 3);
  CATCH_CHECK(attention.heads[1].first.key_block == 0);
  CATCH_CHECK(attention.heads[1].second.key_block == 1);
  CATCH_CHECK(attention.heads[1].lambda == LambdaSource::Recorded);
}

}  // namespace headroom::test
