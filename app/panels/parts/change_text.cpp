#include "app/panels/parts/change_text.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "app/plot/number_text.h"

namespace headroom {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

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
  if (name == "norm" || name == "sink" || name == "gate" || name == "head") return std::string(name) + " off";
  return std::string(change);
}

std::string scope_title(std::string_view scope) {
  if (scope.empty()) return "model";
  if (scope.find('.') != std::string_view::npos) return std::string(scope);
  return "layer " + std::string(scope.substr(1));
}

std::string kind_of_attention(std::string_view kind) {
  if (kind == "softmax_one") return "off-by-one";
  if (kind == "softmax_sink") return "softmax with a sink logit";
  if (kind == "gated") return "gated softmax";
  if (kind == "diff_v1") return "DIFF V1";
  if (kind == "diff_v2") return "DIFF V2";
  return std::string(kind);
}

std::string run_title(const RunEntry& run) {
  std::vector<std::string> parts;
  for (const std::string& what_if : run.what_ifs) {
    const ScopedChange change = split_scope(what_if);
    const std::string title = change_title(change.change);
    parts.push_back(change.scope.empty() ? title : title + " in " + scope_title(change.scope));
  }
  return parts.empty() ? run.name : joined(parts);
}

RunTitles run_titles(const RunEntry& a, const RunEntry& b, const LayerSnapshot* layer_a, const LayerSnapshot* layer_b) {
  RunTitles titles{run_title(a), run_title(b)};
  if (a.model >= 0 && a.model == b.model && layer_a && layer_b) {
    // The same checkpoint: its name says nothing.
    if (a.what_ifs.empty()) titles.a = kind_of_attention(layer_a->kind);
    if (b.what_ifs.empty()) titles.b = kind_of_attention(layer_b->kind);
  }
  if (titles.a == titles.b) {
    titles.a += " (run " + std::to_string(a.id) + ")";
    titles.b += " (run " + std::to_string(b.id) + ")";
  }
  return titles;
}

std::string short_reason(std::string_view reason) {
  constexpr std::string_view kBefore = "cannot be applied: ";
  const std::size_t at = reason.find(kBefore);
  return std::string(at == std::string_view::npos ? reason : reason.substr(at + kBefore.size()));
}

std::string delta_text(double value, int decimals) {
  std::string text = signed_text(value, decimals);
  const std::size_t zero = text.find("0.");
  const bool leads = zero != std::string::npos && (zero == 0 || text[zero - 1] < '0' || text[zero - 1] > '9');
  if (leads) text.erase(zero, 1);
  return text.find_first_of("123456789") == std::string::npos ? "0" : text;
}

}  // namespace headroom
