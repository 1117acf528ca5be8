#include "app/figures/caption_text.h"

#include <array>
#include <cstddef>

#include "app/figures/rich_text.h"
#include "core/base/utf8.h"

namespace headroom {
namespace {

// What LaTeX has a command for inside $…$; letters stand for themselves.
constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kMath = {
    {{"α", "\\alpha "}, {"β", "\\beta "},  {"ε", "\\varepsilon "}, {"κ", "\\kappa "},  {"λ", "\\lambda "},
     {"ρ", "\\rho "},   {"σ", "\\sigma "}, {"μ", "\\mu "},         {"ℓ", "\\ell "},    {"≤", "\\le "},
     {"≥", "\\ge "},    {"−", "-"},        {"·", "\\cdot "},       {"×", "\\times "},  {"√", "\\surd "},
     {"∞", "\\infty "}, {"Σ", "\\Sigma "}, {"‖", "\\| "},          {"⟨", "\\langle "}, {"⟩", "\\rangle "},
     {"¹", "^{1}"},     {"²", "^{2}"},     {"∈", "\\in "},         {"→", "\\to "}}};
constexpr std::array<std::pair<char, std::string_view>, 10> kEscaped = {{{'%', "\\%"},
                                                                         {'&', "\\&"},
                                                                         {'#', "\\#"},
                                                                         {'_', "\\_"},
                                                                         {'$', "\\$"},
                                                                         {'{', "\\{"},
                                                                         {'}', "\\}"},
                                                                         {'~', "\\textasciitilde{}"},
                                                                         {'^', "\\textasciicircum{}"},
                                                                         {'\\', "\\textbackslash{}"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kText = {{{"–", "--"},
                                                                                 {"’", "'"},
                                                                                 {"“", "``"},
                                                                                 {"”", "''"},
                                                                                 {"½", "\\(\\frac12\\)"},
                                                                                 {"▼", "(triangle)"},
                                                                                 {"…", "\\dots{}"},
                                                                                 {"\xc2\xa0", "~"}}};

std::string_view math_of(std::string_view character) {
  for (const auto& [known, command] : kMath)
    if (known == character) return command;
  return {};
}

std::string text_of(std::string_view character) {
  for (const auto& [known, escaped] : kEscaped)
    if (character.size() == 1 && character[0] == known) return std::string(escaped);
  for (const auto& [known, written] : kText)
    if (character == known) return std::string(written);
  // Letters with marks of their own (r̄) and other scripts: as they are, for engines that read UTF-8.
  return std::string(character);
}

std::string math(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = decode_utf8(text).size_bytes;
    const std::string_view character = text.substr(0, size);
    text.remove_prefix(size);
    // A bar above the letter before it (U+0304).
    if (character == "\xcc\x84" && !out.empty()) {
      const char letter = out.back();
      out.pop_back();
      out += std::string("\\bar{") + letter + "}";
    } else if (character == "\xcc\x83" && !out.empty()) {
      const char letter = out.back();
      out.pop_back();
      out += std::string("\\tilde{") + letter + "}";
    } else if (const std::string_view command = math_of(character); !command.empty()) {
      out += command;
    } else {
      out += character;
    }
  }
  return out;
}

std::string latex(const RichText& text) {
  using Form = TextRun::Form;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const TextRun& run = text[i];
    switch (run.form) {
      case Form::Italic: out += run.under_root ? "$\\sqrt{" + math(run.text) : "$" + math(run.text) + "$"; break;
      case Form::Sub:
      case Form::SubItalic: {
        const std::string index =
            run.form == Form::Sub ? "_{\\mathrm{" + math(run.text) + "}}" : "_{" + math(run.text) + "}";
        if (run.under_root)
          out += index + "}$";
        else if (!out.empty() && out.back() == '$')
          out.pop_back(), out += index + "$";
        else
          out += "$" + index + "$";
        break;
      }
      case Form::Super:
        if (!out.empty() && out.back() == '$')
          out.pop_back(), out += "^{" + math(run.text) + "}$";
        else
          out += "$^{" + math(run.text) + "}$";
        break;
      case Form::Upright: {
        std::string_view rest = run.text;
        while (!rest.empty()) {
          const std::size_t size = decode_utf8(rest).size_bytes;
          const std::string_view character = rest.substr(0, size);
          rest.remove_prefix(size);
          const bool root = character == "√" && i + 1 < text.size() && text[i + 1].under_root;
          if (root) continue;
          if (const std::string_view command = math_of(character); !command.empty() && character != "·")
            out += "$" + std::string(command) + "$";
          else
            out += text_of(character);
        }
        break;
      }
    }
    if (run.form == Form::Italic && run.under_root && (i + 1 == text.size() || !text[i + 1].under_root)) out += "}$";
  }
  return out;
}

}  // namespace

std::string plain_caption(std::string_view markup) { return plain_text(rich(markup)); }

std::string latex_caption(std::string_view markup, const std::vector<std::pair<std::string, std::string>>& keys) {
  std::string text;
  for (const auto& [key, value] : keys)
    if (!value.empty()) text += "% " + key + ": " + value + "\n";
  std::string body;
  while (true) {
    const std::size_t end = markup.find('\n');
    std::string_view line = markup.substr(0, end);
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
