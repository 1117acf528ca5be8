// What the rows of a corpus' head are drawn from: bars of sketches, and which rows a quantity of heads is taken over.
#include "core/corpus/corpus_rows.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "core/run/quantity_info.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

std::string sketch_name(const std::string& quantity) {
  const auto ref = parse_quantity(quantity);
  CATCH_REQUIRE(ref.has_value());
  const SketchedQuantity* found = sketch_of(*ref);
  return found == nullptr ? "" : std::string(found->name);
}

std::string curve_name(const std::string& quantity) {
  const auto ref = parse_quantity(quantity);
  CATCH_REQUIRE(ref.has_value());
  const CurveQuantity* found = curve_of(*ref);
  return found == nullptr ? "" : std::string(found->name);
}

}  // namespace

CATCH_TEST_CASE("corpus rows: bars hold every row between their ends, and no more of them than asked for") {
  for (const SketchBins& bins : {log_bins(1e-5, 1e5), linear_bins(-2.0, 3.0, 1.0 / 512.0)}) {
    const std::vector<double> rows = {0.11, 0.2, 0.5, 0.5, 0.999, 1.001, 1.7, 2.4};
    std::vector<std::int64_t> counts(static_cast<std::size_t>(bins.bins), 0);
    for (const double row : rows) ++counts[static_cast<std::size_t>(bins.bin_of(row))];
    for (const std::size_t most : {1u, 7u, 64u, 5000u}) {
      const std::vector<RowBar> bars = row_bars(bins, counts, most);
      CATCH_INFO(most << " bars, logarithmic: " << bins.logarithmic);
      CATCH_REQUIRE(!bars.empty());
      CATCH_CHECK(bars.size() <= most);
      for (std::size_t i = 0; i < bars.size(); ++i) {
        std::int64_t inside = 0;  // bins are open below where they are logarithmic, above where they are not
        for (const double row : rows)
          inside +=
              bins.logarithmic ? row > bars[i].low && row <= bars[i].high : row >= bars[i].low && row < bars[i].high;
        CATCH_CHECK(bars[i].count == inside);
        if (i > 0) CATCH_CHECK(bars[i].low == bars[i - 1].high);
      }
      CATCH_CHECK(std::accumulate(bars.begin(), bars.end(), std::int64_t{0},
                                  [](std::int64_t sum, const RowBar& bar) { return sum + bar.count; }) == 8);
    }
    CATCH_CHECK(row_bars(bins, std::vector<std::int64_t>(counts.size(), 0), 64).empty());
    CATCH_CHECK(row_bars(bins, counts, 0).empty());
  }
}

CATCH_TEST_CASE("corpus rows: a quantity is of the rows that it is taken over, not of others with a like name") {
  CATCH_CHECK(sketch_name("context_rms_relative_mean") == "context_rms_relative");
  CATCH_CHECK(sketch_name("context_rms_mean") == "context_rms");
  CATCH_CHECK(sketch_name("context_rms_max") == "context_rms");
  CATCH_CHECK(sketch_name("entropy_mean") == "entropy");
  CATCH_CHECK(sketch_name("entropy_normalized_mean").empty());
  CATCH_CHECK(sketch_name("logit_max") == "logit_max");
  CATCH_CHECK(sketch_name("logit_max_raw").empty());  // before the cap
  CATCH_CHECK(sketch_name("lambda_std") == "lambda");
  CATCH_CHECK(sketch_name("sink_score").empty());
  CATCH_CHECK(curve_name("sink_score") == "first_key_weight");
  CATCH_CHECK(curve_name("sink_score_net").empty());  // curves are of each map, not of the net one
  CATCH_CHECK(curve_name("weight_l2_mean") == "weight_l2");
  CATCH_CHECK(curve_name("logit_max").empty());
}

}  // namespace headroom::test
