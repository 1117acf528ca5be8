#include "app/session/command_arguments.h"

#include <algorithm>
#include <array>
#include <limits>

#include "app/session/commands.h"
#include "core/base/parse_number.h"
#include "core/model/what_if.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr std::string_view kOr = " or ", kAgain = "…";

// Where the meaning says all.
Error unfit() { return Error(ErrorCode::InvalidArgument, ""); }

template <typename Value>
Result<ArgumentValue> if_any(std::optional<Value> value) {
  return value ? Result<ArgumentValue>(ArgumentValue(std::move(*value))) : Result<ArgumentValue>(unfit());
}

Result<ArgumentValue> anything(std::string_view) { return ArgumentValue(); }
Result<ArgumentValue> something(std::string_view word) { return word.empty() ? unfit() : anything(word); }
Result<ArgumentValue> index(std::string_view word) { return if_any(parse_index(word)); }
Result<ArgumentValue> number(std::string_view word) { return if_any(parse_finite(word)); }
Result<ArgumentValue> place(std::string_view word) { return if_any(parse_place(word)); }

// Of a run, a history, a card: they are numbered by an int.
Result<ArgumentValue> id(std::string_view word) {
  const auto value = parse_index(word);
  return if_any(value && *value <= std::numeric_limits<int>::max() ? value : std::nullopt);
}

Result<ArgumentValue> head(std::string_view word) {
  const auto value = parse_head(word);
  return if_any(value ? std::optional(HeadCell{*value}) : std::nullopt);
}

Result<ArgumentValue> heads(std::string_view word) {
  Result<std::vector<HeadRef>> list = parse_heads(word);
  return list ? Result<ArgumentValue>(ArgumentValue(std::move(*list))) : Result<ArgumentValue>(unfit());
}

Result<ArgumentValue> shortcut(std::string_view word) {
  return word.empty() || parse_key(word) ? anything(word) : unfit();
}

Result<ArgumentValue> device(std::string_view word) {
  return word.starts_with("cuda:") && parse_index(word.substr(5)) ? anything(word) : unfit();
}

Result<ArgumentValue> quantity(std::string_view word) {
  const Result<QuantityRef> found = parse_quantity(word);
  return found ? anything(word) : Result<ArgumentValue>(found.error());
}

// A comma inside of brackets belongs to the name: top_key_mass[first,4].
Result<ArgumentValue> quantities(std::string_view word) {
  std::vector<std::string> names;
  int depth = 0;
  std::string name;
  for (const char c : std::string(word) + ",") {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth > 0 || (c != ',' && c != ' '))
      name += c;
    else if (!name.empty())
      names.push_back(std::exchange(name, {}));
  }
  if (!name.empty()) names.push_back(name.substr(0, name.size() - 1));  // a bracket that is not closed
  for (const std::string& one : names)
    if (const Result<QuantityRef> found = parse_quantity(one); !found) return found.error();
  return ArgumentValue(std::move(names));
}

Result<ArgumentValue> change(std::string_view word) {
  const Result<WhatIf> found = parse_what_if(word);
  if (!found) return found.error();
  return found->layer ? unfit() : anything(word);
}

Result<ArgumentValue> change_back(std::string_view word) {
  return word.starts_with('-') ? change(word.substr(1)) : unfit();
}

constexpr std::string_view kWhole = "a whole number from 0 on", kNumber = "a number", kName = "a name",
                           kQuantity = "a quantity of a head, such as sink_score[second]", kPath = "a path",
                           kText = "a text, in quotation marks where it has blanks";

