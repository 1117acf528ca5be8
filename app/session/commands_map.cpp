// What the map shows and how.
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"

namespace headroom {
namespace {

template <typename Change>
std::function<Result<void>(Session&, Arguments)> map_change(const char* name, const char* expected, Change change) {
  return [=](Session& s, Arguments a) -> Result<void> {
    MapView map = s.state().view.map;
    if (!change(map, a, s.state())) return wrong_arguments(name, expected, a);
    s.remember_view(name);
    s.edit().view.map = map;
    return {};
  };
}

std::string map_reason(const State& state, Arguments) { return needs_data(state); }

// "first", "second" and "scaled" are maps of differential heads.
std::string kind_reason(const State& state, Arguments arguments) {
  if (std::string reason = needs_head(state); !reason.empty()) return reason;
  const std::string kind = arguments.empty() ? "" : arguments[0];
  if (kind == "first" || kind == "second" || kind == "scaled") return needs_second_map(state);
  return "";
}

bool is_signed(const MapView& map, const State& state) {
  const HeadProgram* program = selected_program(state);
  return keeps_sign(map.pooling) &&
         (map.kind == MapKind::Logits || (map.kind == MapKind::Net && program && program->has_second()));
}

std::string scale_reason(const State& state, Arguments arguments) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  const bool logarithm = !arguments.empty() && arguments[0] == "log10";
  return logarithm && is_signed(state.view.map, state) ? "this map has negative values: linear or symlog" : "";
}

// The scale after the one that is shown. A logarithm has no sign: a signed map has two.
ScaleKind next_scale(const MapView& map, const State& state) {
  const ScaleKind set = map.scale.value_or(ScaleKind::Log10);
  if (is_signed(map, state)) return set == ScaleKind::Linear ? ScaleKind::Symlog : ScaleKind::Linear;
  return set == ScaleKind::Linear ? ScaleKind::Log10 : set == ScaleKind::Log10 ? ScaleKind::Symlog : ScaleKind::Linear;
}

}  // namespace

