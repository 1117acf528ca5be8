#include "app/panels/tokens/tokens_large.h"

#include <algorithm>
#include <any>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/tokens/large_bar.h"
#include "app/panels/tokens/large_text.h"
#include "app/panels/tokens/pointed_attention.h"
#include "app/panels/tokens/tokens_arcs.h"
#include "app/panels/tokens/tokens_experts.h"
#include "app/panels/tokens/tokens_minimap.h"
#include "app/panels/tokens/tokens_tint.h"
#include "app/session/command_parts.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kLegend = 30.0f;
constexpr double kMostScrolled = 4096.0;  // tokens a second, above which no arcs are drawn

struct LargeView {
  PanelContext& context;
  RunCache& memory;
  const RunSnapshot& run;
  TokenTint tint;
  std::int64_t pointed = 0;
  PointedAttention attention;
};

// The tokens that are the first in view, and when: how fast the text goes by.
struct Passing {
  std::int64_t token = -1;
  double time = 0.0;
};

bool passes_quickly(PanelContext& context, std::int64_t token) {
  std::any& kept = context.ui.kept_value("passing");
  if (!kept.has_value()) kept = Passing();
  Passing& last = *std::any_cast<Passing>(&kept);
  const double now = context.ui.input.time, passed = std::max(1e-3, now - last.time);
  const double speed = last.token < 0 ? 0.0 : std::abs(static_cast<double>(token - last.token)) / passed;
  last = {token, now};
  if (speed > kMostScrolled) context.ui.wake_in(0.1);  // they come when it stands still
  return speed > kMostScrolled;
}

// The line of what was asked for, or pinned, comes into view once.
void bring_into_view(LargeView& view, const TokenLines& lines) {
  const State& state = view.context.state;
  const SeenTokens now{state.view.selection.query, {}, state.view.tokens.scroll_to};
  std::any& kept = view.context.ui.kept_value("seen");
  const SeenTokens* seen = std::any_cast<SeenTokens>(&kept);
  if (seen != nullptr && *seen == now) return;
  const std::optional<std::int64_t> wanted =
      seen != nullptr && seen->scroll_to != now.scroll_to ? now.scroll_to : now.query;
  kept = now;
  if (!wanted || *wanted < 0 || *wanted >= lines.tokens()) return;
  const float top = static_cast<float>(lines.line_of(*wanted)) * kLargeLine;
  view.context.ui.scroll_to("large text", top, top + kLargeLine);
}

void draw_token_box(const LargeView& view, const TokenLines& lines, std::int64_t token, Rect box) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  Color text = theme.text;
  const auto at = static_cast<std::size_t>(token);
  if (at < view.tint.values.size() && !std::isnan(view.tint.values[at])) {
    const float value = view.tint.values[at];
    const Color ground = std::isfinite(value) ? scale_color(view.tint.scale, value) : theme.hatch;
    painter.fill_rect(box, ground, 2.0f);
    text = text_on(ground);
  } else if (token == 0 && is_of_predictions(view.context.state.view.tokens.large_tint)) {
    painter.stroke_rect(box, theme.text3, 1.0f, 2.0f);
  }
  painter.text_at(box.x1 - lines.style.padding, box.centre_y(), lines.label(token),
                  {Face::Sans, lines.style.size, text}, Painter::Align::Right);
}

void draw_pins(const LargeView& view, const LargeText& text) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  const Selection& selection = view.context.state.view.selection;
  if (selection.key && text.in_view(*selection.key))
    painter.stroke_rect(text.box(*selection.key).inset(-1.0f), theme.accent, 2.0f, 2.0f);
  if (selection.query && text.in_view(*selection.query)) {
    const Rect box = text.box(*selection.query);
    const float x = box.centre_x();
    const std::array<Vec2, 3> triangle = {{{x - 4.0f, box.y1 + 8.0f}, {x + 4.0f, box.y1 + 8.0f}, {x, box.y1 + 3.0f}}};
    painter.fill_polygon(triangle, theme.accent);
  }
}

// The pointed token, and the one that came after it.
void draw_pointed(const LargeView& view, const TokenLines& lines, const LargeText& text) {
  Painter& painter = view.context.painter();
  const Theme& theme = view.context.theme();
  if (view.pointed + 1 < lines.tokens() && text.in_view(view.pointed + 1))
    painter.stroke_rect(text.box(view.pointed + 1), theme.text, 1.0f, 2.0f);
  if (!text.in_view(view.pointed)) return;
  const Rect box = text.box(view.pointed);
  painter.fill_rect(box, theme.panel, 2.0f);
  painter.text_at(box.x1 - lines.style.padding, box.centre_y(), lines.label(view.pointed),
                  {Face::Sans, lines.style.size, theme.text}, Painter::Align::Right);
  painter.stroke_rect(box.inset(-1.0f), theme.accent, 2.0f, 3.0f);
}

