// Products on several sequences at once: every row has the bits of a product of its sequence alone, whatever the
// library does with more rows.
#include "core/compute/alike_products.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <cstdint>

#include "core/compute/weights.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && at::equal(a.contiguous().view(at::kByte), b.contiguous().view(at::kByte));
}

}  // namespace

CATCH_TEST_CASE("alike products: rows of several sequences have the bits of each sequence alone") {
  struct Case {
    std::int64_t sequences, length, in, out;
  };
  // Among them widths of which MKL is known to add up 128 rows and 4,096 rows in two orders.
  const Case cases[] = {{2, 1, 5, 3},        {3, 7, 64, 64},       {32, 64, 64, 256},   {32, 128, 576, 192},
                        {8, 128, 576, 1536}, {16, 128, 1536, 576}, {4, 512, 1536, 576}, {5, 63, 2048, 320}};
  at::manual_seed(3);
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16})
    for (const Case& one : cases)
      for (const bool biased : {false, true}) {
        const at::Tensor x = at::randn({one.sequences, one.length, one.in}).to(type);
        Linear linear{at::randn({one.out, one.in}).to(type), {}};
        if (biased) linear.bias = at::randn({one.out}).to(type);
        const AlikeProducts products(type != at::kBFloat16);
        const at::Tensor first = linear(x), again = linear(x);
        CATCH_INFO(one.sequences << " × " << one.length << " × " << one.in << " → " << one.out);
        for (std::int64_t i = 0; i < one.sequences; ++i) {
          const at::Tensor alone = linear(x.select(0, i));
          CATCH_CHECK(same_bits(first.select(0, i), alone));
          CATCH_CHECK(same_bits(again.select(0, i), alone));
        }
      }
}

CATCH_TEST_CASE("products: few rows of long sums have the same bits on one thread and on all") {
  const c10::InferenceMode inference;
  at::manual_seed(6);
  const int threads = at::get_num_threads();
  for (const std::int64_t rows : {1, 16, 64, 128})
    for (const bool biased : {false, true}) {
      const at::Tensor x = at::randn({rows, 1536});
      Linear linear{at::randn({576, 1536}), {}};
      if (biased) linear.bias = at::randn({576});
      const at::Tensor all = linear(x);
      at::set_num_threads(1);
      const at::Tensor one = linear(x);
      at::set_num_threads(threads);
      CATCH_INFO(rows << " rows");
      CATCH_CHECK(same_bits(all, one));
      // Not further from float64 than the library's own product.
      at::Tensor exact = at::linear(x.to(at::kDouble), linear.weight.to(at::kDouble));
      if (biased) exact = exact + linear.bias.to(at::kDouble);
      const auto error = [&](const at::Tensor& y) {
        return (y.to(at::kDouble) - exact).square().mean().item<double>();
      };
      const at::Tensor plain = biased ? at::linear(x, linear.weight, linear.bias) : at::linear(x, linear.weight);
      CATCH_CHECK(error(all) < 4.0 * error(plain));
    }
}

CATCH_TEST_CASE("alike products: activations of several sequences have the bits of each sequence alone") {
  at::manual_seed(4);
  // No length is whole vectors, so that the last numbers of each sequence lie inside of those of all.
  for (const std::int64_t channels : {1, 7, 63, 1531}) {
    const at::Tensor x = at::randn({9, 47, channels});
    for (const Activation activation :
         {Activation::Silu, Activation::Gelu, Activation::GeluTanh, Activation::QuickGelu, Activation::Relu}) {
      const AlikeProducts products(true);
      const at::Tensor all = activate(activation, x);
      for (std::int64_t i = 0; i < x.size(0); ++i)
        CATCH_CHECK(same_bits(all.select(0, i), activate(activation, x.select(0, i).clone())));
    }
  }
}

CATCH_TEST_CASE("alike products: a shape is shared where it may be, and a product of zeros decides nothing") {
  at::manual_seed(5);
  // Of one channel there is one order to add up in.
  const at::Tensor x = at::randn({4, 9, 1}), weight = at::randn({3, 1});
  {
    const AlikeProducts products(true);
    (void)Linear{at::zeros({3, 1}), {}}(x);
    CATCH_CHECK(products.shared_shapes() == 0);
    (void)Linear{weight, {}}(x);
    CATCH_CHECK(products.shared_shapes() == 1);
  }
  const AlikeProducts apart(false);
  (void)Linear{weight, {}}(x);
  CATCH_CHECK(apart.shared_shapes() == 0);
}

CATCH_TEST_CASE("alike products: they end with their scope, and no other products go through them") {
  CATCH_CHECK(AlikeProducts::here() == nullptr);
  {
    const AlikeProducts products(true);
    CATCH_CHECK(AlikeProducts::here() == &products);
    const at::Tensor x = at::full({2, 3, 4}, 1.5), weight = at::full({5, 4}, 2.0);
    CATCH_CHECK(at::equal(Linear{weight, {}}(x), at::full({2, 3, 5}, 12.0)));
    CATCH_CHECK(at::equal(Linear{weight, {}}(x[0]), at::full({3, 5}, 12.0)));
  }
  CATCH_CHECK(AlikeProducts::here() == nullptr);
}

}  // namespace headroom::test
