#include "core/checkpoint/safetensors.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

using Opened = Result<std::shared_ptr<const Checkpoint>>;

Opened open_bytes(const std::string& bytes, bool lenient = false) {
  const TempFolder folder;
  CheckpointOptions options;
  options.lenient = lenient;
  return Checkpoint::open(folder.write("model.safetensors", bytes), options);
}

Opened open_header(const std::string& header, std::size_t data_size = 4) {
  return open_bytes(safetensors(header, std::string(data_size, '\x01')));
}

// The error of a file that must be refused with exit code 3.
Error refusal(const Opened& opened) {
  CATCH_REQUIRE(!opened.has_value());
  CATCH_CHECK(exit_code(opened.error().code) == 3);
  CATCH_CHECK(!opened.error().file.empty());
  return opened.error();
}

std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool warns(const Opened& opened, const std::string& part) {
  for (const std::string& warning : (*opened)->warnings())
    if (mentions(warning, part)) return true;
  return false;
}

}  // namespace

CATCH_TEST_CASE("safetensors: tensors, offsets, values and metadata of a small file") {
  std::string data;
  append(data, 1.5F);
  append(data, -2.0F);
  append(data, std::uint16_t{0x3C00});  // F16 1.0
  append(data, std::uint16_t{0xC0A0});  // BF16 −5.0
  const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + entry("w", "F32", "[1,2]", "[0,8]") + "," +
                             entry("h", "F16", "[1]", "[8,10]") + "," + entry("b", "BF16", "[]", "[10,12]") + "}   ";
  const auto opened = open_bytes(safetensors(header, data));
  CATCH_REQUIRE(opened.has_value());
  const Checkpoint& checkpoint = **opened;
  CATCH_CHECK(checkpoint.format() == ContainerFormat::Safetensors);
  CATCH_CHECK(checkpoint.metadata() == nlohmann::json{{"format", "pt"}});
  CATCH_CHECK(checkpoint.config().is_null());
  CATCH_REQUIRE(checkpoint.tensors().size() == 3);
  CATCH_CHECK(checkpoint.tensors()[0].name == "b");
  const TensorInfo* w = checkpoint.find("w");
  CATCH_REQUIRE(w != nullptr);
  CATCH_CHECK(w->shape == std::vector<std::int64_t>{1, 2});
  CATCH_CHECK(w->offset == 8 + header.size());
  CATCH_CHECK(w->size_bytes == 8);
  CATCH_CHECK(checkpoint.find("v") == nullptr);
  std::vector<float> values(2);
  CATCH_REQUIRE(checkpoint.read(*w, 0, std::span<float>(values)).has_value());
  CATCH_CHECK(values == std::vector<float>{1.5F, -2.0F});
  std::vector<double> second(1);
  CATCH_REQUIRE(checkpoint.read(*w, 1, std::span<double>(second)).has_value());
  CATCH_CHECK(second.front() == -2.0);
  CATCH_REQUIRE(checkpoint.read(*checkpoint.find("h"), 0, std::span<double>(second)).has_value());
  CATCH_CHECK(second.front() == 1.0);
  CATCH_REQUIRE(checkpoint.read(*checkpoint.find("b"), 0, std::span<double>(second)).has_value());
  CATCH_CHECK(second.front() == -5.0);
}

CATCH_TEST_CASE("catalogue 15: fewer than 8 bytes") {
  for (std::size_t size = 1; size < 8; ++size)
    CATCH_CHECK(mentions(refusal(open_bytes(std::string(size, '\x02'))).message, "too short"));
}

CATCH_TEST_CASE("catalogue 16: a header of 0 or 1 bytes") {
  refusal(open_bytes(safetensors("", "")));
  refusal(open_bytes(safetensors("{", "")));
  refusal(open_bytes(safetensors("", "abcdef")));
}

CATCH_TEST_CASE("catalogue 17: a header length above the limit is refused without allocating") {
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const Error error = refusal(open_bytes(little_endian(length) + "{}"));
    CATCH_CHECK(error.offset == 0);
    CATCH_CHECK(error.found == std::to_string(length));
  }
}

CATCH_TEST_CASE("catalogue 18: a header longer than the file") {
  const Error error = refusal(open_bytes(little_endian(std::uint64_t{100}) + "{}"));
  CATCH_CHECK(mentions(error.message, "The header says 100 bytes, the file has 2"));
}

