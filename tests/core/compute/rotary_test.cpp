// Rotation of query and key blocks against the two layouts' formulas, element by element.
#include "core/compute/rotary.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstdint>

#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

const TorchTarget kDouble{at::kDouble, at::kDouble, at::kCPU};

at::Tensor random_blocks(std::int64_t length, std::int64_t blocks, std::int64_t channels) {
  Random random(5);
  return at::tensor(random.normals(length * blocks * channels), at::kDouble).view({length, blocks, channels});
}

RopeSpec spec(RopeLayout layout, std::int64_t rotary_dim, double theta = 10000.0) {
  RopeSpec rope;
  rope.layout = layout;
  rope.rotary_dim = rotary_dim;
  rope.theta = theta;
  rope.max_positions = 512.0;
  return rope;
}

double at3(const at::Tensor& x, std::int64_t i, std::int64_t j, std::int64_t k) { return x[i][j][k].item<double>(); }

}  // namespace

CATCH_TEST_CASE("rotary: pair (x₁, x₂) at position p turns by p · θ^(−2i/r), and further channels pass") {
  const std::int64_t length = 9, blocks = 3, channels = 10;
  const at::Tensor x = random_blocks(length, blocks, channels);
  for (const RopeLayout layout : {RopeLayout::HalfSplit, RopeLayout::Interleaved})
    for (const std::int64_t rotary_dim : {2, 6, 10}) {
      const at::Tensor y = Rotary(spec(layout, rotary_dim, 500.0), length, kDouble)(x);
      const bool interleaved = layout == RopeLayout::Interleaved;
      CATCH_INFO((interleaved ? "interleaved" : "half-split") << ", " << rotary_dim << " channels");
      for (std::int64_t p = 0; p < length; ++p)
        for (std::int64_t b = 0; b < blocks; ++b) {
          for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
            const std::int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + rotary_dim / 2;
            const double angle = static_cast<double>(p) *
                                 std::pow(500.0, -2.0 * static_cast<double>(i) / static_cast<double>(rotary_dim));
            const double c = std::cos(angle), s = std::sin(angle);
            CATCH_CHECK(at3(y, p, b, first) == near(at3(x, p, b, first) * c - at3(x, p, b, second) * s, 0.0, 1e-14));
            CATCH_CHECK(at3(y, p, b, second) == near(at3(x, p, b, second) * c + at3(x, p, b, first) * s, 0.0, 1e-14));
          }
          for (std::int64_t c = rotary_dim; c < channels; ++c) CATCH_CHECK(at3(y, p, b, c) == at3(x, p, b, c));
        }
    }
}

CATCH_TEST_CASE("rotary: no layout returns what it is given, and the input is never changed") {
  const at::Tensor x = random_blocks(4, 2, 6);
  const at::Tensor before = x.clone();
  CATCH_CHECK(at::equal(Rotary(spec(RopeLayout::None, 0), 4, kDouble)(x), before));
  CATCH_CHECK(!at::equal(Rotary(spec(RopeLayout::HalfSplit, 6), 4, kDouble)(x), before));
  CATCH_CHECK(at::equal(x, before));
}

CATCH_TEST_CASE("rotary: the product of a query and a key depends on their distance alone, in both layouts") {
  const std::int64_t length = 40;
  const at::Tensor one = random_blocks(1, 2, 8);
  const at::Tensor q = one.narrow(1, 0, 1).expand({length, 1, 8}), k = one.narrow(1, 1, 1).expand({length, 1, 8});
  for (const RopeLayout layout : {RopeLayout::HalfSplit, RopeLayout::Interleaved}) {
    const Rotary rotary(spec(layout, 8), length, kDouble);
    const at::Tensor product = at::mm(rotary(q).select(1, 0), rotary(k).select(1, 0).t());
    for (std::int64_t i = 5; i < length; ++i)
      for (const std::int64_t distance : {0, 1, 5})
        CATCH_CHECK(product[i][i - distance].item<double>() == near(product[distance][0].item<double>(), 0.0, 1e-12));
    CATCH_CHECK(std::abs(product[5][0].item<double>() - product[0][0].item<double>()) > 1e-3);
  }
}

