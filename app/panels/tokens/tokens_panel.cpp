// The prompt as text, each token tinted by a quantity of the selected head; a minimap above where it is long.
#include "app/panels/tokens/tokens_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/tokens/tokens_experts.h"
#include "app/panels/tokens/tokens_minimap.h"
#include "app/panels/tokens/tokens_sequences.h"
#include "app/panels/tokens/tokens_tint.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kTitle = 28.0f;
constexpr float kBoxHeight = 17.0f, kNameWidth = 52.0f;

struct Tokens {
  PanelContext& context;
  RunCache& memory;
  const RunSnapshot& run;
  const TokenLines& lines;
  const TokenTint& tint;
  TokenSequence sequence;  // its tokens are what is seen; the tint is of them, or empty

  [[nodiscard]] bool tinted(std::int64_t token) const {
    return sequence.keys && sequence.queries ? has_value(token) : tints_this() && has_value(token);
  }
  // Attention is of keys, everything else of queries.
  [[nodiscard]] bool tints_this() const { return tint.of_keys ? sequence.keys : sequence.queries; }
  [[nodiscard]] std::int64_t length() const { return lines.tokens(); }

 private:
  [[nodiscard]] bool has_value(std::int64_t token) const {
    return token < static_cast<std::int64_t>(tint.values.size()) &&
           !std::isnan(tint.values[static_cast<std::size_t>(token)]);
  }
};

// The title bar: what tints, on which scale, and which part of the text is in view (drawn when that is known).
Rect draw_tokens_title(PanelContext& context, const TokenTint& tint, Rect bar) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  context.painter().fill_rect({bar.x0, bar.y1 - 1.0f, bar.x1, bar.y1}, theme.line);
  Rect rest = bar.inset(measure::kPadding, 0.0f);
  if (bar.width() > 300.0f) {
    const bool alone = context.state.layout.maximised == "tokens";
    ui.icon_button(Rect::sized(bar.x1 - 27.0f, bar.centre_y() - 10.0f, 20.0f, 20.0f),
                   alone ? Icon::Restore : Icon::Maximise, "panel.maximise tokens",
                   alone ? "All panels again" : "This panel alone");
    rest.cut_right(24.0f);
  }
  const float width = ui.width("Tokens", theme.title());
  if (rest.width() > width) context.painter().text_at(rest.x0, bar.centre_y(), "Tokens", theme.title());
  rest.cut_left(width + 12.0f);
  const std::string selected = context.state.view.tokens.tint;
  const RunSnapshot* run = context.state.data();
  const bool experts = context.state.view.tokens.experts;
  if (run != nullptr && !run->routers.empty()) {
    const std::array<Choice, 2> views = {
        {{"Text", "tokens.show text", !experts, ""}, {"Experts", "tokens.show experts", experts, ""}}};
    const float wide = ui.segmented({0.0f, 0.0f}, measure::kPanelControl, views, false);
    if (wide + 12.0f <= rest.width()) {
      ui.segmented({rest.x0, bar.y0 + 3.0f}, measure::kPanelControl, views);
      rest.cut_left(wide + 12.0f);
    }
    if (experts) return rest;
  }
  if (rest.width() > 90.0f) {
    const float combo = std::min(
        rest.width(), std::clamp(ui.width("tint " + tint.title, theme.body(theme.text)) + 40.0f, 120.0f, 240.0f));
    ui.combo("tint", {rest.x0, bar.y0 + 3.0f, rest.x0 + combo, bar.y0 + 25.0f}, "tint", tint.title, [selected] {
      static constexpr std::array<std::pair<const char*, const char*>, 9> kTints = {
          {{"loss", "Loss of the token"},
           {"rank", "Rank of the token among all"},
           {"entropy", "Entropy of the prediction of the token"},
           {"received", "Attention received"},
           {"attention", "Attention of the pinned query"},
           {"lambda", "λ of the query"},
           {"rms", "ρ of the query"},
           {"norm_gain", "Gain of the norm, per query"},
           {"none", "None"}}};
      std::vector<MenuItem> items;
      for (const auto& [name, title] : kTints) {
        MenuItem item;
        item.title = title, item.command = std::string("tokens.tint ") + name, item.checked = selected == name;
        items.push_back(std::move(item));
      }
      return items;
    });
    rest.cut_left(combo + 14.0f);
  }
  return rest;
}

