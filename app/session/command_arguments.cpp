#include "app/session/command_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include "app/session/command_parts.h"

namespace headroom {
namespace {

constexpr std::string_view kOr = " or ", kAgain = "…";

bool is_whole(std::string_view word) {
  const std::string text(word);
  return index_argument(std::span(&text, 1), 0).has_value();
}
bool is_number(std::string_view word) {
  const std::string text(word);
  return number_argument(std::span(&text, 1), 0).has_value();
}
bool is_place(std::string_view word) { return parse_place(word).has_value(); }
bool is_list_of_heads(std::string_view word) { return parse_heads(word).has_value(); }
bool is_shortcut(std::string_view word) { return word.empty() || parse_key(word).has_value(); }
bool is_something(std::string_view word) { return !word.empty(); }
bool is_anything(std::string_view) { return true; }

constexpr std::string_view kWhole = "a whole number from 0 on", kNumber = "a number", kName = "a name",
                           kPath = "a path", kText = "a text, in quotation marks where it has blanks";

constexpr std::array<Placeholder, 43> kPlaceholders = {{
    {"QUERY", kWhole, "5", is_whole},
    {"KEY", kWhole, "3", is_whole},
    {"TOKEN", kWhole, "5", is_whole},
    {"TOKENS", kWhole, "8", is_whole},
    {"LAYER", kWhole, "0", is_whole},
    {"BOUNDARY", kWhole, "0", is_whole},
    {"CHANNEL", kWhole, "0", is_whole},
    {"RATIO", kNumber, "300", is_number},
    {"RUN", "the number of a run", "1", is_whole},
    {"ID", "the number of an error card", "1", is_whole},
    {"COUNT", kWhole, "10", is_whole},
    {"INDEX", kWhole, "0", is_whole},
    {"NUMBER", kWhole, "1", is_whole},
    {"STEP", kWhole, "100", is_whole},
    {"HISTORY", "the number of a history", "1", is_whole},
    {"SEED", kWhole, "7", is_whole},
    {"X", kNumber, "0.5", is_number},
    {"Y", kNumber, "0.5", is_number},
    {"X0", kNumber, "10", is_number},
    {"Y0", kNumber, "10", is_number},
    {"X1", kNumber, "20", is_number},
    {"Y1", kNumber, "20", is_number},
    {"Q0", kNumber, "0", is_number},
    {"Q1", kNumber, "8", is_number},
    {"K0", kNumber, "0", is_number},
    {"K1", kNumber, "8", is_number},
    {"LOW", kNumber, "0", is_number},
    {"HIGH", kNumber, "1", is_number},
    {"FACTOR", kNumber, "1", is_number},
    {"DIVIDER", "a number from 0 to 1", "0.5", is_number},
    {"PIXELS", kNumber, "300", is_number},
    {"NOTCHES", kNumber, "1", is_number},
    {"GB", kNumber, "0", is_number},
    {"MB", kNumber, "64", is_number},
    {"L0.H0[Q,K]", "layer and head, with query and key", "L0.H0[1,0]", is_place},
    {"L0.H0,L1.H2", "heads, with commas between them", "L0.H0", is_list_of_heads},
    {"SHORTCUT", "a key such as Ctrl+K", "Ctrl+K", is_shortcut},
    {"NAME", kName, "sink_score", is_something},
    {"CHANGE", "NAME=VALUE, or -NAME=VALUE to take it back", "temperature=1.5", is_something},
    {"PATH", kPath, "build/a.h5", is_something},
    {"LINE", "a command line in quotation marks", "theme toggle", is_something},
    {"LIST", "names or numbers with commas or blanks between them", "1,2,3", is_anything},
    {"TEXT", kText, "some text", is_anything},
}};

bool fits(std::string_view word, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(allowed, [&](const std::string& one) {
    const Placeholder* placeholder = find_placeholder(one);
    return placeholder ? placeholder->fits(word) : word == one;
  });
}

bool fits(std::span<const std::string> arguments, const ArgumentForm& form) {
  const std::size_t places = form.words.size();
  if (arguments.size() < places || (arguments.size() > places && !form.last_repeats)) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!fits(arguments[i], form.words[std::min(i, places - 1)])) return false;
  return true;
}

// A word of a pattern with the brackets that open before it and close after it taken off.
struct PatternWord {
  std::string text;
  bool opens = false, closes = false;
};

std::vector<PatternWord> pattern_words(std::string_view form) {
  std::vector<PatternWord> words;
  while (!form.empty()) {
    const std::size_t end = std::min(form.find(' '), form.size());
    PatternWord word;
    word.text = form.substr(0, end);
    form.remove_prefix(std::min(end + 1, form.size()));
    if (word.text.empty()) continue;
    word.opens = word.text.front() == '[';
    if (word.opens) word.text.erase(0, 1);
    word.closes = word.text.back() == ']' && word.text.find('[') == std::string::npos;
    if (word.closes) word.text.pop_back();
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> choices(std::string_view word) {
  std::vector<std::string> list;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find('|', begin), word.size());
    list.emplace_back(word.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

// Each bracket makes two forms of one: without its words and with them.
void add_forms(std::span<const PatternWord> words, ArgumentForm form, std::vector<ArgumentForm>& forms) {
  if (words.empty()) {
    forms.push_back(std::move(form));
    return;
  }
  std::size_t count = 1;
  if (words.front().opens) {
    while (count < words.size() && !words[count - 1].closes) ++count;
    add_forms(words.subspan(count), form, forms);
  }
  for (const PatternWord& word : words.first(count)) {
    std::string_view text = word.text;
    form.last_repeats = text.ends_with(kAgain);
    if (form.last_repeats) text.remove_suffix(kAgain.size());
    form.words.push_back(choices(text));
  }
  add_forms(words.subspan(count), std::move(form), forms);
}

}  // namespace

std::span<const Placeholder> placeholders() { return kPlaceholders; }

const Placeholder* find_placeholder(std::string_view name) {
  const auto found = std::ranges::find(kPlaceholders, name, &Placeholder::name);
  return found == kPlaceholders.end() ? nullptr : &*found;
}

std::vector<ArgumentForm> argument_forms(std::string_view pattern) {
  std::vector<ArgumentForm> forms;
  for (std::size_t begin = 0; begin <= pattern.size();) {
    const std::size_t end = std::min(pattern.find(kOr, begin), pattern.size());
    add_forms(pattern_words(pattern.substr(begin, end - begin)), {}, forms);
    begin = end + kOr.size();
  }
  return forms;
}

Result<void> check_arguments(const Command& command, std::span<const std::string> arguments) {
  const std::vector<ArgumentForm> forms = argument_forms(command.arguments);
  if (std::ranges::any_of(forms, [&](const ArgumentForm& form) { return fits(arguments, form); })) return {};
  std::string expected = command.arguments.empty() ? "nothing" : command.arguments, said;
  for (const ArgumentForm& form : forms)
    for (const auto& word : form.words)
      for (const std::string& one : word) {
        const Placeholder* placeholder = find_placeholder(one);
        const std::string meaning =
            placeholder ? std::string(one) + ": " + std::string(placeholder->meaning) : std::string();
        if (meaning.empty() || said.find(meaning) != std::string::npos) continue;
        said += (said.empty() ? " (" : ", ") + meaning;
      }
  if (!said.empty()) expected += said + ")";
  return wrong_arguments(command.name, expected, arguments);
}

}  // namespace headroom
