#include "core/checkpoint/dequantize.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/base/check.h"
#include "core/checkpoint/ggml_blocks.h"
#include "core/checkpoint/half.h"

namespace headroom {
namespace {

constexpr std::size_t kBlock = 32;  // elements of every quantised block

template <typename T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

float bfloat_to_float(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

constexpr float power_of_two(int exponent) {
  float value = 1.0F;
  for (; exponent > 0; --exponent) value *= 2.0F;
  for (; exponent < 0; ++exponent) value *= 0.5F;
  return value;
}

// The four 8-bit floats with a sign. `unsigned_zero` formats (FNUZ) have one NaN, at −0, and no infinity.
constexpr std::array<float, 256> float8_table(int mantissa_bits, int bias, bool unsigned_zero, bool has_infinity) {
  std::array<float, 256> table{};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const int exponent_max = (1 << (7 - mantissa_bits)) - 1;
  for (int byte = 0; byte < 256; ++byte) {
    const int exponent = (byte & 0x7F) >> mantissa_bits;
    const int mantissa = byte & ((1 << mantissa_bits) - 1);
    const float fraction = static_cast<float>(mantissa) * power_of_two(-mantissa_bits);
    float value = exponent == 0 ? fraction * power_of_two(1 - bias) : (1.0F + fraction) * power_of_two(exponent - bias);
    if (has_infinity && exponent == exponent_max) value = mantissa ? kNan : std::numeric_limits<float>::infinity();
    if (!unsigned_zero && !has_infinity && (byte & 0x7F) == 0x7F) value = kNan;
    if (unsigned_zero && byte == 0x80) value = kNan;
    table[static_cast<std::size_t>(byte)] = (byte & 0x80) ? -value : value;
  }
  return table;
}

// 2^(e−127); 255 is NaN (OCP Microscaling formats, E8M0).
constexpr std::array<float, 256> scale8_table() {
  std::array<float, 256> table{};
  for (int byte = 0; byte < 255; ++byte) table[static_cast<std::size_t>(byte)] = power_of_two(byte - 127);
  table[255] = std::numeric_limits<float>::quiet_NaN();
  return table;
}

constexpr auto kE4M3 = float8_table(3, 7, false, false);
constexpr auto kE5M2 = float8_table(2, 15, false, true);
constexpr auto kE4M3Fnuz = float8_table(3, 8, true, false);
constexpr auto kE5M2Fnuz = float8_table(2, 16, true, false);
constexpr auto kE8M0 = scale8_table();

template <typename Stored, typename Out>
void convert(const std::byte* p, std::span<Out> out) {
  if constexpr (std::is_same_v<Stored, Out>) {
    if (!out.empty()) std::memcpy(out.data(), p, out.size_bytes());
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Out>(load<Stored>(p + i * sizeof(Stored)));
  }
}

template <typename Out, typename Function>
void convert16(const std::byte* p, std::span<Out> out, Function to_float) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = to_float(load<std::uint16_t>(p + 2 * i));
}

template <typename Out>
void look_up(const std::byte* p, std::span<Out> out, const std::array<float, 256>& table) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = table[std::to_integer<std::size_t>(p[i])];
}

template <typename Out>
void blocks_q8_0(const std::byte* p, std::span<Out> out) {
  for (std::size_t base = 0; base < out.size(); base += kBlock, p += 34) {
    const float d = half_to_float(load<std::uint16_t>(p));
    for (std::size_t j = 0; j < kBlock; ++j) out[base + j] = static_cast<float>(load<std::int8_t>(p + 2 + j)) * d;
  }
}

// Q4 and Q5 with and without a minimum: {d, [m], [qh], qs[16]}; low nibbles are elements 0–15, high ones 16–31.
template <bool kHasMinimum, bool kHasFifthBit, typename Out>
void blocks_nibbles(const std::byte* p, std::span<Out> out) {
  constexpr std::size_t kHigh = kHasMinimum ? 4 : 2;
  constexpr std::size_t kNibbles = kHigh + (kHasFifthBit ? 4 : 0);
  constexpr int kZero = kHasMinimum ? 0 : kHasFifthBit ? 16 : 8;
  for (std::size_t base = 0; base < out.size(); base += kBlock, p += kNibbles + 16) {
    const float d = half_to_float(load<std::uint16_t>(p));
    const float m = kHasMinimum ? half_to_float(load<std::uint16_t>(p + 2)) : 0.0F;
    const std::uint32_t fifth = kHasFifthBit ? load<std::uint32_t>(p + kHigh) : 0;
    for (std::size_t j = 0; j < 16; ++j) {
      const auto byte = std::to_integer<std::uint32_t>(p[kNibbles + j]);
      const std::uint32_t low = (byte & 15U) | (((fifth >> j) & 1U) << 4);
      const std::uint32_t high = (byte >> 4) | (((fifth >> (j + 16)) & 1U) << 4);
      const auto value = [&](std::uint32_t q) {
        const float scaled = static_cast<float>(static_cast<int>(q) - kZero) * d;
        return kHasMinimum ? scaled + m : scaled;
      };
      out[base + j] = value(low);
      out[base + j + 16] = value(high);
    }
  }
}

template <typename Out>
void blocks_by(DecodeBlock decode_block, BlockLayout layout, const std::byte* p, std::span<Out> out) {
  const auto elements = static_cast<std::size_t>(layout.elements);
  for (std::size_t base = 0; base < out.size(); base += elements, p += layout.size_bytes) {
    if constexpr (std::is_same_v<Out, float>) {
      decode_block(p, out.data() + base);
    } else {
      std::array<float, kGgmlBlock> values{};
      decode_block(p, values.data());
      std::copy_n(values.data(), elements, out.data() + base);
    }
  }
}

template <typename Out>
void decode(DType dtype, std::span<const std::byte> bytes, std::span<Out> out) {
  const BlockLayout layout = block_layout(dtype);
  HEADROOM_CHECK(layout.elements > 0, "this dtype cannot be read");
  const auto elements = static_cast<std::size_t>(layout.elements);
  HEADROOM_CHECK(out.size() % elements == 0, "a part of a block");
  HEADROOM_CHECK(bytes.size() == out.size() / elements * static_cast<std::size_t>(layout.size_bytes),
                 "wrong byte count");
  const std::byte* p = bytes.data();
  switch (dtype) {
    case DType::F64: return convert<double>(p, out);
    case DType::F32: return convert<float>(p, out);
    case DType::F16: return convert16(p, out, half_to_float);
    case DType::BF16: return convert16(p, out, bfloat_to_float);
    case DType::F8_E4M3: return look_up(p, out, kE4M3);
    case DType::F8_E5M2: return look_up(p, out, kE5M2);
    case DType::F8_E4M3FNUZ: return look_up(p, out, kE4M3Fnuz);
    case DType::F8_E5M2FNUZ: return look_up(p, out, kE5M2Fnuz);
    case DType::F8_E8M0: return look_up(p, out, kE8M0);
    case DType::I64: return convert<std::int64_t>(p, out);
    case DType::I32: return convert<std::int32_t>(p, out);
    case DType::I16: return convert<std::int16_t>(p, out);
    case DType::I8: return convert<std::int8_t>(p, out);
    case DType::U64: return convert<std::uint64_t>(p, out);
    case DType::U32: return convert<std::uint32_t>(p, out);
    case DType::U16: return convert<std::uint16_t>(p, out);
    case DType::U8: return convert<std::uint8_t>(p, out);
    case DType::BOOL:
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = p[i] == std::byte{0} ? Out{0} : Out{1};
      return;
    case DType::Q8_0: return blocks_q8_0(p, out);
    case DType::Q4_0: return blocks_nibbles<false, false>(p, out);
    case DType::Q4_1: return blocks_nibbles<true, false>(p, out);
    case DType::Q5_0: return blocks_nibbles<false, true>(p, out);
    case DType::Q5_1: return blocks_nibbles<true, true>(p, out);
    case DType::Q2_K:
    case DType::Q3_K:
    case DType::Q4_K:
    case DType::Q5_K:
    case DType::Q6_K:
    case DType::Q8_K:
    case DType::IQ4_NL:
    case DType::IQ4_XS:
    case DType::MXFP4: return blocks_by(ggml_decoder(dtype), layout, p, out);
    case DType::Unsupported: return;
  }
}

}  // namespace

