#include "core/model/what_if_title.h"

#include <cstddef>

namespace headroom {
namespace {

std::string spaced(std::string_view commas) {
  std::string text;
  for (const char c : commas) text += c == ',' ? std::string(", ") : std::string(1, c);
  return text;
}

}  // namespace

ScopedChange split_scope(std::string_view what_if) {
  const std::size_t colon = what_if.substr(0, what_if.find('=')).find(':');
  if (colon == std::string_view::npos) return {"", std::string(what_if)};
  return {std::string(what_if.substr(0, colon)), std::string(what_if.substr(colon + 1))};
}

std::string change_title(std::string_view change) {
  const std::size_t equals = change.find('=');
  if (equals == std::string_view::npos) return std::string(change);
  const std::string_view name = change.substr(0, equals), value = change.substr(equals + 1);
  if (name == "normalizer")
    return value == "softmax_one" ? "off-by-one" : value == "softpick" ? "softpick" : "plain softmax";
  if (name == "lambda") {
    if (value == "none") return "no λ";
    if (value == "raw") return "λ without sigmoid";
    return "λ = " + std::string(value);
  }
  if (name == "hide-key")
    return (value.find(',') == std::string_view::npos ? "key " : "keys ") + spaced(value) + " hidden";
  if (name == "window") {
    const std::size_t plus = value.find('+');
    const std::string keys(value.substr(0, plus));
    const std::string text = keys == "0" ? "no window" : "window of " + keys + (keys == "1" ? " key" : " keys");
    return plus == std::string_view::npos ? text : text + " and the first " + std::string(value.substr(plus + 1));
  }
  if (name == "temperature") return "temperature " + std::string(value);
  if (name == "pairing") return value == "halves" ? "pairs by halves" : "pairs of neighbours";
  if (name == "second-map") return "second map off";
  if (name == "first-map") return "first map off";
  if (name == "head" && value == "mean") return "head = its mean";
  if (name == "norm" || name == "sink" || name == "gate" || name == "head") return std::string(name) + " off";
  return std::string(change);
}

std::string scope_title(std::string_view scope) {
  if (scope.empty()) return "model";
  if (scope.find('.') != std::string_view::npos) return std::string(scope);
  return "layer " + std::string(scope.substr(1));
}

std::string what_ifs_title(std::span<const std::string> what_ifs) {
  std::string text;
  for (const std::string& what_if : what_ifs) {
    const ScopedChange change = split_scope(what_if);
    text += (text.empty() ? "" : ", ") + change_title(change.change);
    if (!change.scope.empty()) text += " in " + scope_title(change.scope);
  }
  return text;
}

}  // namespace headroom
