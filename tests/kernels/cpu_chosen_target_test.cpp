// Which instructions the CPU kernels use, and the count of the multiply-adds that their rate is compared with.
#include "kernels/cpu/target.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/peak.h"
#include "tests/support/catch.h"

namespace headroom::kernels::test {
namespace {

// Floats in a register; 0 for targets whose registers have no one width.
int lanes_of(const std::string& target) {
  if (target.starts_with("AVX3")) return 16;
  if (target == "AVX2") return 8;
  if (target.starts_with("SS") || target.starts_with("NEON") || target == "EMU128") return 4;
  return target == "SCALAR" ? 1 : 0;
}

}  // namespace

CATCH_TEST_CASE("target: each that is named can be chosen, and the best comes back") {
  const std::string best = cpu_kernel_target();
  const std::vector<std::string> names = cpu_targets();
  CATCH_REQUIRE(!names.empty());
  CATCH_CHECK(names.front() == best);
  for (const std::string& name : names) {
    CATCH_INFO(name);
    CATCH_REQUIRE(choose_cpu_target(name));
    CATCH_CHECK(cpu_kernel_target() == name);
    // What can be chosen is not what is chosen.
    CATCH_CHECK(cpu_targets() == names);
    CATCH_CHECK(cpu_kernel_target() == name);
  }
  CATCH_REQUIRE(choose_cpu_target(names.back()));
  CATCH_CHECK(choose_cpu_target(""));
  CATCH_CHECK(cpu_kernel_target() == best);
}

CATCH_TEST_CASE("target: an unknown name changes nothing") {
  const std::vector<std::string> names = cpu_targets();
  CATCH_REQUIRE(choose_cpu_target(names.back()));
  for (const char* unknown : {"AVX9", "avx2", "AVX2 ", "Unknown"}) {
    CATCH_INFO(unknown);
    CATCH_CHECK(!choose_cpu_target(unknown));
    CATCH_CHECK(cpu_kernel_target() == names.back());
  }
  CATCH_CHECK(choose_cpu_target(""));
}

CATCH_TEST_CASE("peak: twelve sums of every lane, two operations each, at every step") {
  for (const std::string& name : cpu_targets()) {
    CATCH_INFO(name);
    CATCH_REQUIRE(choose_cpu_target(name));
    CATCH_CHECK(run_multiply_adds(0) == 0.0);
    const double count = run_multiply_adds(1000);
    const int lanes = lanes_of(name);
    if (lanes > 0) CATCH_CHECK(count == 2.0 * 12 * lanes * 1000);
    CATCH_CHECK(count > 0.0);
  }
  CATCH_CHECK(choose_cpu_target(""));
}

}  // namespace headroom::kernels::test
