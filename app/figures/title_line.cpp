#include "app/figures/title_line.h"

#include <algorithm>
#include <string>

#include "app/figures/page_labels.h"
#include "app/plot/token_text.h"

namespace headroom {
namespace {

constexpr float kAfterLetter = 3.1f,
                kFromLetter = 1.0f;                 // millimetres: from its left edge, from its right one at least
constexpr float kLeastName = 4.0f, kBlank = 0.28f;  // in sizes: less of a name says nothing; between words

}  // namespace

float letter_room(const FigurePanel& panel, const Page& page) {
  if (panel.letter.empty()) return 0.0f;
  const TextStyle style = page.style.letter();
  return std::max(page.style.mm(kAfterLetter),
                  page.measure.width(panel.letter, style.face, style.size) + page.style.mm(kFromLetter));
}

TitleLine free_title_line(const FigurePanel& panel, const PanelFrame& frame, const Page& page) {
  const PageStyle& style = page.style;
  const float start = frame.outer.x0 + style.mm(TitleLine::kEdge) + letter_room(panel, page);
  const float end = frame.outer.x1 - style.mm(TitleLine::kEdge);
  float to = end, names = 0.0f;
  if (!panel.right.empty()) to -= rich_width(page.measure, panel.right, style.head());
  for (const SeriesName& name : panel.series_names)
    names += style.mm(TitleLine::kBetweenNames) + rich_width(page.measure, name.text, style.text());
  const float whole = rich_width(page.measure, panel.title, style.title());
  const float before = panel.right.empty() ? 0.0f : style.mm(TitleLine::kBeforeHead);
  const bool fits = panel.brief.empty() || start + whole + names + before <= to + 0.01f;
  const RichText& title = fits ? panel.title : panel.brief;
  return {start + rich_width(page.measure, title, style.title()), to - names,
          frame.outer.y0 + style.line_mm(TitleLine::kBaseline)};
}

void draw_model_name(Painter& painter, const FigurePanel& panel, const PanelFrame& frame, const Page& page,
                     float taken) {
  if (panel.model.empty()) return;
  const TextStyle style = page.style.head();
  const std::string after = panel.right.empty() ? "" : " ·";
  const TitleLine line = free_title_line(panel, frame, page);
  const float blank = panel.right.empty() ? 0.0f : kBlank * style.size;
  const float room = line.width() - taken - page.style.mm(TitleLine::kBeforeHead) - blank -
                     page.measure.width(after, style.face, style.size);
  const std::string name = elide_middle(panel.model, room, page.measure, style.face, style.size);
  if (name != panel.model && room < kLeastName * style.size)
    return leave_out(page, {{TextRun::Form::Upright, panel.model}});
  draw_rich(painter, {line.to - blank, line.baseline}, {{TextRun::Form::Upright, name + after}}, style,
            Painter::Align::Right);
}

}  // namespace headroom