void draw_title_hints(PanelContext& context, Rect rest, float centre, const std::string& scale,
                      const std::string& place) {
  const Theme& theme = context.theme();
  const float width = context.ui.width(place, theme.hint());
  if (width <= rest.width()) {
    context.painter().text_at(rest.x1, centre, place, theme.hint(), Painter::Align::Right);
    rest.cut_right(width + 16.0f);
  }
  if (rest.width() > 50.0f) context.ui.label({rest.x0, centre + 4.0f}, scale, theme.hint(), rest.width());
}

void draw_token(const Tokens& tokens, std::int64_t token, Rect box) {
  PanelContext& context = tokens.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  Color text = theme.text;
  const auto at = static_cast<std::size_t>(token);
  if (tokens.tinted(token)) {
    const float value = tokens.tint.values[at];
    if (std::isfinite(value)) {
      const Color ground = scale_color(tokens.tint.scale, value);
      painter.fill_rect(box, ground);
      text = text_on(ground);
    } else {
      painter.fill_rect(box, theme.hatch);
      text = text_on(theme.hatch);
    }
  }
  painter.text_at(box.x1 - kSmallTokens.padding, box.centre_y(), tokens.lines.label(token),
                  {Face::Sans, kSmallTokens.size, text}, Painter::Align::Right);
}

void draw_marks(const Tokens& tokens, std::int64_t token, Rect box) {
  Painter& painter = tokens.context.painter();
  const Theme& theme = tokens.context.theme();
  const State& state = tokens.context.state;
  const bool key = tokens.sequence.keys, query = tokens.sequence.queries;
  if (key && state.hover.key == token) painter.stroke_rect(box, theme.text, 1.0f, 2.0f);
  if (query && state.hover.query == token) painter.fill_rect({box.x0, box.y1, box.x1, box.y1 + 1.0f}, theme.text2);
  if (key && state.view.selection.key == token) painter.stroke_rect(box.inset(-1.0f), theme.accent, 2.0f, 2.0f);
  if (query && state.view.selection.query == token) {
    painter.fill_rect({box.x0, box.y1, box.x1, box.y1 + 2.0f}, theme.accent);
    const float x = box.centre_x();
    const std::array<Vec2, 3> triangle = {{{x - 3.5f, box.y0 - 4.0f}, {x + 3.5f, box.y0 - 4.0f}, {x, box.y0}}};
    painter.fill_polygon(triangle, theme.accent);
  }
}

