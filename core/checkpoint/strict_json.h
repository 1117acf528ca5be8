// JSON text from an untrusted file as a tree: strict grammar, limited size and depth, duplicate keys refused, errors
// with the offset of the first bad byte. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "core/base/result.h"

namespace headroom {

struct JsonLimits {
  std::uint64_t size_bytes = std::uint64_t{64} << 20;
  std::size_t depth = 64;
};

// Corrupt with Error::offset on any violation. Integers stay integers where they fit 64 bits.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace headroom