BlockLayout block_layout(DType dtype) {
  switch (dtype) {
    case DType::F64:
    case DType::I64:
    case DType::U64: return {1, 8};
    case DType::F32:
    case DType::I32:
    case DType::U32: return {1, 4};
    case DType::F16:
    case DType::BF16:
    case DType::I16:
    case DType::U16: return {1, 2};
    case DType::F8_E4M3:
    case DType::F8_E5M2:
    case DType::F8_E4M3FNUZ:
    case DType::F8_E5M2FNUZ:
    case DType::F8_E8M0:
    case DType::I8:
    case DType::U8:
    case DType::BOOL: return {1, 1};
    case DType::Q8_0: return {32, 34};
    case DType::Q4_0: return {32, 18};
    case DType::Q4_1: return {32, 20};
    case DType::Q5_0: return {32, 22};
    case DType::Q5_1: return {32, 24};
    case DType::Q2_K: return {256, 84};
    case DType::Q3_K: return {256, 110};
    case DType::Q4_K: return {256, 144};
    case DType::Q5_K: return {256, 176};
    case DType::Q6_K: return {256, 210};
    case DType::Q8_K: return {256, 292};
    case DType::IQ4_NL: return {32, 18};
    case DType::IQ4_XS: return {256, 136};
    case DType::MXFP4: return {32, 17};
    case DType::Unsupported: break;
  }
  return {0, 0};
}

void dequantize(DType dtype, std::span<const std::byte> bytes, std::span<float> out) { decode(dtype, bytes, out); }

void dequantize(DType dtype, std::span<const std::byte> bytes, std::span<double> out) { decode(dtype, bytes, out); }

}  // namespace headroom
