// Rows and keys that are not the same positions, and masks that are given entry by entry: the reference against the
// definition, the fused kernels and their windows against the reference.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "kernels/cpu/window.h"
#include "kernels/reference/window.h"
#include "tests/kernels/cpu_runs.h"
#include "tests/kernels/dense_attention.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::KeyRange;
using kernels::WindowMap;
using kernels::WindowRequest;

std::vector<AttentionCase> all_cases() {
  std::vector<AttentionCase> cases = rectangular_cases();
  for (const auto& more : {dense_cases(), always_visible_cases()}) cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

struct Planes {
  explicit Planes(const WindowRequest& request)
      : size(static_cast<std::size_t>(request.cell_rows() * request.cell_columns())), values(4 * size, -77.0F) {
    cells = {values.data(), values.data() + size, values.data() + 2 * size, values.data() + 3 * size,
             request.cell_columns()};
  }
  std::size_t size;
  std::vector<float> values;
  kernels::WindowCells cells;
};

}  // namespace

CATCH_TEST_CASE("rectangular masks: every form of a mask says what the definition says, entry by entry") {
  for (const AttentionCase& shape : all_cases())
    for (const std::int64_t length : {1, 2, 13, 64, 70}) {
      CATCH_INFO(shape.name << ", length " << length);
      const auto data = random_attention<double>(shape, length, 3);
      const auto problem = data.problem(0);
      const kernels::Mask& mask = problem.mask;
      const auto flags = kernels::mask_flags(mask), blind = kernels::blind_rows(mask);
      const kernels::PlainMask plain = kernels::plain_mask(mask, flags, blind);
      std::vector<KeyRange> segments;
      bool same = true, same_plain = true, same_ranges = true, same_rows = true;
      for (std::int64_t i = 0; i < length; ++i) {
        mask.segments(i, segments);
        std::int64_t seen = 0;
        for (std::int64_t j = 0; j < mask.keys(); ++j) {
          const bool wanted = dense_visible(problem, i, j);
          seen += wanted ? 1 : 0;
          same = same && mask.sees(i, j) == wanted;
          if (!mask.dense) same_plain = same_plain && plain.sees(i, j) == wanted;
          const bool in_range = std::ranges::any_of(segments, [&](const KeyRange& range) { return range.holds(j); });
          same_ranges = same_ranges && in_range == wanted;
          if (mask.hidden_keys.empty() && !mask.dense) {
            const bool in_hull = mask.keys_of(i).holds(j), gap = mask.always_visible > 0 && in_hull && !wanted;
            same_rows = same_rows && (in_hull == wanted || gap) && mask.rows_of(j).holds(i) == wanted;
          }
        }
        CATCH_CHECK(mask.visible(i) == seen);
        if (!mask.dense) CATCH_CHECK(plain.row_sees(i) == (seen > 0));
        if (!mask.seeing_rows().holds(i)) CATCH_CHECK(seen == 0);
        CATCH_CHECK_FALSE(mask.sees(i, -1));
        CATCH_CHECK_FALSE(mask.sees(i, mask.keys()));
      }
      CATCH_CHECK(same);
      CATCH_CHECK(same_plain);
      CATCH_CHECK(same_ranges);
      CATCH_CHECK(same_rows);
    }
}

CATCH_TEST_CASE("rectangular attention: the reference equals the dense formulas") {
  std::uint64_t seed = 100;
  for (const AttentionCase& shape : all_cases())
    for (const std::int64_t length : {1, 2, 13, 64, 70}) {
      const auto data = random_attention<double>(shape, length, ++seed);
      for (const std::int64_t pool_extent : {0, 200}) {
        CATCH_INFO(shape.name << ", length " << length << ", pooled cells of " << pool_extent);
        kernels::StatisticsRequest request = full_request();
        request.pool_extent = pool_extent;
        const auto problem = data.problem(0);
        kernels::HeadStatistics found;
        std::vector<double> context(static_cast<std::size_t>(length * problem.value_dim));
        kernels::reference_attention(problem, request, found, context);
        CATCH_CHECK(statistics_mismatch(found, dense_statistics(problem, request), 1e-12) == "");
        CATCH_CHECK(array_mismatch("context", context, dense_head(problem).context, 1e-12) == "");
      }
    }
}

CATCH_TEST_CASE("rectangular attention: the fused kernels equal the reference, in float32 and bfloat16") {
  std::uint64_t seed = 9000;
  std::vector<AttentionCase> cases = rectangular_cases();
  std::ranges::copy_if(always_visible_cases(), std::back_inserter(cases),
                       [](const AttentionCase& shape) { return shape.dense == Dense::None; });
  for (const AttentionCase& shape : cases)
    for (const std::int64_t length : {1, 2, 17, 63, 65, 192, 193, 511}) {
      check_cpu<float>(shape, length, ++seed);
      check_cpu<kernels::BFloat16>(shape, length, seed);
      check_cpu<float>(shape, length, seed, full_request(), 0);
    }
}

CATCH_TEST_CASE("rectangular attention: windows equal the definition, exact and pooled") {
  std::uint64_t seed = 400;
  for (const AttentionCase& shape : all_cases())
    for (const std::int64_t length : {1, 13, 67, 300}) {
      const auto data = random_attention<float>(shape, length, ++seed);
      const auto exact = widened(data);
      const auto problem = data.problem(0);
      const auto wide = exact.problem(0);
      std::array<std::vector<double>, 2> lse;
      for (std::size_t m = 0; m < 2; ++m)
        for (std::int64_t i = 0; wide.maps[m].present() && i < length; ++i)
          lse[m].push_back(kernels::reference_row(wide, m, i).lse);
      for (const WindowMap map : {WindowMap::Net, WindowMap::First, WindowMap::SecondLogits})
        for (const std::int64_t reduction : {1, 3, 64}) {
          for (const std::int64_t corner : {0, 5}) {
            const std::int64_t keys = problem.mask.keys();
            if (corner >= length || corner >= keys) continue;
            const WindowRequest request{map, corner, length - corner, corner, keys - corner, reduction};
            Planes found(request), expected(request);
            kernels::reference_window(wide, request, expected.cells);
            CATCH_REQUIRE(kernels::cpu_window<float>(problem, {lse[0].data(), lse[1].data()}, request, found.cells,
                                                     serial, nullptr));
            float worst = 0.0F, largest = 1e-30F;
            bool same_cells = true;
            for (std::size_t i = 0; i < found.values.size(); ++i) {
              const float a = found.values[i], b = expected.values[i];
              same_cells = same_cells && std::isnan(a) == std::isnan(b);
              if (std::isnan(a) || std::isnan(b)) continue;
              worst = std::max(worst, std::abs(a - b));
              largest = std::max(largest, std::abs(b));
            }
            CATCH_INFO(shape.name << ", length " << length << ", map " << static_cast<int>(map) << ", reduction "
                                  << reduction << ", corner " << corner);
            CATCH_CHECK(same_cells);
            CATCH_CHECK(worst <= 1e-5F * largest);
          }
        }
    }
}

}  // namespace headroom::test
