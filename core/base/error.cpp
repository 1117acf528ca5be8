#include "core/base/error.h"

#include <array>
#include <cstdio>

#include "core/base/utf8.h"

namespace headroom {

Error& Error::in_file(std::string_view value) {
  if (file.empty()) file = value;
  return *this;
}
Error& Error::at_tensor(std::string_view value) {
  if (tensor.empty()) tensor = value;
  return *this;
}
Error& Error::at_offset(std::uint64_t value) {
  offset = value;
  return *this;
}
Error& Error::wanted(std::string_view expected_value, std::string_view found_value) {
  expected = expected_value;
  found = found_value;
  return *this;
}
Error& Error::advise(std::string_view value) {
  hint = value;
  return *this;
}

std::string_view code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::NotFound: return "not_found";
    case ErrorCode::Corrupt: return "corrupt";
    case ErrorCode::Unsupported: return "unsupported";
    case ErrorCode::InvalidArgument: return "invalid_argument";
    case ErrorCode::OutOfMemory: return "out_of_memory";
    case ErrorCode::Cancelled: return "cancelled";
    case ErrorCode::Device: return "device";
    case ErrorCode::Io: return "io";
  }
  return "unknown";
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::NotFound: return 5;
    case ErrorCode::Corrupt: return 3;
    case ErrorCode::Unsupported: return 4;
    case ErrorCode::InvalidArgument: return 2;
    case ErrorCode::OutOfMemory: return 6;
    case ErrorCode::Cancelled: return 130;
    case ErrorCode::Device: return 7;
    case ErrorCode::Io: return 5;
  }
  return 70;
}

std::string describe(const Error& error) {
  std::string line = error.message;
  if (!error.tensor.empty()) line += " [" + error.tensor + "]";
  if (error.offset) line += " at byte " + std::to_string(*error.offset);
  if (!error.expected.empty()) line += "; expected " + error.expected;
  if (!error.found.empty()) line += (error.expected.empty() ? "; found " : ", found ") + error.found;
  if (!error.file.empty()) line += " (" + error.file + ")";
  return escape_for_terminal(line);
}

std::string escape_for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::array<char, 16> buffer{};
  while (!text.empty()) {
    const Utf8Scalar scalar = decode_utf8(text);
    const std::string_view bytes = text.substr(0, scalar.size_bytes);
    const char32_t c = scalar.code_point;
    const bool bidi =
        (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
    if (!scalar.valid || c < 0x20 || c == 0x7F) {
      for (const char byte : bytes) {
        std::snprintf(buffer.data(), buffer.size(), "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
        out += buffer.data();
      }
    } else if (bidi || (c >= 0x80 && c < 0xA0) || c == 0x2028 || c == 0x2029) {
      std::snprintf(buffer.data(), buffer.size(), "\\u{%04X}", static_cast<unsigned>(c));
      out += buffer.data();
    } else {
      out += bytes;
    }
    text.remove_prefix(scalar.size_bytes);
  }
  return out;
}

}  // namespace headroom
