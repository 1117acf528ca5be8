#include "core/text/normalizer.h"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/text/base64.h"
#include "core/text/json_fields.h"

namespace headroom {
namespace {

constexpr const char* kNormalizerPlace = "normalizer";

using Step = TextNormalizer::Step;

constexpr std::array kForms = {std::pair{"NFC", UnicodeForm::Nfc}, std::pair{"NFD", UnicodeForm::Nfd},
                               std::pair{"NFKC", UnicodeForm::Nfkc}, std::pair{"NFKD", UnicodeForm::Nfkd}};
constexpr std::array kPlainSteps = {std::pair{"Lowercase", TextNormalizer::Plain::Lowercase},
                                    std::pair{"StripAccents", TextNormalizer::Plain::StripAccents},
                                    std::pair{"Nmt", TextNormalizer::Plain::Nmt},
                                    std::pair{"ByteLevel", TextNormalizer::Plain::ByteLevel}};

Result<Regex> pattern_of(const nlohmann::json& component) {
  const nlohmann::json& pattern = json_field(component, "pattern");
  if (const auto& text = json_field(pattern, "String"); text.is_string())
    return Regex::compile_literal(text.get_ref<const std::string&>());
  if (const auto& text = json_field(pattern, "Regex"); text.is_string())
    return Regex::compile(text.get_ref<const std::string&>());
  return Error(ErrorCode::Corrupt, "A Replace normalizer has no pattern").at_tensor("normalizer.pattern");
}

Result<Step> make_bert(const nlohmann::json& component) {
  BertNormalization wanted;
  HEADROOM_TRY(wanted.clean_text, json_bool(component, "clean_text", true));
  HEADROOM_TRY(wanted.space_ideographs, json_bool(component, "handle_chinese_chars", true));
  HEADROOM_TRY(wanted.lowercase, json_bool(component, "lowercase", true));
  HEADROOM_TRY(wanted.strip_accents, json_bool(component, "strip_accents", wanted.lowercase));
  return Step(wanted);
}

Result<Step> make_precompiled(const nlohmann::json& component) {
  HEADROOM_TRY(const std::string text, json_string(component, "precompiled_charsmap", ""));
  const auto bytes = bytes_from_base64(text);
  if (!bytes)
    return Error(ErrorCode::Corrupt, "The precompiled normalisation rules are not base64")
        .at_tensor("normalizer.precompiled_charsmap");
  HEADROOM_TRY(Charsmap rules, Charsmap::create(*bytes));
  return Step(TextNormalizer::Precompiled{std::make_shared<const Charsmap>(std::move(rules))});
}

Result<Step> make_step(const nlohmann::json& component) {
  HEADROOM_TRY(const std::string type, json_type(component, kNormalizerPlace));
  for (const auto& [name, form] : kForms)
    if (type == name) return Step(form);
  for (const auto& [name, step] : kPlainSteps)
    if (type == name) return Step(step);
  if (type == "BertNormalizer") return make_bert(component);
  if (type == "Precompiled") return make_precompiled(component);
  if (type == "Strip") {
    HEADROOM_TRY(const bool left, json_bool(component, "strip_left", true));
    HEADROOM_TRY(const bool right, json_bool(component, "strip_right", true));
    return Step(TextNormalizer::StripSpace{left, right});
  }
  if (type == "Prepend") {
    HEADROOM_TRY(std::string text, json_string(component, "prepend", ""));
    return Step(TextNormalizer::Prepend{std::move(text)});
  }
  if (type == "Replace") {
    HEADROOM_TRY(Regex pattern, pattern_of(component));
    HEADROOM_TRY(std::string content, json_string(component, "content", ""));
    return Step(TextNormalizer::Replace{std::move(pattern), std::move(content)});
  }
  return unsupported_component(kNormalizerPlace, type);
}

Result<AlignedText> run(const TextNormalizer::Replace& replace, const AlignedText& text, RegexSession& session) {
  std::vector<ByteRange> matches;
  HEADROOM_TRY_VOID(replace.pattern.find_all(session, text.text(), matches));
  AlignedTextBuilder builder(text);
  std::size_t done = 0;
  for (const ByteRange& match : matches) {
    builder.keep({done, match.begin});
    builder.replace(match, replace.content);
    done = match.end;
  }
  builder.keep({done, text.text().size()});
  return builder.take();
}

Result<AlignedText> run(const TextNormalizer::Prepend& prepend, const AlignedText& text, RegexSession&) {
  AlignedTextBuilder builder(text);
  builder.replace({0, 0}, prepend.text);
  builder.keep({0, text.text().size()});
  return builder.take();
}

Result<AlignedText> run(TextNormalizer::Plain step, const AlignedText& text, RegexSession&) {
  switch (step) {
    case TextNormalizer::Plain::Lowercase: return to_lower_case(text);
    case TextNormalizer::Plain::StripAccents: return strip_marks(text);
    case TextNormalizer::Plain::Nmt: return clean_for_translation(text);
    case TextNormalizer::Plain::ByteLevel: break;
  }
  AlignedTextBuilder builder(text);
  append_byte_level(builder, text, {0, text.text().size()});
  return builder.take();
}

Result<AlignedText> run(UnicodeForm form, const AlignedText& text, RegexSession&) {
  return to_unicode_form(text, form);
}
Result<AlignedText> run(const BertNormalization& wanted, const AlignedText& text, RegexSession&) {
  return normalize_as_bert(text, wanted);
}
Result<AlignedText> run(const TextNormalizer::StripSpace& strip, const AlignedText& text, RegexSession&) {
  return strip_white_space(text, strip.left, strip.right);
}
Result<AlignedText> run(const TextNormalizer::Precompiled& precompiled, const AlignedText& text, RegexSession&) {
  return precompiled.rules->apply(text);
}
Result<AlignedText> run(const SentencePieceNormalizer& normalizer, const AlignedText& text, RegexSession&) {
  return normalizer.apply(text);
}

}  // namespace

Result<TextNormalizer> TextNormalizer::create(const nlohmann::json& component) {
  HEADROOM_TRY(const auto components, json_sequence(component, kNormalizerPlace, "normalizers"));
  std::vector<Step> steps;
  for (const nlohmann::json& member : components) {
    HEADROOM_TRY(Step step, make_step(member));
    steps.push_back(std::move(step));
  }
  return TextNormalizer(std::move(steps));
}

Result<AlignedText> TextNormalizer::apply(AlignedText text, RegexSession& session) const {
  for (const Step& step : steps_) {
    if (text.text().empty()) break;
    HEADROOM_TRY(text, std::visit([&](const auto& known) { return run(known, text, session); }, step));
  }
  return text;
}

}  // namespace headroom
