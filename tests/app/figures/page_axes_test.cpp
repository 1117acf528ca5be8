// Axes of figures: steps, ends of indices, powers, labels that do not touch at any size.
#include "app/figures/page_axes.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "app/figures/page_length.h"
#include "app/plot/plain_measure.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

std::vector<std::string> labels_of(const PageAxis& axis, float length, bool horizontal) {
  const PlainMeasure measure;
  const Page page{measure, {}};
  std::vector<std::string> labels;
  for (const PageTick& tick : page_ticks(axis, 0.0f, length, horizontal, page))
    if (!tick.label.empty()) labels.push_back(plain_text(tick.label));
  return labels;
}

using Labels = std::vector<std::string>;

}  // namespace

CATCH_TEST_CASE("page axes: decades have 2 and 5 where there is room, and powers beyond four decades") {
  PageAxis axis{1.0, 512.0, true};
  axis.high_label = true;
  CATCH_CHECK(labels_of(axis, 150.0f, true) == Labels{"1", "2", "5", "10", "20", "50", "100", "200", "512"});
  CATCH_CHECK(labels_of(axis, 60.0f, true) == Labels{"1", "10", "100", "512"});
  CATCH_CHECK(labels_of({0.04, 1.2, true}, 120.0f, false) == Labels{"0.05", "0.1", "0.2", "0.5", "1"});
  CATCH_CHECK(labels_of({1e-6, 1.0, true}, 100.0f, false).front() == "10⁻⁶");
}

// Pages of that height are laid out to learn how much room a figure needs; each label is text to be shaped.
CATCH_TEST_CASE("page axes: a hundred metres have no more numbers than anybody reads") {
  const float length = 1e5f * 72.0f / 25.4f;
  PageAxis whole{0.0, 1e6};
  whole.whole = true;
  for (const PageAxis& axis : {PageAxis{0.0, 1.0}, PageAxis{-0.3, 189.0}, PageAxis{0.9, 1.1, true}, whole}) {
    const std::size_t numbers = labels_of(axis, length, false).size();
    CATCH_CHECK((numbers >= 10 && numbers <= 110));
  }
}

CATCH_TEST_CASE("page axes: indices show the first and the last, and a step too near to the last gives way") {
  PageAxis axis{-0.5, 29.5};
  axis.whole = true;
  CATCH_CHECK(labels_of(axis, 150.0f, true) == Labels{"0", "5", "10", "15", "20", "25", "29"});
  axis.high = 26.5;
  CATCH_CHECK(labels_of(axis, 150.0f, true) == Labels{"0", "5", "10", "15", "20", "26"});
  axis.high = 0.5;
  CATCH_CHECK(labels_of(axis, 150.0f, true) == Labels{"0"});
}

CATCH_TEST_CASE("page axes: small numbers of a log axis are powers of ten") {
  const Labels labels = labels_of(PageAxis{2e-4, 1.0, true}, 300.0f, false);
  CATCH_CHECK(std::ranges::find(labels, "2·10⁻⁴") != labels.end());
  CATCH_CHECK(std::ranges::find(labels, "0.001") != labels.end());
  for (const std::string& label : labels) CATCH_CHECK(label.find('e') == std::string::npos);
}

CATCH_TEST_CASE("page axes: less than a decade that ends with its last index has linear steps") {
  PageAxis axis{26.0, 64.0, true};
  axis.high_label = true;
  const Labels labels = labels_of(axis, 200.0f, true);
  CATCH_CHECK((labels.size() > 2 && labels.front() == "30" && labels.back() == "64"));
  axis.low = 1.0, axis.high = 2.0;  // both ends are named already
  CATCH_CHECK(labels_of(axis, 60.0f, true) == Labels{"1", "2"});
}

CATCH_TEST_CASE("page axes: labels never touch") {
  const PlainMeasure measure;
  const Page page{measure, {}};
  for (const bool log : {false, true})
    for (const double high : {1.5, 7.0, 64.0, 512.0, 131072.0})
      for (const float length : {20.0f, 45.0f, 90.0f, 300.0f})
        for (const bool end : {false, true}) {
          PageAxis axis{log ? 1.0 : 0.0, high, log};
          axis.high_label = end;
          float before = -1000.0f;
          for (const PageTick& tick : page_ticks(axis, 0.0f, length, true, page)) {
            if (tick.label.empty()) continue;
            const float half = 0.5f * rich_width(measure, tick.label, page.style.text());
            CATCH_INFO("to " << high << " on " << length << " pt, log " << log << ", " << plain_text(tick.label));
            CATCH_CHECK(tick.place - half >= before);
            before = tick.place + half;
          }
        }
}

CATCH_TEST_CASE("page lengths: numbers with units and names of columns, anything else is refused with what there is") {
  CATCH_CHECK(page_length("84mm").value() == 84.0);
  CATCH_CHECK(page_length("3.3in").value() == Approx(83.82));
  CATCH_CHECK(page_length("72pt").value() == Approx(25.4));
  CATCH_CHECK(page_length("nature-double").value() == 183.0);
  for (const char* wrong : {"", "84", "84 mm", "mm", "-5mm", "1mm", "1e9mm", "twice", "nan mm", "infmm"}) {
    const Result<double> length = page_length(wrong);
    CATCH_INFO(wrong);
    CATCH_REQUIRE(!length);
    CATCH_CHECK(length.error().expected.find("icml-double") != std::string::npos);
  }
}

}  // namespace headroom::test
