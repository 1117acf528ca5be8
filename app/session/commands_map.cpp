// What the map shows and how.
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "app/session/command_parts.h"
#include "app/session/enum_words.h"

namespace headroom {
namespace {

// `change` returns Result<void>.
template <typename Change>
std::function<Result<void>(Session&, const Arguments&)> map_change(const char* name, Change change) {
  return [=](Session& s, const Arguments& a) -> Result<void> {
    MapView map = s.state().view.map;
    HEADROOM_TRY_VOID(result_of(change, map, a, s.state()));
    s.remember_view(name);
    s.edit().view.map = map;
    return {};
  };
}

std::string map_reason(const State& state) { return needs_data(state); }

// "first", "second" and "scaled" are maps of differential heads.
std::string kind_reason(const State& state, const Arguments& arguments) {
  if (std::string reason = needs_head(state); !reason.empty()) return reason;
  if (arguments.empty()) return "";
  const auto kind = arguments.choice<MapKind>(0);
  return kind == MapKind::Net || kind == MapKind::Logits ? "" : needs_second_map(state);
}

bool is_signed(const MapView& map, const State& state) {
  const HeadProgram* program = selected_program(state);
  return keeps_sign(map.pooling) &&
         (map.kind == MapKind::Logits || (map.kind == MapKind::Net && program && program->has_second()));
}

std::string scale_reason(const State& state, const Arguments& arguments) {
  if (std::string reason = needs_data(state); !reason.empty()) return reason;
  const bool logarithm = arguments.is(0, "log10");
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
  table.add({"map", all_words<MapKind>(), "Map: show", "Map", kind_reason,
             map_change("map", [](MapView& m, const Arguments& a, const State&) {
               const MapKind kind = a.choice<MapKind>(0);
               if (m.kind != kind) m.range.reset();
               m.kind = kind;
             })});
  table.add_entry({"map net", "Map: weights, or the net map w = a¹ − λ·a²", "Map", "1"});
  table.add_entry({"map logits", "Map: logits", "Map", "2"});
  table.add_entry({"map first", "Map: first map a¹", "Map", "3"});
  table.add_entry({"map second", "Map: second map a²", "Map", "4"});
  table.add_entry({"map scaled", "Map: λ · second map", "Map", "5"});
  table.add({"map.scale", all_words<ScaleKind>() + "|auto|next", "Map: scale", "Map", scale_reason,
             map_change("map.scale", [](MapView& m, const Arguments& a, const State& state) {
               m.scale = a.is(0, "next")   ? std::optional(next_scale(m, state))
                         : a.is(0, "auto") ? std::nullopt
                                           : std::optional(a.choice<ScaleKind>(0));
               m.range.reset();
             })});
  table.add_entry({"map.scale next", "Map: next scale", "Map", "S"});
  table.add_entry({"map.scale linear", "Map: linear scale", "Map", ""});
  table.add_entry({"map.scale log10", "Map: log₁₀ scale", "Map", ""});
  table.add_entry({"map.scale symlog", "Map: symlog scale", "Map", ""});
  table.add_entry({"map.scale auto", "Map: the usual scale of this map", "Map", ""});
  table.add(
      {"map.pool", all_words<Pooling>(), "Map: how cells of a pixel are pooled", "Map", map_reason,
       map_change("map.pool", [](MapView& m, const Arguments& a, const State&) { m.pooling = a.choice<Pooling>(0); })});
  table.add_entry({"map.pool max", "Map: pool by largest magnitude", "Map", ""});
  table.add_entry({"map.pool mean", "Map: pool by mean", "Map", ""});
  table.add_entry({"map.pool positive", "Map: pool by positive part", "Map", ""});
  table.add_entry({"map.pool negative", "Map: pool by negative part", "Map", ""});
  table.add({"map.range", "auto or LOW HIGH", "Map: colour range", "Map", map_reason,
             map_change("map.range", [](MapView& m, const Arguments& a, const State&) -> Result<void> {
               m.range.reset();
               if (a.is(0, "auto")) return {};
               m.range = {a.number(0), a.number(1)};
               return a.number(0) < a.number(1) ? Result<void>() : a.wrong("auto, or two numbers LOW < HIGH");
             })});
  table.add_entry({"map.range auto", "Map: automatic colour range", "Map", ""});
  table.add_entry({"map.range", "Map: a fixed colour range", "Map", "", true});
  table.add({"map.exclude-sink", "[on|off]", "Map: leave key 0 out of the colour range", "Map", map_reason,
             map_change("map.exclude-sink", [](MapView& m, const Arguments& a, const State&) {
               m.exclude_sink = a.on(0, m.exclude_sink);
             })});
  table.add_entry({"map.exclude-sink", "Map: leave key 0 out of the range", "Map", "Z"});
  table.add({"map.colours", all_words<Colours>(), "Colours of maps", "Map", {}, [](Session& s, const Arguments& a) {
               s.edit().settings.colours = a.choice<Colours>(0);
               s.save_settings();
             }});
  table.add({"map.signed-colours",
             all_words<SignedColours>(),
             "Colours of signed maps",
             "Map",
             {},
             [](Session& s, const Arguments& a) {
               s.edit().settings.signed_colours = a.choice<SignedColours>(0);
               s.save_settings();
             }});
  table.add_entry({"map.colours", "Map: colours (viridis, cividis, magma, grey …)", "Map", "", true});
  table.add_entry({"map.signed-colours", "Map: colours of signed maps (puor, vik …)", "Map", "", true});
  table.add({"map.fit", "", "Map: fit the whole map", "Map", map_reason,
             map_change("map.fit", [](MapView& m, const Arguments&, const State&) { m.window = {}; })});
  table.add_entry({"map.fit", "Map: fit the whole map", "Map", "0"});
  table.add({"zoom", "Q0 Q1 K0 K1", "Map: zoom to queries Q0 … Q1, keys K0 … K1", "Map", map_reason,
             map_change("zoom", [](MapView& m, const Arguments& a, const State& state) -> Result<void> {
               const double q0 = a.number(0), q1 = a.number(1), k0 = a.number(2), k1 = a.number(3);
               const auto n = static_cast<double>(state.data()->length);
               if (!(q0 < q1) || !(k0 < k1) || q0 < 0 || k0 < 0 || q1 > n || k1 > n)
                 return a.wrong("Q0 Q1 K0 K1 within the tokens of the run");
               m.window = {q0, q1, k0, k1};
               return {};
             })});
  table.add_entry({"zoom", "Map: zoom to a range of tokens", "Map", "", true});
  table.add({"swipe", "on|off|DIVIDER", "Map: first and second map side by side", "Map", needs_second_map,
             map_change("swipe", [](MapView& m, const Arguments& a, const State&) -> Result<void> {
               if (a.is(0, "on") || a.is(0, "off")) {
                 m.swipe = a.is(0, "on");
                 return {};
               }
               m.divider = a.number(0);
               if (m.divider < 0 || m.divider > 1) return a.wrong("on, off or the divider's place from 0 to 1");
               return {};
             })});
  table.add_entry({"swipe on", "Map: first and second map beside it", "Map", ""});
  table.add_entry({"swipe off", "Map: without first and second map", "Map", ""});
}

}  // namespace headroom
