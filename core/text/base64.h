// Base64 (RFC 4648) by OpenSSL. Safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

// Empty optional where `text` is not whole groups of four characters of the alphabet, padded by '='.
[[nodiscard]] std::optional<std::string> bytes_from_base64(std::string_view text);
[[nodiscard]] std::string base64_of_bytes(std::string_view bytes);

}  // namespace headroom
