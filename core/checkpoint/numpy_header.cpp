#include "core/checkpoint/numpy_header.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::string_view kArrayMagic = "\x93NUMPY";
constexpr std::size_t kMostArrayAxes = 16;

// The literals of Python that such a header is made of.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : text_(text) {}

  std::optional<NumpyHeader> read() {
    NumpyHeader header;
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

Error wrong_header(std::uint64_t offset, const char* message) {
  Error error(ErrorCode::Corrupt, message);
  return error.at_offset(offset);
}

}  // namespace

Result<NumpyHeader> parse_numpy_header(std::string_view head) {
  if (head.size() < 12) return wrong_header(0, "an array is cut off");
  if (!head.starts_with(kArrayMagic)) return wrong_header(0, "an entry of the archive is no array of NumPy");
  const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(head[i])}; };
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3)
    return wrong_header(6, "an array is of another version").wanted("1, 2 or 3", std::to_string(version));
  std::uint64_t size = byte(8) | byte(9) << 8;
  if (version > 1) size |= byte(10) << 16 | byte(11) << 24;
  const std::uint64_t first = version > 1 ? 12 : 10;
  const std::uint64_t left = head.size() - first;
  if (size > left || size > kMostNumpyHeaderBytes)
    return wrong_header(8, "the header of an array is longer than it can be")
        .wanted(format("at most %llu bytes", static_cast<unsigned long long>(std::min(left, kMostNumpyHeaderBytes))),
                std::to_string(size));
  auto header = HeaderText(head.substr(first, size)).read();
  if (!header)
    return wrong_header(first, "the header of an array is not read").wanted("descr, fortran_order, shape", "");
  header->begin = first;
  header->data = first + size;
  return std::move(*header);
}

}  // namespace headroom
