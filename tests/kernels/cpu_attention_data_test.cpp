// The fused CPU backend against the scalar double reference on data that strain its arithmetic.
#include <cstdint>
#include <vector>

#include "tests/kernels/cpu_runs.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;

std::vector<AttentionCase> strained_cases() {
  return {
      {.name = "softmax", .heads = 1, .head_dim = 24},
      {.name = "bidirectional", .heads = 1, .head_dim = 24, .causal = false},
      {.name = "sink logit", .heads = 1, .head_dim = 24, .sink = 2.0},
      {.name = "soft cap and temperature", .heads = 1, .head_dim = 24, .softcap = 6.0, .temperature = 0.75},
      {.name = "window", .heads = 1, .head_dim = 24, .window = 70},
      {.name = "V2", .pairing = Pairing::V2, .heads = 1, .head_dim = 24},
      {.name = "V1, sink", .pairing = Pairing::V1, .heads = 1, .head_dim = 24, .sink = 0.0},
      {.name = "second map alone", .pairing = Pairing::SecondOnly, .heads = 1, .head_dim = 24},
      {.name = "padding", .heads = 1, .head_dim = 24, .causal = false, .first_key = 30},
  };
}

void check_strained(const AttentionCase& shape, std::uint64_t seed,
                    const std::vector<std::int64_t>& lengths = {2, 64, 65, 193, 300}) {
  for (const std::int64_t length : lengths) {
    check_cpu<float>(shape, length, ++seed);
    check_cpu<BFloat16>(shape, length, ++seed);
  }
}

}  // namespace

CATCH_TEST_CASE("cpu attention: rows peaked until all but one weight is below the smallest float") {
  for (AttentionCase shape : strained_cases())
    for (const double factor : {8.0, 64.0, 300.0}) {
      CATCH_INFO("queries times " << factor);
      shape.query_factor = factor;
      check_strained(shape, 100 + static_cast<std::uint64_t>(factor));
    }
}

// Where nothing else rounds much, the exponentials are held to a few roundings.
CATCH_TEST_CASE("cpu attention: short rows of small logits") {
  for (AttentionCase shape : strained_cases()) {
    shape.deviation = 0.2;
    shape.first_key = 0;
    check_strained(shape, 150, {2, 3, 5, 9});
  }
}

CATCH_TEST_CASE("cpu attention: logits that rise along the keys raise the reference again and again") {
  for (AttentionCase shape : strained_cases()) {
    shape.data = Data::Ramp;
    check_strained(shape, 200);
  }
  check_cpu<float>({.name = "ramp", .pairing = Pairing::V2, .heads = 1, .data = Data::Ramp}, 1025, 201);
}

CATCH_TEST_CASE("cpu attention: rows of equal logits tie everywhere") {
  for (AttentionCase shape : strained_cases()) {
    shape.data = Data::Constant;
    check_strained(shape, 300);
  }
}

CATCH_TEST_CASE("cpu attention: visible logits of −∞ weigh nothing") {
  for (AttentionCase shape : strained_cases()) {
    shape.data = Data::MinusInfinity;
    check_strained(shape, 400);
  }
}

CATCH_TEST_CASE("cpu attention: denormal keys and values are as good as zero") {
  for (AttentionCase shape : strained_cases()) {
    shape.data = Data::Denormal;
    check_strained(shape, 500, {2, 65, 130});  // denormals are slow everywhere else
  }
}

}  // namespace headroom::test