// The lines in view. Returns the tokens there are on them, first and last.
std::pair<std::int64_t, std::int64_t> draw_text(Tokens& tokens, Rect area) {
  PanelContext& context = tokens.context;
  Ui& ui = context.ui;
  const State& state = context.state;
  const TokenLines& lines = tokens.lines;
  const float step = measure::kTokenLine;
  const auto fitting = static_cast<std::int64_t>(std::max(0.0f, std::floor(area.height() / step)));
  if (fitting == 0 || lines.lines() == 0) return {0, -1};
  area.y1 = area.y0 + static_cast<float>(fitting) * step;

  const std::string name = tokens.sequence.keys ? "text" : "queries";
  // What was pinned, or asked for, comes into view once.
  const std::optional<std::int64_t> none;
  const SeenTokens now{tokens.sequence.queries ? state.view.selection.query : none,
                       tokens.sequence.keys ? state.view.selection.key : none, state.view.tokens.scroll_to};
  SeenTokens& seen = tokens.memory.seen_tokens(tokens.sequence.keys);
  if (context.run_cache != nullptr && seen != now) {
    const std::optional<std::int64_t> wanted = seen.scroll_to != now.scroll_to ? now.scroll_to
                                               : seen.key != now.key           ? now.key
                                                                               : now.query;
    if (wanted && *wanted >= 0 && *wanted < lines.tokens()) {
      const float top = static_cast<float>(lines.line_of(*wanted)) * step;
      ui.scroll_to(name, top, top + step);
    }
    seen = now;
  }
  const float offset = ui.scroll(name, area, static_cast<float>(lines.lines()) * step, step);
  const auto first = std::clamp<std::int64_t>(std::lround(offset / step), 0, lines.lines() - 1);
  const std::int64_t last = std::min(lines.lines(), first + fitting);

  const Interaction hit =
      ui.interact(name + " tokens", {area.x0, area.y0, area.x0 + lines.width, area.y1}, Cursor::Hand);
  const auto place = [&](auto&& each) {
    for (std::int64_t line = first; line < last; ++line) {
      float x = area.x0;
      const float y = area.y0 + (static_cast<float>(line - first) + 0.5f) * step + 1.0f;
      for (std::int64_t token = lines.starts[static_cast<std::size_t>(line)];
           token < lines.starts[static_cast<std::size_t>(line) + 1]; ++token) {
        const float width = lines.width_of(token);
        each(token, Rect{x, y - 0.5f * kBoxHeight, x + width, y + 0.5f * kBoxHeight});
        x += width + kSmallTokens.gap;
      }
    }
  };
  place([&](std::int64_t token, Rect box) { draw_token(tokens, token, box); });
  place([&](std::int64_t token, Rect box) {
    draw_marks(tokens, token, box);
    if (!hit.hovered || !box.inset(-0.5f, -2.0f).contains(ui.input.pointer)) return;
    const bool as_key = tokens.sequence.keys;
    (as_key ? context.hover.key : context.hover.query) = token;
    const auto at = static_cast<std::size_t>(token);
    std::string tip = std::to_string(token) + "  " + quoted_token(*lines.prompt, token);
    if (tokens.tints_this() && at < tokens.tint.values.size())
      tip += "\n" + tokens.tint.value_name + "  " +
             (std::isinf(tokens.tint.values[at]) ? "not finite"
                                                 : readout_text(static_cast<double>(tokens.tint.values[at])));
    if (tokens.sequence.queries && state.view.selection.head)
      if (const std::string experts = experts_of_token(tokens.run, state.view.selection.head->layer, token);
          !experts.empty())
        tip += "\n" + experts;
    const bool both = as_key && tokens.sequence.queries;
    tip += both     ? "\nclick: pin as key · Shift and click: as query"
           : as_key ? "\nclick: pin as key"
                    : "\nclick: pin as query";
    ui.tooltip(box, tip);
    if (hit.clicked)
      ui.run(!as_key || (both && ui.input.modifiers.shift) ? "pin " + std::to_string(token) + " -"
                                                           : "pin - " + std::to_string(token));
  });
  return {lines.starts[static_cast<std::size_t>(first)], lines.starts[static_cast<std::size_t>(last)] - 1};
}

std::string place_text(const Tokens& tokens, std::pair<std::int64_t, std::int64_t> seen) {
  const Selection& selection = tokens.context.state.view.selection;
  const std::string of = tokens.sequence.keys && tokens.sequence.queries ? "tokens"
                         : tokens.sequence.keys                          ? "keys"
                                                                         : "queries";
  std::string text =
      of + " " + grouped_text(seen.first) + "–" + grouped_text(seen.second) + " of " + grouped_text(tokens.length());
  if (seen.second < seen.first) text = grouped_text(tokens.length()) + " " + of;
  const auto where = [&](const char* name, std::optional<std::int64_t> token) {
    if (!token || seen.second < seen.first || (*token >= seen.first && *token <= seen.second)) return;
    text +=
        std::string(" · ") + name + " " + grouped_text(*token) + (*token < seen.first ? " is above ↑" : " is below ↓");
  };
  if (tokens.sequence.keys) where("key", selection.key);
  if (tokens.sequence.queries) where("query", selection.query);
  return text;
}

// One sequence, with a minimap where it is long. Returns the tokens in view.
std::pair<std::int64_t, std::int64_t> draw_sequence(Tokens& tokens, Rect body) {
  const bool long_text =
      static_cast<float>(tokens.lines.lines()) > 8.0f * std::max(3.0f, body.height() / measure::kTokenLine);
  const bool both = tokens.sequence.keys && tokens.sequence.queries;
  if (both && long_text && body.height() >= kTokenMinimap + measure::kTokenLine + 2.0f) {
    draw_token_minimap(tokens.context, tokens.tint, tokens.length(), body.cut_top(kTokenMinimap));
    body.cut_top(3.0f);
  }
  return draw_text(tokens, body);
}

