// Sums of float32 numbers and of their squares as one long integer each, exact: in any order and any parts they come to
// the same bits (superaccumulators, Neal, arXiv 1505.05571). Not safe for concurrent use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headroom {

// Two's complement, the least 32 bits first.
template <std::size_t Limbs>
using LongInteger = std::array<std::uint32_t, Limbs>;

class ExactMoments {
 public:
  // In units of 2⁻¹⁴⁹ and 2⁻²⁹⁸, the least float32 and its square; room for 2⁶³ numbers of any size.
  static constexpr std::size_t kSumLimbs = 11, kSquareLimbs = 20;

  // NaN is left out.
  void add(float value);
  void add(const ExactMoments& other);

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] double sum() const;   // rounded once; infinite, or NaN, where there were infinities
  [[nodiscard]] double mean() const;  // NaN without numbers; infinite, or NaN, where there were infinities
  // √(Σ(x − x̄)²/(n − 1)), of Σx² · n − (Σx)², which is rounded once; NaN for n < 2 and with infinities.
  [[nodiscard]] double deviation() const;
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;

  // All of it as whole numbers below 2³², to be kept in a file: sum, squares, count (low, high), infinities (positive,
  // negative), and the bits of least and most.
  static constexpr std::size_t kWords = kSumLimbs + kSquareLimbs + 6;
  [[nodiscard]] std::array<std::uint32_t, kWords> words() const;
  [[nodiscard]] static ExactMoments from_words(const std::array<std::uint32_t, kWords>& words);

 private:
  LongInteger<kSumLimbs> sum_{};
  LongInteger<kSquareLimbs> squares_{};
  std::int64_t count_ = 0;
  std::uint32_t above_ = 0, below_ = 0;  // +∞ and −∞
  float least_ = 0.0F, most_ = 0.0F;     // once count_ > 0
};

}  // namespace headroom
