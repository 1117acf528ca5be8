// Markup of figures' texts, titles of the tables as such, what is read out.
#include "app/figures/rich_text.h"

#include <string>
#include <string_view>

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

CATCH_TEST_CASE("rich text: what is read out is not another formula") {
  CATCH_CHECK(plain_text(rich("1/√{RMS_{*i*}² + *ε*} of √{*n*_{*i*}}")) == "1/√(RMSᵢ² + ε) of √nᵢ");
  // Without small letters for all of an index.
  CATCH_CHECK(plain_text(rich("*a*_{*i*,*i*−1}, *e*_{*if*}, *W*_{*O*}^{*p*}")) == "a_{i,i−1}, e_{if}, W_O^p");
}

CATCH_TEST_CASE("rich text: its markup makes it again") {
  for (const char* markup : {"L3.H2", "*n*_{*i*} < 64: not counted", "1/√{*n*_{*i*}} for *n*_{*i*} = 64…512",
                             "√{RMS² + *ε*}, m", "10^{−3}", "a_b*c{d}\\\\e^f", ""}) {
    const RichText text = rich(markup);
    CATCH_CHECK(rich(markup_text(text)) == text);
  }
  const RichText named{{TextRun::Form::Upright, "model*_{x}\\ · √"},
                       {TextRun::Form::Italic, "n", true},
                       {TextRun::Form::SubItalic, "i_*"}};
  CATCH_CHECK(rich(markup_text(named)) == named);
}

CATCH_TEST_CASE("rich text: a caption for LaTeX has its mathematics in dollars and its signs escaped") {
  const std::string caption =
      latex_caption("a, Mean *ρ*_{*i*} of 1/√{*n*_{*i*}}; 22.3\xc2\xa0% of *r̄*_{*i*} & x_y ≥ 5.",
                    {{"command", "figure run.h5 rms"}, {"empty", ""}});
  CATCH_CHECK(caption ==
              "% command: figure run.h5 rms\n\\caption{\\textbf{a}, Mean $\\rho_{i}$ of 1/$\\sqrt{n_{i}}$; 22.3~\\% of "
              "$\\bar{r}_{i}$ \\& x\\_y $\\ge$ 5.}");
}

CATCH_TEST_CASE("rich text: a caption for LaTeX compiles whatever stands in it") {
  const auto body = [](std::string_view markup) {
    const std::string caption = latex_caption(markup, {});
    CATCH_REQUIRE(caption.starts_with("\\caption{"));
    return caption.substr(9, caption.size() - 10);
  };
  // What is in one formula stays in it; an index or a power has one base.
  CATCH_CHECK(body("Σ*q*²/*r*_{*i*0}²_{*j*}") == "$\\Sigma q^{2}$/$r_{i0}^{2}{}_{j}$");
  CATCH_CHECK(body("*a*^{1}_{*ij*}, ‖*w*‖₂, sink score α₀, aᵢⱼ") ==
              "$a^{1}_{ij}$, $\\|w\\|_{2}$, sink score $\\alpha_{0}$, a$_{ij}$");
  CATCH_CHECK(body("1/√{RMS_{*i*}² + *ε*}") == "1/$\\sqrt{\\mathrm{RMS}_{i}^{2}+\\varepsilon}$");
  CATCH_CHECK(body("*λ*_{init}, *W*^{p}, 10^{−3}, *ρx*") ==
              "$\\lambda_{\\mathrm{init}}$, $W^{p}$, 10$^{-3}$, $\\rho x$");
  // Signs that the usual encoding lacks or has others for, and spaces of other widths.
  CATCH_CHECK(
      body("r̄ < 5 > |x| ± 1; 4\xe2\x80\x89"
           "160\xe2\x80\xaf"
           "000; ↵, ␣×n, 95 %, a--b") ==
      "$\\bar{r}$ $<$ 5 $>$ $|$x$|$ $\\pm$ 1; 4\\,160\\,000; $\\hookleftarrow$, \\textvisiblespace{}$\\times$n, "
      "95~\\%, a-{}-b");
  CATCH_CHECK(body("½ log *κ*, ▼ none, “é” – …") ==
              "$\\frac12$ log $\\kappa$, $\\bigtriangledown$ none, ``é'' -- \\dots{}");
  // Names are no markup, and no line of a name leaves the comment.
  CATCH_CHECK(body(literal_markup("a*b_{c}^{d}\\e #1 ~$&")) ==
              "a*b\\_\\{c\\}\\textasciicircum{}\\{d\\}\\textbackslash{}e \\#1 \\textasciitilde{}$\\$$\\&");
  CATCH_CHECK(latex_caption("x. ", {{"command", "figure a\n\\input{b}\r.h5"}}) ==
              "% command: figure a \\input{b} .h5\n\\caption{x.}");
}

CATCH_TEST_CASE("rich text: definitions have variables, indices and roots, and names are left alone") {
  const auto read = [](std::string_view text) { return plain_text(rich(definition_markup(text))); };
  CATCH_CHECK(rich(definition_markup("α_0 = mean_i a_i0, a row")) == RichText{{Form::Italic, "α"},
                                                                              {Form::Sub, "0"},
                                                                              {Form::Upright, " = mean"},
                                                                              {Form::SubItalic, "i"},
                                                                              {Form::Upright, " "},
                                                                              {Form::Italic, "a"},
                                                                              {Form::SubItalic, "i"},
                                                                              {Form::Sub, "0"},
                                                                              {Form::Upright, ", a row"}});
  CATCH_CHECK(definition_markup("√(mean_i (λ_i − 1)²) / √n") == "√{mean_{*i*} (*λ*_{*i*} − 1)²} / √{*n*}");
  CATCH_CHECK(definition_markup("Σ_{j ∈ V_i} e^{z_ij − max_k z_ik}, ‖w_i‖₁, n_eff") ==
              "Σ_{*j* ∈ *V*ᵢ} *e*^{*z*ᵢⱼ − maxₖ *z*ᵢₖ}, ‖*w*_{*i*}‖₁, *n*_{eff}");
  CATCH_CHECK(read("ε is program/norm_epsilon; see next_token_loss, lm_head(h)") ==
              "ε is program/norm_epsilon; see next_token_loss, lm_head(h)");
  CATCH_CHECK(read("c^m_i = Σ_j a^m_ij v^m_j") == "c^mᵢ = Σⱼ a^mᵢⱼ v^mⱼ");
  CATCH_CHECK(latex_caption(definition_markup("mean_i |w_i0| / ‖w_i‖₁; r̄_i² of q_i²"), {}) ==
              "\\caption{mean$_{i}$ $|w_{i0}|$ / $\\|w_{i}\\|_{1}$; $\\bar{r}_{i}^{2}$ of $q_{i}^{2}$}");
}

}  // namespace headroom::test