void point_at_text(const LargeView& view, const LargeText& text) {
  Ui& ui = view.context.ui;
  const Interaction hit = ui.interact("large tokens", text.area, Cursor::Hand);
  if (hit.hovered)
    text.for_each([&](std::int64_t token, Rect box) {
      if (!box.inset(-1.0f, -6.0f).contains(ui.input.pointer)) return;
      view.context.hover.query = token;
      if (hit.clicked)
        ui.run(ui.input.modifiers.shift ? "pin - " + std::to_string(token) : "pin " + std::to_string(token) + " -");
    });
  // Of the token that the pointer was on when it was pressed: over the open menu it is on none.
  double& pressed = ui.kept_number("token of the menu");
  if (ui.input.pressed[kRightButton]) pressed = static_cast<double>(view.pointed);
  ui.context_menu("token menu", text.area, [&] {
    const std::string token = std::to_string(static_cast<std::int64_t>(pressed));
    return std::vector<MenuItem>{{"Pin as query", "", "pin " + token + " -", false, false, {}},
                                 {"Pin as key", "", "pin - " + token, false, false, {}},
                                 {"What if this key were hidden", "", "what-if.open", false, true, {}},
                                 {"Export this text as a figure…", "", "figure.screen tokens", false, true, {}}};
  });
}

void draw_large_text(LargeView& view, Rect area) {
  PanelContext& context = view.context;
  const TokenLines& lines =
      view.memory.lines(view.run.prompt, std::max(8.0f, area.width() - 14.0f), context.ui.measure(), kLargeTokens);
  if (static_cast<float>(lines.lines()) * kLargeLine > 8.0f * std::max(area.height(), kLargeLine) &&
      area.height() > 2.0f * kLargeLine + kTokenMinimap) {
    draw_token_minimap(context, view.tint, lines.tokens(), area.cut_top(kTokenMinimap));
    area.cut_top(2.0f);
  }
  const auto fitting = static_cast<std::int64_t>(std::max(0.0f, std::floor(area.height() / kLargeLine)));
  context.facts.set("tokens.lines", static_cast<double>(lines.lines()));
  if (fitting == 0 || lines.lines() == 0) return;
  area.y1 = area.y0 + static_cast<float>(fitting) * kLargeLine;
  bring_into_view(view, lines);
  const float offset =
      context.ui.scroll("large text", area, static_cast<float>(lines.lines()) * kLargeLine, kLargeLine);
  LargeText text{lines, {area.x0, area.y0, area.x1 - 12.0f, area.y1}};
  text.first = std::clamp<std::int64_t>(std::lround(offset / kLargeLine), 0, lines.lines() - 1);
  text.last = std::min(lines.lines(), text.first + fitting);
  const std::int64_t first = lines.starts[static_cast<std::size_t>(text.first)];
  context.facts.set("tokens.first", static_cast<double>(first));
  context.facts.set("tokens.last", static_cast<double>(lines.starts[static_cast<std::size_t>(text.last)] - 1));

  context.ui.push_clip(area);
  text.for_each([&](std::int64_t token, Rect box) {
    if (token != view.pointed) draw_token_box(view, lines, token, box);
  });
  const TokensState& tokens = context.state.view.tokens;
  const bool still = !passes_quickly(context, first);
  const std::size_t arcs =
      draw_attention(context, text, view.pointed, view.attention, tokens.least_arc, tokens.arcs && still);
  context.facts.set("tokens.arcs", static_cast<double>(arcs));
  draw_pins(view, text);
  draw_pointed(view, lines, text);
  point_at_text(view, text);
  context.ui.pop_clip();
}

