#include "core/checkpoint/ggml_blocks.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/checkpoint/half.h"

namespace headroom {
namespace {

// The bytes of a block, as numbers.
struct Bytes {
  const std::byte* p;

  [[nodiscard]] unsigned at(std::size_t i) const { return std::to_integer<unsigned>(p[i]); }
  [[nodiscard]] int signed_at(std::size_t i) const { return static_cast<std::int8_t>(at(i)); }
  [[nodiscard]] unsigned two_at(std::size_t i) const { return at(i) | at(i + 1) << 8; }
  [[nodiscard]] float half_at(std::size_t i) const { return half_to_float(static_cast<std::uint16_t>(two_at(i))); }
};

float number(int q) { return static_cast<float>(q); }
float number(unsigned q) { return static_cast<float>(q); }

// {scales[16], qs[64], d, dmin}: 16 groups of 16, each with 4 bits of scale and 4 of minimum; 2 bits an element.
void q2_k(const std::byte* block, float* out) {
  const Bytes b{block};
  const float d = b.half_at(80), minimum = b.half_at(82);
  for (std::size_t group = 0; group < 16; ++group) {
    const unsigned scale = b.at(group);
    const float step = d * number(scale & 15U), base = minimum * number(scale >> 4);
    const std::size_t bytes = 16 + group / 8 * 32 + group % 2 * 16, shift = group % 8 / 2 * 2;
    for (std::size_t i = 0; i < 16; ++i) *out++ = step * number((b.at(bytes + i) >> shift) & 3U) - base;
  }
}

// {hmask[32], qs[64], scales[12], d}: 16 groups of 16 with 6 bits of scale; 2 bits and a high one an element.
void q3_k(const std::byte* block, float* out) {
  const Bytes b{block};
  const float d = b.half_at(108);
  for (std::size_t group = 0; group < 16; ++group) {
    const unsigned low = group < 8 ? b.at(96 + group) & 15U : b.at(96 + group - 8) >> 4;
    const unsigned high = (b.at(104 + group % 4) >> (2 * (group / 4))) & 3U;
    const float step = d * number(static_cast<int>(low | high << 4) - 32);
    const std::size_t half = group % 2 * 16, bytes = 32 + group / 8 * 32 + half, shift = group % 8 / 2 * 2;
    for (std::size_t i = 0; i < 16; ++i) {
      const bool set = (b.at(half + i) >> (group / 2)) & 1U;
      *out++ = step * number(static_cast<int>((b.at(bytes + i) >> shift) & 3U) - (set ? 0 : 4));
    }
  }
}

// Scale and minimum j of the eight that 12 bytes hold, 6 bits each.
struct ScaleAndMinimum {
  float scale, minimum;
};
ScaleAndMinimum packed(const Bytes& b, std::size_t first, std::size_t j) {
  if (j < 4) return {number(b.at(first + j) & 63U), number(b.at(first + j + 4) & 63U)};
  const unsigned low = b.at(first + j + 4);
  return {number((low & 15U) | (b.at(first + j - 4) >> 6) << 4), number((low >> 4) | (b.at(first + j) >> 6) << 4)};
}

// {d, dmin, scales[12], qh[32] of Q5_K, qs[128]}: 8 groups of 32 with 6 bits of scale and 6 of minimum; 4 bits an
// element, and a fifth one.
template <bool kHasFifthBit>
void q4_or_q5_k(const std::byte* block, float* out) {
  constexpr std::size_t kFifth = 16, kNibbles = kFifth + (kHasFifthBit ? 32 : 0);
  const Bytes b{block};
  const float d = b.half_at(0), minimum = b.half_at(2);
  for (std::size_t group = 0; group < 8; ++group) {
    const ScaleAndMinimum own = packed(b, 4, group);
    const float step = d * own.scale, base = minimum * own.minimum;
    const std::size_t bytes = kNibbles + group / 2 * 32, shift = group % 2 * 4;
    for (std::size_t i = 0; i < 32; ++i) {
      unsigned q = (b.at(bytes + i) >> shift) & 15U;
      if constexpr (kHasFifthBit) q |= ((b.at(kFifth + i) >> group) & 1U) << 4;
      *out++ = step * number(q) - base;
    }
  }
}

// {ql[128], qh[64], scales[16], d}: 16 groups of 16 with 8 bits of scale; 4 and 2 bits an element.
void q6_k(const std::byte* block, float* out) {
  const Bytes b{block};
  const float d = b.half_at(208);
  for (std::size_t group = 0; group < 16; ++group) {
    const float step = d * number(b.signed_at(192 + group));
    const std::size_t part = group / 8, quarter = group % 8 / 2, half = group % 2 * 16;
    const std::size_t low = part * 64 + quarter % 2 * 32 + half, high = 128 + part * 32 + half;
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned four = (b.at(low + i) >> (quarter / 2 * 4)) & 15U, two = (b.at(high + i) >> (2 * quarter)) & 3U;
      *out++ = step * number(static_cast<int>(four | two << 4) - 32);
    }
  }
}

// {d as float, qs[256], sums[16] that only products need}.
void q8_k(const std::byte* block, float* out) {
  const Bytes b{block};
  float d = 0.0F;
  std::memcpy(&d, block, sizeof(d));
  for (std::size_t i = 0; i < 256; ++i) out[i] = d * number(b.signed_at(4 + i));
}

// Low nibbles of 16 bytes, then high ones, by a table.
void by_table(const Bytes& b, std::size_t first, const std::array<std::int8_t, 16>& table, float d, float* out) {
  for (std::size_t i = 0; i < 16; ++i) {
    const unsigned byte = b.at(first + i);
    out[i] = d * number(static_cast<int>(table[byte & 15U]));
    out[i + 16] = d * number(static_cast<int>(table[byte >> 4]));
  }
}

constexpr std::array<std::int8_t, 16> kNonLinear = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                    1,    13,   25,  38,  53,  69,  89,  113};

