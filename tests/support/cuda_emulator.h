// The primitives of kernels/cuda/device.cuh on the processor, so that the very same kernels run without a GPU: one
// block at a time, each thread a fiber, warps in step at their collectives. Fragment layouts are written from the PTX
// ISA (ldmatrix, and "Matrix Fragments for mma.m16n8k16 with floating point type"), not from the kernels. What it
// cannot show: speed, memory ordering between barriers, and the last bits of the device's exp2. Sums of the tensor
// cores are exact and rounded once, or with `cut_sums` cut as on a device. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/machine.h"
#include "tests/support/fibers.h"
#include "tests/support/narrow_floats.h"

namespace headroom::test {

class EmulatedDevice;

class EmulatedBlock {
 public:
  // Threads in reverse order give the same results unless a barrier is missing.
  bool reversed = false;
  // Terms are cut to 2⁻²⁵ of the largest, their sum to a float, both towards 0: what an H100's contexts are off by, and
  // none of its bits. Else sums are exact, and rounded.
  bool cut_sums = false;

  void run(int threads, std::array<int, 3> block, std::size_t shared_bytes,
           const std::function<void(EmulatedDevice&)>& kernel);

 private:
  friend class EmulatedDevice;
  static constexpr int kLanes = 32;
  static constexpr std::size_t kMessageBytes = 48;

  struct Warp {
    std::array<std::array<std::array<std::byte, kMessageBytes>, kLanes>, 2> in, out;  // two exchanges may overlap
    std::uint64_t exchanges = 0;
    int arrived = 0;
    int operation = 0;
  };

  Fibers fibers_;
  std::vector<Warp> warps_;
  std::vector<std::byte> shared_;
  std::array<int, 3> block_{};
  int threads_ = 0, at_barrier_ = 0;
  std::uint64_t barriers_ = 0;
};

class EmulatedDevice {
 public:
  EmulatedDevice(EmulatedBlock& block, int thread) : block_(block), thread_(thread) {}

  [[nodiscard]] int thread() const { return thread_; }
  [[nodiscard]] int lane() const { return thread_ % 32; }
  [[nodiscard]] int warp() const { return thread_ / 32; }
  [[nodiscard]] int block_x() const { return block_.block_[0]; }
  [[nodiscard]] int block_y() const { return block_.block_[1]; }
  [[nodiscard]] int block_z() const { return block_.block_[2]; }
  template <class T>
  [[nodiscard]] T* shared() {
    return reinterpret_cast<T*>(block_.shared_.data());
  }

  void sync() {
    const std::uint64_t mine = block_.barriers_;
    block_.fibers_.advance();
    if (++block_.at_barrier_ == block_.threads_) {
      block_.at_barrier_ = 0;
      ++block_.barriers_;
    }
    while (block_.barriers_ == mine) block_.fibers_.wait();
  }

  template <class Number>
  [[nodiscard]] Number shuffle_xor(Number value, int mask) {
    return exchange<Number>(1, value, [mask](const std::array<Number, 32>& in, int lane) {
      return in[static_cast<std::size_t>(lane ^ mask)];
    });
  }
  [[nodiscard]] bool any(bool value) {
    return exchange<bool>(2, value, [](const std::array<bool, 32>& in, int) {
      for (const bool one : in)
        if (one) return true;
      return false;
    });
  }

  // ldmatrix.sync.aligned.m8n8.x4: threads 8m … 8m + 7 give the rows of matrix m; register m of thread t holds elements
  // 2(t % 4) and 2(t % 4) + 1 of its row t / 4, or with .trans of its column t / 4.
  void load_matrices(std::uint32_t (&to)[4], const std::uint16_t* row) { load(to, row, false); }
  void load_matrices_transposed(std::uint32_t (&to)[4], const std::uint16_t* row) { load(to, row, true); }

