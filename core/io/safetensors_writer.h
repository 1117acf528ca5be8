// Writes a safetensors file: complete under its name or not at all. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace headroom {

// A tensor in memory; the bytes are the caller's and little-endian, row-major.
struct TensorBytes {
  std::string name;
  std::string dtype;  // "F32", "F64", "BF16", "I64", …
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

// Tensors lie in the file in the order of their names, the header is padded to 8 bytes. An existing file is replaced.
[[nodiscard]] Result<void> write_safetensors(const std::filesystem::path& path, std::span<const TensorBytes> tensors,
                                             const std::map<std::string, std::string>& metadata);

}  // namespace headroom
