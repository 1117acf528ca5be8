#include "core/text/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>

namespace headroom {

std::optional<std::string> bytes_from_base64(std::string_view text) {
  constexpr std::size_t kLongest = std::size_t{1} << 30;
  const auto is_digit = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
  };
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  if (text.size() % 4 != 0 || text.size() > kLongest) return std::nullopt;
  // OpenSSL itself skips white space at the ends.
  if (!std::all_of(text.begin(), text.end() - static_cast<std::ptrdiff_t>(padding), is_digit)) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string base64_of_bytes(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and a zero behind it
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

}  // namespace headroom