constexpr auto kPlaceholders = std::to_array<Placeholder>({
    {"QUERY", kWhole, "5", index},
    {"KEY", kWhole, "3", index},
    {"TOKEN", kWhole, "5", index},
    {"TOKENS", kWhole, "8", index},
    {"LENGTH", "positions of each sequence", "128", index},
    {"LAYER", kWhole, "0", index},
    {"BOUNDARY", kWhole, "0", index},
    {"CHANNEL", kWhole, "0", index},
    {"RATIO", kNumber, "300", number},
    {"RUN", "the number of a run", "1", id},
    {"ID", "the number of an error card", "1", id},
    {"COUNT", kWhole, "10", index},
    {"INDEX", kWhole, "0", index},
    {"NUMBER", kWhole, "1", index},
    {"STEP", kWhole, "100", index},
    {"HISTORY", "the number of a history", "1", id},
    {"SEED", kWhole, "7", index},
    {"X", kNumber, "0.5", number},
    {"Y", kNumber, "0.5", number},
    {"X0", kNumber, "10", number},
    {"Y0", kNumber, "10", number},
    {"X1", kNumber, "20", number},
    {"Y1", kNumber, "20", number},
    {"Q0", kNumber, "0", number},
    {"Q1", kNumber, "8", number},
    {"K0", kNumber, "0", number},
    {"K1", kNumber, "8", number},
    {"LOW", kNumber, "0", number},
    {"HIGH", kNumber, "1", number},
    {"FACTOR", kNumber, "1", number},
    {"DIVIDER", "a number from 0 to 1", "0.5", number},
    {"PIXELS", kNumber, "300", number},
    {"NOTCHES", kNumber, "1", number},
    {"GB", kNumber, "0", number},
    {"MB", kNumber, "64", number},
    {"L0.H0", "layer and head", "L0.H0", head, Completion::Head},
    {"L0.H0[Q,K]", "layer and head, with query and key", "L0.H0[1,0]", place, Completion::Head},
    {"L0.H0,L1.H2", "heads, with commas between them", "L0.H0", heads, Completion::Head},
    {"SHORTCUT", "a key such as Ctrl+K", "Ctrl+K", shortcut},
    {"SEQUENCE", "a sequence of the corpus, as S17", "S0", something},
    {"NAME", kName, "sink_score", something},
    {"QUANTITY", kQuantity, "sink_score", quantity, Completion::Quantity},
    {"QUANTITIES", "quantities of a head, with commas between them", "sink_score,logit_max", quantities,
     Completion::Quantity},
    {"CHANGE", "NAME=VALUE", "temperature=1.5", change},
    {"-CHANGE", "-NAME=VALUE takes it back", "-temperature=1.5", change_back},
    {"CUDA", "one of several devices, as cuda:1", "cuda:0", device},
    {"PATH", kPath, "build/a.h5", something, Completion::Path},
    {"LINE", "a command line in quotation marks", "theme toggle", something},
    {"LIST", "numbers with commas or blanks between them", "1,2,3", anything},
    {"TEXT", kText, "some text", anything},
});

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

// The word's value where it is one of these; else what there is to say of it.
Result<ArgumentValue> value_of(std::string_view word, const std::vector<std::string>& allowed) {
  Error error = unfit();
  if (!find_placeholder(word) && std::ranges::find(allowed, word) != allowed.end()) return ArgumentValue();
  for (const std::string& one : allowed)
    if (const Placeholder* placeholder = find_placeholder(one)) {
      Result<ArgumentValue> value = placeholder->read(word);
      if (value) return value;
      if (!value.error().message.empty()) error = value.error();
    }
  return error;
}

// The words that may stand at a place; null: none may.
const std::vector<std::string>* at_place(const ArgumentForm& form, std::size_t place) {
  if (place < form.words.size()) return &form.words[place];
  return form.last_repeats ? &form.words.back() : nullptr;
}

// Values of as many words as fit, and what is said of the one that does not.
struct Fitting {
  std::vector<Arguments::Argument> list;
  std::string misfit{};
};
Fitting fit(std::span<const std::string> words, const ArgumentForm& form) {
  Fitting fitting;
  for (const std::string& word : words) {
    const std::vector<std::string>* allowed = at_place(form, fitting.list.size());
    if (!allowed) break;
    Result<ArgumentValue> value = value_of(word, *allowed);
    if (!value) {
      if (!value.error().message.empty()) fitting.misfit = describe(value.error());
      break;
    }
    fitting.list.push_back({word, std::move(*value)});
  }
  return fitting;
}

}  // namespace

std::span<const Placeholder> placeholders() { return kPlaceholders; }

const Placeholder* find_placeholder(std::string_view name) {
  const auto found = std::ranges::find(kPlaceholders, name, &Placeholder::name);
  return found == kPlaceholders.end() ? nullptr : &*found;
}

template <typename Value>
const Value& Arguments::value(std::size_t i) const {
  const Value* value = i < list_.size() ? std::get_if<Value>(&list_[i].value) : nullptr;
  HEADROOM_CHECK(value != nullptr, command_ + ": an argument of another kind was expected");
  return *value;
}

Arguments::Arguments(std::string command, std::span<const std::string> words) : command_(std::move(command)) {
  for (const std::string& word : words) list_.push_back({word});
}

const std::string& Arguments::operator[](std::size_t i) const {
  HEADROOM_CHECK(i < list_.size(), command_ + ": an argument is missing");
  return list_[i].word;
}

