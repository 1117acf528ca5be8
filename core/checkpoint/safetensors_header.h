// The JSON header of a safetensors file as compact records: 1,000,000 tensors are checked in little more memory than
// the header itself, so that a refused file costs no more than that. One thread at a time.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/json_tokens.h"
#include "core/checkpoint/tensor_info.h"

namespace headroom {

class SafetensorsHeader {
 public:
  struct Record {
    std::uint64_t begin = 0;  // relative to the data section
    std::uint64_t end = 0;
    std::uint32_t name_begin = 0;
    std::uint32_t name_size = 0;
    std::uint32_t shape_begin = 0;
    std::uint16_t dtype = 0;
    std::uint8_t rank = 0;
  };

  // `text` is the header without the length in front; it must outlive the object. Offsets in errors are those of the
  // file. Checked here: grammar, names, dtypes, shapes against byte counts; not how the tensors tile the data.
  [[nodiscard]] static Result<SafetensorsHeader> parse(std::string_view text, std::uint64_t data_size_bytes);

  [[nodiscard]] std::vector<Record>& records() { return records_; }
  [[nodiscard]] std::string_view name(const Record& record) const;
  [[nodiscard]] TensorInfo tensor(const Record& record, std::uint64_t data_begin) const;
  [[nodiscard]] nlohmann::json& metadata() { return metadata_; }

 private:
  explicit SafetensorsHeader(std::string_view text) : text_(text) {}
  Result<void> parse_all(std::uint64_t data_size_bytes);
  Result<void> parse_metadata(JsonTokens& tokens);
  Result<Record> parse_tensor(JsonTokens& tokens);
  Result<void> parse_dtype(JsonTokens& tokens, Record& record);
  Result<void> parse_shape(JsonTokens& tokens, Record& record);
  Result<void> parse_offsets(JsonTokens& tokens, Record& record);
  Result<void> check_size(const Record& record, std::uint64_t data_size_bytes) const;

  std::string_view text_;
  std::string decoded_names_;  // of names written with escapes; a name_begin past text_ points here
  std::vector<Record> records_;
  std::vector<std::int64_t> extents_;
  std::vector<std::string> unknown_dtypes_;
  nlohmann::json metadata_;
};

}  // namespace headroom
