#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/detect.h"

#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/builders.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

using namespace std::string_literals;

struct Case {
  std::string bytes;
  ErrorCode code;
  const char* says;  // a part of the message
};

std::string zip_entry(std::string_view name) {
  std::string out = "PK\x03\x04" + std::string(22, '\0');
  append(out, static_cast<std::uint16_t>(name.size()));
  append(out, std::uint16_t{0});
  return out + std::string(name) + std::string(100, '\x01');
}

std::string padded(std::string head, std::size_t offset, std::string_view at_offset) {
  head.resize(offset, '\x41');
  return head + std::string(at_offset) + std::string(50, '\x01');
}

}  // namespace

CATCH_TEST_CASE("catalogue 4, 8 and 68: other kinds of files are recognised by content, each with its sentence") {
  const std::vector<Case> cases = {
      {"", ErrorCode::Corrupt, "empty"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", ErrorCode::Corrupt,
       "Git LFS pointer"},
      {"<!DOCTYPE html>\n<html><body>Not Found</body></html>", ErrorCode::Corrupt, "web page"},
      {"\n  <HTML>\n<head></head></HTML>", ErrorCode::Corrupt, "web page"},
      {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", ErrorCode::Corrupt, "web page"},
      {"{\"error\": \"Repository not found\"}", ErrorCode::Corrupt, "JSON"},
      {zip_entry("archive/data.pkl"), ErrorCode::Corrupt, "no directory"},
      {zip_entry("pytorch_model/version"), ErrorCode::Corrupt, "no directory"},
      {zip_entry("script/code/model.py"), ErrorCode::Corrupt, "no directory"},
      {zip_entry("weight.npy"), ErrorCode::Corrupt, "no directory"},
      {zip_entry("config.json"), ErrorCode::Unsupported, "Keras"},
      {zip_entry("readme.txt"), ErrorCode::Unsupported, "ZIP"},
      {"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93\x94."s, ErrorCode::Unsupported,
       "pickle"},
      {"\x89HDF\r\n\x1a\n" + std::string(100, '\0'), ErrorCode::Unsupported, "HDF5"},
      {padded("user block", 512, "\x89HDF\r\n\x1a\n"), ErrorCode::Unsupported, "HDF5"},
      {padded("user block", 2048, "\x89HDF\r\n\x1a\n"), ErrorCode::Unsupported, "HDF5"},
      {"\x08\x07\x12\x07pytorch\x1a\x05"
       "2.1.0" +
           std::string(60, '\x01'),
       ErrorCode::Unsupported, "ONNX"},
      {"\x93NUMPY\x01\x00v\x00{'descr': '<f4'"s, ErrorCode::Unsupported, "NumPy .npy"},
      {"\x1c\x00\x00\x00TFL3"s + std::string(40, '\0'), ErrorCode::Unsupported, "TensorFlow Lite"},
      {"tjgg\x03\x00\x00\x00"s + std::string(40, '\0'), ErrorCode::Unsupported, "GGML"},
      {"\x1f\x8b\x08\x00"s + std::string(40, '\x05'), ErrorCode::Unsupported, "compressed"},
      {padded("model/weights.bin", 257,
              "ustar\x00"
              "00"s),
       ErrorCode::Unsupported, "tar"},
  };
  const TempFolder folder;
  // Every other one under a name that lies about the content.
  std::size_t i = 0;
  for (const Case& test : cases) {
    const auto path = folder.write(std::to_string(i) + (i % 2 ? ".safetensors" : ".gguf"), test.bytes);
    ++i;
    CATCH_INFO(test.says);
    const auto opened = Checkpoint::open(path);
    CATCH_REQUIRE(!opened.has_value());
    CATCH_CHECK(opened.error().code == test.code);
    CATCH_CHECK(opened.error().message.find(test.says) != std::string::npos);
    CATCH_CHECK(!opened.error().hint.empty());
    CATCH_CHECK(opened.error().file == path.string());
  }
}

CATCH_TEST_CASE("catalogue 8: a checkpoint under a wrong extension opens") {
  const TempFolder folder;
  const std::string header = R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  const auto weights = Checkpoint::open(folder.write("model.bin", safetensors(header, "xy")));
  CATCH_REQUIRE(weights.has_value());
  CATCH_CHECK((*weights)->format_name() == "safetensors");
  const auto gguf = Checkpoint::open(folder.write("model.safetensors.old", gguf_file(gguf_header(0, 0, 2), "")));
  CATCH_REQUIRE(gguf.has_value());
  CATCH_CHECK((*gguf)->format_name() == "gguf v2");
}

// A header of 0x0480 bytes begins like a pickle of protocol 4.
CATCH_TEST_CASE("a safetensors length that spells another format's first bytes is safetensors") {
  const TempFolder folder;
  std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  header.resize(0x0480, ' ');
  const auto opened = Checkpoint::open(folder.write("file", safetensors(header, "x")));
  CATCH_CHECK(opened.has_value());
}

CATCH_TEST_CASE("what is no model at all is told to be none: what it is, what was expected, what was found") {
  struct Stray {
    std::string bytes;
    const char* says;   // the message, from its beginning
    const char* found;  // a part of it; empty: nothing beyond the message
  };
  const std::string umlaut = "\xC3\xBC";
  const std::vector<Stray> cases = {
      {"dear diary, today I trained a model\nand it diverged\n", "Not a checkpoint: this is a text file",
       "text that begins with \"dear diary, today I trained a model\""},
      {"\xEF\xBB\xBFmodel notes", "Not a checkpoint: this is a text file", "model notes"},
      {"\n\n  # title\n", "Not a checkpoint: this is a text file", ""},
      {std::string(39, 'a') + umlaut + "b and more", "Not a checkpoint: this is a text file", "a\xC3\xBC…"},
      {"an ESC \x1B[2J in a log", "Not a checkpoint: this is a text file", "an ESC"},
      {std::string(2111, 'x') + umlaut + "cut in two where reading ends", "Not a checkpoint: this is a text file",
       "xxx…"},
      {"\xFF\xFEt\x00"
       "e\x00x\x00t\x00."s,
       "Not a checkpoint: this is a text file", "bytes that begin with FF FE 74 00"},
      {"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s, "Not a checkpoint: this is a PNG picture", ""},
      {"\xFF\xD8\xFF\xE0\0\x10JFIF\0"s, "Not a checkpoint: this is a JPEG picture", ""},
      {"GIF89a\x01\0\x01\0"s, "Not a checkpoint: this is a picture", ""},
      {"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "Not a checkpoint: this is an SVG picture", ""},
      {"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
       "Not a checkpoint: this is an SVG picture", ""},
      {"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n", "Not a checkpoint: this is a PDF document", ""},
      {"\x7f"
       "ELF\x02\x01\x01"s +
           std::string(20, '\0'),
       "Not a checkpoint: this is a program", ""},
      {"SQLite format 3\0"s + std::string(84, '\x10'), "Not a checkpoint: this is an SQLite database", ""},
      {std::string(4096, '\0'), "Not a checkpoint: the file begins with nothing but zeros", ""},
      {"\x9D\x03\xFF\x00\x12\x34\x56\x78\x9A\xBC\xDE\xF0\x11\x22\x33\x44"s,
       "Not a checkpoint: this file is of no kind that Headroom knows",
       "bytes that begin with 9D 03 FF 00 12 34 56 78"},
  };
  const TempFolder folder;
  std::size_t i = 0;
  for (const Stray& test : cases) {
    CATCH_INFO(test.says << ", case " << i);
    const auto path = folder.write(std::to_string(i++) + ".safetensors", test.bytes);
    const auto opened = Checkpoint::open(path);
    CATCH_REQUIRE(!opened.has_value());
    CATCH_CHECK(exit_code(opened.error().code) == 3);
    CATCH_CHECK(opened.error().message == test.says);
    CATCH_CHECK(opened.error().expected.find("safetensors, GGUF or PyTorch") != std::string::npos);
    CATCH_CHECK(opened.error().found.find(test.found) != std::string::npos);
    CATCH_CHECK((*test.found != '\0' || opened.error().found.empty()));
    CATCH_CHECK(opened.error().file == path.string());
    CATCH_CHECK_FALSE(opened.error().hint.empty());
    CATCH_CHECK_FALSE(opened.error().offset.has_value());
  }
}

// A header's length cut off or wrong is damage of a safetensors file, as long as the header's first byte is there.
CATCH_TEST_CASE("a damaged safetensors file is not taken for another kind") {
  const TempFolder folder;
  const auto message = [&](const std::string& bytes) {
    const auto opened = Checkpoint::open(folder.write("file", bytes));
    return opened ? std::string() : opened.error().message;
  };
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  for (std::size_t size = 1; size < 8; ++size)
    CATCH_CHECK(message(safetensors(header, "x").substr(0, size)).find("too short") != std::string::npos);
  CATCH_CHECK(message(little_endian<std::uint64_t>(70'000) + header).find("The header says 70000 bytes") == 0);
  CATCH_CHECK(message("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF" + header).find("header length is above the limit") !=
              std::string::npos);
  // 65,279 is FF FE, a text's byte order mark; 0x00E0FFD8FF would be a picture's first bytes.
  CATCH_CHECK(message(little_endian<std::uint64_t>(65'279) + header).find("The header says 65279 bytes") == 0);
  CATCH_CHECK(message(little_endian<std::uint64_t>(40) + " " + header).find("does not begin with {") !=
              std::string::npos);
}

}  // namespace headroom::test
