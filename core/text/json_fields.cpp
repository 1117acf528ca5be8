#include "core/text/json_fields.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr int kMaxNesting = 16;

Error wrong_type(const char* key, const char* wanted, const nlohmann::json& value) {
  return Error(ErrorCode::Corrupt, "A tokenizer field has the wrong type")
      .at_tensor(key)
      .wanted(wanted, value.type_name());
}

Result<void> flatten(const nlohmann::json& component, const char* place, const char* members, int nesting,
                     std::vector<nlohmann::json>& out) {
  if (component.is_null()) return {};
  HEADROOM_TRY(const std::string type, json_type(component, place));
  if (type != "Sequence") {
    out.push_back(component);
    return {};
  }
  const nlohmann::json& list = json_field(component, members);
  if (!list.is_array()) return wrong_type(members, "an array", list);
  if (nesting == 0) return Error(ErrorCode::Corrupt, "Sequences are nested too deeply").at_tensor(place);
  for (const nlohmann::json& member : list) HEADROOM_TRY_VOID(flatten(member, place, members, nesting - 1, out));
  return {};
}

}  // namespace

const nlohmann::json& json_field(const nlohmann::json& object, const char* key) {
  static const nlohmann::json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

Result<bool> json_bool(const nlohmann::json& object, const char* key, bool absent) {
  const nlohmann::json& value = json_field(object, key);
  if (value.is_null()) return absent;
  if (!value.is_boolean()) return wrong_type(key, "true or false", value);
  return value.get<bool>();
}

Result<std::string> json_string(const nlohmann::json& object, const char* key, std::string_view absent) {
  const nlohmann::json& value = json_field(object, key);
  if (value.is_null()) return std::string(absent);
  if (!value.is_string()) return wrong_type(key, "a string", value);
  return value.get<std::string>();
}

Result<std::int32_t> json_token_id(const nlohmann::json& value, std::string_view name) {
  constexpr auto kMax = std::numeric_limits<std::int32_t>::max();
  const bool in_range = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMax)
                                                   : value.is_number_integer() && value.get<std::int64_t>() >= 0 &&
                                                         value.get<std::int64_t>() <= kMax;
  if (!in_range) {
    const std::string found = value.is_number() ? value.dump() : value.type_name();
    return Error(ErrorCode::Corrupt, "A token has no valid id").at_tensor(name).wanted("0 to 2147483647", found);
  }
  return value.get<std::int32_t>();
}

Result<std::string> json_type(const nlohmann::json& component, const char* place) {
  const nlohmann::json& type = json_field(component, "type");
  if (type.is_string()) return type.get<std::string>();
  return Error(ErrorCode::Corrupt, "A component of tokenizer.json has no type").at_tensor(place);
}

Result<std::vector<nlohmann::json>> json_sequence(const nlohmann::json& component, const char* place,
                                                  const char* members) {
  std::vector<nlohmann::json> flat;
  HEADROOM_TRY_VOID(flatten(component, place, members, kMaxNesting, flat));
  return flat;
}

Error unsupported_component(const char* place, std::string_view type) {
  return Error(ErrorCode::Unsupported, "This tokenizer component is not implemented")
      .at_tensor(place)
      .wanted("", type)
      .advise("Give the prompt as token ids.");
}

}  // namespace headroom
