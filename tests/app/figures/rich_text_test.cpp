// Markup of figures' texts, titles of the tables as such, what is read out.
#include "app/figures/rich_text.h"

#include <string>

#include "app/figures/caption_text.h"
#include "app/plot/plain_measure.h"
#include "app/plot/recording_painter.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

using Form = TextRun::Form;

}  // namespace

CATCH_TEST_CASE("rich text: variables are italic, indices lowered, a root stands over what it is of") {
  const RichText text = rich("RMS *ρ*_{*i*} of 10^{−3} and 1/√{*n*_{*i*}}, 5\\*");
  const RichText expected = {{Form::Upright, "RMS "},   {Form::Italic, "ρ"},          {Form::SubItalic, "i"},
                             {Form::Upright, " of 10"}, {Form::Super, "−3"},          {Form::Upright, " and 1/√"},
                             {Form::Italic, "n", true}, {Form::SubItalic, "i", true}, {Form::Upright, ", 5*"}};
  CATCH_CHECK(text == expected);
  CATCH_CHECK(plain_text(text) == "RMS ρᵢ of 10⁻³ and 1/√nᵢ, 5*");
}

CATCH_TEST_CASE("rich text: titles of the tables show what the window shows") {
  CATCH_CHECK(rich_title("sink score α₀") ==
              RichText{{Form::Upright, "sink score "}, {Form::Italic, "α"}, {Form::Sub, "0"}});
  CATCH_CHECK(rich_title("1/√nᵢ") ==
              RichText{{Form::Upright, "1/√"}, {Form::Italic, "n", true}, {Form::SubItalic, "i", true}});
  CATCH_CHECK(rich_title("rows inside, softmax") == RichText{{Form::Upright, "rows inside, softmax"}});
  CATCH_CHECK(plain_text(rich_title("‖w‖₂ of rows")) == "‖w‖₂ of rows");
}

CATCH_TEST_CASE("rich text: as wide as its runs, whose indices are smaller, and its parts follow each other") {
  const PlainMeasure measure;
  const TextStyle style{Face::Sans, 10.0f, {}};
  const RichText text = rich("*ρ*_{*i*} x");
  const float expected = measure.width("ρ", Face::SansItalic, 10.0f) + measure.width("i", Face::SansItalic, 7.0f) +
                         measure.width(" x", Face::Sans, 10.0f);
  CATCH_CHECK(rich_width(measure, text, style) == Approx(expected));
  RecordingPainter record(measure, {0.0f, 0.0f, 100.0f, 100.0f});
  draw_rich(record, {90.0f, 50.0f}, text, style, Painter::Align::Right);
  CATCH_REQUIRE(record.texts().size() == 3);
  CATCH_CHECK(record.texts()[0].baseline.x == Approx(90.0f - expected));
  CATCH_CHECK(record.texts()[1].baseline.y > 50.0f);
  CATCH_CHECK(record.texts()[2].baseline.x + record.texts()[2].width == Approx(90.0f));
  CATCH_CHECK(record.violations().size() == 1);  // the index is below 10 pixels, which a window would not have
}

CATCH_TEST_CASE("rich text: a caption for LaTeX has its mathematics in dollars and its signs escaped") {
  const std::string caption =
      latex_caption("a, Mean *ρ*_{*i*} of 1/√{*n*_{*i*}}; 22.3\xc2\xa0% of *r̄*_{*i*} & x_y ≥ 5.",
                    {{"command", "figure run.h5 rms"}, {"empty", ""}});
  CATCH_CHECK(
      caption ==
      "% command: figure run.h5 rms\n\\caption{\\textbf{a}, Mean $\\rho _{i}$ of 1/$\\sqrt{n_{i}}$; 22.3~\\% of "
      "$\\bar{r}_{i}$ \\& x\\_y $\\ge $ 5.}");
}

}  // namespace headroom::test
