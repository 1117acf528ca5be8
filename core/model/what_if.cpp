#include "core/model/what_if.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "core/base/format.h"
#include "core/base/parse_number.h"
#include "core/model/capture.h"
#include "core/model/head_address.h"

namespace headroom {
namespace {

Error cannot_apply(const std::string& text, const std::string& reason) {
  Error error(ErrorCode::InvalidArgument, "the what-if '" + text + "' cannot be applied: " + reason);
  return error;
}

// One head with what a change may look at: the head as the checkpoint has it, and all maps of its layer by query block.
struct Site {
  const AttentionSpec& attention;
  const HeadProgram& original;
  std::int64_t index;
  HeadProgram& head;
  HeadProgram& last_pair;  // the head as it was when its second map was switched off
  AttentionSpec& layer;    // as it shall be
  bool alone;              // the change is for this head and not for its layer
};

// A change gives the reason why it does not fit, or nothing after it was made.
using Change = std::string (*)(const Site& site, const std::string& value);

constexpr const char* kNotDifferential = "the head has no second map";

std::string second_map_off(const Site& site, const std::string&) {
  if (!site.original.has_second()) return kNotDifferential;
  if (site.head.has_second()) site.last_pair = site.head;
  site.head.second = {};
  site.head.lambda = LambdaSource::None;
  site.head.first_enabled = true;  // later ones win: w = a¹, also after first-map=off
  return "";
}

std::string first_map_off(const Site& site, const std::string&) {
  if (!site.original.has_second()) return kNotDifferential;
  if (!site.head.has_second()) {  // later ones win: w = −λ·a², also after second-map=off
    site.head.second = site.last_pair.second;
    site.head.lambda = site.last_pair.lambda;
    site.head.lambda_constant = site.last_pair.lambda_constant;
  }
  site.head.first_enabled = false;
  return "";
}

std::string set_lambda(const Site& site, const std::string& value) {
  if (!site.original.has_second()) return kNotDifferential;
  if (!site.head.has_second()) return "the second map is off";
  if (value == "raw") {
    if (site.original.lambda != LambdaSource::Projection) return "only DIFF V2 projects λ from the input";
    site.head.lambda = LambdaSource::RawProjection;
    return "";
  }
  site.head.lambda = LambdaSource::Constant;
  site.head.lambda_constant = parse_finite(value).value_or(1.0);  // none
  return "";
}

// The map that a query block has in the checkpoint, and which of a head's two it is.
struct OwnMap {
  HeadProgram::Map map;
  std::size_t place = 0;
};

OwnMap map_of(const AttentionSpec& attention, std::int64_t query_block) {
  for (const HeadProgram& head : attention.heads) {
    if (head.first.query_block == query_block) return {head.first, 0};
    if (head.second.query_block == query_block) return {head.second, 1};
  }
  return {};
}

// As in grouped differential attention.
bool heads_share_maps(const AttentionSpec& attention) {
  std::set<std::int64_t> seen;
  return std::ranges::any_of(attention.heads, [&](const HeadProgram& head) {
    return head.has_second() && !seen.insert(head.second.query_block).second;
  });
}

// Only which query heads form a pair changes. Each keeps its own key block and brings its own value block: in V2 every
// map multiplies the value block of its own group; in V1 both multiply the two blocks side by side.
std::string set_pairing(const Site& site, const std::string& value) {
  if (!site.original.has_second()) return kNotDifferential;
  const std::int64_t heads = static_cast<std::int64_t>(site.attention.heads.size());
  if (heads_share_maps(site.attention)) return "heads share their second map, which leaves no other pairs";
  const bool halves = value == "halves";
  OwnMap first = map_of(site.attention, halves ? site.index : 2 * site.index);
  OwnMap second = map_of(site.attention, halves ? site.index + heads : 2 * site.index + 1);
  if (first.map.value_blocks.size() == 2) {
    const std::vector<std::int64_t> side_by_side = {first.map.value_blocks[first.place],
                                                    second.map.value_blocks[second.place]};
    first.map.value_blocks = second.map.value_blocks = side_by_side;
  }
  site.head.first = std::move(first.map);
  site.head.second = std::move(second.map);
  if (site.head.lambda == LambdaSource::None) site.head.lambda = site.original.lambda;
  return "";
}

std::string norm_off(const Site& site, const std::string&) {
  if (!site.original.post_norm) return "the head has no norm";
  site.head.post_norm = false;
  return "";
}

std::string set_normalizer(const Site& site, const std::string& value) {
  const bool picks = value == "softpick";
  if (picks && site.original.has_second()) return "softpick is for heads with one map";
  site.head.normalizer = picks ? Normalizer::Softpick : Normalizer::Softmax;
  site.head.sink = value == "softmax_one" ? SinkSource::Zero : SinkSource::None;
  return "";
}

std::string sink_off(const Site& site, const std::string&) {
  if (site.original.sink == SinkSource::None) return "the head has no sink logit and no implicit zero";
  site.head.sink = SinkSource::None;
  return "";
}

// "0,3"; nothing where one of them is no position.
std::optional<std::vector<std::int64_t>> parse_keys(std::string_view text) {
  std::vector<std::int64_t> keys;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto key = parse_index(text.substr(begin, end - begin));
    if (!key) return {};
    keys.push_back(*key);
    begin = end + 1;
  }
  return keys;
}

std::string hide_keys(const Site& site, const std::string& value) {
  site.head.hidden_keys = parse_keys(value).value_or(std::vector<std::int64_t>());
  std::sort(site.head.hidden_keys.begin(), site.head.hidden_keys.end());
  site.head.hidden_keys.erase(std::unique(site.head.hidden_keys.begin(), site.head.hidden_keys.end()),
                              site.head.hidden_keys.end());
  return "";
}

// "W" or "W+S": a window of W keys (0: none), and the first S keys of the sequence beside it.
bool parse_window(std::string_view text, std::int64_t& window, std::int64_t& always_visible) {
  const std::size_t plus = text.find('+');
  const auto keys = parse_index(text.substr(0, plus)), first = plus == std::string_view::npos
                                                                   ? std::optional<std::int64_t>(0)
                                                                   : parse_index(text.substr(plus + 1));
  window = keys.value_or(0), always_visible = first.value_or(0);
  return keys && first;
}

std::string set_window(const Site& site, const std::string& value) {
  if (site.alone) return "the heads of a layer have one window";
  if (site.attention.cross || (site.attention.call && !site.attention.call->positional(site.attention.causal)))
    return "its keys are of another sequence";
  parse_window(value, site.layer.window, site.layer.always_visible);
  return "";
}

std::string set_temperature(const Site& site, const std::string& value) {
  site.head.temperature = parse_finite(value).value_or(1.0);
  return "";
}

std::string gate_off(const Site& site, const std::string&) {
  if (!site.original.gated) return "the head has no gate";
  site.head.gated = false;
  return "";
}

std::string set_head(const Site& site, const std::string& value) {
  site.head.averaged = value == "mean";
  site.head.enabled = site.head.averaged;
  return "";
}

// Values: a word, or one of the kinds below.
enum class ValueKind { Off, Output, LambdaValue, Pairing, Normalizer, Keys, Window, PositiveNumber };

struct Kind {
  const char* name;
  ValueKind value;
  const char* expected;
  Change change;
};

constexpr Kind kKinds[] = {
    {"second-map", ValueKind::Off, "off", second_map_off},
    {"first-map", ValueKind::Off, "off", first_map_off},
    {"lambda", ValueKind::LambdaValue, "a number, none or raw", set_lambda},
    {"pairing", ValueKind::Pairing, "halves or adjacent", set_pairing},
    {"norm", ValueKind::Off, "off", norm_off},
    {"normalizer", ValueKind::Normalizer, "softmax, softmax_one or softpick", set_normalizer},
    {"sink", ValueKind::Off, "off", sink_off},
    {"hide-key", ValueKind::Keys, "key positions, separated by commas", hide_keys},
    {"window", ValueKind::Window, "a number of keys, or two: 64+4 is a window of 64 and the first 4 keys", set_window},
    {"temperature", ValueKind::PositiveNumber, "a number above 0", set_temperature},
    {"gate", ValueKind::Off, "off", gate_off},
    {"head", ValueKind::Output, "off or mean", set_head},
};

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds)
    if (name == kind.name) return &kind;
  return nullptr;
}

