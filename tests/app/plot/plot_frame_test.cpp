// Frames of any size and range: labels inside the outer rectangle and apart, axes that meet the inner one.
#include "app/plot/plot_frame.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

const PlainMeasure kMeasure;

std::vector<std::string> labels(const std::vector<AxisMark>& marks) {
  std::vector<std::string> out;
  for (const AxisMark& mark : marks) {
    if (!mark.label.empty()) out.push_back(mark.label);
  }
  return out;
}
using Words = std::vector<std::string>;

CATCH_TEST_CASE("The plot of ρ over visible keys is laid out as in the picture") {
  AxisSpec x{.low = 1.0, .high = 512.0, .log = true, .high_label = true};
  AxisSpec y{.low = 0.02, .high = 2.0, .log = true};
  const Rect outer{1000.0f, 300.0f, 1300.0f, 500.0f};
  const PlotFrame frame = lay_out_plot(outer, x, y, kMeasure);
  CATCH_CHECK(labels(frame.x_marks) == Words{"1", "10", "100", "512"});
  CATCH_CHECK(labels(frame.y_marks) == Words{"1", "0.1"});
  CATCH_CHECK(frame.inner.x0 == 1000.0f + 18.0f + 6.0f);  // "0.1" in 10 px mono and the gap
  CATCH_CHECK(frame.inner.y1 == 500.0f - 16.0f);
  CATCH_CHECK(frame.x.from == frame.inner.x0);
  CATCH_CHECK(frame.x.to == frame.inner.x1);
  CATCH_CHECK(frame.y.from == frame.inner.y1);
  CATCH_CHECK(frame.y.to == frame.inner.y0);
  CATCH_CHECK(frame.at(1.0, 0.02) == Vec2{frame.inner.x0, frame.inner.y1});
  // The last label stands under the end of the axis, moved in so that it stays inside.
  CATCH_CHECK(frame.x_marks.back().pixel == frame.inner.x1);
  CATCH_CHECK(frame.x_marks.back().label_rect.x1 <= outer.x1);
  const Rect margin = frame.right_margin(4.0f, 50.0f);
  CATCH_CHECK((margin.y0 == frame.inner.y0 && margin.y1 == frame.inner.y1 && margin.x0 == frame.inner.x1 + 4.0f));
}

CATCH_TEST_CASE("An end's label takes the place of the step beside it") {
  AxisSpec x{.low = 0.0, .high = 511.0, .whole = true, .high_label = true};
  const PlotFrame frame = lay_out_plot({0, 0, 520, 200}, x, AxisSpec{}, kMeasure);
  CATCH_CHECK(labels(frame.x_marks) == Words{"0", "50", "100", "150", "200", "250", "300", "350", "400", "450", "511"});
  std::size_t marks_near_end = 0;
  for (const AxisMark& mark : frame.x_marks) {
    if (mark.value == 500.0) ++marks_near_end;
  }
  CATCH_CHECK(marks_near_end == 1);  // 500 keeps its tick mark
}

CATCH_TEST_CASE("Frames of any kind draw no label outside, cut or over another") {
  std::mt19937 random(31);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::size_t drawn = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto spec = [&](bool vertical) {
      AxisSpec s;
      s.log = unit(random) < 0.5;
      s.low =
          s.log ? std::pow(10.0, -8.0 + 8.0 * unit(random)) : (unit(random) - 0.5) * std::pow(10.0, 6.0 * unit(random));
      s.high = s.log ? s.low * std::pow(10.0, 0.05 + 8.0 * unit(random))
                     : s.low + std::pow(10.0, -4.0 + 10.0 * unit(random));
      s.whole = unit(random) < 0.3;
      s.low_label = unit(random) < 0.4;
      s.high_label = unit(random) < 0.4;
      s.labels = unit(random) < 0.9;
      if (unit(random) < 0.4) s.title = vertical ? "largest logit, every head" : "visible keys nᵢ";
      return s;
    };
    const AxisSpec x = spec(false), y = spec(true);
    const Rect outer = Rect::sized(20.0f, 20.0f, static_cast<float>(5.0 + 500.0 * unit(random)),
                                   static_cast<float>(5.0 + 300.0 * unit(random)));
    PlotRoom room;
    room.right = static_cast<float>(80.0 * unit(random) * unit(random));
    if (unit(random) < 0.3) room.left = static_cast<float>(60.0 * unit(random));
    if (unit(random) < 0.3) room.bottom = static_cast<float>(40.0 * unit(random));
    const PlotFrame frame = lay_out_plot(outer, x, y, kMeasure, room);
    CATCH_INFO("round " << round << ": x " << x.low << " … " << x.high << ", y " << y.low << " … " << y.high << " in "
                        << outer.width() << " × " << outer.height());
    CATCH_CHECK((frame.inner.width() >= 0.0f && frame.inner.height() >= 0.0f));
    CATCH_CHECK(OrientedBox::of(frame.inner).inside(outer, 0.01f));
    RecordingPainter painter(kMeasure, {0, 0, 600, 400});
    painter.begin_panel("plot", outer);
    draw_plot_ground(painter, frame, dark_theme());
    draw_plot_axes(painter, frame, dark_theme());
    painter.end_panel();
    for (const std::string& violation : painter.violations()) CATCH_FAIL_CHECK(violation);
    drawn += painter.texts().size();
  }
  CATCH_CHECK(drawn > 3000 * 4);
}

CATCH_TEST_CASE("A frame of no size is empty and draws nothing") {
  for (const Rect outer : {Rect{5, 5, 5, 5}, Rect{5, 5, 200, 9}, Rect{5, 5, 9, 200}, Rect{50, 50, 10, 10}}) {
    const PlotFrame frame = lay_out_plot(outer, {}, {}, kMeasure);
    CATCH_CHECK(frame.inner.empty());
    RecordingPainter painter(kMeasure, {0, 0, 600, 400});
    draw_plot_ground(painter, frame, dark_theme());
    draw_plot_axes(painter, frame, dark_theme());
    CATCH_CHECK((painter.texts().empty() && painter.shapes().empty()));
  }
}

CATCH_TEST_CASE("Plots with a fixed left room keep their axes in line") {
  const AxisSpec narrow{.low = 0.0, .high = 1.0}, wide{.low = 0.0, .high = 100000.0};
  PlotRoom room;
  room.left = 46.0f;
  const PlotFrame a = lay_out_plot({0, 0, 200, 100}, {}, narrow, kMeasure, room);
  const PlotFrame b = lay_out_plot({0, 100, 200, 200}, {}, wide, kMeasure, room);
  CATCH_CHECK(a.inner.x0 == 46.0f);
  CATCH_CHECK(b.inner.x0 == 46.0f);
}

}  // namespace
}  // namespace headroom::test
