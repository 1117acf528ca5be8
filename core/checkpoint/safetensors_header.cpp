#include "core/checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "core/checkpoint/byte_reader.h"

namespace headroom {
namespace {

constexpr std::size_t kDepthLimit = 16;
constexpr std::size_t kTensorNameLimit = 4096;
constexpr std::size_t kSafetensorsRankLimit = 16;
constexpr std::size_t kMetadataLimit = std::size_t{16} << 20;
constexpr std::size_t kUnknownDTypeLimit = 256;
constexpr std::size_t kDTypeNameLimit = 64;
// The shortest entry, "a":{"dtype":"U8","shape":[],"data_offsets":[0,0]}, bounds the number of records.
constexpr std::size_t kShortestEntry = 48;
constexpr std::uint64_t kTextBegin = 8;

struct DTypeRow {
  std::string_view name;
  std::uint64_t bits;
  DType dtype;
};

constexpr std::array kDTypes = {
    DTypeRow{"F32", 32, DType::F32},
    DTypeRow{"BF16", 16, DType::BF16},
    DTypeRow{"F16", 16, DType::F16},
    DTypeRow{"F64", 64, DType::F64},
    DTypeRow{"F8_E4M3", 8, DType::F8_E4M3},
    DTypeRow{"F8_E5M2", 8, DType::F8_E5M2},
    DTypeRow{"F8_E4M3FNUZ", 8, DType::F8_E4M3FNUZ},
    DTypeRow{"F8_E5M2FNUZ", 8, DType::F8_E5M2FNUZ},
    DTypeRow{"F8_E8M0", 8, DType::F8_E8M0},
    DTypeRow{"I64", 64, DType::I64},
    DTypeRow{"I32", 32, DType::I32},
    DTypeRow{"I16", 16, DType::I16},
    DTypeRow{"I8", 8, DType::I8},
    DTypeRow{"U64", 64, DType::U64},
    DTypeRow{"U32", 32, DType::U32},
    DTypeRow{"U16", 16, DType::U16},
    DTypeRow{"U8", 8, DType::U8},
    DTypeRow{"BOOL", 8, DType::BOOL},
    DTypeRow{"C64", 64, DType::Unsupported},
    DTypeRow{"F4", 4, DType::Unsupported},
    DTypeRow{"F6_E2M3", 6, DType::Unsupported},
    DTypeRow{"F6_E3M2", 6, DType::Unsupported},
};

Result<void> expect(JsonTokens& tokens, JsonToken wanted, const char* message) {
  HEADROOM_TRY(const JsonToken token, tokens.next());
  if (token != wanted) return tokens.error_here(message);
  return {};
}

}  // namespace

Result<SafetensorsHeader> SafetensorsHeader::parse(std::string_view text, std::uint64_t data_size_bytes) {
  SafetensorsHeader header(text);
  HEADROOM_TRY_VOID(header.parse_all(data_size_bytes));
  return header;
}

std::string_view SafetensorsHeader::name(const Record& record) const {
  if (record.name_begin < text_.size()) return text_.substr(record.name_begin, record.name_size);
  return std::string_view(decoded_names_).substr(record.name_begin - text_.size(), record.name_size);
}

TensorInfo SafetensorsHeader::tensor(const Record& record, std::uint64_t data_begin) const {
  TensorInfo info;
  info.name = name(record);
  const bool known = record.dtype < kDTypes.size();
  info.dtype = known ? kDTypes[record.dtype].dtype : DType::Unsupported;
  info.dtype_name = known ? std::string(kDTypes[record.dtype].name) : unknown_dtypes_[record.dtype - kDTypes.size()];
  const auto first = extents_.begin() + static_cast<std::ptrdiff_t>(record.shape_begin);
  info.shape.assign(first, first + record.rank);
  info.offset = data_begin + record.begin;
  info.size_bytes = record.end - record.begin;
  return info;
}

Result<void> SafetensorsHeader::parse_all(std::uint64_t data_size_bytes) {
  records_.reserve(text_.size() / kShortestEntry + 1);
  JsonTokens tokens(text_, kDepthLimit, kTextBegin);
  HEADROOM_TRY_VOID(expect(tokens, JsonToken::ObjectBegin, "The header is not a JSON object"));
  bool metadata_seen = false;
  while (true) {
    HEADROOM_TRY(const JsonToken token, tokens.next());
    if (token == JsonToken::ObjectEnd) break;
    const std::string_view name_text = tokens.text();
    if (name_text == "__metadata__") {
      if (metadata_seen) return tokens.error_here("The key __metadata__ appears twice");
      metadata_seen = true;
      HEADROOM_TRY_VOID(parse_metadata(tokens));
      continue;
    }
    if (name_text.size() > kTensorNameLimit) return tokens.error_here("A tensor name is longer than 4096 bytes");
    if (name_text.find('\0') != std::string_view::npos) return tokens.error_here("A tensor name contains a NUL byte");
    std::uint64_t name_begin = tokens.offset() - kTextBegin + 1;
    if (!tokens.text_in_source()) {
      name_begin = text_.size() + decoded_names_.size();
      decoded_names_ += name_text;
    }
    const std::string name_copy(name_text);
    auto parsed = parse_tensor(tokens);
    if (!parsed) return parsed.error().at_tensor(name_copy);
    parsed->name_begin = static_cast<std::uint32_t>(name_begin);
    parsed->name_size = static_cast<std::uint32_t>(name_copy.size());
    if (auto checked = check_size(*parsed, data_size_bytes); !checked)
      return checked.error().at_tensor(name_copy).at_offset(tokens.offset());
    records_.push_back(*parsed);
  }
  return expect(tokens, JsonToken::End, "The header does not end with its object");
}

Result<void> SafetensorsHeader::parse_metadata(JsonTokens& tokens) {
  HEADROOM_TRY_VOID(expect(tokens, JsonToken::ObjectBegin, "__metadata__ is not an object of strings"));
  metadata_ = nlohmann::json::object();
  std::size_t size_bytes = 0;
  while (true) {
    HEADROOM_TRY(const JsonToken token, tokens.next());
    if (token == JsonToken::ObjectEnd) return {};
    const std::string key(tokens.text());
    if (metadata_.contains(key)) return tokens.error_here("A key of __metadata__ appears twice");
    HEADROOM_TRY_VOID(expect(tokens, JsonToken::String, "A value of __metadata__ is not a string"));
    size_bytes += key.size() + tokens.text().size();
    if (size_bytes > kMetadataLimit) return tokens.error_here("__metadata__ is above the limit of 16 MiB");
    metadata_[key] = std::string(tokens.text());
  }
}

Result<SafetensorsHeader::Record> SafetensorsHeader::parse_tensor(JsonTokens& tokens) {
  HEADROOM_TRY_VOID(expect(tokens, JsonToken::ObjectBegin, "The entry of a tensor is not an object"));
  Record record;
  unsigned seen = 0;
  while (true) {
    HEADROOM_TRY(const JsonToken token, tokens.next());
    if (token == JsonToken::ObjectEnd) break;
    const std::string_view key = tokens.text();
    const unsigned field = key == "dtype" ? 1u : key == "shape" ? 2u : key == "data_offsets" ? 4u : 0u;
    if (field == 0)
      return tokens.error_here("Unknown field \"" + std::string(key.substr(0, 64)) + "\" in the entry of a tensor");
    if (seen & field) return tokens.error_here("The field \"" + std::string(key) + "\" appears twice");
    seen |= field;
    HEADROOM_TRY_VOID(field == 1   ? parse_dtype(tokens, record)
                      : field == 2 ? parse_shape(tokens, record)
                                   : parse_offsets(tokens, record));
  }
  if (seen != 7) {
    const char* missing = !(seen & 1) ? "dtype" : !(seen & 2) ? "shape" : "data_offsets";
    return tokens.error_here(std::string("The entry of a tensor has no \"") + missing + "\"");
  }
  return record;
}

Result<void> SafetensorsHeader::parse_dtype(JsonTokens& tokens, Record& record) {
  HEADROOM_TRY_VOID(expect(tokens, JsonToken::String, "dtype is not a string"));
  const std::string_view text = tokens.text();
  std::size_t index = 0;
  while (index < kDTypes.size() && kDTypes[index].name != text) ++index;
  if (index == kDTypes.size()) {
    if (text.size() > kDTypeNameLimit) return tokens.error_here("dtype is longer than 64 bytes");
    const auto found = std::find(unknown_dtypes_.begin(), unknown_dtypes_.end(), text);
    index += static_cast<std::size_t>(found - unknown_dtypes_.begin());
    if (found == unknown_dtypes_.end()) {
      if (unknown_dtypes_.size() >= kUnknownDTypeLimit) return tokens.error_here("More than 256 unknown dtypes");
      unknown_dtypes_.emplace_back(text);
    }
  }
  record.dtype = static_cast<std::uint16_t>(index);
  return {};
}

Result<void> SafetensorsHeader::parse_shape(JsonTokens& tokens, Record& record) {
  HEADROOM_TRY_VOID(expect(tokens, JsonToken::ArrayBegin, "shape is not an array"));
  record.shape_begin = static_cast<std::uint32_t>(extents_.size());
  std::int64_t count = 1;
  while (true) {
    HEADROOM_TRY(const JsonToken token, tokens.next());
    if (token == JsonToken::ArrayEnd) return {};
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (token != JsonToken::Unsigned || tokens.unsigned_value() > kMax)
      return tokens.error_here("An extent of shape is not an integer of 0 … 2^63 − 1");
    if (record.rank == kSafetensorsRankLimit) return tokens.error_here("shape has more than 16 axes");
    const auto extent = static_cast<std::int64_t>(tokens.unsigned_value());
    if (__builtin_mul_overflow(count, extent, &count))
      return tokens.error_here("The product of shape does not fit 64 bits");
    extents_.push_back(extent);
    ++record.rank;
  }
}

Result<void> SafetensorsHeader::parse_offsets(JsonTokens& tokens, Record& record) {
  constexpr const char* kMessage = "data_offsets is not a pair of non-negative integers";
  HEADROOM_TRY_VOID(expect(tokens, JsonToken::ArrayBegin, kMessage));
  for (std::uint64_t* value : {&record.begin, &record.end}) {
    HEADROOM_TRY_VOID(expect(tokens, JsonToken::Unsigned, kMessage));
    *value = tokens.unsigned_value();
  }
  return expect(tokens, JsonToken::ArrayEnd, kMessage);
}

Result<void> SafetensorsHeader::check_size(const Record& record, std::uint64_t data_size_bytes) const {
  const auto corrupt = [](const char* message) { return Error(ErrorCode::Corrupt, message); };
  const std::string range = "[" + std::to_string(record.begin) + ", " + std::to_string(record.end) + ")";
  if (record.begin > record.end) return corrupt("data_offsets ends before it begins").wanted("", range);
  if (record.end > data_size_bytes) {
    return corrupt("the file ends before this tensor does")
        .wanted("at most " + std::to_string(data_size_bytes) + " bytes of data", range)
        .advise("it may have been cut off: download or copy it again");
  }
  if (record.dtype >= kDTypes.size()) return {};  // the size of an element is not known
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < record.rank; ++i) count *= static_cast<std::uint64_t>(extents_[record.shape_begin + i]);
  const auto bits = checked_multiply(count, kDTypes[record.dtype].bits);
  if (!bits) return corrupt("The size of the tensor does not fit 64 bits");
  if (*bits % 8 != 0) return corrupt("The tensor does not end on a byte").wanted("", std::to_string(*bits) + " bits");
  if (*bits / 8 != record.end - record.begin) {
    return corrupt("shape and dtype do not give the size of data_offsets")
        .wanted(std::to_string(*bits / 8) + " bytes", std::to_string(record.end - record.begin));
  }
  return {};
}

}  // namespace headroom
