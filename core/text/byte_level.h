// The byte ↔ character map of byte-level BPE: printable Latin-1 bytes stand for themselves, the other 68 for U+0100 …
// U+0143. Safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

// The bytes that `mapped` spells; empty optional where a character is outside the map.
[[nodiscard]] std::optional<std::string> bytes_from_byte_level(std::string_view mapped);

// `bytes` in the map's characters.
[[nodiscard]] std::string byte_level_from_bytes(std::string_view bytes);

}  // namespace headroom
