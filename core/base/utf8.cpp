#include "core/base/utf8.h"

namespace headroom {

Utf8Scalar decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const Utf8Scalar invalid{lead, 1, false};
  if (lead < 0x80) return {lead, 1, true};
  std::size_t size = 0;
  char32_t value = 0;
  char32_t smallest = 0;
  if (lead >= 0xC2 && lead < 0xE0) {
    size = 2, value = lead & 0x1Fu, smallest = 0x80;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    size = 3, value = lead & 0x0Fu, smallest = 0x800;
  } else if (lead >= 0xF0 && lead < 0xF5) {
    size = 4, value = lead & 0x07u, smallest = 0x10000;
  } else {
    return invalid;
  }
  if (text.size() < size) return invalid;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return invalid;
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  if (value < smallest || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return invalid;
  return {value, size, true};
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Utf8Scalar scalar = decode_utf8(text);
    if (!scalar.valid) return false;
    text.remove_prefix(scalar.size_bytes);
  }
  return true;
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t value) { out.push_back(static_cast<char>(static_cast<unsigned char>(value))); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6)), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18)), put(0x80 | ((c >> 12) & 0x3F)), put(0x80 | ((c >> 6) & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

std::string to_valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Scalar scalar = decode_utf8(text);
    if (scalar.valid)
      out += text.substr(0, scalar.size_bytes);
    else
      append_utf8(out, 0xFFFD);
    text.remove_prefix(scalar.size_bytes);
  }
  return out;
}

}  // namespace headroom
