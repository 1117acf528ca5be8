// Words in a cell: where their lines break, and what room they need.
#include "app/figures/text_cell.h"

#include <string>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

const PlainMeasure kMeasure;

struct DrawnCell {
  explicit DrawnCell(const std::string& markup) : cell(markup) {}

  TextCell cell;
  Page page{kMeasure, {}, nullptr};

  // What stands on each line.
  [[nodiscard]] std::vector<std::string> lines(float width) const {
    const Rect frame{0.0f, 0.0f, width, 500.0f};
    RecordingPainter painter(kMeasure, frame);
    cell.draw(painter, {frame, frame}, page);
    std::vector<std::string> found;
    float last = -100.0f;
    for (const RecordedText& text : painter.texts()) {
      if (text.baseline.y > last + 0.6f * page.style.size()) found.emplace_back(), last = text.baseline.y;
      found.back() += text.text;  // indices stand a little lower
    }
    return found;
  }
};

}  // namespace

CATCH_TEST_CASE("words in a cell break between words, and stay together where there is room") {
  const DrawnCell some("one two  three\nfour");
  CATCH_CHECK(some.lines(400.0f) == std::vector<std::string>{"one two three", "four"});
  const float widest = some.cell.least_inner(some.page).x;
  CATCH_CHECK(widest == kMeasure.width("three", Face::Sans, some.page.style.size()));
  CATCH_CHECK(some.lines(widest) == std::vector<std::string>{"one", "two", "three", "four"});
  const float size = some.page.style.size();
  CATCH_CHECK(some.cell.needed_height(some.page, 400.0f) > 2.0f * size);
  CATCH_CHECK(some.cell.needed_height(some.page, widest) > 4.0f * size);
  CATCH_CHECK(some.cell.needed_height(some.page, widest) < 6.0f * size);
}

CATCH_TEST_CASE("a word in a cell may be of several forms") {
  const DrawnCell some("*both words* x_{*i*}, end");
  CATCH_CHECK(some.lines(1.0f) == std::vector<std::string>{"both", "words", "xi,", "end"});
  CATCH_CHECK(some.lines(400.0f) == std::vector<std::string>{"both words xi, end"});
}

CATCH_TEST_CASE("a cell without words needs no room") {
  const DrawnCell none("");
  CATCH_CHECK((none.lines(10.0f).empty() && none.cell.least_inner(none.page).x == 0.0f));
  CATCH_CHECK(none.cell.needed_height(none.page, 10.0f) == 0.0f);
  CATCH_CHECK(none.cell.caption().empty());
}

}  // namespace headroom::test
