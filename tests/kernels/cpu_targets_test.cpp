// Every instruction set that the CPU kernels are compiled for and this machine has, against the reference; and the
// floating-point mode that a call leaves behind.
#include <cstdint>
#include <string>
#include <vector>

#include <hwy/targets.h>

#include "tests/kernels/cpu_not_finite.h"
#include "tests/kernels/cpu_runs.h"
#include "tests/support/non_finite_cases.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace headroom::test {
namespace {

using kernels::BFloat16;

// Kernels run on one target until the end of the scope.
class OnTarget {
 public:
  explicit OnTarget(std::int64_t target) { choose(target); }
  ~OnTarget() { choose(0); }
  OnTarget(const OnTarget&) = delete;
  OnTarget& operator=(const OnTarget&) = delete;

 private:
  static void choose(std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().DeInit();  // the next call of a kernel looks again
  }
};

std::vector<AttentionCase> target_cases() {
  return {
      {.name = "softmax", .heads = 1, .head_dim = 24, .value_dim = 17},
      {.name = "V2, window, hidden keys", .pairing = Pairing::V2, .heads = 1, .window = 66, .hidden_keys = {0, 64, 70}},
      {.name = "V1, soft cap, sink", .pairing = Pairing::V1, .heads = 1, .softcap = 3.0, .sink = 0.5},
      {.name = "second map alone, bidirectional", .pairing = Pairing::SecondOnly, .heads = 1, .causal = false},
      {.name = "padding", .heads = 1, .head_dim = 33, .causal = false, .first_key = 20},
      {.name = "peaked", .heads = 1, .query_factor = 64.0},
      {.name = "ramp", .heads = 1, .data = Data::Ramp},
      {.name = "−∞, sink", .heads = 1, .sink = 1.0, .data = Data::MinusInfinity},
      {.name = "denormal", .heads = 1, .data = Data::Denormal},
  };
}

}  // namespace

CATCH_TEST_CASE("cpu targets: every one equals the reference") {
  std::uint64_t seed = 50;
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const OnTarget on(target);
    names.emplace_back(kernels::cpu_kernel_target());
    CATCH_CHECK(names.back() == hwy::TargetName(target));
    for (const AttentionCase& shape : target_cases())
      for (const std::int64_t length : {1, 17, 65, 130}) {
        check_cpu<float>(shape, length, ++seed);
        check_cpu<BFloat16>(shape, length, ++seed, full_request(), 0);
      }
    check_cpu<float>(target_cases()[1], 520, ++seed);
  }
  CATCH_REQUIRE(!names.empty());
  CATCH_CHECK(kernels::cpu_kernel_target() == names.front());  // without a choice, the best
}

CATCH_TEST_CASE("cpu targets: what is not finite is treated alike on every one") {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const OnTarget on(target);
    CATCH_INFO(kernels::cpu_kernel_target());
    for (const NonFiniteCase& given : non_finite_cases()) check_not_finite<float>(given, 1e-5);
  }
}

#if defined(__SSE2__)
CATCH_TEST_CASE("cpu targets: flushing of denormals ends with the call, and the caller's own mode stays") {
  const Tensors<float> tensors(random_attention<float>({.name = "", .heads = 1}, 100, 2));
  constexpr unsigned kFlush = 0x8040, kDefault = 0x1f80, kRoundDown = 0x2000;
  for (const unsigned mode : {kDefault, kDefault | kFlush, kDefault | 0x8000u, kDefault | kRoundDown}) {
    const unsigned before = _mm_getcsr();
    _mm_setcsr(mode);
    std::vector<unsigned> inside;
    const CpuAnswer answer = run_cpu(heads_of(tensors), full_request(), serial, [&] {
      inside.push_back(_mm_getcsr());
      return false;
    });
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    CATCH_INFO("mode " << mode);
    CATCH_CHECK(answer.complete);
    CATCH_CHECK((after & ~0x3fu) == (mode & ~0x3fu));  // the low bits are sticky exceptions
    CATCH_REQUIRE(!inside.empty());
    for (const unsigned csr : inside) CATCH_CHECK((csr & kFlush) == kFlush);
  }
  // Stopped early, too.
  const unsigned before = _mm_getcsr();
  CATCH_CHECK_FALSE(run_cpu(heads_of(tensors), full_request(), serial, [] { return true; }).complete);
  CATCH_CHECK((_mm_getcsr() & kFlush) == (before & kFlush));
}
#endif

}  // namespace headroom::test
