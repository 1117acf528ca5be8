// What a mask shows, against its definition entry by entry (dense_attention.h): ranges, flags, counts, both forms of
// it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/mask.h"
#include "kernels/reference/attention.h"
#include "tests/kernels/dense_attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

using kernels::HeadProblem;
using kernels::KeyRange;
using kernels::Mask;

std::vector<AttentionCase> all_cases() {
  std::vector<AttentionCase> cases = attention_cases();
  for (const AttentionCase& shape : padded_cases()) cases.push_back(shape);
  for (const AttentionCase& shape : always_visible_cases())
    if (shape.more_keys == 0 && shape.dense == Dense::None) cases.push_back(shape);
  return cases;
}

// body(problem, visible) for each case and length, `visible` by the definition, [length, length].
template <typename Body>
void for_each_mask(const std::vector<std::int64_t>& lengths, const Body& body) {
  for (const AttentionCase& shape : all_cases())
    for (const std::int64_t length : lengths) {
      const auto data = random_attention<double>(shape, length, 2);
      const HeadProblem<double> problem = data.problem(0);
      std::vector<std::vector<bool>> visible(static_cast<std::size_t>(length));
      for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t j = 0; j < length; ++j)
          visible[static_cast<std::size_t>(i)].push_back(dense_visible(problem, i, j));
      CATCH_INFO(shape.name << ", length " << length);
      body(problem.mask, visible);
    }
}

}  // namespace

CATCH_TEST_CASE("masks: the visible segments of every row are the keys that the mask's definition names") {
  for_each_mask({1, 2, 65, 70}, [](const Mask& mask, const std::vector<std::vector<bool>>& visible) {
    std::vector<KeyRange> segments;
    for (std::int64_t i = 0; i < mask.length; ++i) {
      CATCH_INFO("row " << i);
      mask.segments(i, segments);
      std::vector<bool> found(static_cast<std::size_t>(mask.length), false);
      std::int64_t last = -1;
      for (const KeyRange& segment : segments) {
        CATCH_CHECK(segment.begin > last);
        CATCH_CHECK(segment.size() > 0);
        for (std::int64_t j = segment.begin; j < segment.end; ++j) found[static_cast<std::size_t>(j)] = true;
        last = segment.end - 1;
      }
      CATCH_CHECK(found == visible[static_cast<std::size_t>(i)]);
    }
  });
}

CATCH_TEST_CASE("masks: each entry by itself, as a mask and in plain numbers, and how many a row sees") {
  for_each_mask({1, 2, 65, 70}, [](const Mask& mask, const std::vector<std::vector<bool>>& visible) {
    const std::vector<std::uint8_t> flags = kernels::mask_flags(mask);
    CATCH_CHECK(flags.empty() == mask.hidden_keys.empty());
    const kernels::PlainMask plain = kernels::plain_mask(mask, flags);
    bool same = true, same_plain = true;
    for (std::int64_t i = 0; i < mask.length; ++i) {
      const std::vector<bool>& row = visible[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < mask.length; ++j) {
        same = same && mask.sees(i, j) == row[static_cast<std::size_t>(j)];
        same_plain = same_plain && plain.sees(i, j) == row[static_cast<std::size_t>(j)];
      }
      CATCH_CHECK(mask.visible(i) == std::count(row.begin(), row.end(), true));
    }
    CATCH_CHECK(same);
    CATCH_CHECK(same_plain);
    CATCH_CHECK_FALSE(mask.sees(-1, 0));
    CATCH_CHECK_FALSE(mask.sees(0, mask.length));
    CATCH_CHECK_FALSE(mask.sees(mask.length, 0));
  });
}

