// JSON that a person wrote, with the places of its members, for messages. Immutable; safe from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/result.h"

namespace headroom {

class PlacedJson {
 public:
  using Json = nlohmann::ordered_json;

  // Comments are allowed. Corrupt with line and column where it is no JSON; InvalidArgument where an object has a
  // member twice, of which one would be lost.
  [[nodiscard]] static Result<PlacedJson> parse(std::string_view text);

  [[nodiscard]] const Json& root() const { return *root_; }
  // "line 3, column 5"; empty where `object` is not of this text or has no such member.
  [[nodiscard]] std::string place(const Json& object, const std::string& member) const;

 private:
  void place_members(const Json& value, const std::vector<std::string>& places, std::size_t& next);

  std::unique_ptr<Json> root_;
  std::map<std::pair<const Json*, std::string>, std::string> places_;
};

}  // namespace headroom