CATCH_TEST_CASE("catalogue 19: not UTF-8, a byte order mark, a leading space: refused with the offset") {
  CATCH_CHECK(refusal(open_header("\xEF\xBB\xBF{}")).offset == 8);
  CATCH_CHECK(refusal(open_header(" {}")).offset == 8);
  CATCH_CHECK(refusal(open_header("{\"a\xFF\":1}")).offset == 11);
}

CATCH_TEST_CASE("catalogue 20: not JSON, trailing bytes, NaN, comments: refused with the offset") {
  CATCH_CHECK(refusal(open_header("{]")).offset == 9);
  CATCH_CHECK(refusal(open_header("{} x")).offset == 11);
  CATCH_CHECK(refusal(open_header(std::string("{}\0", 3))).offset == 10);
  CATCH_CHECK(refusal(open_header("{\"a\":NaN}")).offset == 13);
  CATCH_CHECK(refusal(open_header("{/**/}")).offset == 9);
}

CATCH_TEST_CASE("catalogue 21: 100,000 levels of nesting are refused") {
  const std::string deep = "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  refusal(open_header(deep));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  refusal(open_header(objects));
}

CATCH_TEST_CASE("catalogue 22: a duplicate tensor is refused, however its name is escaped") {
  const std::string first = entry("a", "U8", "[2]", "[0,2]");
  const Error error = refusal(open_header("{" + first + "," + entry("a", "U8", "[2]", "[2,4]") + "}"));
  CATCH_CHECK(error.tensor == "a");
  CATCH_CHECK(error.offset == 8 + 1 + first.size() + 1 + 1);
  refusal(open_header("{" + first + "," + entry("\\u0061", "U8", "[2]", "[2,4]") + "}"));
  refusal(open_header("{\"__metadata__\":{},\"__metadata__\":{}}", 0));
  refusal(open_header("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0));
}

CATCH_TEST_CASE("catalogue 23: a field given twice, missing or unknown") {
  refusal(open_header(R"({"a":{"dtype":"U8","dtype":"U8","shape":[4],"data_offsets":[0,4]}})"));
  refusal(open_header(R"({"a":{"dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4]}})"));
  refusal(open_header(R"({"a":{"dtype":"U8","shape":[4]}})"));
  refusal(open_header(R"({"a":{"shape":[4],"data_offsets":[0,4]}})"));
  refusal(open_header(R"({"a":{"dtype":"U8","data_offsets":[0,4]}})"));
  refusal(open_header(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"order":"F"}})"));
  refusal(open_header(R"({"a":[]})"));
  refusal(open_header("[]"));
}

CATCH_TEST_CASE("catalogue 24: NUL and 1 MB names are refused, look-alikes and empty names flagged") {
  refusal(open_header("{" + entry("a\\u0000b", "U8", "[4]", "[0,4]") + "}"));
  refusal(open_header("{" + entry(std::string(1'000'000, 'n'), "U8", "[4]", "[0,4]") + "}"));
  const auto longest = open_header("{" + entry(std::string(4096, 'n'), "U8", "[4]", "[0,4]") + "}");
  CATCH_CHECK(longest.has_value());
  struct Pair {
    const char* a;
    const char* b;
  };
  // The same letter composed and decomposed; Cyrillic а; a zero-width space.
  for (const Pair& pair : {Pair{"caf\u00E9.w", "cafe\u0301.w"}, Pair{"lambda", "l\u0430mbda"}, Pair{"w", "w\u200B"}}) {
    const auto opened =
        open_header("{" + entry(pair.a, "U8", "[2]", "[0,2]") + "," + entry(pair.b, "U8", "[2]", "[2,4]") + "}");
    CATCH_REQUIRE(opened.has_value());
    CATCH_CHECK((*opened)->tensors().size() == 2);
    CATCH_CHECK(warns(opened, "look alike"));
  }
  const auto different =
      open_header("{" + entry("\u00E9", "U8", "[2]", "[0,2]") + "," + entry("o", "U8", "[2]", "[2,4]") + "}");
  CATCH_REQUIRE(different.has_value());
  CATCH_CHECK(!warns(different, "look alike"));
  const auto empty = open_header("{" + entry("", "U8", "[4]", "[0,4]") + "}");
  CATCH_REQUIRE(empty.has_value());
  CATCH_CHECK(warns(empty, "empty name"));
}