bool Arguments::is(std::size_t i, std::string_view word) const { return i < list_.size() && list_[i].word == word; }
std::int64_t Arguments::index(std::size_t i) const { return value<std::int64_t>(i); }
double Arguments::number(std::size_t i) const { return value<double>(i); }
const HeadCell& Arguments::place(std::size_t i) const { return value<HeadCell>(i); }

std::optional<std::int64_t> Arguments::maybe_index(std::size_t i) const {
  const auto* value = i < list_.size() ? std::get_if<std::int64_t>(&list_[i].value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<double> Arguments::maybe_number(std::size_t i) const {
  const auto* value = i < list_.size() ? std::get_if<double>(&list_[i].value) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

std::vector<HeadRef> Arguments::heads(std::size_t from) const {
  std::vector<HeadRef> all;
  for (std::size_t i = from; i < list_.size(); ++i)
    if (const auto* list = std::get_if<std::vector<HeadRef>>(&list_[i].value))
      all.insert(all.end(), list->begin(), list->end());
  return all;
}

std::vector<std::string> Arguments::names(std::size_t from) const {
  std::vector<std::string> all;
  for (std::size_t i = from; i < list_.size(); ++i)
    if (const auto* list = std::get_if<std::vector<std::string>>(&list_[i].value))
      all.insert(all.end(), list->begin(), list->end());
  return all;
}

bool Arguments::on(std::size_t i, bool before) const { return is(i, "on") || (!is(i, "off") && !before); }

std::string Arguments::text(std::size_t from) const {
  std::string text;
  for (std::size_t i = from; i < list_.size(); ++i) text += (i > from ? " " : "") + list_[i].word;
  return text;
}

Error Arguments::wrong(std::string_view expected) const {
  Error error(ErrorCode::InvalidArgument, command_ + ": wrong arguments");
  return error.wanted(expected, empty() ? "nothing" : text());
}

ArgumentPattern::ArgumentPattern(std::string text) : text_(std::move(text)) {
  for (std::size_t begin = 0; begin <= text_.size();) {
    const std::size_t end = std::min(text_.find(kOr, begin), text_.size());
    add_forms(pattern_words(std::string_view(text_).substr(begin, end - begin)), {}, forms_);
    begin = end + kOr.size();
  }
}

Result<Arguments> ArgumentPattern::read(std::string_view command, std::span<const std::string> words) const {
  for (const ArgumentForm& form : forms_) {
    if (words.size() < form.words.size()) continue;
    if (Fitting fitting = fit(words, form); fitting.list.size() == words.size())
      return Arguments(std::string(command), std::move(fitting.list));
  }
  std::string expected = text_.empty() ? "nothing" : text_, said;
  for (const ArgumentForm& form : forms_)
    for (const auto& word : form.words)
      for (const std::string& one : word) {
        const Placeholder* placeholder = find_placeholder(one);
        const std::string meaning = placeholder ? one + ": " + std::string(placeholder->meaning) : std::string();
        if (meaning.empty() || said.find(meaning) != std::string::npos) continue;
        said += (said.empty() ? " (" : ", ") + meaning;
      }
  if (!said.empty()) expected += said + ")";
  Error error = Arguments(std::string(command), words).wrong(expected);
  if (const std::string more = misfit(words); !more.empty()) error.found += ": " + more;
  return error;
}

std::string ArgumentPattern::misfit(std::span<const std::string> words) const {
  std::string said;
  std::size_t deepest = 0;
  for (const ArgumentForm& form : forms_) {
    const Fitting fitting = fit(words, form);
    if (fitting.list.size() == words.size() && words.size() >= form.words.size()) return "";
    if (fitting.misfit.empty() || (!said.empty() && fitting.list.size() <= deepest)) continue;
    said = fitting.misfit;
    deepest = fitting.list.size();
  }
  return said;
}

std::vector<std::string> ArgumentPattern::next(std::span<const std::string> words) const {
  std::vector<std::string> all;
  for (const ArgumentForm& form : forms_) {
    const std::vector<std::string>* allowed = at_place(form, words.size());
    if (!allowed || fit(words, form).list.size() != words.size()) continue;
    for (const std::string& one : *allowed)
      if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
  return all;
}

bool ArgumentPattern::begins_with_path() const {
  const std::vector<std::string> first = next({});
  return std::ranges::find(first, "PATH") != first.end();
}

}  // namespace headroom
