#include "core/text/normalizer.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text/json_fields.h"

namespace headroom {
namespace {

constexpr const char* kNormalizerPlace = "normalizer";

Result<Regex> pattern_of(const nlohmann::json& component) {
  const nlohmann::json& pattern = json_field(component, "pattern");
  if (const auto& text = json_field(pattern, "String"); text.is_string())
    return Regex::compile_literal(text.get_ref<const std::string&>());
  if (const auto& text = json_field(pattern, "Regex"); text.is_string())
    return Regex::compile(text.get_ref<const std::string&>());
  return Error(ErrorCode::Corrupt, "A Replace normalizer has no pattern").at_tensor("normalizer.pattern");
}

Result<Normalizer::Step> make_step(const nlohmann::json& component) {
  HEADROOM_TRY(const std::string type, json_type(component, kNormalizerPlace));
  if (type == "NFC") return Normalizer::Step(UnicodeForm::Nfc);
  if (type == "NFD") return Normalizer::Step(UnicodeForm::Nfd);
  if (type == "NFKC") return Normalizer::Step(UnicodeForm::Nfkc);
  if (type == "NFKD") return Normalizer::Step(UnicodeForm::Nfkd);
  if (type == "Prepend") {
    HEADROOM_TRY(std::string text, json_string(component, "prepend", ""));
    return Normalizer::Step(Normalizer::Prepend{std::move(text)});
  }
  if (type == "Replace") {
    HEADROOM_TRY(Regex pattern, pattern_of(component));
    HEADROOM_TRY(std::string content, json_string(component, "content", ""));
    return Normalizer::Step(Normalizer::Replace{std::move(pattern), std::move(content)});
  }
  return unsupported_component(kNormalizerPlace, type);
}

Result<AlignedText> run(const Normalizer::Replace& replace, const AlignedText& text, RegexSession& session) {
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

AlignedText run(const Normalizer::Prepend& prepend, const AlignedText& text) {
  AlignedTextBuilder builder(text);
  builder.replace({0, 0}, prepend.text);
  builder.keep({0, text.text().size()});
  return builder.take();
}

}  // namespace

Result<Normalizer> Normalizer::create(const nlohmann::json& component) {
  HEADROOM_TRY(const auto components, json_sequence(component, kNormalizerPlace, "normalizers"));
  std::vector<Step> steps;
  for (const nlohmann::json& member : components) {
    HEADROOM_TRY(Step step, make_step(member));
    steps.push_back(std::move(step));
  }
  return Normalizer(std::move(steps));
}

Result<AlignedText> Normalizer::apply(AlignedText text, RegexSession& session) const {
  for (const Step& step : steps_) {
    if (text.text().empty()) break;
    if (const auto* form = std::get_if<UnicodeForm>(&step)) {
      text = to_unicode_form(text, *form);
    } else if (const auto* prepend = std::get_if<Prepend>(&step)) {
      text = run(*prepend, text);
    } else {
      HEADROOM_TRY(text, run(std::get<Replace>(step), text, session));
    }
  }
  return text;
}

}  // namespace headroom