CATCH_TEST_CASE("rotary: permuting interleaved channels gives the half-split rotation") {
  const at::Tensor x = random_blocks(7, 2, 8);
  const at::Tensor order = at::tensor({0, 2, 4, 6, 1, 3, 5, 7}, at::kLong);
  const at::Tensor interleaved = Rotary(spec(RopeLayout::Interleaved, 8), 7, kDouble)(x).index_select(2, order);
  const at::Tensor half_split = Rotary(spec(RopeLayout::HalfSplit, 8), 7, kDouble)(x.index_select(2, order));
  CATCH_CHECK(at::equal(interleaved, half_split));
}

CATCH_TEST_CASE("rotary: YaRN's attention factor multiplies the rotated channels and no others") {
  RopeSpec rope = spec(RopeLayout::HalfSplit, 4, 150000.0);
  rope.scaling.kind = RopeScalingKind::Yarn;
  rope.scaling.factor = 32.0;
  rope.scaling.original_max_positions = 4096.0;
  rope.scaling.truncate = false;
  const at::Tensor x = random_blocks(3, 1, 6);
  const at::Tensor y = Rotary(rope, 3, kDouble)(x);
  // Position 0 turns by nothing; 1.3465735903 = 0.1·ln 32 + 1.
  for (std::int64_t c = 0; c < 4; ++c) CATCH_CHECK(at3(y, 0, 0, c) == near(1.3465735903 * at3(x, 0, 0, c), 5e-11));
  for (std::int64_t c = 4; c < 6; ++c) CATCH_CHECK(at3(y, 0, 0, c) == at3(x, 0, 0, c));
  const auto length = [](const at::Tensor& t, std::int64_t p, std::int64_t i) {
    return std::hypot(at3(t, p, 0, i), at3(t, p, 0, i + 2));
  };
  for (const std::int64_t p : {1, 2})
    for (const std::int64_t i : {0, 1}) CATCH_CHECK(length(y, p, i) == near(1.3465735903 * length(x, p, i), 5e-11));
}

CATCH_TEST_CASE("rotary: in float32 runs angles are products of float32, as transformers rounds them") {
  const std::int64_t length = 3000;
  const Rotary rotary(spec(RopeLayout::HalfSplit, 4), length, TorchTarget{at::kFloat, at::kFloat, at::kCPU});
  const at::Tensor one = at::tensor({1.0F, 1.0F, 0.0F, 0.0F}).view({1, 1, 4}).expand({length, 1, 4});
  const at::Tensor y = rotary(one);
  const float slow = 1.0F / std::pow(10000.0F, 0.5F);
  for (const std::int64_t p : {0, 1, 17, 1023, 2999}) {
    const float angle = static_cast<float>(p) * slow;
    CATCH_INFO("position " << p);
    CATCH_CHECK(at3(y, p, 0, 0) == near(std::cos(static_cast<double>(p)), 0.0, 1e-7));
    CATCH_CHECK(at3(y, p, 0, 1) == near(std::cos(static_cast<double>(angle)), 0.0, 1e-7));
    CATCH_CHECK(at3(y, p, 0, 3) == near(std::sin(static_cast<double>(angle)), 0.0, 1e-7));
  }
}

CATCH_TEST_CASE("rotary: bfloat16 runs round tables that were made in float32") {
  const TorchTarget target{at::kBFloat16, at::kFloat, at::kCPU};
  const at::Tensor one = at::tensor({1.0F, 0.0F}).view({1, 1, 2}).expand({300, 1, 2}).to(at::kBFloat16);
  const at::Tensor y = Rotary(spec(RopeLayout::HalfSplit, 2), 300, target)(one);
  CATCH_CHECK(y.scalar_type() == at::kBFloat16);
  for (const std::int64_t p : {1, 257, 299}) {
    CATCH_INFO("position " << p);
    const auto rounded = static_cast<float>(c10::BFloat16(static_cast<float>(std::cos(static_cast<double>(p)))));
    CATCH_CHECK(at3(y, p, 0, 0) == static_cast<double>(rounded));
  }
}

}  // namespace headroom::test
