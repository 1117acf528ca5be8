// GGUF's blocks that have scales of their own inside (K and IQ quantisations) or a table of values: to numbers, in
// float and in the order of ggml's own reference (https://github.com/ggml-org/ggml, src/ggml-quants.c), so that values
// are its values. Safe from any thread.
#pragma once

#include <cstddef>
#include <span>

#include "core/checkpoint/tensor_info.h"

namespace headroom {

// Elements of a block, at most.
inline constexpr std::size_t kGgmlBlock = 256;

// `block` is one block of Q2_K … Q8_K, IQ4_NL, IQ4_XS or MXFP4, at any alignment; `out` has room for its elements.
using DecodeBlock = void (*)(const std::byte* block, float* out);
// Null for other types.
[[nodiscard]] DecodeBlock ggml_decoder(DType dtype);

}  // namespace headroom