bool valid(ValueKind kind, const std::string& value) {
  std::int64_t window = 0, always_visible = 0;
  switch (kind) {
    case ValueKind::Off: return value == "off";
    case ValueKind::Output: return value == "off" || value == "mean";
    case ValueKind::LambdaValue: return value == "none" || value == "raw" || parse_finite(value);
    case ValueKind::Pairing: return value == "halves" || value == "adjacent";
    case ValueKind::Normalizer: return value == "softmax" || value == "softmax_one" || value == "softpick";
    case ValueKind::PositiveNumber: return parse_finite(value).value_or(0.0) > 0.0;
    case ValueKind::Window: return parse_window(value, window, always_visible);
    case ValueKind::Keys: return parse_keys(value).has_value();
  }
  return false;
}

// "L3" or "L3.H5".
bool parse_scope(std::string_view scope, WhatIf& what_if) {
  if (const std::optional<HeadRef> head = parse_head(scope)) {
    what_if.layer = head->layer;
    what_if.head = head->head;
    return true;
  }
  if (scope.starts_with('L')) what_if.layer = parse_index(scope.substr(1));
  return what_if.layer.has_value();
}

}  // namespace

Result<WhatIf> parse_what_if(std::string_view text) {
  WhatIf what_if;
  what_if.text = text;
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.substr(0, equals).find(':');
  if (equals == std::string_view::npos)
    return cannot_apply(what_if.text, "it has the form [L<layer>[.H<head>]:]NAME=VALUE");
  const std::size_t name_begin = colon == std::string_view::npos ? 0 : colon + 1;
  if (colon != std::string_view::npos && !parse_scope(text.substr(0, colon), what_if))
    return cannot_apply(what_if.text, "a scope is written L3 or L3.H5");
  what_if.name = text.substr(name_begin, equals - name_begin);
  what_if.value = text.substr(equals + 1);
  const Kind* kind = find_kind(what_if.name);
  if (!kind) {
    std::string names;
    for (const Kind& known : kKinds) names += (names.empty() ? "" : ", ") + std::string(known.name);
    return cannot_apply(what_if.text, "there is no what-if '" + what_if.name + "'; there are " + names);
  }
  if (!valid(kind->value, what_if.value))
    return cannot_apply(what_if.text, what_if.name + " takes " + kind->expected + ", not '" + what_if.value + "'");
  return what_if;
}