// Two sequences stand one below the other, the keys first, each behind its name.
void draw_sequences(PanelContext& context, RunCache& memory, const RunSnapshot& run, const TokenTint& tint, Rect body,
                    Rect hints, float centre) {
  const TokenSequences sequences = token_sequences(run, context.state.selected_layer(), memory);
  const bool two = sequences.second.prompt != nullptr;
  std::string places;
  const auto draw = [&](const TokenSequence& sequence, Rect area) {
    if (two) {
      const char* const name = sequence.keys ? "keys" : "queries";
      if (area.height() >= 18.0f)
        context.ui.label({area.x0, area.y0 + 14.0f}, name, context.theme().hint(), kNameWidth);
      area.x0 = std::min(area.x1, area.x0 + kNameWidth);
    }
    const float width = std::max(8.0f, area.width() - 12.0f);
    const TokenLines& lines = memory.lines(sequence.prompt, width, context.ui.measure());
    Tokens tokens{context, memory, run, lines, tint, sequence};
    const auto seen = draw_sequence(tokens, area);
    const std::string prefix = sequence.keys ? "tokens." : "tokens.queries_";
    context.facts.set(prefix + "first", static_cast<double>(seen.first));
    context.facts.set(prefix + "last", static_cast<double>(seen.second));
    places += (places.empty() ? "" : " · ") + place_text(tokens, seen);
  };
  const Rect above = two ? body.cut_top(std::round(0.5f * body.height())) : body;
  draw(sequences.first, above);
  if (two) draw(sequences.second, body);
  draw_title_hints(context, hints, centre, tint.scale_text, places);
}

std::string experts_hint(const PanelContext& context, const RunSnapshot& run) {
  const std::optional<HeadRef> head = context.state.view.selection.head;
  const RouterSnapshot* router = head ? run.router(head->layer) : nullptr;
  if (router == nullptr) return "";
  return "layer " + std::to_string(router->layer) + ", " + std::to_string(router->chosen) + " of " +
         std::to_string(router->tokens.size()) + " experts for each token, by weight";
}

}  // namespace

void draw_tokens_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "tokens", frame);
  const TokenTint tint = make_token_tint(context, memory, context.state.view.tokens.tint);
  const Rect bar = frame.cut_top(std::min(kTitle, frame.height()));
  const Rect rest = draw_tokens_title(context, tint, bar);
  const RunSnapshot* run = memory.run();
  if (run == nullptr || run->prompt == nullptr || run->prompt->ids.empty()) {
    draw_note(context, frame.inset(measure::kPadding, 4.0f), "The prompt appears here token by token once it has run.",
              frame.height() > 40.0f ? "Each token is tinted by what the selected head does with it." : "");
  } else {
    Rect body = frame.inset(measure::kPadding, 0.0f);
    body.y0 += std::min(4.0f, body.height());
    context.facts.set("tokens.not_finite", static_cast<double>(tint.not_finite));
    if (context.state.view.tokens.experts && !run->routers.empty()) {
      draw_token_experts(context, *run, body);
      draw_title_hints(context, rest, bar.centre_y(), experts_hint(context, *run),
                       grouped_text(run->length) + " tokens");
    } else {
      draw_sequences(context, memory, *run, tint, body, rest, bar.centre_y());
    }
  }
  if (run != nullptr)
    context.ui.context_menu("menu", frame, [&] {
      std::vector<MenuItem> items;
      items.push_back({"Copy the text", "", "copy.tokens text", false, false, {}});
      items.push_back({"Copy the tokens as CSV", "", "copy.tokens csv", false, false, {}});
      items.push_back({"Copy every row of the head as CSV", "", "copy.head", false, false, {}});
      items.push_back({"Edit the prompt…", "", "prompt.edit", false, true, {}});
      items.push_back({"Export this text as a figure…", "", "figure.screen tokens", false, true, {}});
      items.push_back({"Save a picture of this panel…", "", "export.panel tokens", false, false, {}});
      return items;
    });
}

const PanelInfo kTokensPanel{.id = "tokens", .title = "Tokens", .draw = draw_tokens_panel};

}  // namespace headroom
