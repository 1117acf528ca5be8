#include "core/io/blocks.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

using Shape = std::vector<std::int64_t>;

// How often each element is visited; -1 where a block is larger than allowed.
std::vector<int> visits(const Shape& shape, std::int64_t max_elements) {
  std::vector<int> out(static_cast<std::size_t>(element_count(shape)), 0);
  const auto done = for_each_block(shape, max_elements, [&](auto start, auto count) -> Result<void> {
    const std::int64_t elements = element_count(count);
    for (std::int64_t i = 0; i < elements; ++i) {
      std::int64_t rest = i;
      std::int64_t index = 0;
      std::int64_t stride = 1;
      for (std::size_t axis = count.size(); axis-- > 0;) {
        index += (start[axis] + rest % count[axis]) * stride;
        rest /= count[axis];
        stride *= shape[axis];
      }
      out[static_cast<std::size_t>(index)] += elements > max_elements ? -1 : 1;
    }
    return {};
  });
  CATCH_REQUIRE(done);
  return out;
}

}  // namespace

CATCH_TEST_CASE("Blocks cover an array once, within the limit") {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{3, 5, 7}, Shape{2, 1, 3, 11}}) {
    for (const std::int64_t limit : {1, 2, 7, 35, 36, 1000}) {
      CATCH_CHECK(visits(shape, limit) == std::vector<int>(static_cast<std::size_t>(element_count(shape)), 1));
    }
  }
  CATCH_CHECK(visits({3, 0, 2}, 4).empty());
}

CATCH_TEST_CASE("The first error stops the blocks") {
  int calls = 0;
  const auto result = for_each_block(Shape{5}, 1, [&](auto, auto) -> Result<void> {
    if (++calls == 2) return Error(ErrorCode::Io, "stop");
    return {};
  });
  CATCH_CHECK_FALSE(result);
  CATCH_CHECK(calls == 2);
}

CATCH_TEST_CASE("Element counts saturate") {
  CATCH_CHECK(element_count(Shape{}) == 1);
  CATCH_CHECK(element_count(Shape{std::int64_t{1} << 62, 4}) == std::numeric_limits<std::int64_t>::max());
  CATCH_CHECK(element_count(Shape{std::int64_t{1} << 62, 4, 0}) == 0);
}

CATCH_TEST_CASE("Chunks are one matrix of a layer, at most 1 MiB") {
  CATCH_CHECK(chunk_shape(Shape{}, 4, true).empty());
  CATCH_CHECK(chunk_shape(Shape{30, 9, 60}, 4, true).empty());  // 64,800 bytes: contiguous
  CATCH_CHECK(chunk_shape(Shape{30, 9, 0, 100000}, 4, true).empty());
  CATCH_CHECK(chunk_shape(Shape{64, 256}, 4, true) == Shape{1, 256});                          // 65,536 bytes: chunked
  CATCH_CHECK(chunk_shape(Shape{30, 9, 2, 2048}, 4, true) == Shape{1, 1, 2, 2048});            // one head
  CATCH_CHECK(chunk_shape(Shape{30, 9, 2, 64}, 4, true) == Shape{1, 9, 2, 64});                // small heads together
  CATCH_CHECK(chunk_shape(Shape{2, 4, 2, 1024, 1024}, 4, true) == Shape{1, 1, 1, 256, 1024});  // rows ≤ 1 MiB
  CATCH_CHECK(chunk_shape(Shape{1000000}, 8, true) == Shape{131072});
  CATCH_CHECK(chunk_shape(Shape{2, 1000000}, 8, true) == Shape{1, 131072});
  CATCH_CHECK(chunk_shape(Shape{8000, 3}, 8, false) == Shape{8000, 3});  // no layers: rows together
}

}  // namespace headroom::test
