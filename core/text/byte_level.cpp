#include "core/text/byte_level.h"

#include <array>

#include "core/base/utf8.h"

namespace headroom {
namespace {

constexpr char32_t kFirstShifted = 0x100;
constexpr char32_t kMapSize = kFirstShifted + 68;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

constexpr std::array<char32_t, 256> make_characters() {
  std::array<char32_t, 256> characters{};
  char32_t shifted = kFirstShifted;
  for (unsigned byte = 0; byte < 256; ++byte) characters[byte] = stands_for_itself(byte) ? byte : shifted++;
  return characters;
}

constexpr std::array<char32_t, 256> kCharacters = make_characters();

constexpr std::array<int, kMapSize> make_bytes() {
  std::array<int, kMapSize> bytes{};
  for (int& byte : bytes) byte = -1;
  for (unsigned byte = 0; byte < 256; ++byte) bytes[kCharacters[byte]] = static_cast<int>(byte);
  return bytes;
}

constexpr std::array<int, kMapSize> kBytes = make_bytes();

}  // namespace

std::optional<std::string> bytes_from_byte_level(std::string_view mapped) {
  std::string bytes;
  bytes.reserve(mapped.size());
  while (!mapped.empty()) {
    const Utf8Scalar scalar = decode_utf8(mapped);
    if (!scalar.valid || scalar.code_point >= kMapSize || kBytes[scalar.code_point] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(kBytes[scalar.code_point])));
    mapped.remove_prefix(scalar.size_bytes);
  }
  return bytes;
}

std::string byte_level_from_bytes(std::string_view bytes) {
  std::string mapped;
  mapped.reserve(bytes.size() * 2);
  for (const char byte : bytes) append_utf8(mapped, kCharacters[static_cast<unsigned char>(byte)]);
  return mapped;
}

}  // namespace headroom
