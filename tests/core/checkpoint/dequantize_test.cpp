#include "core/checkpoint/dequantize.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/sha256.h"
#include "tests/core/checkpoint/dequantize_table.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

std::vector<std::byte> from_hex(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

template <typename Out, typename Stored>
std::vector<Out> decode(DType dtype, const std::vector<Stored>& stored) {
  std::vector<Out> out(stored.size());
  dequantize(dtype, std::as_bytes(std::span(stored)), std::span<Out>(out));
  return out;
}

std::string hash_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values)
    bits.push_back(std::isnan(value) ? 0x7fc00000U : std::bit_cast<std::uint32_t>(value));
  Sha256 hash;
  hash.update(std::as_bytes(std::span(bits)));
  return hash.finish_hex();
}

}  // namespace

CATCH_TEST_CASE("dequantize: blocks equal the gguf package's values, in float and in double, at any alignment") {
  for (const BlockCase& test : kBlockCases) {
    const std::vector<std::byte> bytes = from_hex(test.bytes_hex);
    for (const std::size_t shift : {0, 1, 3}) {
      std::vector<std::byte> shifted(shift);
      shifted.insert(shifted.end(), bytes.begin(), bytes.end());
      const auto blocks = std::span<const std::byte>(shifted).subspan(shift);
      std::vector<float> floats(64);
      std::vector<double> doubles(64);
      dequantize(test.dtype, blocks, floats);
      dequantize(test.dtype, blocks, doubles);
      for (std::size_t i = 0; i < 64; ++i) {
        CATCH_INFO("dtype " << static_cast<int>(test.dtype) << " element " << i);
        CATCH_CHECK(floats[i] == test.values[i]);
        CATCH_CHECK(doubles[i] == static_cast<double>(test.values[i]));
      }
    }
  }
}

CATCH_TEST_CASE("dequantize: blocks with scales inside equal the gguf package's values, at any alignment") {
  for (const GroupedCase& test : kGroupedCases) {
    CATCH_INFO("dtype " << static_cast<int>(test.dtype));
    const std::vector<std::byte> bytes = from_hex(test.bytes_hex);
    const BlockLayout layout = block_layout(test.dtype);
    CATCH_REQUIRE(static_cast<std::int64_t>(bytes.size()) == 4 * layout.size_bytes);
    for (const std::size_t shift : {0, 1, 3}) {
      std::vector<std::byte> shifted(shift);
      shifted.insert(shifted.end(), bytes.begin(), bytes.end());
      const auto blocks = std::span<const std::byte>(shifted).subspan(shift);
      std::vector<float> floats(static_cast<std::size_t>(4 * layout.elements));
      std::vector<double> doubles(floats.size());
      dequantize(test.dtype, blocks, floats);
      dequantize(test.dtype, blocks, doubles);
      CATCH_CHECK(hash_of(floats) == test.sha256);
      CATCH_CHECK(std::vector<float>(doubles.begin(), doubles.end()) == floats);
    }
  }
}

CATCH_TEST_CASE("dequantize: every code of the small floats equals numpy's and torch's value") {
  for (const CodeTable& table : kCodeTables) {
    CATCH_INFO("dtype " << static_cast<int>(table.dtype));
    std::vector<float> values;
    if (block_layout(table.dtype).size_bytes == 2) {
      std::vector<std::uint16_t> codes(65536);
      for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint16_t>(i);
      values = decode<float>(table.dtype, codes);
    } else {
      std::vector<std::uint8_t> codes(256);
      for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
      values = decode<float>(table.dtype, codes);
    }
    CATCH_CHECK(hash_of(values) == table.sha256);
  }
}

