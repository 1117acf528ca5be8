// The key/value section of a GGUF file as JSON, with the types of the keys that this program uses checked. Strings keep
// their bytes, valid UTF-8 or not. Safe from any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/result.h"
#include "core/checkpoint/byte_reader.h"

namespace headroom {

[[nodiscard]] Result<nlohmann::json> read_gguf_metadata(ByteReader& reader, std::uint64_t entry_count);

// A u64 length and that many bytes of UTF-8 without NUL, 1 … 4096 of them.
[[nodiscard]] Result<std::string> read_gguf_name(ByteReader& reader, const char* what);

}  // namespace headroom
