#include "core/checkpoint/numpy_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/utf8.h"
#include "core/checkpoint/byte_reader.h"
#include "core/checkpoint/dequantize.h"
#include "core/checkpoint/numpy_header.h"
#include "core/checkpoint/zip_directory.h"

namespace headroom {
namespace {

using nlohmann::json;
using namespace std::string_view_literals;

constexpr std::uint64_t kMostArrayText = std::uint64_t{16} << 20;
constexpr std::size_t kMostArrayName = 4096;

struct ArrayType {
  std::string_view descr;  // behind the mark of the order of bytes
  DType dtype;
  std::string_view shown;
};
constexpr std::array kArrayTypes = {
    ArrayType{"f8", DType::F64, "F64"}, ArrayType{"f4", DType::F32, "F32"}, ArrayType{"f2", DType::F16, "F16"},
    ArrayType{"i8", DType::I64, "I64"}, ArrayType{"i4", DType::I32, "I32"}, ArrayType{"i2", DType::I16, "I16"},
    ArrayType{"i1", DType::I8, "I8"},   ArrayType{"u8", DType::U64, "U64"}, ArrayType{"u4", DType::U32, "U32"},
    ArrayType{"u2", DType::U16, "U16"}, ArrayType{"u1", DType::U8, "U8"},   ArrayType{"b1", DType::BOOL, "BOOL"},
};

class NumpyReader {
 public:
  explicit NumpyReader(const InputFile& file) : file_(file) {}

  Result<ContainerContent> read() {
    content_.format_name = "NumPy (.npz)";
    HEADROOM_TRY(const ZipDirectory directory, read_zip_directory(file_));
    for (const ZipEntry& entry : directory.entries) HEADROOM_TRY_VOID(read_array(entry));
    std::ranges::sort(content_.tensors, {}, &TensorInfo::name);
    if (!content_.metadata.contains("format") && has("q") && has("k") && has("v")) make_capture();
    return std::move(content_);
  }

 private:
  [[nodiscard]] Error wrong(const ZipEntry& entry, std::uint64_t offset, const std::string& message) const {
    Error error(ErrorCode::Corrupt, message);
    return error.at_tensor(entry.name).at_offset(offset).in_file(file_.path().string());
  }

  [[nodiscard]] bool has(std::string_view name) const {
    const auto found = std::ranges::lower_bound(content_.tensors, name, {}, &TensorInfo::name);
    return found != content_.tensors.end() && found->name == name;
  }

  Result<void> read_array(const ZipEntry& entry) {
    constexpr std::string_view kEnding = ".npy";
    if (!entry.name.ends_with(kEnding) || entry.name.size() > kMostArrayName)
      return wrong(entry, entry.offset, "an entry of the archive is no array").wanted("NAME.npy", entry.name);
    if (auto stored = require_stored(file_, entry); !stored)
      return stored.error().advise("save it with numpy.savez in place of numpy.savez_compressed");
    TensorInfo tensor;
    tensor.name = entry.name.substr(0, entry.name.size() - kEnding.size());
    HEADROOM_TRY(const NumpyHeader header, read_header(entry, tensor.offset));
    tensor.shape = header.shape;
    tensor.size_bytes = entry.size_bytes - (tensor.offset - entry.offset);
    const char order = header.descr.empty() ? '?' : header.descr.front();
    const std::string_view kind = header.descr.empty() ? ""sv : std::string_view(header.descr).substr(1);
    if (order == '<' && kind.starts_with('U') && header.shape.empty()) return read_text(entry, tensor, kind.substr(1));
    const auto known = std::ranges::find(kArrayTypes, kind, &ArrayType::descr);
    // Bytes have no order; what NumPy cannot name is told by its size alone.
    const bool read = known != kArrayTypes.end() && (order == '<' || order == '|' || kind.ends_with('1'));
    tensor.dtype = read ? known->dtype : DType::Unsupported;
    tensor.dtype_name = read ? std::string(known->shown) : kind == "O" ? "object" : header.descr;
    if (tensor.dtype_name.empty()) tensor.dtype_name = "fields";
    if (read) HEADROOM_TRY_VOID(check_size(entry, tensor));
    if (read && header.fortran && tensor.shape.size() > 1) {
      std::int64_t stride = 1;
      for (const std::int64_t extent : tensor.shape) {
        tensor.strides.push_back(stride);
        stride *= extent;
      }
    }
    content_.tensors.push_back(std::move(tensor));
    return {};
  }

  // `data` becomes the first byte behind it.
  Result<NumpyHeader> read_header(const ZipEntry& entry, std::uint64_t& data) {
    std::string begin(static_cast<std::size_t>(std::min<std::uint64_t>(entry.size_bytes, kMostNumpyHeaderBytes + 12)),
                      '\0');
    HEADROOM_TRY_VOID(file_.read_at(entry.offset, std::as_writable_bytes(std::span(begin))));
    auto header = parse_numpy_header(begin);
    if (!header) {
      Error error = header.error();
      error.at_offset(entry.offset + error.offset.value_or(0));
      return error.at_tensor(entry.name).in_file(file_.path().string());
    }
    data = entry.offset + header->data;
    return header;
  }

