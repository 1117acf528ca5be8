#include "app/figures/figure_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "app/figures/title_line.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

// Millimetres: where the inner rectangle begins below the top.
constexpr float kPageTitle = 5.4f;  // above the panels
constexpr float kTitleLine = 6.2f;

// What the line takes without the model's name.
float title_width(const FigurePanel& panel, const RichText& title, const Page& page) {
  const PageStyle& style = page.style;
  const float letter = letter_room(panel, page);
  const float right = panel.right.empty()
                          ? 0.0f
                          : style.mm(TitleLine::kBeforeHead) + rich_width(page.measure, panel.right, style.head());
  float names = 0.0f;
  for (const SeriesName& name : panel.series_names)
    names += style.mm(TitleLine::kBetweenNames) + rich_width(page.measure, name.text, style.text());
  return style.mm(2.0f * TitleLine::kEdge) + letter + rich_width(page.measure, title, style.title()) + names + right;
}

TextStyle page_title(const Page& page) { return {Face::SansSemibold, page.style.letter().size, ink::kBlack}; }
float page_title_width(const Figure& figure, const Page& page) {
  return page.style.mm(2.0f * TitleLine::kEdge) +
         page.measure.width(figure.title, Face::SansSemibold, page_title(page).size);
}

float right_edge(const Page& page) { return page.style.mm(TitleLine::kEdge); }

struct Row {
  std::vector<PanelRoom> room;
  float top = 0.0f, bottom = 0.0f, fixed = 0.0f;  // fixed: all widths but those of the inner rectangles
};

Row measure_row(const Figure& figure, const std::vector<std::size_t>& panels, const Page& page, Vec2 inner) {
  Row row;
  for (const std::size_t index : panels) {
    PanelRoom room = figure.panels[index]->room(page, inner);
    room.left += right_edge(page), room.right += right_edge(page), room.bottom += page.style.mm(1.0f);
    row.top = std::max(row.top, room.top), row.bottom = std::max(row.bottom, room.bottom);
    row.fixed += room.left + room.right;
    row.room.push_back(room);
  }
  row.top += page.style.line_mm(kTitleLine);
  row.fixed += page.style.mm(figure.gap_mm) * static_cast<float>(panels.size() - 1);
  return row;
}

// Rows are equally high, or their inner rectangles are as their shares say.
std::vector<float> row_heights(const Figure& figure, float width, float height, const Page& page) {
  const auto rows = static_cast<float>(figure.rows.size());
  std::vector<float> heights(figure.rows.size(), height / rows);
  if (figure.row_shares.size() != figure.rows.size()) return heights;
  float shares = 0.0f, left = height;
  std::vector<float> around;
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    shares += figure.row_shares[r];
    const Row row = measure_row(figure, figure.rows[r], page, {0.7f * width, 0.6f * height / rows});
    around.push_back(row.top + row.bottom);
    left -= around.back();
  }
  for (std::size_t r = 0; r < figure.rows.size(); ++r)
    heights[r] = around[r] + std::max(1.0f, left) * figure.row_shares[r] / shares;
  return heights;
}

double millimetres_of(float points) { return static_cast<double>(points) * 25.4 / 72.0; }

Error too_small(const char* what, double asked, double least) {
  Error error(ErrorCode::InvalidArgument, std::string("the figure does not fit: ") + fixed_text(asked, 0) +
                                              " mm is too " + what + "; at least " + fixed_text(std::ceil(least), 0) +
                                              " mm");
  return error;
}

}  // namespace

void arrange(Figure& figure, const FigureChoice& choice, double usual_width_mm, double side_by_side_from_mm,
             double row_height_mm) {
  figure.width_mm = choice.width_mm.value_or(usual_width_mm);
  figure.rows.clear();
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    if (i == 0 || figure.width_mm < side_by_side_from_mm) figure.rows.emplace_back();
    figure.rows.back().push_back(i);
  }
  figure.height_mm = choice.height_mm.value_or(row_height_mm * static_cast<double>(figure.rows.size()));
}

void set_title(Figure& figure, std::string title, bool own_height, bool slides) {
  figure.title = std::move(title);
  if (!figure.title.empty() && own_height && figure.height_mm > 0.0)
    figure.height_mm += static_cast<double>(kPageTitle) * (slides ? 2.0 : 1.0);
}