  // mma.sync.aligned.m16n8k16.row.col.f32.FORMAT.FORMAT.f32
  template <class Format>
  void multiply(Format, float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    struct Operands {
      std::uint32_t a[4], b[2];
      float c[4];
    };
    struct Result {
      float d[4];
    };
    const Operands mine{{a[0], a[1], a[2], a[3]}, {b0, b1}, {c[0], c[1], c[2], c[3]}};
    const Result result = exchange_all<Result>(
        3, mine, [cut = block_.cut_sums](const std::array<Operands, 32>& in, std::array<Result, 32>& out) {
          double matrix_a[16][16], matrix_b[16][8];
          for (int thread = 0; thread < 32; ++thread) {
            const Operands& one = in[static_cast<std::size_t>(thread)];
            const int group = thread >> 2, in_group = thread % 4;
            for (int i = 0; i < 8; ++i) {
              const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
              const int column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
              matrix_a[row][column] = element<Format>(one.a[i / 2], i % 2);
            }
            for (int i = 0; i < 4; ++i)
              matrix_b[in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0)][group] = element<Format>(one.b[i / 2], i % 2);
          }
          for (int thread = 0; thread < 32; ++thread)
            for (int i = 0; i < 4; ++i) {
              const int row = i < 2 ? thread >> 2 : (thread >> 2) + 8, column = thread % 4 * 2 + (i & 1);
              double terms[17] = {static_cast<double>(in[static_cast<std::size_t>(thread)].c[i])};
              for (int k = 0; k < 16; ++k) terms[k + 1] = matrix_a[row][k] * matrix_b[k][column];
              out[static_cast<std::size_t>(thread)].d[i] = cut ? cut_sum(terms) : exact_sum(terms);
            }
        });
    std::memcpy(c, result.d, sizeof c);
  }

