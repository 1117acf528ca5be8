#include "app/figures/caption_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "app/figures/rich_text.h"
#include "core/base/number_text.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

// What LaTeX has a command for in formulas; Latin letters and digits stand for themselves. `<`, `>` and `|` too:
// outside of formulas the usual encoding has ¡, ¿ and a dash in their places; and `$`, whose font of symbols may be one
// of bitmaps.
constexpr std::string_view kMath =
    " α=\\alpha β=\\beta γ=\\gamma δ=\\delta ε=\\varepsilon ζ=\\zeta η=\\eta θ=\\theta ι=\\iota κ=\\kappa "
    "λ=\\lambda μ=\\mu ν=\\nu ξ=\\xi π=\\pi ρ=\\rho ς=\\varsigma σ=\\sigma τ=\\tau υ=\\upsilon φ=\\varphi "
    "χ=\\chi ψ=\\psi ω=\\omega Γ=\\Gamma Δ=\\Delta Θ=\\Theta Λ=\\Lambda Σ=\\Sigma Φ=\\Phi Ψ=\\Psi "
    "Ω=\\Omega ℓ=\\ell ≤=\\le ≥=\\ge ≠=\\neq ≈=\\approx <=< >=> |=| $=\\$ −=- ±=\\pm ·=\\cdot ×=\\times "
    "⊙=\\odot √=\\surd ∞=\\infty ∅=\\emptyset ‖=\\| ⟨=\\langle ⟩=\\rangle ⌊=\\lfloor ⌋=\\rfloor ⌈=\\lceil "
    "⌉=\\rceil ∈=\\in →=\\to ←=\\leftarrow ↑=\\uparrow ↓=\\downarrow ↵=\\hookleftarrow "
    "▼=\\bigtriangledown ●=\\bullet ◇=\\diamond ½=\\frac12 ∑=\\Sigma °={}^{\\circ} ";
constexpr std::string_view kEscaped =
    " %=\\% &=\\& #=\\# _=\\_ {=\\{ }=\\} ~=\\textasciitilde{} ^=\\textasciicircum{} "
    "\\=\\textbackslash{} ";
constexpr std::string_view kText =
    " –=-- —=--- ‘=` ’=' “=`` ”='' …=\\dots{} ␣=\\textvisiblespace{} ■=\\rule{1ex}{1ex} \xc2\xa0=~ "
    "\xe2\x80\x89=\\, \xe2\x80\xaf=\\, ";
constexpr std::string_view kPowers = " ⁰=0 ¹=1 ²=2 ³=3 ⁴=4 ⁵=5 ⁶=6 ⁷=7 ⁸=8 ⁹=9 ⁻=- ᵀ=\\top ";
// Marks above the letter before them.
constexpr std::string_view kAccents = " \xcc\x84=\\bar \xcc\x83=\\tilde \xcc\x82=\\hat ";

// What a table of CHARACTER=WRITTEN has for a character; empty: nothing.
std::string_view written(std::string_view table, std::string_view character) {
  const std::string key = " " + std::string(character) + "=";
  const std::size_t at = table.find(key);
  if (at == std::string_view::npos) return {};
  table.remove_prefix(at + key.size());
  return table.substr(0, table.find(' '));
}

std::string_view next_character(std::string_view text) {
  return text.substr(0, text.empty() ? 0 : decode_utf8(text).size_bytes);
}

bool ascii_letter(std::string_view character) {
  if (character.size() != 1) return false;
  const char c = character[0];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// "i" of "ᵢ"; empty where it is no index.
std::string index_letters(std::string_view character) {
  if (character.size() < 3) return {};
  const RichText one = rich_title(character);
  return one.front().form == TextRun::Form::Sub || one.front().form == TextRun::Form::SubItalic ? one.front().text
                                                                                                : std::string();
}

std::string text_of(std::string_view character) {
  if (const std::string_view escaped = written(kEscaped, character); !escaped.empty()) return std::string(escaped);
  if (const std::string_view known = written(kText, character); !known.empty()) return std::string(known);
  // Letters of other scripts: as they are, for engines that read UTF-8.
  return std::string(character);
}

bool ends_in_command(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && ascii_letter(text.substr(end - 1, 1))) --end;
  return end > 0 && end < text.size() && text[end - 1] == '\\';
}

// Text and formulas: what stands side by side in formulas is one formula, with one index and one power for each base.
class LatexWriter {
 public:
  void text(std::string_view piece) {
    close();
    out_ += piece;
  }
  void symbol(std::string_view piece) {
    open();
    end_script();
    lowered_ = raised_ = false;
    append(piece);
  }
  // `which`: _ or ^.
  void script(char which, std::string_view piece) {
    open();
    if (script_ != which) {
      end_script();
      if (which == '_' ? lowered_ : raised_) out_ += "{}", lowered_ = raised_ = false;
      (which == '_' ? lowered_ : raised_) = true;
      out_ += which, out_ += '{', script_ = which;
    }
    append(piece);
  }
  void begin_root() { symbol("\\sqrt{"); }
  void end_root() {
    end_script();
    out_ += '}';
    lowered_ = raised_ = false;
  }
  std::string take() {
    close();
    return std::move(out_);
  }

