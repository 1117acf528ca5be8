#include "app/figures/rich_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "core/base/utf8.h"

namespace headroom {
namespace {

using Form = TextRun::Form;

constexpr float kLowered = 0.18f, kRaised = 0.34f;

constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kIndices = {
    {{"₀", "0"}, {"₁", "1"}, {"₂", "2"}, {"₃", "3"}, {"₄", "4"}, {"₅", "5"}, {"₆", "6"}, {"₇", "7"},
     {"₈", "8"}, {"₉", "9"}, {"ᵢ", "i"}, {"ⱼ", "j"}, {"ₙ", "n"}, {"ₖ", "k"}, {"ₜ", "t"}, {"₊", "+"},
     {"₋", "−"}, {"ₓ", "x"}, {"ₐ", "a"}, {"ₑ", "e"}, {"ₗ", "l"}, {"ₘ", "m"}}};

std::string_view index_of(std::string_view character) {
  for (const auto& [small, plain] : kIndices)
    if (small == character) return plain;
  return {};
}

// "−3" as "⁻³"; empty where a character has no such form.
std::string raised_text(std::string_view part) {
  constexpr std::array<std::string_view, 10> kRaisedDigits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string raised;
  while (!part.empty()) {
    const std::string_view character = part.substr(0, decode_utf8(part).size_bytes);
    part.remove_prefix(character.size());
    if (character.size() == 1 && character[0] >= '0' && character[0] <= '9')
      raised += kRaisedDigits[static_cast<std::size_t>(character[0] - '0')];
    else if (character == "−")
      raised += "⁻";
    else
      return {};
  }
  return raised;
}

// "ij" as "ᵢⱼ"; empty where a character has no such form.
std::string lowered_text(std::string_view part) {
  std::string lowered;
  while (!part.empty()) {
    const std::string_view character = part.substr(0, decode_utf8(part).size_bytes);
    part.remove_prefix(character.size());
    const auto found = std::ranges::find(kIndices, character, [](const auto& one) { return one.second; });
    if (found == kIndices.end()) return {};
    lowered += found->first;
  }
  return lowered;
}

// Without small letters as in a definition: a_{i,i−1}.
std::string small_text(const std::string& part, bool raised) {
  std::string written = raised ? raised_text(part) : lowered_text(part);
  if (!written.empty()) return written;
  return (raised ? "^" : "_") + (decode_utf8(part).size_bytes == part.size() ? part : "{" + part + "}");
}

void add(RichText& text, Form form, std::string_view part, bool under_root = false) {
  if (part.empty()) return;
  if (text.empty() || text.back().form != form || text.back().under_root != under_root)
    text.push_back({form, {}, under_root});
  text.back().text += part;
}

bool small(Form form) { return form == Form::Sub || form == Form::SubItalic || form == Form::Super; }

TextStyle style_of(const TextRun& run, TextStyle style) {
  if (run.form == Form::Italic || run.form == Form::SubItalic) style.face = Face::SansItalic;
  if (small(run.form)) style.size *= kSmallText;
  return style;
}

float rise_of(Form form) { return form == Form::Super ? kRaised : small(form) ? -kLowered : 0.0f; }

// A root of its own, so that its bar meets it: corners in sizes, y down, and how far what stands under it begins.
constexpr std::array<Vec2, 4> kRoot = {{{0.03f, -0.30f}, {0.13f, -0.37f}, {0.28f, 0.06f}, {0.46f, -0.86f}}};
constexpr float kRootWidth = 0.50f, kRootStroke = 0.06f;

bool is_root(const RichText& text, std::size_t i) {
  return text[i].text.ends_with("√") && i + 1 < text.size() && text[i + 1].under_root;
}

std::string_view letters_of(const RichText& text, std::size_t i) {
  const std::string_view letters = text[i].text;
  return is_root(text, i) ? letters.substr(0, letters.size() - std::string_view("√").size()) : letters;
}

float width_of(const TextMeasure& measure, const RichText& text, std::size_t i, const TextStyle& style) {
  const TextStyle own = style_of(text[i], style);
  return measure.width(letters_of(text, i), own.face, own.size) + (is_root(text, i) ? kRootWidth * style.size : 0.0f);
}

// Along a line that is turned by `angle` from the horizontal.
void draw_runs(Painter& painter, Vec2 at, const RichText& text, const TextStyle& style, float angle, bool halo) {
  const Vec2 along{std::cos(angle), -std::sin(angle)}, up{-std::sin(angle), -std::cos(angle)};
  Vec2 bar = at;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const TextRun& run = text[i];
    const TextStyle own = style_of(run, style);
    const float width = width_of(painter.measure(), text, i, style);
    const std::string_view letters = letters_of(text, i);
    const Vec2 baseline = at + up * (rise_of(run.form) * style.size);
    if (!letters.empty())
      halo ? painter.text_halo(baseline, letters, own, angle) : painter.text(baseline, letters, own, angle);
    at = at + along * width;
    if (halo) continue;
    if (is_root(text, i)) {
      std::vector<Vec2> corners;
      const Vec2 origin = at + along * (-kRootWidth * style.size);
      for (const Vec2& corner : kRoot)
        corners.push_back(origin + along * (corner.x * style.size) + up * (-corner.y * style.size));
      painter.polyline(corners, style.color, kRootStroke * style.size);
      bar = corners.back();
    }
    if (run.under_root && (i + 1 == text.size() || !text[i + 1].under_root)) {
      const Vec2 end = at + up * (-kRoot.back().y * style.size);
      painter.line(bar, end, style.color, kRootStroke * style.size);
    }
  }
}

// What is white around the letters of one run would eat those of the one before: all of it first.
void draw_along(Painter& painter, Vec2 at, const RichText& text, const TextStyle& style, float angle) {
  if (style.halo > 0.0f) draw_runs(painter, at, text, style, angle, true);
  draw_runs(painter, at, text, style, angle, false);
}

}  // namespace