  template <class Format>
  [[nodiscard]] std::uint32_t pack(Format, float low, float high) const {
    return narrowed<Format>(low).bits | static_cast<std::uint32_t>(narrowed<Format>(high).bits) << 16;
  }
  template <class Format>
  [[nodiscard]] float low_of(Format, std::uint32_t pair) const {
    return static_cast<float>(element<Format>(pair, 0));
  }
  template <class Format>
  [[nodiscard]] float high_of(Format, std::uint32_t pair) const {
    return static_cast<float>(element<Format>(pair, 1));
  }
  // Nothing arrives before it is waited for.
  void copy_async(std::uint16_t* to, const void* from, int bytes) {
    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0)
      throw std::runtime_error("a misaligned copy of 16 bytes");
    copies_.push_back({to, from, bytes});
  }
  void wait_copies() {
    for (const Copy& copy : copies_) {
      std::memset(copy.to, 0, 16);
      std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
    }
    copies_.clear();
  }
  void store_shared(std::uint16_t* to, std::uint32_t left, std::uint32_t right) const {
    if (reinterpret_cast<std::uintptr_t>(to) % 8 != 0) throw std::runtime_error("a misaligned store of 8 bytes");
    const std::uint32_t both[2] = {left, right};
    std::memcpy(to, both, sizeof both);
  }
  template <class Input>
  void load_quad(Input (&to)[4], const Input* from) const {
    if (reinterpret_cast<std::uintptr_t>(from) % sizeof to != 0)
      throw std::runtime_error("a misaligned load of a quad");
    std::memcpy(to, from, sizeof to);
  }
  template <class Input>
  [[nodiscard]] float to_float(Input value) const {
    return widen(value);
  }

  // The device's exp2 has no denormal results.
  [[nodiscard]] float exp2(float x) const {
    const float result = std::exp2(x);
    return result < std::numeric_limits<float>::min() ? 0.0f : result;
  }
  [[nodiscard]] float log2(float x) const { return std::log2(x); }
  [[nodiscard]] float tanh(float x) const { return std::tanh(x); }
  [[nodiscard]] float abs(float x) const { return std::abs(x); }
  [[nodiscard]] float max(float a, float b) const { return std::fmax(a, b); }
  [[nodiscard]] float min(float a, float b) const { return std::fmin(a, b); }
  [[nodiscard]] float max_or_nan(float a, float b) const { return std::isnan(a) || a >= b ? a : b; }
  [[nodiscard]] float infinity() const { return std::numeric_limits<float>::infinity(); }

  void count_shared(int* counter) const { ++*counter; }
  [[nodiscard]] int take(int* counter) const { return (*counter)++; }
  template <class Integer>
  void add(Integer* to, Integer value) const {
    *to += value;
  }

 private:
  static float exact_sum(const double (&terms)[17]) {
    double sum = 0.0;
    for (const double term : terms) sum += term;
    return static_cast<float>(sum);
  }
  static float cut_sum(const double (&terms)[17]) {
    double largest = 0.0, sum = 0.0;
    for (const double term : terms) largest = std::max(largest, std::abs(term));
    if (largest == 0.0 || !std::isfinite(largest)) return exact_sum(terms);
    const double unit = std::ldexp(1.0, std::ilogb(largest) - 25);
    for (const double term : terms) sum += std::trunc(term / unit) * unit;
    const float nearest = static_cast<float>(sum);
    return std::abs(static_cast<double>(nearest)) > std::abs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
  }

  template <class Format>
  static double element(std::uint32_t pair, int index) {
    return static_cast<double>(widen(Format{static_cast<std::uint16_t>(index == 0 ? pair : pair >> 16)}));
  }

  // All 32 lanes arrive with the same operation; the last one computes for all.
  template <class Out, class In, class Compute>
  Out exchange_all(int operation, const In& mine, const Compute& compute) {
    static_assert(sizeof(In) <= EmulatedBlock::kMessageBytes && sizeof(Out) <= EmulatedBlock::kMessageBytes);
    EmulatedBlock::Warp& warp = block_.warps_[static_cast<std::size_t>(thread_ / 32)];
    const std::uint64_t number = warp.exchanges;
    auto& in = warp.in[number % 2];
    auto& out = warp.out[number % 2];
    const auto lane_index = static_cast<std::size_t>(lane());
    std::memcpy(in[lane_index].data(), &mine, sizeof mine);
    if (warp.arrived == 0) warp.operation = operation;
    if (warp.operation != operation) throw std::runtime_error("the threads of a warp are at different operations");
    block_.fibers_.advance();
    if (++warp.arrived == 32) {
      std::array<In, 32> all_in;
      std::array<Out, 32> all_out;
      for (std::size_t l = 0; l < 32; ++l) std::memcpy(&all_in[l], in[l].data(), sizeof(In));
      compute(all_in, all_out);
      for (std::size_t l = 0; l < 32; ++l) std::memcpy(out[l].data(), &all_out[l], sizeof(Out));
      warp.arrived = 0;
      ++warp.exchanges;
    }
    while (warp.exchanges == number) block_.fibers_.wait();
    Out result;
    std::memcpy(&result, out[lane_index].data(), sizeof result);
    return result;
  }
  template <class Number, class Compute>
  Number exchange(int operation, Number mine, const Compute& compute) {
    return exchange_all<Number>(operation, mine, [&](const std::array<Number, 32>& in, std::array<Number, 32>& out) {
      for (int l = 0; l < 32; ++l) out[static_cast<std::size_t>(l)] = compute(in, l);
    });
  }

  void load(std::uint32_t (&to)[4], const std::uint16_t* row, bool transposed) {
    if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) throw std::runtime_error("a misaligned row of ldmatrix");
    struct Registers {
      std::uint32_t value[4];
    };
    const Registers result = exchange_all<Registers>(
        transposed ? 5 : 4, row,
        [transposed](const std::array<const std::uint16_t*, 32>& rows, std::array<Registers, 32>& out) {
          for (std::size_t thread = 0; thread < 32; ++thread)
            for (std::size_t matrix = 0; matrix < 4; ++matrix) {
              const std::size_t major = thread / 4, minor = thread % 4 * 2;
              const auto at = [&](std::size_t r, std::size_t c) -> std::uint32_t { return rows[matrix * 8 + r][c]; };
              out[thread].value[matrix] = transposed ? at(minor, major) | at(minor + 1, major) << 16
                                                     : at(major, minor) | at(major, minor + 1) << 16;
            }
        });
    std::memcpy(to, result.value, sizeof to);
  }

  struct Copy {
    std::uint16_t* to;
    const void* from;
    int bytes;
  };

  EmulatedBlock& block_;
  int thread_;
  std::vector<Copy> copies_;
};

inline void EmulatedBlock::run(int threads, std::array<int, 3> block, std::size_t shared_bytes,
                               const std::function<void(EmulatedDevice&)>& kernel) {
  block_ = block;
  threads_ = threads;
  at_barrier_ = 0;
  warps_.assign(static_cast<std::size_t>(threads / 32), Warp{});
  shared_.assign(shared_bytes, std::byte{0xff});  // NaN in every format
  shared_.shrink_to_fit();
  fibers_.run(threads, reversed, [&](int thread) {
    EmulatedDevice device(*this, thread);
    kernel(device);
  });
}

}  // namespace headroom::test