CATCH_TEST_CASE("masks: the keys of a row and the rows of a key, before hidden ones are taken out") {
  for_each_mask({1, 2, 65, 70}, [](const Mask& given, const std::vector<std::vector<bool>>&) {
    Mask mask = given;
    mask.hidden_keys.clear();
    bool same = true;
    for (std::int64_t i = 0; i < mask.length; ++i)
      for (std::int64_t j = 0; j < mask.length; ++j) {
        const bool near = mask.near_keys_of(i).holds(j), always = mask.always_keys_of(i).holds(j);
        same = same && !(near && always) && (near || always) == mask.sees(i, j);
        same = same && (mask.always_visible > 0 || mask.keys_of(i).holds(j) == near);
        same = same && (!mask.sees(i, j) || mask.keys_of(i).holds(j));
        same = same && mask.rows_of(j).holds(i) == mask.sees(i, j);
      }
    CATCH_CHECK(same);
  });
}

CATCH_TEST_CASE("masks: a row of a causal map sees i + 1 keys, of a window of W at most W, and 2W − 1 on both sides") {
  const auto count = [](const AttentionCase& shape, std::int64_t length, std::int64_t row) {
    const auto data = random_attention<double>(shape, length, 3);
    std::int64_t visible = 0;
    for (const double a : kernels::reference_weights(data.problem(0), 0, row)) visible += a > 0.0 ? 1 : 0;
    CATCH_CHECK(data.problem(0).mask.visible(row) == visible);
    return visible;
  };
  for (const std::int64_t row : {0, 1, 2, 6, 7, 8, 19}) {
    CATCH_CHECK(count({.name = "causal"}, 20, row) == row + 1);
    CATCH_CHECK(count({.name = "window 7", .window = 7}, 20, row) == std::min<std::int64_t>(row + 1, 7));
    CATCH_CHECK(count({.name = "window 1", .window = 1}, 20, row) == 1);
    CATCH_CHECK(count({.name = "bidirectional", .causal = false}, 20, row) == 20);
    CATCH_CHECK(count({.name = "bidirectional, window 1", .causal = false, .window = 1}, 20, row) == 1);
    CATCH_CHECK(count({.name = "chunks of 6", .chunk = 6}, 20, row) == row % 6 + 1);
    CATCH_CHECK(count({.name = "window 4 and the first 3", .window = 4, .always_visible = 3}, 20, row) ==
                std::min<std::int64_t>(row + 1, 7));
    CATCH_CHECK(count({.name = "chunks of 6, both sides", .causal = false, .chunk = 6}, 20, row) == (row < 18 ? 6 : 2));
    CATCH_CHECK(count({.name = "bidirectional, window 4", .causal = false, .window = 4}, 20, row) ==
                std::min<std::int64_t>(row, 3) + 1 + std::min<std::int64_t>(19 - row, 3));
  }
}

CATCH_TEST_CASE("masks: limits of sequences without tokens and of windows beyond them") {
  const Mask nothing{0, false, 5, 0, {}};
  CATCH_CHECK(nothing.behind() == 0);
  CATCH_CHECK(nothing.keys_of(0).size() <= 0);
  const Mask wide{10, false, 50, 0, {}};
  CATCH_CHECK(wide.reaches_back());
  CATCH_CHECK(wide.behind() == 9);
  CATCH_CHECK(wide.ahead() == 9);
  const Mask narrow{10, true, 9, 0, {}};
  CATCH_CHECK_FALSE(narrow.reaches_back());
  CATCH_CHECK(narrow.ahead() == 0);
}

CATCH_TEST_CASE("pooled counts: the visible entries of each cell, by counting") {
  for_each_mask({1, 5, 33, 64}, [](const Mask& mask, const std::vector<std::vector<bool>>& visible) {
    for (const std::int64_t size : {1, 4, 7, 64}) {
      const std::int64_t blocks = (mask.length + size - 1) / size;
      std::vector<std::int64_t> expected(static_cast<std::size_t>(blocks * blocks), 0);
      for (std::int64_t i = 0; i < mask.length; ++i)
        for (std::int64_t j = 0; j < mask.length; ++j)
          expected[static_cast<std::size_t>(i / size * blocks + j / size)] +=
              visible[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] ? 1 : 0;
      CATCH_INFO("cells of " << size);
      CATCH_CHECK(kernels::pooled_counts(mask, size, blocks) == expected);
    }
  });
}

}  // namespace headroom::test