  [[nodiscard]] Result<void> check_size(const ZipEntry& entry, const TensorInfo& tensor) const {
    auto bytes = std::optional<std::uint64_t>(static_cast<std::uint64_t>(block_layout(tensor.dtype).size_bytes));
    bool empty = false;
    for (const std::int64_t extent : tensor.shape) {
      empty |= extent == 0;
      if (bytes) bytes = checked_multiply(*bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 1)));
    }
    if (empty && bytes) bytes = 0;
    if (bytes == tensor.size_bytes) return {};
    return wrong(entry, tensor.offset, "the size of an array is not that of its shape")
        .wanted(shape_text(tensor.shape) + " " + tensor.dtype_name,
                format("%llu bytes", static_cast<unsigned long long>(tensor.size_bytes)));
  }

  // One text: UTF-32, filled up with zeros.
  Result<void> read_text(const ZipEntry& entry, const TensorInfo& tensor, std::string_view length) {
    HEADROOM_TRY(const std::string bytes, read_zip_entry(file_, entry, kMostArrayText));
    std::uint64_t characters = 0;
    const auto parsed = std::from_chars(length.data(), length.data() + length.size(), characters);
    if (parsed.ec != std::errc() || characters > kMostArrayText || 4 * characters != tensor.size_bytes)
      return wrong(entry, tensor.offset, "the size of a text is not that of its type");
    std::string text;
    for (std::uint64_t i = 0; i < characters; ++i) {
      std::uint32_t scalar = 0;
      std::memcpy(&scalar, bytes.data() + (tensor.offset - entry.offset) + 4 * i, 4);
      if (scalar == 0) break;
      if (scalar > 0x10FFFF || (scalar >= 0xD800 && scalar < 0xE000))
        return wrong(entry, tensor.offset + 4 * i, "a text holds what is no character");
      append_utf8(text, static_cast<char32_t>(scalar));
    }
    content_.metadata[tensor.name] = std::move(text);
    return {};
  }

  // A number without axes; nothing where the array is none.
  [[nodiscard]] std::optional<double> number(const TensorInfo& tensor) const {
    if (!tensor.shape.empty() || tensor.dtype == DType::Unsupported) return std::nullopt;
    std::array<std::byte, 8> bytes{};
    const std::span<std::byte> own = std::span(bytes).first(static_cast<std::size_t>(tensor.size_bytes));
    if (!file_.read_at(tensor.offset, own)) return std::nullopt;
    double value = 0.0;
    dequantize(tensor.dtype, own, std::span(&value, 1));
    return value;
  }

  // q, k, v and what may stand beside them, as the one call of a capture.
  void make_capture() {
    constexpr std::array kParts = {"q"sv, "k"sv, "v"sv, "lambda"sv, "gate"sv, "sink"sv, "mask"sv, "context"sv};
    json call = json::object();
    json& metadata = content_.metadata;
    for (const char* key : {"name", "kind", "pairing"})
      if (metadata.contains(key)) call[key] = metadata[key];
    std::vector<TensorInfo> kept;
    for (TensorInfo& tensor : content_.tensors) {
      const auto value = number(tensor);
      const bool counts = value && std::isfinite(*value);
      if (counts && tensor.name == "causal")
        call["causal"] = *value != 0.0;
      else if (counts && (tensor.name == "scale" || tensor.name == "softcap"))
        call[tensor.name] = *value;
      else if (counts && (tensor.name == "window" || tensor.name == "first_query") && std::abs(*value) < 0x1p53)
        call[tensor.name] = static_cast<std::int64_t>(*value);
      else
        kept.push_back(std::move(tensor));
    }
    if (call.empty())
      content_.warnings.emplace_back(
          "the archive says nothing of the call: softmax of q·k/√d over all keys; causal, scale, window, softcap, "
          "first_query, kind or pairing beside q, k and v say it otherwise");
    for (TensorInfo& tensor : kept)
      if (std::ranges::find(kParts, std::string_view(tensor.name)) != kParts.end())
        tensor.name = "calls.0." + tensor.name;
    std::ranges::sort(kept, {}, &TensorInfo::name);
    content_.tensors = std::move(kept);
    metadata["format"] = "headroom-capture";
    metadata["version"] = "1";
    metadata["calls"] = json::array({std::move(call)}).dump();
  }

  const InputFile& file_;
  ContainerContent content_;
};

}  // namespace

Result<ContainerContent> read_numpy_file(const InputFile& file) { return NumpyReader(file).read(); }

}  // namespace headroom
