#include "app/figures/text_cell.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

constexpr float kCellLine = 1.35f;  // in sizes

// What stands between blanks; a word may be of several forms.
std::vector<RichText> words_of(const RichText& text) {
  std::vector<RichText> words(1);
  for (const TextRun& run : text)
    for (std::string_view rest = run.text; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (end > 0) words.back().push_back({run.form, std::string(rest.substr(0, end)), run.under_root});
      if (end < rest.size() && !words.back().empty()) words.emplace_back();
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Runs of one form are one run.
void append(RichText& text, const RichText& more) {
  for (const TextRun& run : more)
    if (!text.empty() && text.back().form == run.form && text.back().under_root == run.under_root)
      text.back().text += run.text;
    else
      text.push_back(run);
}

}  // namespace

TextCell::TextCell(std::string_view markup) {
  kind = "text", lettered = false;
  for (std::string_view rest = markup; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    words_.push_back(words_of(rich(rest.substr(0, end))));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
}

std::vector<RichText> TextCell::lines(const Page& page, float width) const {
  const TextStyle style = page.style.text();
  std::vector<RichText> lines;
  for (const std::vector<RichText>& words : words_) {
    lines.emplace_back();
    for (const RichText& word : words) {
      RichText longer = lines.back();
      if (!longer.empty()) append(longer, {{TextRun::Form::Upright, " "}});
      append(longer, word);
      if (lines.back().empty() || rich_width(page.measure, longer, style) <= width + 0.01f)
        lines.back() = std::move(longer);
      else
        lines.push_back(word);
    }
  }
  return lines;
}

Vec2 TextCell::least_inner(const Page& page) const {
  float widest = 0.0f;
  for (const std::vector<RichText>& words : words_)
    for (const RichText& word : words) widest = std::max(widest, rich_width(page.measure, word, page.style.text()));
  return {widest, words_.empty() ? 0.0f : page.style.size()};
}

float TextCell::needed_height(const Page& page, float width) const {
  if (words_.empty()) return 0.0f;
  // From the first line's top to where the last one's letters reach down.
  const auto count = static_cast<float>(lines(page, width).size());
  return (kCellLine * (count - 1.0f) + 1.3f) * page.style.size();
}

void TextCell::draw(Painter& painter, const PanelFrame& frame, const Page& page) const {
  float y = frame.inner.y0 + page.style.size();
  for (const RichText& line : lines(page, frame.inner.width())) {
    draw_rich(painter, {frame.inner.x0, y}, line, page.style.text());
    y += kCellLine * page.style.size();
  }
}

}  // namespace headroom
