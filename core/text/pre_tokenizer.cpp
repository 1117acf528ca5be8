#include "core/text/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/text/json_fields.h"

namespace headroom {
namespace {

constexpr const char* kPreTokenizerPlace = "pre_tokenizer";

constexpr std::array kBehaviors = {
    std::pair{"Isolated", SplitBehavior::Isolated}, std::pair{"Removed", SplitBehavior::Removed},
    std::pair{"MergedWithPrevious", SplitBehavior::MergedWithPrevious},
    std::pair{"MergedWithNext", SplitBehavior::MergedWithNext}, std::pair{"Contiguous", SplitBehavior::Contiguous}};

Result<SplitBehavior> behavior_named(const std::string& name) {
  for (const auto& [spelled, behavior] : kBehaviors)
    if (name == spelled) return behavior;
  return unsupported_component("pre_tokenizer.behavior", name);
}

Result<PreTokenizer::Split> make_split(const nlohmann::json& component) {
  HEADROOM_TRY(const std::string name, json_string(component, "behavior", ""));
  HEADROOM_TRY(const SplitBehavior behavior, behavior_named(name));
  HEADROOM_TRY(const bool invert, json_bool(component, "invert", false));
  const nlohmann::json& pattern = json_field(component, "pattern");
  // Older files write the pattern as a plain string, which is literal.
  const nlohmann::json& literal = pattern.is_string() ? pattern : json_field(pattern, "String");
  if (literal.is_string()) {
    HEADROOM_TRY(Regex regex, Regex::compile_literal(literal.get_ref<const std::string&>()));
    return PreTokenizer::Split{std::move(regex), behavior, invert};
  }
  const nlohmann::json& text = json_field(pattern, "Regex");
  if (!text.is_string()) return Error(ErrorCode::Corrupt, "A Split has no pattern").at_tensor("pre_tokenizer.pattern");
  HEADROOM_TRY(Regex regex, Regex::compile(text.get_ref<const std::string&>()));
  return PreTokenizer::Split{std::move(regex), behavior, invert};
}

Result<PreTokenizer::Split> split_by(std::string_view regex, SplitBehavior behavior) {
  HEADROOM_TRY(Regex compiled, Regex::compile(regex));
  return PreTokenizer::Split{std::move(compiled), behavior, false};
}

struct Cut {
  ByteRange range;
  bool match = false;
};

// Matches and the gaps between them, in order.
std::vector<Cut> cuts_of(const std::vector<ByteRange>& matches, std::size_t size, bool invert) {
  std::vector<Cut> cuts;
  std::size_t done = 0;
  for (const ByteRange& match : matches) {
    if (match.begin > done) cuts.push_back({{done, match.begin}, invert});
    cuts.push_back({match, !invert});
    done = match.end;
  }
  if (done < size) cuts.push_back({{done, size}, invert});
  return cuts;
}

void append_joined(std::vector<Cut>& cuts, SplitBehavior behavior, std::vector<ByteRange>& out) {
  const auto first = out.size();
  bool previous = false;
  const bool backwards = behavior == SplitBehavior::MergedWithNext;
  if (backwards) std::reverse(cuts.begin(), cuts.end());
  for (const Cut& cut : cuts) {
    const bool joins = behavior == SplitBehavior::Contiguous ? cut.match == previous : cut.match && !previous;
    if (joins && out.size() > first) {
      if (backwards)
        out.back().begin = cut.range.begin;
      else
        out.back().end = cut.range.end;
    } else {
      out.push_back(cut.range);
    }
    previous = cut.match;
  }
  if (backwards) std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
}

Result<void> split_words(const PreTokenizer::Split& split, Words& words, RegexSession& session) {
  std::vector<ByteRange> out;
  std::vector<ByteRange> matches;
  const std::string_view text = words.text.text();
  for (const ByteRange& word : words.ranges) {
    HEADROOM_TRY_VOID(split.pattern.find_all(session, text.substr(word.begin, word.end - word.begin), matches));
    std::vector<Cut> cuts = cuts_of(matches, word.end - word.begin, split.invert);
    for (Cut& cut : cuts) cut.range = {cut.range.begin + word.begin, cut.range.end + word.begin};
    if (split.behavior == SplitBehavior::Isolated || split.behavior == SplitBehavior::Removed) {
      for (const Cut& cut : cuts)
        if (split.behavior == SplitBehavior::Isolated || !cut.match) out.push_back(cut.range);
    } else {
      append_joined(cuts, split.behavior, out);
    }
  }
  std::erase_if(out, [](const ByteRange& range) { return range.begin == range.end; });
  words.ranges = std::move(out);
  return {};
}

void split_words(const PreTokenizer::SpacePrefix&, Words& words) {
  AlignedTextBuilder builder(words.text);
  std::vector<ByteRange> out;
  for (const ByteRange& word : words.ranges) {
    const std::size_t begin = builder.size();
    if (words.text.text()[word.begin] != ' ') builder.replace({word.begin, word.begin}, " ");
    builder.keep(word);
    out.push_back({begin, builder.size()});
  }
  words = {builder.take(), std::move(out)};
}

void split_words(const PreTokenizer::Metaspace& metaspace, Words& words) {
  using Prefix = PreTokenizer::Metaspace::Prefix;
  AlignedTextBuilder builder(words.text);
  std::vector<ByteRange> out;
  const std::string_view text = words.text.text();
  for (const ByteRange& word : words.ranges) {
    const std::size_t begin = builder.size();
    const bool wanted =
        metaspace.prefix == Prefix::Always || (metaspace.prefix == Prefix::First && words.text.origin(word.begin) == 0);
    const bool there = text[word.begin] == ' ' || text.substr(word.begin).starts_with(metaspace.replacement);
    if (wanted && !there) builder.replace({word.begin, word.begin}, metaspace.replacement);
    std::size_t done = word.begin;
    for (std::size_t i = word.begin; i < word.end; ++i) {
      if (text[i] != ' ') continue;
      builder.keep({done, i});
      builder.replace({i, i + 1}, metaspace.replacement);
      done = i + 1;
    }
    builder.keep({done, word.end});
    out.push_back({begin, builder.size()});
  }
  words = {builder.take(), std::move(out)};
}

Result<PreTokenizer::Metaspace> make_metaspace(const nlohmann::json& component) {
  using Prefix = PreTokenizer::Metaspace::Prefix;
  PreTokenizer::Metaspace metaspace;
  HEADROOM_TRY(metaspace.replacement, json_string(component, "replacement", kMetaspaceSign));
  HEADROOM_TRY(const std::string scheme, json_string(component, "prepend_scheme", "always"));
  HEADROOM_TRY(const bool adds, json_bool(component, "add_prefix_space", true));
  if (scheme != "always" && scheme != "first" && scheme != "never")
    return unsupported_component("pre_tokenizer.prepend_scheme", scheme);
  metaspace.prefix = scheme == "first" ? Prefix::First : Prefix::Always;
  if (scheme == "never" || !adds) metaspace.prefix = Prefix::Never;
  return metaspace;
}

}  // namespace

Result<PreTokenizer> PreTokenizer::create(const nlohmann::json& component) {
  HEADROOM_TRY(const auto components, json_sequence(component, kPreTokenizerPlace, "pretokenizers"));
  PreTokenizer result;
  for (const nlohmann::json& member : components) HEADROOM_TRY_VOID(result.add(member));
  return result;
}

Result<PreTokenizer> PreTokenizer::create_byte_level(const std::vector<std::string_view>& regexes) {
  PreTokenizer result;
  result.byte_level_ = true;
  for (const std::string_view regex : regexes) {
    HEADROOM_TRY(Split split, split_by(regex, SplitBehavior::Isolated));
    result.steps_.emplace_back(std::move(split));
  }
  return result;
}

Result<void> PreTokenizer::add(const nlohmann::json& component) {
  HEADROOM_TRY(const std::string type, json_type(component, kPreTokenizerPlace));
  // After ByteLevel the later steps would see its characters in place of the text.
  if (byte_level_) return unsupported_component(kPreTokenizerPlace, type + " after ByteLevel");
  if (type == "Split") {
    HEADROOM_TRY(Split split, make_split(component));
    steps_.emplace_back(std::move(split));
  } else if (type == "Digits") {
    HEADROOM_TRY(const bool individual, json_bool(component, "individual_digits", false));
    HEADROOM_TRY(Split split, split_by(R"(\p{N})", individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous));
    steps_.emplace_back(std::move(split));
  } else if (type == "Punctuation") {
    HEADROOM_TRY(const std::string name, json_string(component, "behavior", "Isolated"));
    HEADROOM_TRY(const SplitBehavior behavior, behavior_named(name));
    HEADROOM_TRY(Split split, split_by(R"([\p{P}$+<=>^`|~])", behavior));
    steps_.emplace_back(std::move(split));
  } else if (type == "ByteLevel") {
    HEADROOM_TRY(const bool prefix, json_bool(component, "add_prefix_space", true));
    HEADROOM_TRY(const bool use_regex, json_bool(component, "use_regex", true));
    if (prefix) steps_.emplace_back(SpacePrefix{});
    if (use_regex) {
      HEADROOM_TRY(Split split, split_by(kGpt2Regex, SplitBehavior::Isolated));
      steps_.emplace_back(std::move(split));
    }
    byte_level_ = true;
  } else if (type == "Metaspace") {
    HEADROOM_TRY(Metaspace metaspace, make_metaspace(component));
    HEADROOM_TRY(const bool split, json_bool(component, "split", true));
    HEADROOM_TRY(Regex sign, Regex::compile_literal(metaspace.replacement));
    steps_.emplace_back(std::move(metaspace));
    if (split) steps_.emplace_back(Split{std::move(sign), SplitBehavior::MergedWithNext, false});
  } else {
    return unsupported_component(kPreTokenizerPlace, type);
  }
  return {};
}

Result<Words> PreTokenizer::apply(Words words, RegexSession& session) const {
  for (const Step& step : steps_) {
    if (const auto* split = std::get_if<Split>(&step))
      HEADROOM_TRY_VOID(split_words(*split, words, session));
    else if (const auto* prefix = std::get_if<SpacePrefix>(&step))
      split_words(*prefix, words);
    else
      split_words(std::get<Metaspace>(step), words);
  }
  return words;
}

}  // namespace headroom