 private:
  void append(std::string_view piece) {
    if (ascii_letter(piece.substr(0, 1)) && ends_in_command(out_)) out_ += ' ';
    out_ += piece;
  }
  void open() {
    if (formula_) return;
    out_ += '$';
    formula_ = true, lowered_ = raised_ = false;
  }
  void end_script() {
    if (script_ != 0) out_ += '}';
    script_ = 0;
  }
  void close() {
    end_script();
    if (formula_) out_ += '$';
    formula_ = false;
  }

  std::string out_;
  char script_ = 0;
  bool formula_ = false, lowered_ = false, raised_ = false;
};

enum class Setting : std::uint8_t { Text, Italic, Upright };  // the latter two in formulas

// Letters in one command, digits and signs as they are.
void put_upright(LatexWriter& out, std::string_view& text) {
  std::size_t size = 0;
  while (ascii_letter(text.substr(size, 1))) ++size;
  out.symbol("\\mathrm{" + std::string(text.substr(0, size)) + "}");
  text.remove_prefix(size);
}

void put_in_formula(LatexWriter& out, std::string_view character) {
  if (character == " ") return;  // TeX knows where signs have room
  const std::string text = text_of(character);
  out.symbol(character.size() > 1 || text.size() > 2 ? "\\mbox{" + text + "}" : text);
}

void put(LatexWriter& out, std::string_view text, Setting setting) {
  while (!text.empty()) {
    const std::string_view character = next_character(text), after = next_character(text.substr(character.size()));
    if (const std::string_view accent = written(kAccents, after); !accent.empty() && ascii_letter(character)) {
      out.symbol(std::string(accent) + "{" + std::string(character) + "}");
      text.remove_prefix(character.size() + after.size());
      continue;
    }
    if (setting == Setting::Upright && ascii_letter(character)) {
      put_upright(out, text);
      continue;
    }
    text.remove_prefix(character.size());
    if (const std::string index = index_letters(character); !index.empty())
      out.script('_', index == "−" ? "-" : index);
    else if (const std::string_view power = written(kPowers, character); !power.empty())
      out.script('^', power);
    else if (const std::string_view command = written(kMath, character); !command.empty())
      out.symbol(command);
    else if (setting == Setting::Text)
      // A number stays beside its per cent sign, and two hyphens are no dash.
      out.text(character == " " && after == "%" ? "~" : character == "-" && after == "-" ? "-{}" : text_of(character));
    else
      put_in_formula(out, character);
  }
}

// What stands in an index or a power, as a formula of its own.
std::string in_script(const TextRun& run) {
  LatexWriter inner;
  const bool letter = run.text.size() == 1;
  put(inner, run.text,
      run.form == TextRun::Form::SubItalic || (run.form == TextRun::Form::Super && letter) ? Setting::Italic
                                                                                           : Setting::Upright);
  const std::string formula = inner.take();
  return formula.size() < 2 ? formula : formula.substr(1, formula.size() - 2);
}

std::string latex(const RichText& text) {
  LatexWriter out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const TextRun& run = text[i];
    const bool root_follows = !run.under_root && i + 1 < text.size() && text[i + 1].under_root;
    std::string_view part = run.text;
    if (root_follows && part.ends_with("√")) part.remove_suffix(std::string_view("√").size());
    if (run.form == TextRun::Form::Sub || run.form == TextRun::Form::SubItalic)
      out.script('_', in_script(run));
    else if (run.form == TextRun::Form::Super)
      out.script('^', in_script(run));
    else
      put(out, part,
          run.form == TextRun::Form::Italic ? Setting::Italic
          : run.under_root                  ? Setting::Upright
                                            : Setting::Text);
    if (root_follows) out.begin_root();
    if (run.under_root && (i + 1 == text.size() || !text[i + 1].under_root)) out.end_root();
  }
  return out.take();
}

bool digit(std::string_view character) { return character.size() == 1 && character[0] >= '0' && character[0] <= '9'; }

bool small_greek(std::string_view character) {
  const char32_t c = decode_utf8(character).code_point;
  return c >= U'α' && c <= U'ω';
}

bool begins_word(std::string_view character) {
  return ascii_letter(character) || (character.size() == 2 && small_greek(character));
}

// As far as it goes: a word, a number, a name with low lines.
std::size_t word_size(std::string_view text, bool names) {
  std::size_t size = 0;
  while (size < text.size()) {
    const std::string_view character = next_character(text.substr(size));
    const bool accent = size > 0 && !written(kAccents, character).empty();
    if (!begins_word(character) && !digit(character) && !accent && !(names && character == "_")) break;
    size += character.size();
  }
  return size;
}

// Where the bracket that `text` begins with is closed.
std::size_t closing(std::string_view text) {
  const char begin = text[0], end = begin == '(' ? ')' : '}';
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (depth += text[at] == begin ? 1 : text[at] == end ? -1 : 0; depth == 0) return at;
  return std::string_view::npos;
}

// Reads a definition from its beginning to its end, and writes markup.
class DefinitionReader {
 public:
  explicit DefinitionReader(std::string_view text) : text_(text) {}

