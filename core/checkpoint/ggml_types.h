// The tensor types of GGUF files (ggml's enum): names, block sizes, and which of them this program decodes. Immutable;
// safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/checkpoint/tensor_info.h"

namespace headroom {

struct GgmlType {
  std::uint32_t id = 0;
  std::string_view name;
  std::uint32_t block_elements = 0;  // 0: the layout is not known
  std::uint32_t block_bytes = 0;
  DType dtype = DType::Unsupported;
};

// Null for an id that ggml does not define.
[[nodiscard]] const GgmlType* find_ggml_type(std::uint32_t id);

}  // namespace headroom