// The formats of core/checkpoint/FORMATS.md#dtypes: maximum, smallest subnormal, special codes.
CATCH_TEST_CASE("dequantize: landmarks of the 8-bit floats") {
  const auto value = [](DType dtype, std::uint8_t code) { return decode<double>(dtype, std::vector{code}).front(); };
  CATCH_CHECK(value(DType::F8_E4M3, 0x7E) == 448.0);
  CATCH_CHECK(value(DType::F8_E4M3, 0x01) == 0x1p-9);
  CATCH_CHECK(std::isnan(value(DType::F8_E4M3, 0x7F)));
  CATCH_CHECK(std::isnan(value(DType::F8_E4M3, 0xFF)));
  CATCH_CHECK(value(DType::F8_E5M2, 0x7C) == std::numeric_limits<double>::infinity());
  CATCH_CHECK(value(DType::F8_E5M2, 0xFC) == -std::numeric_limits<double>::infinity());
  CATCH_CHECK(value(DType::F8_E8M0, 127) == 1.0);
  CATCH_CHECK(value(DType::F8_E8M0, 0) == 0x1p-127);
  CATCH_CHECK(std::isnan(value(DType::F8_E8M0, 255)));
  CATCH_CHECK(std::isnan(value(DType::F8_E4M3FNUZ, 0x80)));
  CATCH_CHECK(value(DType::F8_E5M2FNUZ, 0xFF) == -57344.0);
}

CATCH_TEST_CASE("dequantize: integers, bool and doubles keep their values") {
  CATCH_CHECK(decode<double>(DType::I64, std::vector<std::int64_t>{-(1LL << 52) - 1, 7}) ==
              std::vector<double>{-4503599627370497.0, 7.0});
  CATCH_CHECK(decode<double>(DType::U64, std::vector<std::uint64_t>{1ULL << 63}) ==
              std::vector<double>{9223372036854775808.0});
  CATCH_CHECK(decode<float>(DType::I32, std::vector<std::int32_t>{-2147483647 - 1}) ==
              std::vector<float>{-2147483648.0F});
  CATCH_CHECK(decode<float>(DType::U32, std::vector<std::uint32_t>{4294967295U}) == std::vector<float>{4294967296.0F});
  CATCH_CHECK(decode<float>(DType::I16, std::vector<std::int16_t>{-32768, 3}) == std::vector<float>{-32768.0F, 3.0F});
  CATCH_CHECK(decode<float>(DType::U16, std::vector<std::uint16_t>{65535}) == std::vector<float>{65535.0F});
  CATCH_CHECK(decode<float>(DType::I8, std::vector<std::int8_t>{-128, 127}) == std::vector<float>{-128.0F, 127.0F});
  CATCH_CHECK(decode<float>(DType::U8, std::vector<std::uint8_t>{255}) == std::vector<float>{255.0F});
  CATCH_CHECK(decode<float>(DType::BOOL, std::vector<std::uint8_t>{0, 1, 2}) == std::vector<float>{0.0F, 1.0F, 1.0F});
  CATCH_CHECK(decode<double>(DType::F64, std::vector<double>{0.1}) == std::vector<double>{0.1});
  CATCH_CHECK(decode<float>(DType::F64, std::vector<double>{0.1}) == std::vector<float>{0.1F});
  CATCH_CHECK(decode<double>(DType::F32, std::vector<float>{0.1F}) == std::vector<double>{static_cast<double>(0.1F)});
}

CATCH_TEST_CASE("catalogue 36: NaN, infinities, denormals and the negative zero come out as stored") {
  const std::vector<std::uint32_t> bits = {0x7fc00123, 0x7f800000, 0xff800000, 0x00000001, 0x80000000};
  const auto values = decode<float>(DType::F32, bits);
  for (std::size_t i = 0; i < bits.size(); ++i) CATCH_CHECK(std::bit_cast<std::uint32_t>(values[i]) == bits[i]);
}

CATCH_TEST_CASE("dequantize: nothing in, nothing out") {
  std::vector<float> none;
  for (const DType dtype : {DType::F32, DType::F16, DType::Q4_1, DType::BOOL})
    dequantize(dtype, {}, std::span<float>(none));
  CATCH_CHECK(block_layout(DType::Unsupported).elements == 0);
}

}  // namespace headroom::test
