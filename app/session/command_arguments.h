// What the arguments of a command may be, as the table says it and `headroom --commands` prints it: words parted by
// blanks, each one of several parted by |. A word in small letters stands for itself, one in capitals for what
// placeholders() says, [words] may be left out, the last word may come again where … follows it, and whole forms are
// parted by " or ". A line is read once by this pattern; its command gets values. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/check.h"
#include "core/base/result.h"
#include "core/model/head_address.h"

namespace headroom {

// What a word is beside its text: an index or an id, a number, a head with its cell, heads, names.
using ArgumentValue =
    std::variant<std::monostate, std::int64_t, double, HeadCell, std::vector<HeadRef>, std::vector<std::string>>;

// What can be offered for a word that is typed.
enum class Completion : std::uint8_t { None, Path, Head, Quantity };

struct Placeholder {
  std::string_view name;     // "QUERY"
  std::string_view meaning;  // "a whole number from 0 on"
  std::string_view example;  // a word that fits: "5"
  // An error: it does not fit; with a message where there is more to say than the meaning.
  Result<ArgumentValue> (*read)(std::string_view word);
  Completion completion = Completion::None;
};
[[nodiscard]] std::span<const Placeholder> placeholders();
[[nodiscard]] const Placeholder* find_placeholder(std::string_view name);

template <typename Enum>
[[nodiscard]] std::optional<Enum> parse_word(std::string_view text);  // of session/enum_words.h

// The words of one line after the command's name, each with its value. A value of another kind than the pattern has at
// that place is a bug of the program: LogicError.
class Arguments {
 public:
  struct Argument {
    std::string word;
    ArgumentValue value{};
  };
  Arguments() = default;
  Arguments(std::string command, std::vector<Argument> list) : command_(std::move(command)), list_(std::move(list)) {}
  Arguments(std::string command, std::span<const std::string> words);  // without values, to say what is wrong

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::string& operator[](std::size_t i) const;
  [[nodiscard]] bool is(std::size_t i, std::string_view word) const;  // false where it was left out
  [[nodiscard]] std::int64_t index(std::size_t i) const;
  [[nodiscard]] double number(std::size_t i) const;
  // Nothing where it was left out, or another word stands in its place.
  [[nodiscard]] std::optional<std::int64_t> maybe_index(std::size_t i) const;
  [[nodiscard]] std::optional<double> maybe_number(std::size_t i) const;
  [[nodiscard]] const HeadCell& place(std::size_t i) const;
  [[nodiscard]] std::vector<HeadRef> heads(std::size_t from) const;      // of all lists from there on
  [[nodiscard]] std::vector<std::string> names(std::size_t from) const;  // likewise
  [[nodiscard]] bool on(std::size_t i, bool before) const;  // "on", "off"; turned round by "toggle" or nothing
  // An enumeration by its word.
  template <typename Enum>
  [[nodiscard]] Enum choice(std::size_t i) const {
    const std::optional<Enum> value = parse_word<Enum>((*this)[i]);
    HEADROOM_CHECK(value.has_value(), command_ + ": no such choice: " + (*this)[i]);
    return *value;
  }
  [[nodiscard]] std::string text(std::size_t from = 0) const;  // all from there on, with single blanks between them
  // InvalidArgument for what depends on more than the pattern: "COMMAND: wrong arguments; expected …, found …".
  [[nodiscard]] Error wrong(std::string_view expected) const;

 private:
  template <typename Value>
  const Value& value(std::size_t i) const;

  std::string command_;
  std::vector<Argument> list_;
};

// One form of a command's arguments, without what may be left out: for each place the words that may stand there.
struct ArgumentForm {
  std::vector<std::vector<std::string>> words;
  bool last_repeats = false;
};

class ArgumentPattern {
 public:
  // From a text without a cast: a pattern stands in each row of the table.
  ArgumentPattern(std::string text = {});
  ArgumentPattern(const char* text) : ArgumentPattern(std::string(text)) {}

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::span<const ArgumentForm> forms() const { return forms_; }
  // InvalidArgument with the pattern, what its placeholders mean and what was found, unless one of the forms fits.
  [[nodiscard]] Result<Arguments> read(std::string_view command, std::span<const std::string> words) const;
  // What the placeholder has to say that the words come to grief at; empty: they fit, or nothing.
  [[nodiscard]] std::string misfit(std::span<const std::string> words) const;
  // What may follow these words, each once: words, and names of placeholders.
  [[nodiscard]] std::vector<std::string> next(std::span<const std::string> words) const;
  // All behind the command may be one path, with blanks in it.
  [[nodiscard]] bool begins_with_path() const;

 private:
  std::string text_;
  std::vector<ArgumentForm> forms_;
};

}  // namespace headroom