RichText rich(std::string_view markup) {
  RichText text;
  bool italic = false, root = false;
  Form index = Form::Upright;
  const auto form = [&] {
    if (index == Form::Sub) return italic ? Form::SubItalic : Form::Sub;
    return index == Form::Super ? Form::Super : italic ? Form::Italic : Form::Upright;
  };
  while (!markup.empty()) {
    const std::size_t size = decode_utf8(markup).size_bytes;
    const std::string_view character = markup.substr(0, size), next = markup.substr(size, 1);
    markup.remove_prefix(size);
    if (character == "\\" && !markup.empty()) {
      const std::size_t taken = decode_utf8(markup).size_bytes;
      add(text, form(), markup.substr(0, taken), root);
      markup.remove_prefix(taken);
    } else if (character == "*") {
      italic = !italic;
    } else if ((character == "_" || character == "^") && next == "{") {
      index = character == "_" ? Form::Sub : Form::Super;
      markup.remove_prefix(1);
    } else if (character == "√" && next == "{") {
      add(text, Form::Upright, "√");
      root = true;
      markup.remove_prefix(1);
    } else if (character == "}") {
      (index != Form::Upright) ? void(index = Form::Upright) : void(root = false);
    } else {
      add(text, form(), character, root);
    }
  }
  return text;
}

std::string markup_text(const RichText& text) {
  std::string markup;
  bool root = false;
  const auto set_root = [&](bool wanted) {
    if (root && !wanted) markup += "}";
    if (!root && wanted) markup += "{";
    root = wanted;
  };
  for (const TextRun& run : text) {
    set_root(run.under_root);
    const bool italic = run.form == Form::Italic || run.form == Form::SubItalic;
    const bool lowered = run.form == Form::Sub || run.form == Form::SubItalic, raised = run.form == Form::Super;
    markup += std::string(lowered ? "_{" : raised ? "^{" : "") + (italic ? "*" : "");
    for (const char c : run.text) {
      if (std::string_view("\\*_^{}").find(c) != std::string_view::npos) markup += '\\';
      markup += c;
    }
    markup += std::string(italic ? "*" : "") + (lowered || raised ? "}" : "");
  }
  set_root(false);
  return markup;
}

