// Values out of JSON that nobody vouches for: one of a wrong type, or a number that is not finite, leaves the default.
// Pure functions; safe from any thread.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace headroom {

template <typename T>
void read_value(const nlohmann::json& object, const char* name, T& value) {
  const auto found = object.find(name);
  if (found == object.end()) return;
  if constexpr (std::is_same_v<T, bool>) {
    if (found->is_boolean()) value = found->template get<bool>();
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (found->is_number() && std::isfinite(found->template get<double>())) value = found->template get<T>();
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (!found->is_array()) return;
    for (const nlohmann::json& text : *found)
      if (text.is_string()) value.push_back(text.get<std::string>());
  } else {
    if (found->is_string()) value = found->template get<std::string>();
  }
}

// An empty object where there is none of that name.
[[nodiscard]] inline nlohmann::json object_in(const nlohmann::json& object, const char* name) {
  return object.contains(name) && object[name].is_object() ? object[name] : nlohmann::json::object();
}

}  // namespace headroom