void add_map_commands(CommandTable& table) {
  table.add({"map", "net|first|second|scaled|logits", "Map: show", "Map", kind_reason,
             map_change("map", "net, first, second, scaled or logits", [](MapView& m, Arguments a, const State&) {
               const MapKind kind = *parse_word<MapKind>(a[0]);
               if (m.kind != kind) m.range.reset();
               m.kind = kind;
               return true;
             })});
  table.add_entry({"map net", "Map: weights, or the net map w = a¹ − λ·a²", "Map", "1"});
  table.add_entry({"map logits", "Map: logits", "Map", "2"});
  table.add_entry({"map first", "Map: first map a¹", "Map", "3"});
  table.add_entry({"map second", "Map: second map a²", "Map", "4"});
  table.add_entry({"map scaled", "Map: λ · second map", "Map", "5"});
  table.add(
      {"map.scale", "linear|log10|symlog|auto|next", "Map: scale", "Map", scale_reason,
       map_change("map.scale", "linear, log10, symlog, auto or next", [](MapView& m, Arguments a, const State& state) {
         m.scale = a[0] == "next" ? std::optional(next_scale(m, state)) : parse_word<ScaleKind>(a[0]);  // auto: none
         m.range.reset();
         return true;
       })});
  table.add_entry({"map.scale next", "Map: next scale", "Map", "S"});
  table.add_entry({"map.scale linear", "Map: linear scale", "Map", ""});
  table.add_entry({"map.scale log10", "Map: log₁₀ scale", "Map", ""});
  table.add_entry({"map.scale symlog", "Map: symlog scale", "Map", ""});
  table.add_entry({"map.scale auto", "Map: the usual scale of this map", "Map", ""});
  table.add({"map.pool", "max|mean|positive|negative", "Map: how cells of a pixel are pooled", "Map", map_reason,
             map_change("map.pool", "max, mean, positive or negative", [](MapView& m, Arguments a, const State&) {
               m.pooling = *parse_word<Pooling>(a[0]);
               return true;
             })});
  table.add_entry({"map.pool max", "Map: pool by largest magnitude", "Map", ""});
  table.add_entry({"map.pool mean", "Map: pool by mean", "Map", ""});
  table.add_entry({"map.pool positive", "Map: pool by positive part", "Map", ""});
  table.add_entry({"map.pool negative", "Map: pool by negative part", "Map", ""});
  table.add({"map.range", "auto or LOW HIGH", "Map: colour range", "Map", map_reason,
             map_change("map.range", "auto, or two numbers LOW < HIGH", [](MapView& m, Arguments a, const State&) {
               m.range.reset();
               if (a[0] == "auto") return true;
               const double low = *number_argument(a, 0), high = *number_argument(a, 1);
               if (low < high) m.range = {low, high};
               return low < high;
             })});
  table.add_entry({"map.range auto", "Map: automatic colour range", "Map", ""});
  table.add_entry({"map.range", "Map: a fixed colour range", "Map", "", true});
  table.add({"map.exclude-sink", "[on|off]", "Map: leave key 0 out of the colour range", "Map", map_reason,
             map_change("map.exclude-sink", "on, off or nothing", [](MapView& m, Arguments a, const State&) {
               m.exclude_sink = a.empty() ? !m.exclude_sink : a[0] == "on";
               return true;
             })});
  table.add_entry({"map.exclude-sink", "Map: leave key 0 out of the range", "Map", "Z"});
  table.add(
      {"map.colours", all_words<Colours>(), "Colours of maps", "Map", {}, [](Session& s, Arguments a) -> Result<void> {
         s.edit().settings.colours = *parse_word<Colours>(a[0]);
         s.save_settings();
         return {};
       }});
  table.add({"map.signed-colours",
             all_words<SignedColours>(),
             "Colours of signed maps",
             "Map",
             {},
             [](Session& s, Arguments a) -> Result<void> {
               s.edit().settings.signed_colours = *parse_word<SignedColours>(a[0]);
               s.save_settings();
               return {};
             }});
  table.add_entry({"map.colours", "Map: colours (viridis, cividis, magma, grey …)", "Map", "", true});
  table.add_entry({"map.signed-colours", "Map: colours of signed maps (puor, vik …)", "Map", "", true});
  table.add({"map.fit", "", "Map: fit the whole map", "Map", map_reason,
             map_change("map.fit", "nothing", [](MapView& m, Arguments, const State&) {
               m.window = {};
               return true;
             })});
  table.add_entry({"map.fit", "Map: fit the whole map", "Map", "0"});
  table.add(
      {"zoom", "Q0 Q1 K0 K1", "Map: zoom to queries Q0 … Q1, keys K0 … K1", "Map", map_reason,
       map_change("zoom", "Q0 Q1 K0 K1 within the tokens of the run", [](MapView& m, Arguments a, const State& state) {
         const auto q0 = number_argument(a, 0), q1 = number_argument(a, 1), k0 = number_argument(a, 2),
                    k1 = number_argument(a, 3);
         const auto n = static_cast<double>(state.data()->length);
         if (!(*q0 < *q1) || !(*k0 < *k1) || *q0 < 0 || *k0 < 0 || *q1 > n || *k1 > n) return false;
         m.window = {*q0, *q1, *k0, *k1};
         return true;
       })});
  table.add_entry({"zoom", "Map: zoom to a range of tokens", "Map", "", true});
  table.add(
      {"swipe", "on|off|DIVIDER", "Map: first and second map side by side", "Map",
       [](const State& state, Arguments) { return needs_second_map(state); },
       map_change("swipe", "on, off or the divider's place from 0 to 1", [](MapView& m, Arguments a, const State&) {
         if (a[0] == "on" || a[0] == "off") {
           m.swipe = a[0] == "on";
           return true;
         }
         const auto divider = number_argument(a, 0);
         if (*divider < 0 || *divider > 1) return false;
         m.divider = *divider;
         return true;
       })});
  table.add_entry({"swipe on", "Map: first and second map beside it", "Map", ""});
  table.add_entry({"swipe off", "Map: without first and second map", "Map", ""});
}

}  // namespace headroom
