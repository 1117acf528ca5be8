#include "core/corpus/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/numbers.h"

namespace headroom {
namespace {

using Limbs = std::vector<std::uint32_t>;

// Adds value · 2^shift, or takes it away.
template <std::size_t Size>
void add_shifted(LongInteger<Size>& sum, std::uint64_t value, unsigned shift, bool negative) {
  const std::size_t first = shift / 32;
  const unsigned __int128 bits = static_cast<unsigned __int128>(value) << (shift % 32);
  std::uint64_t carry = 0;
  for (std::size_t i = first; i < Size; ++i) {
    const std::size_t place = 32 * (i - first);
    const auto part = place < 128 ? static_cast<std::uint32_t>(bits >> place) : 0U;
    if (part == 0 && carry == 0 && place >= 96) return;
    if (negative) {
      const std::uint64_t taken = std::uint64_t{sum[i]} - part - carry;
      sum[i] = static_cast<std::uint32_t>(taken);
      carry = taken >> 63;
    } else {
      const std::uint64_t total = std::uint64_t{sum[i]} + part + carry;
      sum[i] = static_cast<std::uint32_t>(total);
      carry = total >> 32;
    }
  }
}

template <std::size_t Size>
void add_long(LongInteger<Size>& sum, const LongInteger<Size>& other) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < Size; ++i) {
    carry += std::uint64_t{sum[i]} + other[i];
    sum[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
}

bool is_negative(std::span<const std::uint32_t> number) { return (number.back() >> 31) != 0; }

Limbs magnitude(std::span<const std::uint32_t> number) {
  Limbs size(number.begin(), number.end());
  if (!is_negative(number)) return size;
  std::uint64_t carry = 1;
  for (std::uint32_t& limb : size) {
    carry += std::uint64_t{~limb};
    limb = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return size;
}

// size · 2^exponent, rounded once to the nearest, ties to even.
double rounded(const Limbs& size, int exponent) {
  std::size_t top = size.size();
  while (top > 0 && size[top - 1] == 0) --top;
  if (top == 0) return 0.0;
  // The 64 highest bits; what lies below is told in the last of them, which no double reaches.
  const auto limb = [&](std::size_t back) { return top > back ? std::uint64_t{size[top - 1 - back]} : 0; };
  const int zeros = std::countl_zero(size[top - 1]);
  std::uint64_t bits = limb(0) << 32 | limb(1);
  if (zeros > 0) bits = bits << zeros | limb(2) >> (32 - zeros);
  bool rest = (limb(2) << zeros & 0xFFFFFFFF) != 0;
  for (std::size_t i = 0; i + 3 < top; ++i) rest = rest || size[i] != 0;
  if (rest) bits |= 1;
  return std::ldexp(static_cast<double>(bits), exponent + static_cast<int>(32 * top) - 64 - zeros);
}

Limbs product(const Limbs& a, const Limbs& b) {
  Limbs result(a.size() + b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      carry += std::uint64_t{a[i]} * b[j] + result[i + j];
      result[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    result[i + b.size()] = static_cast<std::uint32_t>(carry);
  }
  return result;
}

// a − b, which is not negative.
Limbs difference(Limbs a, Limbs b) {
  const std::size_t size = std::max(a.size(), b.size());
  a.resize(size, 0), b.resize(size, 0);
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t taken = std::uint64_t{a[i]} - b[i] - borrow;
    a[i] = static_cast<std::uint32_t>(taken);
    borrow = taken >> 63;
  }
  return a;
}

Limbs limbs_of(std::int64_t count) {
  return {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(static_cast<std::uint64_t>(count) >> 32)};
}

}  // namespace

void ExactMoments::add(float value) {
  if (std::isnan(value)) return;
  least_ = count_ == 0 ? value : std::min(least_, value);
  most_ = count_ == 0 ? value : std::max(most_, value);
  ++count_;
  if (std::isinf(value)) {
    ++(value > 0.0F ? above_ : below_);
    return;
  }
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t exponent = bits >> 23 & 0xFF, fraction = bits & 0x7FFFFF;
  // Subnormal numbers have no leading 1, and the exponent of the least normal ones.
  const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | 0x800000;
  const unsigned shift = exponent == 0 ? 0 : exponent - 1;
  add_shifted(sum_, mantissa, shift, bits >> 31 != 0);
  add_shifted(squares_, mantissa * mantissa, 2 * shift, false);
}

void ExactMoments::add(const ExactMoments& other) {
  if (other.count_ == 0) return;
  least_ = count_ == 0 ? other.least_ : std::min(least_, other.least_);
  most_ = count_ == 0 ? other.most_ : std::max(most_, other.most_);
  count_ += other.count_;
  above_ += other.above_, below_ += other.below_;
  add_long(sum_, other.sum_);
  add_long(squares_, other.squares_);
}

double ExactMoments::sum() const {
  if (above_ > 0 && below_ > 0) return kNaN;
  if (above_ > 0 || below_ > 0) return above_ > 0 ? kInfinity : -kInfinity;
  const double size = rounded(magnitude(sum_), -149);
  return is_negative(sum_) ? -size : size;
}

double ExactMoments::mean() const { return count_ == 0 ? kNaN : sum() / static_cast<double>(count_); }

double ExactMoments::deviation() const {
  if (count_ < 2 || above_ > 0 || below_ > 0) return kNaN;
  const Limbs sum = magnitude(sum_);
  const Limbs spread = difference(product(magnitude(squares_), limbs_of(count_)), product(sum, sum));
  const double n = static_cast<double>(count_);
  return std::sqrt(rounded(spread, -298) / n / (n - 1.0));
}

double ExactMoments::least() const { return count_ == 0 ? kNaN : static_cast<double>(least_); }
double ExactMoments::most() const { return count_ == 0 ? kNaN : static_cast<double>(most_); }

std::array<std::uint32_t, ExactMoments::kWords> ExactMoments::words() const {
  std::array<std::uint32_t, kWords> words{};
  std::ranges::copy(sum_, words.begin());
  std::ranges::copy(squares_, words.begin() + kSumLimbs);
  std::uint32_t* rest = words.data() + kSumLimbs + kSquareLimbs;
  rest[0] = static_cast<std::uint32_t>(count_);
  rest[1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(count_) >> 32);
  rest[2] = above_, rest[3] = below_;
  rest[4] = std::bit_cast<std::uint32_t>(least_), rest[5] = std::bit_cast<std::uint32_t>(most_);
  return words;
}

ExactMoments ExactMoments::from_words(const std::array<std::uint32_t, kWords>& words) {
  ExactMoments moments;
  std::copy_n(words.begin(), kSumLimbs, moments.sum_.begin());
  std::copy_n(words.begin() + kSumLimbs, kSquareLimbs, moments.squares_.begin());
  const std::uint32_t* rest = words.data() + kSumLimbs + kSquareLimbs;
  moments.count_ = static_cast<std::int64_t>(std::uint64_t{rest[1]} << 32 | rest[0]);
  moments.above_ = rest[2], moments.below_ = rest[3];
  moments.least_ = std::bit_cast<float>(rest[4]), moments.most_ = std::bit_cast<float>(rest[5]);
  return moments;
}

}  // namespace headroom
