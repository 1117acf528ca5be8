// Colour bars: what their labels say, where they stand, and that none touches another at any size.
#include "app/plot/color_bar.h"

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
using Words = std::vector<std::string>;

Words labels(const ColorBarLayout& layout) {
  Words out;
  for (const auto& mark : layout.marks) out.push_back(mark.label);
  return out;
}

CATCH_TEST_CASE("Bars of the three scales say their values, and clipping at the ends") {
  ColorBarSpec spec;
  spec.scale = {ColorMapId::SequentialDark, ScaleKind::Log10, 1e-4f, 1.0f};
  spec.clips_low = true;
  ColorBarLayout layout = lay_out_color_bar({900, 200, 980, 712}, spec, kMeasure);
  CATCH_CHECK(labels(layout) == Words{"≤ 10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"});
  CATCH_CHECK(layout.bar == Rect{900, 200, 912, 712});
  CATCH_CHECK(layout.marks[1].pixel == near(712.0 - 128.0, 1e-5));

  spec.scale = {ColorMapId::SequentialDark, ScaleKind::Linear, 0.0f, 0.6f};
  spec.clips_low = false, spec.clips_high = true;
  CATCH_CHECK(
      labels(lay_out_color_bar({900, 200, 980, 712}, spec, kMeasure)) ==
      Words{"0", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30", "0.35", "0.40", "0.45", "0.50", "0.55", "≥ 0.6"});

  spec.scale = {ColorMapId::DivergingDark, ScaleKind::Symlog, -0.5f, 0.5f, 0.01f};
  spec.clips_low = spec.clips_high = true;
  layout = lay_out_color_bar({900, 200, 980, 600}, spec, kMeasure);
  CATCH_CHECK(labels(layout) == Words{"≤ −0.5", "−0.1", "−0.01", "0", "0.01", "0.1", "≥ 0.5"});
  CATCH_CHECK(layout.marks[3].pixel == near(400.0, 1e-5));

  spec = {};
  spec.vertical = false;
  spec.scale = {ColorMapId::SequentialDark, ScaleKind::Linear, 0.0f, 1.0f};
  CATCH_CHECK(labels(lay_out_color_bar({30, 700, 290, 760}, spec, kMeasure)) ==
              Words{"0", "0.2", "0.4", "0.6", "0.8", "1"});
  spec.whole = true;
  spec.scale.high = 29.0f;
  CATCH_CHECK(labels(lay_out_color_bar({30, 700, 470, 760}, spec, kMeasure)) ==
              Words{"0", "5", "10", "15", "20", "25", "29"});
}

CATCH_TEST_CASE("Histogram, threshold and null level stand on the bar's own scale") {
  std::vector<double> values, some;
  for (int i = 0; i < 270; ++i) values.push_back(i / 270.0);
  for (int i = 200; i < 270; ++i) some.push_back(i / 270.0);
  const Histogram all = histogram(values, 0.0, 1.0, 27), chosen = histogram(some, 0.0, 1.0, 27);
  ColorBarSpec spec;
  spec.vertical = false;
  spec.scale = {ColorMapId::SequentialDark, ScaleKind::Linear, 0.0f, 1.0f};
  spec.histogram = &all;
  spec.chosen = &chosen;
  spec.threshold = 0.3;
  spec.null_level = 0.0133;
  const Rect outer{30, 700, 290, 760};
  const ColorBarLayout layout = lay_out_color_bar(outer, spec, kMeasure);
  CATCH_CHECK(layout.histogram == Rect{30, 700, 290, 720});
  CATCH_CHECK(layout.bar == Rect{30, 720, 290, 732});
  CATCH_CHECK(*layout.threshold == near(30.0 + 78.0, 1e-5));
  CATCH_CHECK(*layout.null_level == near(30.0 + 260.0 * 0.0133, 1e-5));
  CATCH_REQUIRE(layout.bars.size() == 27);
  for (const Rect& bar : layout.bars) CATCH_CHECK(OrientedBox::of(bar).inside(layout.histogram, 1e-3f));
  CATCH_CHECK(layout.bars[0].height() == near(20.0, 1e-5));
  CATCH_CHECK(layout.chosen_bars[0].empty());
  CATCH_CHECK_FALSE(layout.chosen_bars[26].empty());
  // A pixel of the bar is the value whose mark stands there.
  CATCH_CHECK(color_bar_value(layout, spec, {108.0f, 725.0f}) == near(0.3, 1e-5));
  CATCH_CHECK(color_bar_value(layout, spec, {5.0f, 725.0f}) == 0.0);

  RecordingPainter painter(kMeasure, {0, 0, 400, 800});
  painter.begin_panel("bar", outer);
  draw_color_bar(painter, outer, spec, dark_theme());
  painter.end_panel();
  CATCH_CHECK(painter.violations().empty());
  // The strips of colour cover the bar without a gap, dark end left.
  const ColorTable& table = color_table(ColorMapId::SequentialDark);
  float covered = layout.bar.x0;
  bool first = true;
  Color last;
  for (const RecordedShape& shape : painter.shapes()) {
    if (shape.kind != RecordedShape::Kind::FillRect || shape.bounds.y0 != layout.bar.y0) continue;
    if (first) CATCH_CHECK(shape.color == table.front());
    first = false;
    CATCH_CHECK(shape.bounds.x0 == near(static_cast<double>(covered), 0.0, 1e-3));
    covered = shape.bounds.x1;
    last = shape.color;
  }
  CATCH_CHECK(covered == near(290.0, 0.0, 1e-3));
  CATCH_CHECK(last == table.back());
}

CATCH_TEST_CASE("Bars of any size and range draw no label outside or over another") {
  std::mt19937 random(51);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::size_t drawn = 0;
  for (int round = 0; round < 3000; ++round) {
    ColorBarSpec spec;
    spec.vertical = unit(random) < 0.5;
    spec.scale.kind = static_cast<ScaleKind>(random() % 3);
    const double high = std::pow(10.0, -6.0 + 9.0 * unit(random));
    spec.scale.high = static_cast<float>(high);
    spec.scale.low = static_cast<float>(spec.scale.kind == ScaleKind::Log10 ? high * std::pow(10.0, -8.0 * unit(random))
                                                                            : high * (1.0 - 3.0 * unit(random)));
    spec.scale.threshold = static_cast<float>(high * std::pow(10.0, -6.0 * unit(random)));
    spec.clips_low = unit(random) < 0.5, spec.clips_high = unit(random) < 0.5;
    spec.whole = unit(random) < 0.2;
    if (unit(random) < 0.5) spec.title = "attention weight";
    if (unit(random) < 0.3) spec.threshold = high * 0.5;
    const Rect outer = spec.vertical ? Rect::sized(50, 50, static_cast<float>(4.0 + 100.0 * unit(random)),
                                                   static_cast<float>(600.0 * unit(random)))
                                     : Rect::sized(50, 50, static_cast<float>(500.0 * unit(random)),
                                                   static_cast<float>(4.0 + 60.0 * unit(random)));
    CATCH_INFO("round " << round << ": kind " << static_cast<int>(spec.scale.kind) << ", " << spec.scale.low << " … "
                        << spec.scale.high << " in " << outer.width() << " × " << outer.height());
    RecordingPainter painter(kMeasure, {0, 0, 700, 700});
    painter.begin_panel("bar", outer);
    draw_color_bar(painter, outer, spec, light_theme());
    painter.end_panel();
    for (const std::string& violation : painter.violations()) CATCH_FAIL_CHECK(violation);
    drawn += painter.texts().size();
    // With the width it asks for, a bar shows its ends.
    if (spec.vertical && outer.height() > 60.0f && spec.scale.low < spec.scale.high) {
      const Rect wide = Rect::sized(50, 50, color_bar_width(spec, kMeasure), outer.height());
      CATCH_CHECK(lay_out_color_bar(wide, spec, kMeasure).marks.size() >= 2);
    }
  }
  CATCH_CHECK(drawn > 3000 * 3);
}

CATCH_TEST_CASE("Bars without a range have no labels and are drawn all the same") {
  for (const ScaleKind kind : {ScaleKind::Linear, ScaleKind::Log10, ScaleKind::Symlog}) {
    ColorBarSpec spec;
    spec.scale = {ColorMapId::SequentialDark, kind, 0.0f, 0.0f, 0.0f};
    RecordingPainter painter(kMeasure, {0, 0, 400, 800});
    draw_color_bar(painter, {10, 10, 80, 200}, spec, dark_theme());
    CATCH_CHECK(painter.violations().empty());
    CATCH_CHECK(painter.shapes().size() == 190);
    CATCH_CHECK(painter.texts().empty());
  }
}

}  // namespace
}  // namespace headroom::test
