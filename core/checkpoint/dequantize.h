// Stored elements to float or double: plain types and GGUF's blocks. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/checkpoint/tensor_info.h"

namespace headroom {

struct BlockLayout {
  std::int64_t elements = 0;  // per block; 1 for plain types
  std::int64_t size_bytes = 0;
};

// {0, 0} for DType::Unsupported.
[[nodiscard]] BlockLayout block_layout(DType dtype);

// `bytes` holds exactly the blocks of out.size() elements, at any alignment. Quantised values are computed in float, as
// ggml does, for both overloads: float64 runs then see the same weights as float32 runs. F64 and 64-bit integers keep
// the precision of the output type.
void dequantize(DType dtype, std::span<const std::byte> bytes, std::span<float> out);
void dequantize(DType dtype, std::span<const std::byte> bytes, std::span<double> out);

}  // namespace headroom