RichText rich_title(std::string_view title) {
  RichText text;
  bool root = false, bracket = false;
  Form before = Form::Upright;
  while (!title.empty()) {
    const Utf8Scalar scalar = decode_utf8(title);
    const std::string_view character = title.substr(0, scalar.size_bytes);
    title.remove_prefix(scalar.size_bytes);
    const char32_t c = scalar.code_point;
    // A single letter that has an index is a variable.
    const bool alone = (c >= U'a' && c <= U'z') && before != Form::Sub && !title.empty() &&
                       !index_of(title.substr(0, decode_utf8(title).size_bytes)).empty();
    if (c == U'√') {
      add(text, Form::Upright, character, false);
      root = true;
      bracket = title.starts_with("(");
      if (bracket) title.remove_prefix(1);
      continue;
    }
    if (root && ((bracket && c == U')') || (!bracket && (c == U' ' || c == U',' || c == U')' || c == U'/')))) {
      root = false;
      if (bracket) continue;
    }
    if (const std::string_view plain = index_of(character); !plain.empty()) {
      const bool letter = plain[0] >= 'a' && plain[0] <= 'z';
      add(text, letter ? Form::SubItalic : Form::Sub, plain, root);
      before = Form::Sub;
    } else if ((c >= U'α' && c <= U'ω') || alone) {
      add(text, Form::Italic, character, root);
      before = Form::Italic;
    } else {
      add(text, Form::Upright, character, root);
      before = Form::Upright;
    }
  }
  return text;
}

std::string plain_text(const RichText& text) {
  std::string plain;
  std::size_t root_end = 0;  // behind a root that needs brackets
  for (std::size_t i = 0; i < text.size();) {
    if (text[i].under_root && (i == 0 || !text[i - 1].under_root)) {
      bool sum = false;
      std::size_t end = i;
      for (; end < text.size() && text[end].under_root; ++end)
        sum = sum || text[end].text.find(' ') != std::string::npos;
      if (sum) plain += "(", root_end = end;
    }
    const Form form = text[i].form;
    std::string part = text[i].text;
    const bool lowered = form == Form::Sub || form == Form::SubItalic, root = text[i].under_root;
    for (++i; lowered && i < text.size() && text[i].under_root == root; ++i) {
      if (text[i].form != Form::Sub && text[i].form != Form::SubItalic) break;
      part += text[i].text;
    }
    plain += small(form) ? small_text(part, !lowered) : part;
    if (i == root_end) plain += ")";
  }
  return plain;
}

RichText operator+(RichText first, const RichText& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

float rich_width(const TextMeasure& measure, const RichText& text, const TextStyle& style) {
  float width = 0.0f;
  for (std::size_t i = 0; i < text.size(); ++i) width += width_of(measure, text, i, style);
  return width;
}

void draw_rich(Painter& painter, Vec2 baseline, const RichText& text, const TextStyle& style, Painter::Align align) {
  if (align != Painter::Align::Left) {
    const float width = rich_width(painter.measure(), text, style);
    baseline.x -= align == Painter::Align::Right ? width : 0.5f * width;
  }
  draw_along(painter, baseline, text, style, 0.0f);
}

void draw_rich_upwards(Painter& painter, Vec2 baseline, const RichText& text, const TextStyle& style) {
  baseline.y += 0.5f * rich_width(painter.measure(), text, style);
  draw_along(painter, baseline, text, style, 0.5f * std::numbers::pi_v<float>);
}

}  // namespace headroom
