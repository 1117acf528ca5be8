#include "core/text/post_processor.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "core/text/json_fields.h"

namespace headroom {
namespace {

constexpr const char* kPostProcessorPlace = "post_processor";

Error bad_template(const std::string& what) {
  return Error(ErrorCode::Corrupt, "The post-processor's template is malformed: " + what)
      .at_tensor("post_processor.single");
}

// The ids that a template's special token stands for.
Result<std::vector<FramingToken>> expand(const nlohmann::json& component, const std::string& name) {
  const nlohmann::json& entry = json_field(json_field(component, "special_tokens"), name.c_str());
  const nlohmann::json& ids = json_field(entry, "ids");
  const nlohmann::json& contents = json_field(entry, "tokens");
  if (!ids.is_array() || ids.empty()) return bad_template("no ids for " + name);
  std::vector<FramingToken> tokens;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    HEADROOM_TRY(const std::int32_t id, json_token_id(ids[i], name));
    const bool named = contents.is_array() && i < contents.size() && contents[i].is_string();
    tokens.push_back({id, named ? contents[i].get<std::string>() : name});
  }
  return tokens;
}

Result<void> apply_template(const nlohmann::json& component, PostProcessor& result) {
  const nlohmann::json& single = json_field(component, "single");
  if (!single.is_array()) return bad_template("no list");
  PostProcessor inner;
  int sequences = 0;
  for (const nlohmann::json& piece : single) {
    if (const nlohmann::json& special = json_field(piece, "SpecialToken"); special.is_object()) {
      HEADROOM_TRY(const std::string name, json_string(special, "id", ""));
      HEADROOM_TRY(const auto tokens, expand(component, name));
      auto& side = sequences == 0 ? inner.before : inner.after;
      side.insert(side.end(), tokens.begin(), tokens.end());
    } else if (json_field(piece, "Sequence").is_object()) {
      ++sequences;
    } else {
      return bad_template("neither SpecialToken nor Sequence");
    }
  }
  if (sequences != 1)
    return unsupported_component(kPostProcessorPlace, "a template with more or less than one sequence");
  result.before.insert(result.before.begin(), inner.before.begin(), inner.before.end());
  result.after.insert(result.after.end(), inner.after.begin(), inner.after.end());
  return {};
}

}  // namespace

Result<PostProcessor> PostProcessor::create(const nlohmann::json& component) {
  HEADROOM_TRY(const auto components, json_sequence(component, kPostProcessorPlace, "processors"));
  PostProcessor result;
  for (const nlohmann::json& member : components) {
    HEADROOM_TRY(const std::string type, json_type(member, kPostProcessorPlace));
    if (type == "TemplateProcessing")
      HEADROOM_TRY_VOID(apply_template(member, result));
    else if (type != "ByteLevel")
      return unsupported_component(kPostProcessorPlace, type);
  }
  return result;
}

}  // namespace headroom
