// Optional fields of a component of tokenizer.json: absent and null give the default, another type is Corrupt and names
// the field. Safe from any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

// The field, or null where it is absent or `object` is no object.
[[nodiscard]] const nlohmann::json& json_field(const nlohmann::json& object, const char* key);
[[nodiscard]] Result<bool> json_bool(const nlohmann::json& object, const char* key, bool absent);
[[nodiscard]] Result<std::string> json_string(const nlohmann::json& object, const char* key, std::string_view absent);

// A token id: an integer from 0 to 2^31 − 1. `name` says whose id it is.
[[nodiscard]] Result<std::int32_t> json_token_id(const nlohmann::json& value, std::string_view name);

// `component`'s "type", or Corrupt. `place` is "normalizer", "pre_tokenizer" …
[[nodiscard]] Result<std::string> json_type(const nlohmann::json& component, const char* place);
// The members of a Sequence component, or the component itself alone; `members` is the key that holds the list. Nested
// sequences are flattened.
[[nodiscard]] Result<std::vector<nlohmann::json>> json_sequence(const nlohmann::json& component, const char* place,
                                                                const char* members);
[[nodiscard]] Error unsupported_component(const char* place, std::string_view type);

}  // namespace headroom