  std::string markup() {
    while (!text_.empty()) {
      const std::string_view character = next_character(text_);
      if (begins_word(character))
        word();
      else if (character == "√" && !in_root_)
        root();
      else if (!script())
        literal(take(character.size()));
    }
    return std::move(out_);
  }

 private:
  std::string_view take(std::size_t size) {
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }
  void literal(std::string_view text) { out_ += literal_markup(text); }

  // A single letter is a variable, but for an article; a word is one only in names, which have no indices.
  void word() {
    const std::string_view name = text_.substr(0, word_size(text_, true)),
                           base = text_.substr(0, word_size(text_, false));
    const bool letter = base.size() == next_character(base).size() ||
                        !written(kAccents, base.substr(next_character(base).size())).empty();
    const std::size_t index = name.size() - std::min(name.size(), base.size() + 1);
    if (!letter && (index > 2 || name.find('_', base.size() + 1) != std::string_view::npos))
      return literal(take(name.size()));
    take(base.size());
    const bool alone =
        !text_.starts_with("_") && !text_.starts_with("^") && written(kPowers, next_character(text_)).empty();
    const bool variable = letter && !(alone && (base == "a" || base == "A" || base == "I"));
    out_ += variable ? "*" + std::string(base) + "*" : std::string(base);
    while (script()) continue;
  }

  void root() {
    take(std::string_view("√").size());
    in_root_ = true;
    out_ += "√{";
    if (const std::size_t end = text_.starts_with("(") ? closing(text_) : std::string_view::npos;
        end != std::string_view::npos) {
      DefinitionReader inner(text_.substr(1, end - 1));
      inner.in_root_ = true;
      out_ += inner.markup();
      take(end + 1);
    } else if (begins_word(next_character(text_))) {
      word();
    }
    out_ += '}';
    in_root_ = false;
  }

  // _x, _{…}, ^2, ^{…}
  bool script() {
    if (!text_.starts_with("_") && !text_.starts_with("^")) return false;
    const std::string_view rest = text_.substr(1);
    const bool braced = rest.starts_with("{");
    const std::size_t end = braced ? closing(rest) : word_size(rest, false);
    if (end == std::string_view::npos || end == 0) return false;
    out_ += text_[0], out_ += '{';
    index(braced ? rest.substr(1, end - 1) : rest.substr(0, end));
    out_ += '}';
    take(1 + end + (braced ? 1 : 0));
    return true;
  }

  // Letters are variables, words are not; an index of an index is a small letter.
  void index(std::string_view text) {
    while (!text.empty()) {
      const std::size_t size = word_size(text, false);
      if (size == 0 && text.starts_with("_") && word_size(text.substr(1), false) > 0) {
        text.remove_prefix(1);
        const std::size_t small = word_size(text, false);
        out_ += plain_text({{TextRun::Form::Sub, std::string(text.substr(0, small))}});
        text.remove_prefix(small);
        continue;
      }
      if (size == 0) {
        literal(next_character(text));
        text.remove_prefix(next_character(text).size());
        continue;
      }
      std::size_t letters = 0;
      while (begins_word(next_character(text.substr(letters)))) letters += next_character(text.substr(letters)).size();
      const std::string part(text.substr(0, letters > 0 ? letters : size));
      out_ += letters > 0 && letters < 3 ? "*" + part + "*" : part;
      text.remove_prefix(part.size());
    }
  }

  std::string_view text_;
  std::string out_;
  bool in_root_ = false;
};

// One line, whatever a name is.
std::string comment_text(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return line;
}

}  // namespace

std::string two_digits(double value) {
  const int decimals = value > 0.0 ? std::max(0, 1 - static_cast<int>(std::floor(std::log10(value)))) : 0;
  return decimals <= 6 ? fixed_text(value, decimals) : short_text(value);
}

std::string literal_markup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\*_^{}").find(c) != std::string_view::npos) out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string definition_markup(std::string_view definition) { return DefinitionReader(definition).markup(); }

std::string plain_caption(std::string_view markup) { return plain_text(rich(markup)); }

std::string latex_caption(std::string_view markup, const std::vector<std::pair<std::string, std::string>>& keys) {
  std::string text;
  for (const auto& [key, value] : keys)
    if (!value.empty()) text += "% " + key + ": " + comment_text(value) + "\n";
  std::string body;
  while (true) {
    const std::size_t end = markup.find('\n');
    std::string_view line = markup.substr(0, end);
    line = line.substr(0, line.find_last_not_of(' ') + 1);
    if (!body.empty()) body += " ";
    // The letter in front of a panel's paragraph is bold: "a, …", "(a), …".
    if (const std::size_t comma = line.find(", ");
        comma != std::string_view::npos && comma <= 4 && line.substr(0, comma).find(' ') == std::string_view::npos) {
      body += "\\textbf{" + std::string(line.substr(0, comma)) + "}";
      line.remove_prefix(comma);
    }
    body += latex(rich(line));
    if (end == std::string_view::npos) break;
    markup.remove_prefix(end + 1);
  }
  return text + "\\caption{" + body + "}";
}

}  // namespace headroom