void set_letters(Figure& figure, std::string_view form) {
  const auto lettered = std::ranges::count_if(figure.panels, [](const auto& panel) { return panel->lettered; });
  std::size_t i = 0, words = 0;
  for (const auto& each : figure.panels) {
    FigurePanel& panel = *each;
    if (!panel.lettered) {
      panel.id = "text" + std::to_string(++words), panel.letter.clear();
      continue;
    }
    // "a" … "z", "a2" …
    const std::string again = i < 26 ? std::string() : std::to_string(i / 26 + 1);
    panel.id = std::string(1, static_cast<char>('a' + i % 26)) + again;
    panel.letter = form == "A" ? std::string(1, static_cast<char>('A' + i % 26)) + again : panel.id;
    if (form == "(a)") panel.letter = "(" + panel.id + ")";
    if (form == "none" || lettered < 2) panel.letter.clear();
    ++i;
  }
}

Result<std::vector<PanelFrame>> lay_out_figure(Figure& figure, const Page& page) {
  const PageStyle& style = page.style;
  const auto points = [](double mm) { return static_cast<float>(mm * 72.0 / 25.4); };
  const float width = points(figure.width_mm), height = points(figure.height_mm);
  const float above = figure.title.empty() ? 0.0f : style.line_mm(kPageTitle);
  const std::vector<float> heights = row_heights(figure, width, height - above, page);
  std::vector<PanelFrame> frames(figure.panels.size());
  float least_height = 0.0f, top = above;
  float least_width = figure.title.empty() ? 0.0f : page_title_width(figure, page);
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    const std::vector<std::size_t>& panels = figure.rows[r];
    const bool fixed_height = r < figure.row_heights_mm.size();
    float weights = 0.0f, least_inner_height = 0.0f, needed = 0.0f;
    for (const std::size_t index : panels) weights += figure.panels[index]->weight;
    // What ticks take depends a little on the size that they leave.
    const auto count = static_cast<float>(panels.size());
    Vec2 guess{0.7f * width / count, fixed_height ? style.mm(figure.row_heights_mm[r]) : 0.6f * heights[r]};
    Row row = measure_row(figure, panels, page, guess);
    guess.x = std::max(1.0f, (width - row.fixed) / count);
    if (!fixed_height) guess.y = std::max(1.0f, heights[r] - row.top - row.bottom);
    row = measure_row(figure, panels, page, guess);
    const float inner = width - row.fixed;
    const float tall = fixed_height ? row.top + style.mm(figure.row_heights_mm[r]) + row.bottom : heights[r];
    float x = 0.0f;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const FigurePanel& panel = *figure.panels[panels[i]];
      const float share = inner * panel.weight / weights;
      const Vec2 least = panel.least_inner(page);
      // Its title may be what asks for the most.
      const RichText& shortest = panel.brief.empty() ? panel.title : panel.brief;
      const float own_least =
          std::max(least.x, title_width(panel, shortest, page) - row.room[i].left - row.room[i].right);
      needed = std::max(needed, row.fixed + own_least * weights / panel.weight);
      least_inner_height = std::max(least_inner_height, least.y);
      PanelFrame& frame = frames[panels[i]];
      const float outer = row.room[i].left + share + row.room[i].right;
      frame.outer = {x, top, x + outer, top + tall};
      frame.inner = {x + row.room[i].left, top + row.top, x + outer - row.room[i].right, top + tall - row.bottom};
      x += outer + style.mm(figure.gap_mm);
    }
    if (fixed_height && style.mm(figure.row_heights_mm[r]) + 0.01f < least_inner_height)
      return too_small("low", static_cast<double>(figure.row_heights_mm[r]),
                       millimetres_of(least_inner_height / style.times));
    least_width = std::max(least_width, needed);
    least_height =
        std::max(least_height, above + (row.top + row.bottom + least_inner_height) * (height - above) / tall);
    top += tall;
    if (fixed_height && r + 1 < figure.rows.size()) top += style.mm(0.5f * figure.gap_mm);
  }
  if (least_width > width + 0.01f) return too_small("narrow", figure.width_mm, millimetres_of(least_width));
  if (figure.height_mm <= 0.0)
    figure.height_mm = millimetres_of(top);
  else if (least_height > height + 0.01f)
    return too_small("low", figure.height_mm, millimetres_of(least_height));
  return frames;
}

