// Fields as JSON, and values out of JSON that nobody vouches for: one of a wrong type, or a number that is not finite,
// leaves the default. Pure functions; safe from any thread.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/session/enum_words.h"
#include "app/session/state.h"

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

// A field as JSON, and back: one that is not of the right form leaves what was there.
template <typename T>
nlohmann::json field_json(const T& field) {
  if constexpr (std::is_enum_v<T>) {
    return word_of(field);
  } else if constexpr (std::is_same_v<T, HeadRef>) {
    return head_text(field);
  } else if constexpr (std::is_same_v<T, std::vector<HeadRef>>) {
    nlohmann::json list = nlohmann::json::array();
    for (const HeadRef& head : field) list.push_back(head_text(head));
    return list;
  } else if constexpr (std::is_same_v<T, MapWindow>) {
    return {field.query0, field.query1, field.key0, field.key1};
  } else {
    return field;
  }
}

template <typename T>
nlohmann::json field_json(const std::optional<T>& field) {
  return field ? field_json(*field) : nlohmann::json();
}

// Finite numbers, as many; empty where it is something else.
inline std::vector<double> numbers_in(const nlohmann::json& object, const char* name, std::size_t count) {
  std::vector<double> values;
  if (const auto found = object.find(name); found != object.end() && found->is_array() && found->size() == count)
    for (const nlohmann::json& value : *found)
      if (value.is_number() && std::isfinite(value.get<double>())) values.push_back(value.get<double>());
  return values.size() == count ? values : std::vector<double>();
}

// False: there is none of the right form, and the field stays as it was.
template <typename T>
bool read_field(const nlohmann::json& object, const char* name, T& field) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return false;
  if constexpr (std::is_enum_v<T>) {
    const auto value = found->is_string() ? parse_word<T>(found->template get<std::string>()) : std::nullopt;
    if (!value) return false;
    field = *value;
  } else if constexpr (std::is_same_v<T, HeadRef>) {
    const auto head = found->is_string() ? parse_head(found->template get<std::string>()) : std::nullopt;
    if (!head) return false;
    field = *head;
  } else if constexpr (std::is_same_v<T, std::vector<HeadRef>>) {
    std::vector<std::string> list;
    read_value(object, name, list);
    for (const std::string& text : list)
      if (const auto head = parse_head(text)) field.push_back(*head);
  } else if constexpr (std::is_same_v<T, MapWindow>) {
    const std::vector<double> v = numbers_in(object, name, 4);
    if (v.empty() || v[0] >= v[1] || v[2] >= v[3] || v[0] < 0.0 || v[2] < 0.0) return false;
    field = {v[0], v[1], v[2], v[3]};
  } else if constexpr (std::is_same_v<T, std::pair<double, double>>) {
    const std::vector<double> v = numbers_in(object, name, 2);
    if (v.empty() || v[0] >= v[1]) return false;
    field = {v[0], v[1]};
  } else if constexpr (std::is_same_v<T, std::int64_t>) {  // an index
    if (!found->is_number_integer() || found->template get<std::int64_t>() < 0) return false;
    field = found->template get<std::int64_t>();
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    const nlohmann::json texts = object_in(object, name);  // outlives what goes through it
    for (const auto& [key, text] : texts.items())
      if (text.is_string()) field[key] = text.template get<std::string>();
  } else {
    read_value(object, name, field);
  }
  return true;
}

template <typename T>
bool read_field(const nlohmann::json& object, const char* name, std::optional<T>& field) {
  T value{};
  if (!read_field(object, name, value)) return false;
  field = value;
  return true;
}

}  // namespace headroom
