// Counts of NaN and infinities, and the tensors and layers that they are told of.
#include "core/model/non_finite.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

WeightRef weight(const std::string& tensor) {
  WeightRef ref;
  ref.tensor = tensor;
  ref.stored_shape = {4, 4};
  return ref;
}

// Two layers of a k projection each, an embedding and an output matrix.
ModelSpec model() {
  ModelSpec spec;
  spec.blocks.resize(2);
  for (std::size_t l = 0; l < 2; ++l) spec.blocks[l].attention.k.weight = weight("layers." + std::to_string(l) + ".k");
  spec.embedding = weight("embedding");
  spec.lm_head.weight = weight("head");
  return spec;
}

}  // namespace

CATCH_TEST_CASE("not finite: every kind is counted, wherever it stands, in float and double") {
  for (const std::size_t size : {1u, 7u, 4096u, 4097u, 10000u}) {
    std::vector<double> values(size, 1.0);
    std::vector<float> narrow(size, 1.0f);
    CATCH_CHECK(count_non_finite(std::span<const double>(values)).all() == 0);
    values.back() = -kInf;
    values[size / 2] = std::nan("");
    values.front() = kInf;
    NonFiniteCounts wanted;
    for (const double value : values) {
      wanted.nan += value != value ? 1 : 0;
      wanted.positive_infinity += value == kInf ? 1 : 0;
      wanted.negative_infinity += value == -kInf ? 1 : 0;
    }
    for (std::size_t i = 0; i < size; ++i) narrow[i] = static_cast<float>(values[i]);
    for (const NonFiniteCounts& found :
         {count_non_finite(std::span<const double>(values)), count_non_finite(std::span<const float>(narrow))}) {
      CATCH_INFO("size " << size);
      CATCH_CHECK(found.nan == wanted.nan);
      CATCH_CHECK(found.positive_infinity == wanted.positive_infinity);
      CATCH_CHECK(found.negative_infinity == wanted.negative_infinity);
    }
  }
  const std::vector<float> large = {std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(), 1e-45f,
                                    -0.0f};
  CATCH_CHECK(count_non_finite(std::span<const float>(large)).all() == 0);
}

CATCH_TEST_CASE("not finite: tensors come by layer with their counts, slices of one tensor as one") {
  const ModelSpec spec = model();
  const std::vector<float> clean(8, 1.0f), odd = {1.0f, NAN, 2.0f, INFINITY, -INFINITY, NAN, NAN, 0.0f};
  NonFiniteLog log;
  CATCH_CHECK(log.weights(spec).empty());
  log.add_slice(spec.lm_head.weight, std::span<const float>(odd));
  log.add_slice(spec.blocks[1].attention.k.weight, std::span<const float>(clean));
  log.add_slice(spec.blocks[1].attention.k.weight, std::span<const float>(odd));
  log.add_slice(spec.blocks[0].attention.k.weight, std::span<const float>(clean));
  const std::vector<NonFiniteWeight> found = log.weights(spec);
  CATCH_REQUIRE(found.size() == 2);
  CATCH_CHECK(describe(found[0]) == "head: 3 NaN, 1 +∞, 1 −∞ among 8 values");
  CATCH_CHECK(found[0].layer == -1);
  CATCH_CHECK(describe(found[1]) == "layer 1, layers.1.k: 3 NaN, 1 +∞, 1 −∞ among 16 values");
  CATCH_CHECK(found[1].layer == 1);
}

CATCH_TEST_CASE("not finite: rows of an embedding count as read, and read whole as well, they count once") {
  const ModelSpec spec = model();
  const std::vector<double> row = {1.0, -kInf}, whole = {1.0, -kInf, 3.0, std::nan("")};
  NonFiniteLog log;
  log.add_rows(spec.embedding, std::span<const double>(row));
  CATCH_REQUIRE(log.weights(spec).size() == 1);
  CATCH_CHECK(describe(log.weights(spec)[0]) == "embedding: 1 −∞ among 2 values");
  log.add_slice(spec.embedding, std::span<const double>(whole));
  CATCH_REQUIRE(log.weights(spec).size() == 1);
  CATCH_CHECK(describe(log.weights(spec)[0]) == "embedding: 1 NaN, 1 −∞ among 4 values");
}

}  // namespace headroom::test