Result<void> settle_height(Figure& figure, const Page& page) {
  constexpr double kMost = 2000.0, kTall = 1e5;  // millimetres: of a page; enough to lay out any text
  const auto rows = static_cast<double>(figure.rows.size());
  double needed = 0.0;
  if (!figure.row_heights_mm.empty()) return {};  // check_contents() (figure_fit.h) knows whether they are enough
  const double asked = std::exchange(figure.height_mm, kTall);
  const Result<std::vector<PanelFrame>> laid_out = lay_out_figure(figure, page);
  figure.height_mm = asked;
  HEADROOM_TRY(const std::vector<PanelFrame> frames, laid_out);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const PanelFrame& frame = frames[i];
    const float inner = figure.panels[i]->needed_height(page, frame.inner.width());
    const double around =
        static_cast<double>(frame.inner.y0 - frame.outer.y0) + static_cast<double>(frame.outer.y1 - frame.inner.y1);
    if (inner > 0.0f) needed = std::max(needed, (around + static_cast<double>(inner)) * 25.4 / 72.0 * rows);
  }
  if (needed <= 0.0) return {};
  if (!figure.title.empty()) needed += millimetres_of(page.style.line_mm(kPageTitle));
  if (figure.height_mm > 0.0 && needed > figure.height_mm + 0.01) return too_small("low", figure.height_mm, needed);
  if (needed > kMost)
    return Error(ErrorCode::InvalidArgument, "the text would be " + fixed_text(needed, 0) +
                                                 " mm high, a page is at most " + fixed_text(kMost, 0) + " mm")
        .advise("--rows A:B draws a part of it");
  if (!(figure.height_mm > 0.0)) figure.height_mm = std::ceil(needed * 10.0) / 10.0;
  return {};
}

void draw_figure(Painter& painter, const Figure& figure, std::span<const PanelFrame> frames, const Page& page) {
  const PageStyle& style = page.style;
  if (!figure.title.empty())
    painter.text({style.mm(TitleLine::kEdge), style.line_mm(TitleLine::kBaseline)}, figure.title, page_title(page));
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const FigurePanel& panel = *figure.panels[i];
    const PanelFrame& frame = frames[i];
    painter.begin_panel("panel " + std::to_string(i), frame.outer);
    const float baseline = frame.outer.y0 + style.line_mm(TitleLine::kBaseline),
                x = frame.outer.x0 + style.mm(TitleLine::kEdge);
    if (!panel.letter.empty()) painter.text({x, baseline}, panel.letter, style.letter());
    const bool fits = panel.brief.empty() || title_width(panel, panel.title, page) <= frame.outer.width() + 0.01f;
    const RichText& title = fits ? panel.title : panel.brief;
    draw_rich(painter, {x + letter_room(panel, page), baseline}, title, style.title());
    float right = frame.outer.x1 - style.mm(TitleLine::kEdge);
    if (!panel.right.empty())
      right -= rich_width(page.measure, panel.right, style.head()) + style.mm(TitleLine::kBetweenNames);
    for (auto name = panel.series_names.rbegin(); name != panel.series_names.rend(); ++name) {
      draw_rich(painter, {right, baseline}, name->text, style.text(name->color), Painter::Align::Right);
      right -= rich_width(page.measure, name->text, style.text()) + style.mm(TitleLine::kBetweenNames);
    }
    if (!panel.right.empty())
      draw_rich(painter, {frame.outer.x1 - style.mm(TitleLine::kEdge), baseline}, panel.right, style.head(),
                Painter::Align::Right);
    if (page.left_out) page.left_out->panel = i;
    panel.draw(painter, frame, page);
    draw_model_name(painter, panel, frame, page, panel.title_written(frame, page));
    painter.end_panel();
  }
}

namespace {

// "no room for the labels L3.H2, median"; empty: all had room.
std::string without_room(const LeftOutLabels& left_out, std::size_t panel) {
  if (panel >= left_out.labels.size() || left_out.labels[panel].empty()) return {};
  const std::vector<std::string>& labels = left_out.labels[panel];
  std::string text = labels.size() == 1 ? "no room for the label " : "no room for the labels ";
  for (std::size_t i = 0; i < labels.size(); ++i) text += (i > 0 ? ", " : "") + labels[i];
  return text;
}

}  // namespace

std::vector<std::string> left_out_notes(const Figure& figure, const LeftOutLabels& left_out) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < figure.panels.size(); ++i)
    if (const std::string words = without_room(left_out, i); !words.empty())
      notes.push_back((figure.panels.size() > 1 ? "panel " + figure.panels[i]->id + ": " : "") +
                      plain_text(rich(words)));
  return notes;
}

std::string figure_caption(const Figure& figure, const LeftOutLabels& left_out) {
  std::string text;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const FigurePanel& panel = *figure.panels[i];
    if (!panel.lettered) continue;
    if (!text.empty()) text += "\n";
    if (!panel.letter.empty()) text += panel.letter + ", ";
    text += panel.caption();
    if (const std::string words = without_room(left_out, i); !words.empty())
      text += std::string(text.ends_with(' ') ? "" : " ") + "N" + words.substr(1) + ".";
    const auto next = std::find_if(figure.panels.begin() + static_cast<std::ptrdiff_t>(i) + 1, figure.panels.end(),
                                   [](const auto& other) { return other->lettered; });
    const bool again = next != figure.panels.end() && (*next)->source == panel.source;
    if (!again && !panel.source.empty()) text += (text.ends_with(' ') ? "" : " ") + panel.source;
  }
  return text;
}

}  // namespace headroom
