// A report on A4 pages: text that is broken into lines, tables that go on over pages with their heads, figures with
// their captions on one page.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "app/figures/figure_layout.h"
#include "app/figures/rich_text.h"
#include "app/paper/page_file.h"
#include "app/report/report.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kPageWidth = 595.276f, kPageHeight = 841.89f;  // A4, points
constexpr float kMargin = 51.0f, kTop = 54.0f, kFoot = 60.0f;
constexpr float kText = 8.5f, kSmall = 7.0f, kLine = 1.35f;

using Draw = std::function<void(Painter&)>;

// The words of a paragraph: what stands between blanks, with its forms.
std::vector<RichText> words_of(const RichText& text) {
  std::vector<RichText> words(1);
  for (const TextRun& run : text) {
    std::string_view rest = run.text;
    while (true) {
      const std::size_t blank = rest.find(' ');
      if (const std::string_view part = rest.substr(0, blank); !part.empty()) {
        TextRun piece = run;
        piece.text = part;
        words.back().push_back(std::move(piece));
      }
      if (blank == std::string_view::npos) break;
      if (!words.back().empty()) words.emplace_back();
      rest.remove_prefix(blank + 1);
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// A word that is wider than the line is cut where it must be: hashes, paths.
std::vector<RichText> cut_word(const RichText& word, const TextMeasure& measure, const TextStyle& style, float width) {
  if (rich_width(measure, word, style) <= width) return {word};
  std::vector<RichText> parts(1);
  for (const TextRun& run : word) {
    for (std::size_t at = 0; at < run.text.size();) {
      std::size_t next = at + 1;
      while (next < run.text.size() && (static_cast<unsigned char>(run.text[next]) & 0xC0) == 0x80) ++next;
      TextRun letter = run;
      letter.text = run.text.substr(at, next - at);
      RichText longer = parts.back();
      if (!longer.empty() && longer.back().form == letter.form && longer.back().under_root == letter.under_root)
        longer.back().text += letter.text;
      else
        longer.push_back(letter);
      if (!parts.back().empty() && rich_width(measure, longer, style) > width)
        parts.push_back({letter});
      else
        parts.back() = std::move(longer);
      at = next;
    }
  }
  return parts;
}

std::vector<RichText> broken(const RichText& text, const TextMeasure& measure, const TextStyle& style, float width) {
  std::vector<RichText> lines;
  const RichText blank{{TextRun::Form::Upright, " ", false}};
  for (const RichText& whole : words_of(text))
    for (const RichText& word : cut_word(whole, measure, style, width)) {
      if (!lines.empty())
        if (RichText longer = lines.back() + blank + word; rich_width(measure, longer, style) <= width) {
          lines.back() = std::move(longer);
          continue;
        }
      lines.push_back(word);
    }
  return lines;
}

class PdfWriter {
 public:
  PdfWriter(Report& report, const FontLibrary& fonts) : report_(report), fonts_(fonts) {}

  Result<std::string> write() {
    new_page();
    put_lines(rich_plain(report_.title), {Face::SansBold, 16.0f, ink::kBlack}, 0.0f);
    put_lines(rich_plain(report_.program + " · " + report_.command), {Face::Sans, kSmall, ink::kNote}, 4.0f);
    for (ReportBlock& block : report_.blocks) std::visit([&](auto& one) { add(one); }, block);
    PageInfo info;
    info.width = static_cast<double>(kPageWidth), info.height = static_cast<double>(kPageHeight);
    info.title = report_.title, info.description = report_.command, info.created_utc = report_.created_utc;
    std::vector<Draw> draws;
    for (std::size_t p = 0; p < pages_.size(); ++p)
      draws.emplace_back([this, p](Painter& painter) {
        for (const Draw& draw : pages_[p]) draw(painter);
        painter.text_at(0.5f * kPageWidth, kPageHeight - 30.0f,
                        std::to_string(p + 1) + " of " + std::to_string(pages_.size()),
                        {Face::Sans, kSmall, ink::kFaintNote}, Painter::Align::Centre);
      });
    HEADROOM_TRY(PageBytes made, make_pages(info, fonts_, draws));
    for (std::string& warning : made.warnings) report_.warnings.push_back(std::move(warning));
    return std::move(made.bytes);
  }

 private:
  static RichText rich_plain(const std::string& text) { return {{TextRun::Form::Upright, text, false}}; }
  [[nodiscard]] static float width() { return kPageWidth - 2.0f * kMargin; }

  void new_page() {
    pages_.emplace_back();
    y_ = kTop;
  }
  // A new page where there is not so much room left on this one.
  void need(float height) {
    if (y_ + height > kPageHeight - kFoot && y_ > kTop) new_page();
  }
  void put(Draw draw) { pages_.back().push_back(std::move(draw)); }

  void put_lines(const RichText& text, const TextStyle& style, float above, float indent = 0.0f) {
    y_ += above;
    for (RichText& line : broken(text, fonts_, style, width() - indent)) {
      need(kLine * style.size);
      const Vec2 at{kMargin + indent, y_ + style.size};
      put([line = std::move(line), at, style](Painter& painter) { draw_rich(painter, at, line, style); });
      y_ += kLine * style.size;
    }
  }
  [[nodiscard]] float height_of(const RichText& text, const TextStyle& style) const {
    return static_cast<float>(broken(text, fonts_, style, width()).size()) * kLine * style.size;
  }

  // Kept until what stands below it: never at the foot of a page.
  void add(const ReportHeading& heading) { headings_.push_back(heading); }

  [[nodiscard]] static float heading_size(const ReportHeading& heading) { return heading.level <= 2 ? 12.0f : 9.5f; }
  [[nodiscard]] static float above(const ReportHeading& heading) { return heading.level <= 2 ? 20.0f : 12.0f; }

  // With what is to stand right below them.
  void put_headings(float below) {
    float height = 0.0f;
    for (const ReportHeading& heading : headings_) height += above(heading) + kLine * heading_size(heading) + 3.0f;
    need(std::min(height + below, kPageHeight - kFoot - kTop));
    for (const ReportHeading& heading : std::exchange(headings_, {})) {
      put_lines(rich_plain(heading.text), {Face::SansMedium, heading_size(heading), ink::kBlack},
                y_ > kTop ? above(heading) : 0.0f);
      y_ += 3.0f;
    }
  }

  void add(const ReportText& text) {
    put_headings(3.0f * kLine * kText);
    put_lines(rich(text.markup),
              {Face::Sans, kText,
               text.warning ? ink::kFirst.text
               : text.quiet ? ink::kNote
                            : ink::kBlack},
              4.0f);
  }

  void add(const ReportTable& table) {
    put_headings(60.0f);
    if (table.columns.empty()) {
      add_facts(table);
      return;
    }
    const TextStyle style{Face::Sans, kSmall, ink::kBlack}, head{Face::SansMedium, kSmall, ink::kBlack};
    const std::size_t shown =
        table.first >= 0 ? std::min(table.rows.size(), static_cast<std::size_t>(table.first)) : table.rows.size();
    std::vector<float> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      widths.push_back(fonts_.width(table.columns[c], head.face, head.size));
      for (std::size_t r = 0; r < shown; ++r)
        if (c < table.rows[r].size())
          widths.back() = std::max(widths.back(), fonts_.width(table.rows[r][c], style.face, style.size));
    }
    float total = 0.0f;
    for (const float w : widths) total += w;
    const float gap =
        widths.size() > 1 ? std::clamp((width() - total) / static_cast<float>(widths.size() - 1), 3.0f, 14.0f) : 0.0f;
    // Smaller letters where the columns are too wide for the page.
    const float fit = std::min(1.0f, width() / (total + gap * static_cast<float>(widths.size() - 1)));
    const float line = kLine * kSmall;
    const auto put_row = [&](const std::vector<std::string>& cells, const TextStyle& of) {
      float x = kMargin;
      for (std::size_t c = 0; c < cells.size() && c < widths.size(); ++c) {
        const bool right = c < table.numbers.size() && table.numbers[c];
        TextStyle small = of;
        small.size *= fit;
        const float room = fit * widths[c] - fonts_.width(cells[c], small.face, small.size);
        const Vec2 at{right ? x + room : x, y_ + kSmall};
        put([at, small, cell = cells[c]](Painter& painter) { painter.text(at, cell, small); });
        x += fit * (widths[c] + gap);
      }
      y_ += line;
    };
    const auto put_head = [&] {
      put_row(table.columns, head);
      put([y = y_ - 0.1f * line, right = kMargin + fit * (total + gap * static_cast<float>(widths.size() - 1))](
              Painter& painter) { painter.line({kMargin, y}, {right, y}, ink::kBlack, 0.5f); });
      y_ += 2.0f;
    };
    y_ += 6.0f;
    need(4.0f * line);
    put_head();
    for (std::size_t r = 0; r < shown; ++r) {
      if (y_ + line > kPageHeight - kFoot) {
        new_page();
        put_head();
      }
      put_row(table.rows[r], style);
    }
    if (shown < table.rows.size())
      put_lines(rich_plain("The first " + std::to_string(shown) + " of " + grouped_text(std::ssize(table.rows)) + ": " +
                           table.summary + "."),
                {Face::Sans, kSmall, ink::kNote}, 3.0f);
  }

  // Names at the left, what they are beside them.
  void add_facts(const ReportTable& table) {
    const TextStyle name{Face::Sans, kSmall, ink::kNote}, style{Face::Sans, kSmall, ink::kBlack};
    constexpr float kNames = 118.0f;
    y_ += 4.0f;
    for (const auto& row : table.rows) {  // also those that a screen folds up: paper cannot be opened
      const auto left = broken(rich_plain(row[0]), fonts_, name, kNames - 8.0f);
      const auto right = broken(rich_plain(row[1]), fonts_, style, width() - kNames);
      const std::size_t lines = std::max(left.size(), right.size());
      need(static_cast<float>(std::min<std::size_t>(lines, 8)) * kLine * kSmall);
      for (std::size_t i = 0; i < lines; ++i) {
        need(kLine * kSmall);
        for (const auto& [part, x, of] :
             {std::tuple(&left, kMargin, name), std::tuple(&right, kMargin + kNames, style)}) {
          if (i >= part->size()) continue;
          put([line = (*part)[i], at = Vec2{x, y_ + kSmall}, of](Painter& painter) {
            draw_rich(painter, at, line, of);
          });
        }
        y_ += kLine * kSmall;
      }
      y_ += 1.0f;
    }
  }

  void add(ReportFigure& figure) {
    const auto points = [](double mm) { return static_cast<float>(mm * kPointsPerMillimetre); };
    const float wide = points(figure.page.figure.width_mm), high = points(figure.page.figure.height_mm);
    const TextStyle caption{Face::Sans, kSmall, ink::kNote};
    std::vector<RichText> paragraphs;
    for (std::string_view rest = figure.page.caption; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      paragraphs.push_back(rich(rest.substr(0, end)));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    float below = 0.0f;
    for (const RichText& paragraph : paragraphs) below += 3.0f + height_of(paragraph, caption);
    put_headings(high + below);
    need(std::min(high + below, kPageHeight - kFoot - kTop));
    const Vec2 offset{kMargin + std::max(0.0f, 0.5f * (width() - wide)), y_};
    std::vector<PanelFrame> frames = figure.page.frames;
    for (PanelFrame& frame : frames)
      for (Rect* rect : {&frame.outer, &frame.inner})
        *rect = {rect->x0 + offset.x, rect->y0 + offset.y, rect->x1 + offset.x, rect->y1 + offset.y};
    put([this, frames = std::move(frames), &page = figure.page](Painter& painter) {
      draw_figure(painter, page.figure, frames, {fonts_, page.style});
    });
    y_ += high;
    for (const RichText& paragraph : paragraphs) put_lines(paragraph, caption, 3.0f);
  }

  void add(const ReportMaps& /*maps*/) {}

  Report& report_;
  const FontLibrary& fonts_;
  std::vector<std::vector<Draw>> pages_;
  std::vector<ReportHeading> headings_;
  float y_ = kTop;
};

}  // namespace

Result<std::string> report_pdf(Report& report, const FontLibrary& fonts) { return PdfWriter(report, fonts).write(); }

}  // namespace headroom