CATCH_TEST_CASE("catalogue 25: data_offsets that are not two non-negative integers") {
  for (const char* offsets : {"[-1,4]", "[0,4.0]", "[0,1e30]", "[\"0\",\"4\"]", "[0,4,4]", "[0]", "[]", "4", "null",
                              "[0,18446744073709551616]", "[[0],4]"}) {
    CATCH_INFO(offsets);
    CATCH_CHECK(refusal(open_header("{" + entry("tensor", "U8", "[4]", offsets) + "}")).tensor == "tensor");
  }
}

CATCH_TEST_CASE("catalogue 26: begin > end, end beyond the file") {
  CATCH_CHECK(refusal(open_header("{" + entry("a", "U8", "[4]", "[4,0]") + "}")).tensor == "a");
  const Error beyond = refusal(open_header("{" + entry("a", "U8", "[5]", "[0,5]") + "}"));
  CATCH_CHECK(beyond.tensor == "a");
  CATCH_CHECK(mentions(beyond.message, "ends before"));
  refusal(open_header("{" + entry("a", "U8", "[18446744073709551615]", "[0,18446744073709551615]") + "}"));
}

CATCH_TEST_CASE("catalogue 27: overlaps are refused, lenient or not") {
  std::string header = "{";
  for (int i = 0; i < 10; ++i) header += (i ? "," : "") + entry("t" + std::to_string(i), "U8", "[4]", "[0,4]");
  const Error error = refusal(open_header(header + "}"));
  CATCH_CHECK(mentions(error.message, "overlap"));
  const std::string partly = "{" + entry("a", "U8", "[3]", "[0,3]") + "," + entry("b", "U8", "[2]", "[2,4]") + "}";
  CATCH_CHECK(refusal(open_header(partly)).tensor == "b");
  refusal(open_bytes(safetensors(partly, "abcd"), true));
  refusal(open_bytes(
      safetensors("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("z", "U8", "[0]", "[2,2]") + "}", "abcd")));
}

CATCH_TEST_CASE("catalogue 28: holes and bytes at the ends are refused, and shown with --lenient") {
  struct Case {
    std::string header;
    std::string data;
    std::string says;
  };
  const std::string a = entry("a", "U8", "[2]", "[0,2]");
  const std::vector<Case> cases = {
      {"{" + a + "," + entry("b", "U8", "[2]", "[5,7]") + "}", "aa...bb",
       "3 unused bytes between the tensors before tensor b"},
      {"{" + entry("b", "U8", "[2]", "[1,3]") + "}", ".bb", "1 unused byte before tensor b"},
      {"{" + a + "}", "aaPK\x03\x04tail", "8 unused bytes that look like a ZIP archive after the last tensor"},
      {"{}", "abc", "3 unused bytes after the last tensor"},
  };
  for (const Case& test : cases) {
    const std::string bytes = safetensors(test.header, test.data);
    CATCH_INFO(test.says);
    CATCH_CHECK(mentions(refusal(open_bytes(bytes)).message, test.says));
    const auto lenient = open_bytes(bytes, true);
    CATCH_REQUIRE(lenient.has_value());
    CATCH_CHECK(warns(lenient, test.says));
  }
}

CATCH_TEST_CASE("catalogue 29: an empty tensor may share an offset, if its shape has a 0") {
  const auto opened = open_header("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("e", "F32", "[3,0]", "[4,4]") +
                                  "," + entry("f", "F32", "[0]", "[0,0]") + "}");
  CATCH_REQUIRE(opened.has_value());
  CATCH_CHECK((*opened)->find("e")->element_count() == 0);
  CATCH_CHECK((*opened)->read(*(*opened)->find("e"), 0, std::span<float>()).has_value());
  refusal(open_header("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("e", "U8", "[1]", "[4,4]") + "}"));
}

CATCH_TEST_CASE("catalogue 30: shapes that overflow, many axes, odd extents") {
  refusal(open_header("{" + entry("a", "U8", "[4294967296,4294967296]", "[0,4]") + "}"));
  refusal(open_header("{" + entry("a", "F64", "[2305843009213693952]", "[0,4]") + "}"));
  refusal(open_header("{" + entry("a", "U8", "[9223372036854775808]", "[0,4]") + "}"));
  std::string ones = "[4";
  for (int i = 1; i < 16; ++i) ones += ",1";
  CATCH_CHECK(open_header("{" + entry("a", "U8", ones + "]", "[0,4]") + "}").has_value());
  refusal(open_header("{" + entry("a", "U8", ones + ",1]", "[0,4]") + "}"));
  for (int i = 0; i < 1000; ++i) ones += ",1";
  refusal(open_header("{" + entry("a", "U8", ones + "]", "[0,4]") + "}"));
  for (const char* shape : {"[-4]", "[4.0]", "[\"4\"]", "4", "null", "[[4]]"})
    refusal(open_header("{" + entry("a", "U8", shape, "[0,4]") + "}"));
}

CATCH_TEST_CASE("catalogue 31: size against shape and dtype names tensor, expected and found") {
  const Error error = refusal(open_header("{" + entry("a", "F32", "[2]", "[0,4]") + "}"));
  CATCH_CHECK(error.tensor == "a");
  CATCH_CHECK(error.expected == "8 bytes");
  CATCH_CHECK(error.found == "4");
}

CATCH_TEST_CASE("catalogue 32: unsupported dtypes are listed, the others read, F8 without a scale warned about") {
  const auto opened =
      open_header("{" + entry("q", "Q4", "[7]", "[0,3]") + "," + entry("c", "C64", "[1]", "[3,11]") + "," +
                      entry("f", "F4", "[4]", "[11,13]") + "," + entry("u", "U8", "[1]", "[13,14]") + "," +
                      entry("e.weight", "F8_E4M3", "[1]", "[14,15]") + "}",
                  15);
  CATCH_REQUIRE(opened.has_value());
  CATCH_CHECK((*opened)->find("q")->dtype == DType::Unsupported);
  CATCH_CHECK((*opened)->find("q")->dtype_name == "Q4");
  CATCH_CHECK((*opened)->find("f")->dtype_name == "F4");
  CATCH_CHECK(warns(opened, "unsupported dtype (C64, F4, Q4)"));
  CATCH_CHECK(warns(opened, "without a scale beside them: e.weight"));
  float value = 0;
  CATCH_CHECK((*opened)->read(*(*opened)->find("u"), 0, std::span(&value, 1)).has_value());
  CATCH_CHECK(value == 1.0F);
  const auto refused = (*opened)->read(*(*opened)->find("c"), 0, std::span(&value, 1));
  CATCH_REQUIRE(!refused.has_value());
  CATCH_CHECK(exit_code(refused.error().code) == 4);
  CATCH_CHECK(refused.error().tensor == "c");
  const auto scaled = open_header("{" + entry("e.weight", "F8_E4M3", "[1]", "[0,1]") + "," +
                                  entry("e.weight_scale_inv", "F8_E8M0", "[3]", "[1,4]") + "}");
  CATCH_REQUIRE(scaled.has_value());
  CATCH_CHECK((*scaled)->warnings().empty());
}

CATCH_TEST_CASE("catalogue 33: a sub-byte tensor that does not end on a byte") {
  refusal(open_header("{" + entry("a", "F4", "[7]", "[0,4]") + "}"));
  refusal(open_header("{" + entry("a", "F6_E2M3", "[5]", "[0,4]") + "}"));
  CATCH_CHECK(open_header("{" + entry("a", "F6_E3M2", "[4]", "[0,3]") + "}", 3).has_value());
}

CATCH_TEST_CASE("catalogue 34: __metadata__ that is not strings or is huge") {
  for (const char* metadata : {"1", "[]", "\"x\"", "{\"a\":1}", "{\"a\":null}", "{\"a\":{\"b\":\"c\"}}"})
    refusal(open_header("{\"__metadata__\":" + std::string(metadata) + "}", 0));
  refusal(open_header("{\"__metadata__\":{\"a\":\"" + std::string(90'000'000, 'x') + "\"}}", 0));
  const auto control = open_header("{\"__metadata__\":{\"a\":\"\\u001b[31m\"}}", 0);
  CATCH_REQUIRE(control.has_value());
  CATCH_CHECK((*control)->metadata()["a"] == "\x1b[31m");
}

CATCH_TEST_CASE("catalogue 37: integer weights are warned about") {
  const auto opened = open_header("{" + entry("layers.0.mlp.weight", "I32", "[1]", "[0,4]") + "}");
  CATCH_REQUIRE(opened.has_value());
  CATCH_CHECK(warns(opened, "integer dtype, which is odd: layers.0.mlp.weight"));
}

CATCH_TEST_CASE("catalogue 38: a byte-swapped header length is recognised") {
  const std::string header = "{" + entry("a", "U8", "[4]", "[0,4]") + "}";
  const std::string bytes = little_endian(__builtin_bswap64(header.size())) + header + "abcd";
  CATCH_CHECK(mentions(refusal(open_bytes(bytes)).message, "looks byte-swapped"));
}

}  // namespace headroom::test
