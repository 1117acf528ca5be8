// What a container says about one tensor, and the dtypes containers use. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class DType : std::uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8_E4M3,
  F8_E5M2,
  F8_E4M3FNUZ,
  F8_E5M2FNUZ,
  F8_E8M0,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  BOOL,
  Q8_0,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  Q8_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4,        // from Q8_0 on GGUF blocks of 32 or 256 along the fastest axis
  Unsupported,  // listed by name, never read
};

struct TensorInfo {
  std::string name;
  DType dtype = DType::Unsupported;
  std::string dtype_name;             // as the container spells it: "BF16", "Q4_K"
  std::vector<std::int64_t> shape;    // torch order: the last axis is the fastest
  std::uint32_t file = 0;             // index into Checkpoint::files()
  std::uint64_t offset = 0;           // absolute, in bytes from the start of the file
  std::uint64_t size_bytes = 0;       // from the first byte to behind the last
  std::vector<std::int64_t> strides;  // in elements, not negative; empty: row-major without gaps

  // Product of the shape; 1 for rank 0. Containers have checked it against overflow.
  [[nodiscard]] std::int64_t element_count() const;
};

// "[49152, 576]"
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace headroom
