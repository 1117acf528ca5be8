// Curves of rows: one by one where they are few, then medians of the rows within a factor, by plain counting.
#include "app/figures/row_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/figures/head_series.h"
#include "app/figures/premise_rows.h"
#include "core/base/numbers.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"
#include "tests/support/snapshots.h"

namespace headroom::test {
namespace {

HeadSeries causal_series(std::size_t rows) {
  HeadSeries series;
  for (std::size_t i = 0; i < rows; ++i) series.visible.push_back(static_cast<double>(i + 1));
  series.place = series.visible;
  return series;
}

double median_by_sorting(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace

CATCH_TEST_CASE("a curve has each row, then medians of the rows within a factor of 1.33") {
  const HeadSeries series = causal_series(400);
  std::vector<double> values;
  for (std::size_t i = 0; i < 400; ++i) values.push_back(noise(i) - 0.3);
  values[4] = kNaN;
  values[200] = kInfinity;
  const RowCurve curve = row_curve(series, values);
  const double first = curve.first_median();
  // The first place of 49 from 16 on that 15 rows lie about.
  CATCH_CHECK((first > 20.0 && first < 30.0));
  std::size_t single = 0;
  for (std::size_t i = 0; i < curve.place.size(); ++i) {
    CATCH_CAPTURE(i, curve.place[i]);
    if (curve.row[i] >= 0) {
      ++single;
      const auto row = static_cast<std::size_t>(curve.row[i]);
      CATCH_CHECK(curve.place[i] == static_cast<double>(row + 1));
      CATCH_CHECK((curve.median[i] == values[row] || (row == 4 && std::isnan(curve.median[i]))));
      CATCH_CHECK((std::isnan(curve.lower[i]) && std::isnan(curve.upper[i])));
      continue;
    }
    std::vector<double> within;
    for (std::size_t row = 0; row < 400; ++row)
      if (const auto n = static_cast<double>(row + 1);
          n >= curve.place[i] / 1.33 && n <= 1.33 * curve.place[i] && std::isfinite(values[row]))
        within.push_back(values[row]);
    CATCH_CHECK(within.size() >= 15);
    CATCH_CHECK(curve.median[i] == near(median_by_sorting(within), 1e-12));
    CATCH_CHECK((curve.lower[i] <= curve.median[i] && curve.median[i] <= curve.upper[i]));
  }
  CATCH_CHECK(single == static_cast<std::size_t>(std::ceil(first - 1.0)));
  CATCH_CHECK(curve.place.back() == near(400.0, 1e-9));
  CATCH_CHECK(curve.last() == curve.median.back());
}

CATCH_TEST_CASE("few rows are a curve of single rows, and what is not finite has no end") {
  const HeadSeries series = causal_series(12);
  std::vector<double> values(12, 2.0);
  values.back() = kNaN;
  const RowCurve curve = row_curve(series, values);
  CATCH_CHECK(curve.place.size() == 12);
  CATCH_CHECK(std::isnan(curve.first_median()));
  CATCH_CHECK(curve.last() == 2.0);
  CATCH_CHECK(row_curve(series, std::vector<double>()).empty());
  CATCH_CHECK(std::isnan(RowCurve().last()));
}

CATCH_TEST_CASE("over positions a curve has medians of pieces of equal length, or single rows where these are few") {
  HeadSeries series = causal_series(240);
  series.visible.assign(240, 240.0);
  std::vector<double> values;
  for (std::size_t i = 0; i < 240; ++i) values.push_back(static_cast<double>(i));
  values[0] = kNaN;
  const RowCurve curve = row_curve(series, values, true);
  CATCH_REQUIRE(curve.place.size() == kPositionBins);
  CATCH_CHECK((curve.place.front() == 4.5 && curve.median.front() == 5.0));
  CATCH_CHECK((curve.place.back() == 234.5 && curve.median.back() == 234.5));
  CATCH_CHECK(curve.lower.back() == near(232.25, 1e-12));
  series.visible.resize(60);
  const RowCurve few = row_curve(series, std::span<const double>(values).first(60), true);
  CATCH_CHECK((few.place.size() == 60 && few.row.back() == 59));
}

CATCH_TEST_CASE("what random signs give is told by medians of its ends from the first row that counts") {
  SnapshotOptions options;
  auto layer = std::make_shared<LayerSnapshot>(*make_snapshot(options)->layer(1));
  HeadSeries series = causal_series(160);
  series.min_row = 64;
  CATCH_CHECK(premise_rows(*layer, 1, series).signs.empty());
  std::vector<float>& signs = layer->series["rows/sign_rms_relative"];
  std::vector<float>& uniform = layer->series["rows/uniform_rms_relative"];
  signs.assign(3 * 2 * 160, std::nanf(""));
  uniform.assign(3 * 160, 0.0f);
  for (std::size_t i = 63; i < 160; ++i) {
    signs[1 * 320 + i] = 0.5f, signs[1 * 320 + 160 + i] = 1.5f;
    uniform[1 * 160 + i] = 0.25f;
  }
  const PremiseRows rows = premise_rows(*layer, 1, series);
  CATCH_CHECK(rows.signs.size() == 97);
  CATCH_CHECK((rows.signs.front().row == 63 && rows.signs.front().place == 64.0));
  CATCH_REQUIRE_FALSE(rows.low.empty());
  CATCH_CHECK(rows.low.n.front() == near(64.0, 1e-9));
  CATCH_CHECK((rows.low.median.front() == 0.5 && rows.high.median.back() == 1.5));
  CATCH_CHECK(rows.uniform.place.size() == 97);  // what is 0 has no place on the axis
}

CATCH_TEST_CASE("a curve over visible keys goes forward where their counts begin anew") {
  // Chunks of 40 positions: rows see 1 … 40 keys, four times.
  HeadSeries series;
  std::vector<double> values;
  for (std::size_t i = 0; i < 160; ++i)
    series.visible.push_back(static_cast<double>(i % 40 + 1)), values.push_back(static_cast<double>(i));
  series.place = series.visible;
  const RowCurve curve = row_curve(series, values);
  CATCH_REQUIRE(curve.place.size() > 20);
  CATCH_CHECK(std::ranges::is_sorted(curve.place));
  // The four rows of a place in their order.
  for (std::size_t i = 0; i < 4; ++i) CATCH_CHECK(curve.row[i] == static_cast<std::int64_t>(40 * i));
}

}  // namespace headroom::test