bool is_of_layers(const WhatIf& what_if) { return what_if.name == "window"; }

Result<WhatIfResult> apply_what_ifs(const ModelSpec& model, const std::vector<WhatIf>& what_ifs) {
  WhatIfResult result{model, {}};
  std::vector<std::vector<HeadProgram>> last_pairs;
  for (const BlockSpec& block : model.blocks) last_pairs.push_back(block.attention.heads);
  for (const WhatIf& what_if : what_ifs) {
    const Kind* kind = find_kind(what_if.name);
    const auto layers = static_cast<std::int64_t>(model.blocks.size());
    if (what_if.layer && *what_if.layer >= layers)
      return cannot_apply(what_if.text, format("the model has layers 0 to %lld", static_cast<long long>(layers - 1)));
    std::int64_t changed = 0, considered = 0;
    std::string reason;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      if (what_if.layer && *what_if.layer != layer) continue;
      const BlockSpec& block = model.blocks[static_cast<std::size_t>(layer)];
      if (!block.attends() && what_if.layer)
        return cannot_apply(what_if.text, format("layer %lld has no attention (%s); layers ",
                                                 static_cast<long long>(layer), std::string(block.kind()).c_str()) +
                                              layers_text(model.attention_layers()) + " have");
      if (!block.attends()) continue;
      const AttentionSpec& original = block.attention;
      AttentionSpec& attention = result.model.blocks[static_cast<std::size_t>(layer)].attention;
      const auto heads = static_cast<std::int64_t>(original.heads.size());
      if (what_if.head && *what_if.head >= heads)
        return cannot_apply(what_if.text, format("the layer has heads 0 to %lld", static_cast<long long>(heads - 1)));
      for (std::int64_t h = 0; h < heads; ++h) {
        if (what_if.head && *what_if.head != h) continue;
        ++considered;
        const auto index = static_cast<std::size_t>(h);
        HeadProgram& last_pair = last_pairs[static_cast<std::size_t>(layer)][index];
        const std::string unfit = kind->change({original, original.heads[index], h, attention.heads[index], last_pair,
                                                attention, what_if.head.has_value()},
                                               what_if.value);
        if (unfit.empty())
          ++changed;
        else
          reason = unfit;
      }
    }
    if (changed == 0 || (what_if.layer && !reason.empty())) return cannot_apply(what_if.text, reason);
    result.notes.push_back(format("%s: %lld of %lld heads", what_if.text.c_str(), static_cast<long long>(changed),
                                  static_cast<long long>(considered)));
  }
  return result;
}

}  // namespace headroom
