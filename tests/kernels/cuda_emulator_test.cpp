// The emulator itself: fragment layouts worked out by hand from the PTX ISA, roundings from IEEE 754, and the mistakes
// it is there to notice.
#include "tests/support/cuda_emulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {

using kernels::BFloat16;
using kernels::Float16;

CATCH_TEST_CASE("emulator: mma.m16n8k16 takes single elements from the threads and registers that the PTX ISA names") {
  // A(9, 12): group 1 with row + 8 and column + 8, so a6, the low half of the fourth register, of thread 4·1 + 2.
  // B(12, 5): row + 8, so b2, the low half of the second register, of thread 4·5 + 2. C(9, 5): c3 of thread 4·1 + 2.
  EmulatedBlock block;
  std::vector<std::array<float, 4>> results(32);
  block.run(32, {0, 0, 0}, 0, [&](EmulatedDevice& device) {
    std::uint32_t a[4] = {}, b[2] = {};
    if (device.thread() == 6) a[3] = narrowed<Float16>(3.0f).bits;
    if (device.thread() == 22) b[1] = narrowed<Float16>(0.5f).bits;
    float c[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    device.multiply(Float16{}, c, a, b[0], b[1]);
    std::copy(c, c + 4, results[static_cast<std::size_t>(device.thread())].begin());
  });
  for (std::size_t thread = 0; thread < 32; ++thread)
    for (std::size_t i = 0; i < 4; ++i) CATCH_CHECK(results[thread][i] == (thread == 6 && i == 3 ? 2.5f : 1.0f));
}

CATCH_TEST_CASE(
    "emulator: ldmatrix gives thread t the elements 2(t % 4) and the next of row t / 4, or of that column") {
  EmulatedBlock block;
  std::uint32_t plain = 0, transposed = 0;
  block.run(32, {0, 0, 0}, 4 * 64 * sizeof(std::uint16_t), [&](EmulatedDevice& device) {
    auto* shared = device.shared<std::uint16_t>();
    for (int i = device.thread(); i < 256; i += 32) shared[i] = static_cast<std::uint16_t>(i);
    device.sync();
    std::uint32_t registers[4];
    device.load_matrices(registers, shared + 8 * device.thread());
    if (device.thread() == 13) plain = registers[2];  // row 3, elements 2 and 3 of the third matrix
    device.load_matrices_transposed(registers, shared + 8 * device.thread());
    if (device.thread() == 13) transposed = registers[2];  // rows 2 and 3, element 3
  });
  CATCH_CHECK(plain == ((128u + 3 * 8 + 2) | (128u + 3 * 8 + 3) << 16));
  CATCH_CHECK(transposed == ((128u + 2 * 8 + 3) | (128u + 3 * 8 + 3) << 16));
}

CATCH_TEST_CASE("emulator: a missing barrier changes the result with the order of threads, a present one does not") {
  const auto neighbours = [](bool barrier, bool reversed) {
    EmulatedBlock block;
    block.reversed = reversed;
    std::vector<int> seen(64);
    block.run(64, {0, 0, 0}, 64 * sizeof(int), [&](EmulatedDevice& device) {
      int* shared = device.shared<int>();
      shared[device.thread()] = device.thread();
      if (barrier) device.sync();
      seen[static_cast<std::size_t>(device.thread())] = shared[(device.thread() + 1) % 64];
    });
    return seen;
  };
  CATCH_CHECK(neighbours(true, false) == neighbours(true, true));
  CATCH_CHECK(neighbours(false, false) != neighbours(false, true));
}

CATCH_TEST_CASE(
    "emulator: threads of a warp that part at a collective, or wait for a thread that is gone, are noticed") {
  EmulatedBlock block;
  CATCH_CHECK_THROWS(block.run(32, {0, 0, 0}, 0, [](EmulatedDevice& device) {
    if (device.lane() < 16)
      (void)device.any(true);
    else
      (void)device.shuffle_xor(1.0f, 1);
  }));
  CATCH_CHECK_THROWS(block.run(64, {0, 0, 0}, 0, [](EmulatedDevice& device) {
    if (device.thread() != 40) device.sync();
  }));
  float sum = 0.0f;  // and it runs again after that
  block.run(32, {0, 0, 0}, 0, [&](EmulatedDevice& device) { sum += device.shuffle_xor(1.0f, 2); });
  CATCH_CHECK(sum == 32.0f);
}

CATCH_TEST_CASE("narrow floats: the values and ties of both formats") {
  const auto half = [](float value) { return narrowed<Float16>(value).bits; };
  CATCH_CHECK(half(1.0f) == 0x3c00);
  CATCH_CHECK(half(-2.0f) == 0xc000);
  CATCH_CHECK(half(65504.0f) == 0x7bff);
  CATCH_CHECK(half(65520.0f) == 0x7c00);
  CATCH_CHECK(half(std::ldexp(1.0f, -14)) == 0x0400);
  CATCH_CHECK(half(std::ldexp(1.0f, -24)) == 0x0001);
  CATCH_CHECK(half(std::ldexp(1.0f, -25)) == 0x0000);         // a tie, to even
  CATCH_CHECK(half(std::ldexp(3.0f, -25)) == 0x0002);         // a tie, to even
  CATCH_CHECK(half(1.0f + std::ldexp(1.0f, -11)) == 0x3c00);  // a tie, to even
  CATCH_CHECK(half(2.0f - std::ldexp(1.0f, -12)) == 0x4000);  // carries into the exponent
  CATCH_CHECK(widen(Float16{0x3555}) == 0.333251953125f);
  CATCH_CHECK(std::isnan(widen(narrowed<Float16>(NAN))));
  const auto brain = [](float value) { return narrowed<BFloat16>(value).bits; };
  CATCH_CHECK(brain(1.0f) == 0x3f80);
  CATCH_CHECK(brain(1.0f + std::ldexp(1.0f, -8)) == 0x3f80);  // a tie, to even
  CATCH_CHECK(brain(1.0f + std::ldexp(3.0f, -8)) == 0x3f82);  // a tie, to even
  CATCH_CHECK(brain(-INFINITY) == 0xff80);
  CATCH_CHECK(std::isnan(widen(narrowed<BFloat16>(NAN))));
  for (unsigned bits = 0; bits < 0x7c00; bits += 7)
    CATCH_CHECK(half(widen(Float16{static_cast<std::uint16_t>(bits)})) == bits);
}

}  // namespace headroom::test