// {d, qs[16]}.
void iq4_nl(const std::byte* block, float* out) {
  const Bytes b{block};
  by_table(b, 2, kNonLinear, b.half_at(0), out);
}

// {d, high bits of scales u16, low bits [4], qs[128]}: 8 groups of 32 with 6 bits of scale.
void iq4_xs(const std::byte* block, float* out) {
  const Bytes b{block};
  const float d = b.half_at(0);
  const unsigned high = b.two_at(2);
  for (std::size_t group = 0; group < 8; ++group) {
    const unsigned scale = ((b.at(4 + group / 2) >> (group % 2 * 4)) & 15U) | ((high >> (2 * group)) & 3U) << 4;
    by_table(b, 8 + group * 16, kNonLinear, d * number(static_cast<int>(scale) - 32), out + group * 32);
  }
}

// {e, qs[16]}: E2M1 with a scale of 2^(e − 127) (OCP Microscaling formats v1.0); the table holds twice the values.
void mxfp4(const std::byte* block, float* out) {
  constexpr std::array<std::int8_t, 16> kTwice = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const Bytes b{block};
  const unsigned e = b.at(0);
  const float half_scale = std::bit_cast<float>(e < 2 ? 0x00200000U << e : (e - 1) << 23);
  by_table(b, 1, kTwice, half_scale, out);
}

}  // namespace

DecodeBlock ggml_decoder(DType dtype) {
  switch (dtype) {
    case DType::Q2_K: return q2_k;
    case DType::Q3_K: return q3_k;
    case DType::Q4_K: return q4_or_q5_k<false>;
    case DType::Q5_K: return q4_or_q5_k<true>;
    case DType::Q6_K: return q6_k;
    case DType::Q8_K: return q8_k;
    case DType::IQ4_NL: return iq4_nl;
    case DType::IQ4_XS: return iq4_xs;
    case DType::MXFP4: return mxfp4;
    default: return nullptr;
  }
}

}  // namespace headroom