// What the tint says, and its colours with the mean.
void draw_legend(const LargeView& view, Rect row) {
  PanelContext& context = view.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::string& name = context.state.view.tokens.large_tint;
  const std::vector<float> finite = [&] {
    std::vector<float> values;
    for (const float value : view.tint.values)
      if (std::isfinite(value)) values.push_back(value);
    return values;
  }();
  std::string sentence = view.tint.values.empty()
                             ? (name == "none" ? "no tint" : "no tint: " + view.tint.scale_text)
                             : "tint: " + view.tint.title + (is_of_predictions(name) ? " given all before it" : "");
  if (!view.tint.values.empty() && is_of_predictions(name)) sentence += " · outlined: the first has none";
  if (!view.attention.weights)
    sentence += view.attention.reason.empty() ? "" : " · attention: " + view.attention.reason;
  else
    sentence += " · underline, arcs: attention of the pointed token" +
                (view.attention.done < view.attention.all ? ", " + grouped_text(view.attention.done) + " of " +
                                                                grouped_text(view.attention.all) + " heads so far"
                                                          : std::string());
  Rect rest = row;
  constexpr float kBar = 180.0f;
  if (!view.tint.values.empty() && !finite.empty() && row.width() > kBar + 320.0f) {
    const bool nats = name == "loss" || name == "entropy";
    const std::string low = short_text(static_cast<double>(view.tint.scale.low)),
                      high = short_text(static_cast<double>(view.tint.scale.high));
    const std::string end = (name == "rank" || nats ? "≥ " : "") + high + (nats ? " nats" : "");
    const float end_width = std::round(context.ui.width(end, theme.hint()));
    const float y = row.centre_y() + 5.0f;
    painter.text_at(row.x1, y, end, theme.hint(), Painter::Align::Right);
    const Rect bar{row.x1 - end_width - 8.0f - kBar, y - 4.0f, row.x1 - end_width - 8.0f, y + 4.0f};
    for (int i = 0; i < static_cast<int>(kBar); i += 2) {
      const float share = (static_cast<float>(i) + 1.0f) / kBar;
      painter.fill_rect({bar.x0 + static_cast<float>(i), bar.y0, bar.x0 + static_cast<float>(i) + 2.0f, bar.y1},
                        scale_color(view.tint.scale, scale_value(view.tint.scale, share)));
    }
    const float low_width = std::round(context.ui.width(low, theme.hint()));
    painter.text_at(bar.x0 - 8.0f, y, low, theme.hint(), Painter::Align::Right);
    rest.x1 = bar.x0 - 8.0f - low_width - 16.0f;
    if (nats) {
      const double mean = std::accumulate(finite.begin(), finite.end(), 0.0) / static_cast<double>(finite.size());
      const float x = std::round(bar.x0 + scale_position(view.tint.scale, static_cast<float>(mean)) * kBar);
      painter.fill_rect({x, bar.y0 - 3.0f, x + 1.0f, bar.y1 + 3.0f}, theme.mark);
      const std::string text = "mean " + fixed_text(mean, 3);
      const float half = 0.5f * context.ui.width(text, theme.hint());
      painter.text_at(std::clamp(x, bar.x0 + half, bar.x1 - half), bar.y0 - 10.0f, text, theme.hint(),
                      Painter::Align::Centre);
      context.facts.set("tokens.mean", mean);
    }
  }
  context.ui.label_at(rest.x0, row.centre_y() + 5.0f, sentence, theme.hint(), rest.width());
}

void state_of_view(const LargeView& view) {
  Facts& facts = view.context.facts;
  facts.set("tokens.pointed", static_cast<double>(view.pointed));
  facts.set("tokens.tinted", static_cast<double>(view.tint.values.size()));
  std::string keys;
  for (const std::int64_t key : arc_keys(view.attention, view.context.state.view.tokens.least_arc))
    keys += (keys.empty() ? "" : " ") + std::to_string(key);
  facts.set("tokens.arc_keys", keys.empty() ? "none" : keys);
  facts.set("tokens.attention_of", view.attention.name.empty() ? "none" : view.attention.name);
}

}  // namespace

void draw_large_tokens_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "large tokens", frame);
  const RunSnapshot* run = memory.run();
  const std::optional<std::int64_t> pointed = pointed_token(context.state);
  const bool there = run != nullptr && run->prompt && !run->prompt->ids.empty() && pointed;
  const RunEntry* entry = context.state.shown();
  const std::string hint = there ? (entry ? entry->prompt_title : "") : "";
  std::string title_hint = hint;
  if (there) title_hint += (hint.empty() ? "" : " · ") + grouped_text(run->length) + " tokens";
  Rect body = draw_panel_title(context, frame, "map", "Tokens", "", title_hint);
  if (!there) {
    draw_note(context, body.inset(measure::kPadding, 8.0f), "The prompt appears here token by token once it has run.",
              "Each token is tinted by its loss; the one under the pointer shows what the model expected next.");
  } else {
    LargeView view{context,  memory,
                   *run,     make_token_tint(context, memory, context.state.view.tokens.large_tint),
                   *pointed, pointed_attention(context, memory, *pointed)};
    state_of_view(view);
    Rect inside = body.inset(measure::kPadding, 0.0f);
    draw_large_bar(context, inside.cut_top(large_bar_height(context, inside.width())));
    const Rect legend = inside.cut_bottom(std::min(kLegend, std::max(0.0f, inside.height() - kLargeLine)));
    draw_large_text(view, inside);
    if (legend.height() >= 20.0f) draw_legend(view, legend);
  }
}

const PanelInfo kLargeTokensPanel{
    .id = "large-tokens", .title = "Tokens", .least_width = 360.0f, .draw = draw_large_tokens_panel};

}  // namespace headroom
