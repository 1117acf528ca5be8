#include "app/panels/tokens/large_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/command_parts.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kBarRow = 34.0f;

// A group of controls: as wide as it says, drawn from a point.
struct BarGroup {
  float width = 0.0f;
  std::function<void(Vec2 top_left)> draw;
};

using TintName = std::pair<const char*, const char*>;
constexpr std::array<TintName, 4> kMoreTints = {{{"received", "Attention received"},
                                                 {"lambda", "λ of the token"},
                                                 {"rms", "ρ of the token"},
                                                 {"norm_gain", "Gain of the norm"}}};

void draw_group_name(PanelContext& context, Vec2 at, const char* name) {
  context.painter().text_at(at.x, at.y + 11.0f, name, context.theme().hint());
}

BarGroup tint_group(PanelContext& context) {
  Ui& ui = context.ui;
  const std::string selected = context.state.view.tokens.large_tint;
  const std::string reason = needs_predictions(context.state);
  std::vector<Choice> choices;
  for (const char* name : {"loss", "rank", "entropy", "attention", "none"})
    choices.push_back(
        {name, std::string("tokens.tint ") + name, selected == name, is_of_predictions(name) ? reason : std::string()});
  std::string more = "more";
  for (const auto& [name, title] : kMoreTints)
    if (selected == name) more = title;
  const float label = std::round(ui.width("tint", context.theme().hint())) + 8.0f;
  const float wide = ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, false);
  const float combo = std::round(ui.width(more, context.theme().body(context.theme().text))) + 34.0f;
  return {label + wide + 6.0f + combo, [=, &context, &ui](Vec2 at) {
            draw_group_name(context, at, "tint");
            ui.segmented({at.x + label, at.y}, measure::kPanelControl, choices);
            const Rect area = Rect::sized(at.x + label + wide + 6.0f, at.y, combo, measure::kPanelControl);
            ui.combo("more tints", area, "", more, [selected] {
              std::vector<MenuItem> items;
              for (const auto& [name, title] : kMoreTints)
                items.push_back({title, "", std::string("tokens.tint ") + name, selected == name, false, {}});
              return items;
            });
          }};
}

BarGroup attention_group(PanelContext& context) {
  Ui& ui = context.ui;
  const State& state = context.state;
  const RunSnapshot* run = state.data();
  const TokenAttention selected = state.view.tokens.attention;
  const std::optional<HeadRef> head = state.view.selection.head;
  const std::vector<Choice> choices = {
      {head ? head_text(*head) : "head", "tokens.attention head", selected == TokenAttention::Head, ""},
      {head ? state.layer_name(head->layer) : "layer", "tokens.attention layer", selected == TokenAttention::Layer, ""},
      {"mean of " + grouped_text(run ? static_cast<std::int64_t>(run->finished_layers() * run->heads.size()) : 0),
       "tokens.attention mean", selected == TokenAttention::Mean, ""}};
  const char* const name = "attention of the pointed token";
  const float label = std::round(ui.width(name, context.theme().hint())) + 8.0f;
  const float wide = ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, false);
  return {label + wide, [=, &context, &ui](Vec2 at) {
            draw_group_name(context, at, name);
            ui.segmented({at.x + label, at.y}, measure::kPanelControl, choices);
          }};
}

BarGroup arcs_group(PanelContext& context) {
  Ui& ui = context.ui;
  const bool on = context.state.view.tokens.arcs;
  const double least = context.state.view.tokens.least_arc;
  const float box = std::round(ui.width("arcs", context.theme().body(context.theme().text2))) + 26.0f;
  const std::string value = "a ≥ " + short_text(least);
  const float combo = std::round(ui.width("at least " + value, context.theme().body(context.theme().text))) + 44.0f;
  return {box + 8.0f + combo, [=, &ui](Vec2 at) {
            ui.check_box(Rect::sized(at.x, at.y, box, measure::kPanelControl), "arcs", on,
                         on ? "tokens.arcs off" : "tokens.arcs on");
            ui.combo("least", Rect::sized(at.x + box + 8.0f, at.y, combo, measure::kPanelControl), "at least", value,
                     [on, least] {
                       std::vector<MenuItem> items;
                       for (const char* choice : {"0.005", "0.01", "0.02", "0.05", "0.1", "0.2"})
                         items.push_back({std::string("a ≥ ") + choice,
                                          "",
                                          std::string(on ? "tokens.arcs on " : "tokens.arcs off ") + choice,
                                          short_text(least) == choice,
                                          false,
                                          {}});
                       return items;
                     });
          }};
}

// Calls place(group, top left) and returns how high all are.
float flow(PanelContext& context, Rect area, const std::function<void(const BarGroup&, Vec2)>& place) {
  float x = area.x0, y = area.y0 + 6.0f;
  for (const BarGroup& group : {tint_group(context), attention_group(context), arcs_group(context)}) {
    if (x > area.x0 && x + group.width > area.x1) x = area.x0, y += kBarRow - 6.0f;
    if (group.width <= area.width()) {
      place(group, {x, y});
      x += group.width + 18.0f;
    }
  }
  return y + kBarRow - 6.0f - area.y0;
}

}  // namespace

float large_bar_height(PanelContext& context, float width) {
  return flow(context, {0.0f, 0.0f, width, 0.0f}, [](const BarGroup&, Vec2) {});
}

void draw_large_bar(PanelContext& context, Rect area) {
  flow(context, area, [](const BarGroup& group, Vec2 at) { group.draw(at); });
}

}  // namespace headroom
