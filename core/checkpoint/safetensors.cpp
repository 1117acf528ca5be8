#include "core/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/format.h"
#include "core/checkpoint/byte_reader.h"
#include "core/checkpoint/detect.h"
#include "core/checkpoint/safetensors_header.h"

namespace headroom {
namespace {

using Record = SafetensorsHeader::Record;

constexpr std::uint64_t kHeaderLimit = 100'000'000;
constexpr std::uint64_t kLengthBytes = 8;

unsigned long long print(std::uint64_t value) { return value; }

Error corrupt_safetensors(const std::string& message) { return Error(ErrorCode::Corrupt, message); }

// The header's bytes, after the checks that need no JSON.
Result<std::string> header_text(const InputFile& file) {
  const std::uint64_t size = file.size_bytes();
  if (size < kLengthBytes) {
    return corrupt_safetensors("The file is too short for a safetensors header length")
        .wanted("at least 8 bytes", std::to_string(size));
  }
  ByteReader reader(file);
  HEADROOM_TRY(const auto length, reader.number<std::uint64_t>("the header length"));
  const std::uint64_t available = size - kLengthBytes;
  if (length > kHeaderLimit || length > available) {
    const std::uint64_t swapped = __builtin_bswap64(length);
    if (swapped <= kHeaderLimit && swapped <= available && swapped > 1) {
      return corrupt_safetensors("The safetensors header length looks byte-swapped")
          .at_offset(0)
          .wanted("a little-endian length", format("%llu, which is %llu swapped", print(length), print(swapped)));
    }
  }
  if (length > kHeaderLimit) {
    return corrupt_safetensors("The safetensors header length is above the limit")
        .at_offset(0)
        .wanted("at most 100000000 bytes", std::to_string(length));
  }
  if (length > available) {
    return corrupt_safetensors(format("The header says %llu bytes, the file has %llu", print(length), print(available)))
        .at_offset(0)
        .advise("the file is cut off or not safetensors; download it again");
  }
  if (length < 2)
    return corrupt_safetensors("The safetensors header length is too small")
        .at_offset(0)
        .wanted("at least 2", std::to_string(length));
  HEADROOM_TRY(std::string text, reader.text(length, kHeaderLimit, "the safetensors header"));
  if (text.front() != '{') {
    const bool bom = text.starts_with("\xEF\xBB\xBF");
    return corrupt_safetensors("The safetensors header does not begin with {")
        .at_offset(kLengthBytes)
        .wanted("", bom ? "a byte order mark" : format("byte 0x%02X", static_cast<unsigned char>(text.front())));
  }
  return text;
}

// What the unused bytes look like: a second format behind a checkpoint is an attack, zeros are a careless writer.
std::string unused_bytes_text(const InputFile& file, std::uint64_t offset, std::uint64_t size_bytes) {
  std::array<std::byte, kSniffBytes> head{};
  const std::span bytes =
      std::span(head).first(static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), size_bytes)));
  std::string text = format("%llu unused byte%s", print(size_bytes), size_bytes == 1 ? "" : "s");
  if (!file.read_at(offset, bytes)) return text;
  if (const std::string_view kind = sniff_name(bytes); !kind.empty()) text += " that look like " + std::string(kind);
  return text;
}

// The tensors must follow each other without overlap; without gaps too, unless `lenient`.
Result<void> check_tiling(const InputFile& file, SafetensorsHeader& header, std::uint64_t data_begin, bool lenient,
                          std::vector<std::string>& warnings) {
  const auto& records = header.records();
  std::uint64_t expected = 0;
  const auto hole = [&](std::uint64_t end, const std::string& where) -> Result<void> {
    const std::string message = unused_bytes_text(file, data_begin + expected, end - expected) + " " + where;
    if (!lenient) {
      return corrupt_safetensors(message)
          .at_offset(data_begin + expected)
          .advise("--lenient opens the file all the same, for reading only");
    }
    warnings.push_back(format("%s at byte %llu", message.c_str(), print(data_begin + expected)));
    return {};
  };
  for (const Record& record : records) {
    const std::string where = "[" + std::to_string(record.begin) + ", " + std::to_string(record.end) + ")";
    if (record.begin < expected) {
      return corrupt_safetensors("Two tensors overlap")
          .at_tensor(header.name(record))
          .at_offset(data_begin + record.begin)
          .wanted("a beginning at " + std::to_string(expected), where);
    }
    if (record.begin > expected) {
      const bool first = &record == &records.front();
      HEADROOM_TRY_VOID(hole(record.begin, std::string(first ? "before" : "between the tensors before") + " tensor " +
                                               escape_for_terminal(header.name(record))));
    }
    expected = record.end;
  }
  const std::uint64_t data_size = file.size_bytes() - data_begin;
  if (expected < data_size) return hole(data_size, "after the last tensor");
  return {};
}

Result<ContainerContent> read_safetensors_checked(const InputFile& file, bool lenient) {
  HEADROOM_TRY(const std::string text, header_text(file));
  const std::uint64_t data_begin = kLengthBytes + text.size();
  HEADROOM_TRY(SafetensorsHeader header, SafetensorsHeader::parse(text, file.size_bytes() - data_begin));
  auto& records = header.records();
  const auto by_name = [&](const Record& a, const Record& b) { return header.name(a) < header.name(b); };
  const auto by_place = [](const Record& a, const Record& b) {
    return std::tie(a.begin, a.end, a.name_begin) < std::tie(b.begin, b.end, b.name_begin);
  };
  ContainerContent content;
  content.format_name = "safetensors";
  std::sort(records.begin(), records.end(), by_place);
  HEADROOM_TRY_VOID(check_tiling(file, header, data_begin, lenient, content.warnings));
  std::sort(records.begin(), records.end(), by_name);
  const auto same_name = [&](const Record& a, const Record& b) { return header.name(a) == header.name(b); };
  if (const auto twice = std::adjacent_find(records.begin(), records.end(), same_name); twice != records.end()) {
    const Record& second = twice->name_begin > std::next(twice)->name_begin ? *twice : *std::next(twice);
    Error error = corrupt_safetensors("Two tensors have the same name");
    if (second.name_begin < text.size()) error.at_offset(kLengthBytes + second.name_begin);
    return error.at_tensor(header.name(*twice));
  }
  content.tensors.reserve(records.size());
  for (const Record& record : records) content.tensors.push_back(header.tensor(record, data_begin));
  content.metadata = std::move(header.metadata());
  return content;
}

}  // namespace

Result<ContainerContent> read_safetensors(const InputFile& file, bool lenient) {
  auto content = read_safetensors_checked(file, lenient);
  if (!content) content.error().in_file(file.path().string());
  return content;
}

}  // namespace headroom
