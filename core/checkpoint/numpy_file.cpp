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
#include "core/checkpoint/zip_directory.h"

namespace headroom {
namespace {

using nlohmann::json;
using namespace std::string_view_literals;

constexpr std::string_view kArrayMagic = "\x93NUMPY"sv;
constexpr std::uint64_t kMostHeaderBytes = 65'536, kMostArrayText = std::uint64_t{16} << 20;
constexpr std::size_t kMostArrayAxes = 16, kMostArrayName = 4096;

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

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
struct ArrayHeader {
  std::string descr;  // empty: fields, which are more than one number
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

// The literals of Python that such a header is made of.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  std::optional<ArrayHeader> read() {
    ArrayHeader header;
    unsigned found = 0;
    if (!take("{")) return std::nullopt;
    while (!take("}")) {
      const auto key = string();
      if (!key || !take(":")) return std::nullopt;
      bool fits = false;
      if (*key == "descr") {
        const auto descr = string();
        if (descr) header.descr = *descr;
        fits = descr || skip_list();
        found |= 1U;
      } else if (*key == "fortran_order") {
        header.fortran = take("True");
        fits = header.fortran || take("False");
        found |= 2U;
      } else if (*key == "shape") {
        fits = tuple(header.shape);
        found |= 4U;
      }
      if (!fits) return std::nullopt;
      if (!take(",") && !peek('}')) return std::nullopt;
    }
    pass_blanks();
    return found == 7U && at_ == text_.size() ? std::optional(header) : std::nullopt;
  }

 private:
  void pass_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool peek(char c) {
    pass_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(std::string_view word) {
    pass_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string> string() {
    pass_blanks();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool tuple(std::vector<std::int64_t>& shape) {
    if (!take("(")) return false;
    while (!take(")")) {
      pass_blanks();
      std::int64_t extent = 0;
      const char* const end = text_.data() + text_.size();
      const auto parsed = std::from_chars(text_.data() + at_, end, extent);
      if (parsed.ec != std::errc() || extent < 0 || shape.size() >= kMostArrayAxes) return false;
      at_ = static_cast<std::size_t>(parsed.ptr - text_.data());
      (void)take("L");  // of Python 2
      shape.push_back(extent);
      if (!take(",") && !peek(')')) return false;
    }
    return true;
  }
  // Fields: [('a', '<f4'), …]. Brackets inside their names end it early, and the header with it.
  bool skip_list() {
    if (!take("[")) return false;
    int depth = 1;
    for (; at_ < text_.size() && depth > 0; ++at_) depth += text_[at_] == '[' ? 1 : text_[at_] == ']' ? -1 : 0;
    return depth == 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
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
    HEADROOM_TRY(const ArrayHeader header, read_header(entry, tensor.offset));
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
  Result<ArrayHeader> read_header(const ZipEntry& entry, std::uint64_t& data) {
    constexpr std::uint64_t kBegin = 8;  // magic and version
    std::array<std::byte, 12> begin{};
    if (entry.size_bytes < begin.size()) return wrong(entry, entry.offset, "an array is cut off");
    HEADROOM_TRY_VOID(file_.read_at(entry.offset, begin));
    if (std::memcmp(begin.data(), kArrayMagic.data(), kArrayMagic.size()) != 0)
      return wrong(entry, entry.offset, "an entry of the archive is no array of NumPy");
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint64_t>(begin[i]); };
    const std::uint64_t version = byte(6);
    if (version < 1 || version > 3)
      return wrong(entry, entry.offset + 6, "an array is of another version")
          .wanted("1, 2 or 3", std::to_string(version));
    std::uint64_t size = byte(8) | byte(9) << 8;
    if (version > 1) size |= byte(10) << 16 | byte(11) << 24;
    const std::uint64_t first = entry.offset + kBegin + (version > 1 ? 4 : 2);
    const std::uint64_t left = entry.offset + entry.size_bytes - first;
    if (size > left || size > kMostHeaderBytes)
      return wrong(entry, entry.offset + kBegin, "the header of an array is longer than it can be")
          .wanted(format("at most %llu bytes", static_cast<unsigned long long>(std::min(left, kMostHeaderBytes))),
                  std::to_string(size));
    std::string text(static_cast<std::size_t>(size), '\0');
    HEADROOM_TRY_VOID(file_.read_at(first, std::as_writable_bytes(std::span(text))));
    data = first + size;
    auto header = HeaderText(text).read();
    if (!header)
      return wrong(entry, first, "the header of an array is not read").wanted("descr, fortran_order, shape", "");
    return std::move(*header);
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
