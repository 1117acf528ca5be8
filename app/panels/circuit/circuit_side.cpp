#include "app/panels/circuit/circuit_side.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/plot/token_text.h"
#include "app/session/commands.h"
#include "core/base/number_text.h"
#include "core/text/tokenizer.h"

namespace headroom {
namespace {

constexpr float kRow = 21.0f, kHeading = 26.0f;

// “␣free”, or the id where there is no text.
std::string token_text(const ModelEntry& model, std::int64_t token) {
  std::string bytes;
  if (model.tokenizer) bytes = model.tokenizer->token_bytes(static_cast<std::int32_t>(token));
  return bytes.empty() ? "id " + std::to_string(token) : "“" + visible_token(bytes) + "”";
}

void draw_heading(PanelContext& context, Rect bar, const std::string& title, const std::string& hint) {
  const Theme& theme = context.theme();
  const float width = context.ui.label_at(bar.x0, bar.centre_y(), title, theme.plot_title(), bar.width());
  const float room = bar.width() - width - 10.0f;
  if (!hint.empty() && room >= context.ui.width(hint, theme.hint()))
    context.painter().text_at(bar.x1, bar.centre_y(), hint, theme.hint(), Painter::Align::Right);
}

// Token, bar and score of each; the token itself is marked.
void draw_tokens(PanelContext& context, const ModelEntry& model, const std::vector<PromotedToken>& tokens,
                 std::size_t count, double largest, Color color, std::int64_t own, Rect& area) {
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  const float number = context.ui.width("−00.0", theme.value());
  const float bar_width = std::clamp(0.34f * area.width(), 50.0f, 130.0f);
  for (std::size_t i = 0; i < std::min(count, tokens.size()); ++i) {
    const Rect line = area.cut_top(kRow);
    if (line.height() < kRow) return;
    if (tokens[i].token == own) {
      painter.fill_rect({line.x0 - measure::kPadding, line.y0, line.x1 + measure::kPadding, line.y1},
                        theme.accent_soft);
      painter.fill_rect({line.x0 - measure::kPadding, line.y0, line.x0 - measure::kPadding + 3.0f, line.y1},
                        theme.accent);
    }
    painter.text_at(line.x1, line.centre_y(), signed_text(tokens[i].score, 1), theme.value(), Painter::Align::Right);
    Rect bar{line.x1 - number - 10.0f - bar_width, line.centre_y() - 3.0f, line.x1 - number - 10.0f,
             line.centre_y() + 3.0f};
    context.ui.label_at(line.x0, line.centre_y(), token_text(model, tokens[i].token), theme.value(),
                        std::max(0.0f, bar.x0 - line.x0 - 8.0f));
    painter.fill_rect(bar, theme.raised, 2.0f);
    const double share = largest > 0.0 ? std::abs(tokens[i].score) / largest : 0.0;
    bar.x1 = bar.x0 + bar.width() * static_cast<float>(std::clamp(share, 0.0, 1.0));
    painter.fill_rect(bar, color, 2.0f);
    const Interaction hit = context.ui.interact("token " + std::to_string(tokens[i].token), line, Cursor::Hand);
    if (hit.clicked) context.ui.run("circuit.token " + std::to_string(tokens[i].token));
  }
}

struct Numbers {
  std::string name, value;
};

void draw_numbers(PanelContext& context, const std::vector<Numbers>& rows, Rect& area) {
  const Theme& theme = context.theme();
  for (const Numbers& row : rows) {
    const Rect line = area.cut_top(20.0f);
    if (line.height() < 20.0f) return;
    const float width = context.ui.width(row.value, theme.value());
    context.painter().text_at(line.x1, line.centre_y(), row.value, theme.value(), Painter::Align::Right);
    context.ui.label_at(line.x0, line.centre_y(), row.name, theme.body(theme.text2),
                        std::max(0.0f, line.width() - width - 10.0f));
  }
}

// The chosen token in a field; Enter takes another.
void draw_token_field(PanelContext& context, const ModelEntry& model, std::optional<std::int64_t> token, Rect row) {
  const Theme& theme = context.theme();
  const std::string any = "any of " + grouped_text(path_vocabulary(model.model->spec));
  const float hint = context.ui.width(any, theme.hint());
  Rect field = row;
  if (row.width() >= 190.0f + hint) {
    context.painter().text_at(row.x1, row.centre_y(), any, theme.hint(), Painter::Align::Right);
    field.x1 -= hint + 14.0f;
  }
  std::string& typed = context.ui.kept_text("typed");
  double& shown = context.ui.kept_number("shown", -2.0);
  const double now = token ? static_cast<double>(*token) : -1.0;
  if (shown != now) {
    shown = now;
    typed.clear();
    if (token && model.tokenizer) typed = model.tokenizer->token_bytes(static_cast<std::int32_t>(*token));
    if (token && (typed.empty() || typed.find_first_of("\n\r\t") != std::string::npos)) typed = std::to_string(*token);
  }
  TextFieldOptions options;
  options.prefix = "token";
  options.hint = "a text or an id";
  options.mono = options.blanks = true;
  if (context.ui.text_field("token", field, typed, options).submitted && !typed.empty())
    context.ui.run("circuit.token " + quote_word(typed));
}

void draw_how_to_read(PanelContext& context, const LayerCircuits& layer, std::int64_t index, Rect& area) {
  const Theme& theme = context.theme();
  const HeadProgram& head = layer.programs[static_cast<std::size_t>(index)];
  std::string text =
      "The direct path: embedding, the norm of layer " + std::to_string(layer.layer) +
      ", W_V, W_O, final norm gain, unembedding. Other layers, biases, the scale of the residual stream and "
      "RoPE are left out, so it says what the head can copy, not what it does copy on a text.";
  if (head.has_second()) text += " Both maps write through this OV, the second one −λ times; λ is not in it.";
  if (area.height() < 50.0f) return;
  draw_heading(context, area.cut_top(kHeading), "How to read it", "");
  const int lines = static_cast<int>(std::floor(area.height() / 17.0f));
  area.cut_top(
      context.ui.paragraph({area.x0, area.y0}, text, theme.hint(), area.width(), 17.0f, true, std::max(1, lines)) +
      8.0f);
}

void draw_effect(PanelContext& context, const ModelEntry& model, const TokenEffect& effect, bool stale, Rect& area) {
  const Theme& theme = context.theme();
  double largest = 0.0;
  for (const auto* list : {&effect.promoted, &effect.suppressed})
    for (const PromotedToken& token : *list) largest = std::max(largest, std::abs(token.score));
  // Two lists, the numbers of the token, and the words below them share the height.
  const float lists = std::max(0.0f, area.height() - 3.0f * kHeading - 60.0f - 130.0f);
  const auto fitting = static_cast<std::size_t>(std::floor(lists / kRow));
  const std::size_t promoted = std::clamp<std::size_t>(fitting * 2 / 3, 3, 9),
                    suppressed = std::clamp<std::size_t>(fitting - std::min(fitting, promoted), 2, 6);
  context.ui.push_id("promoted");
  draw_heading(context, area.cut_top(kHeading), "Promoted", stale ? "being measured" : "logit − mean, in sd");
  draw_tokens(context, model, effect.promoted, promoted, largest, theme.first, effect.token, area);
  context.ui.pop_id();
  context.ui.push_id("suppressed");
  area.cut_top(4.0f);
  draw_heading(context, area.cut_top(kHeading), "Suppressed", "");
  draw_tokens(context, model, effect.suppressed, suppressed, largest, theme.second, effect.token, area);
  context.ui.pop_id();
  area.cut_top(8.0f);
  if (area.height() < kHeading + 20.0f) return;
  context.painter().fill_rect({area.x0 - measure::kPadding, area.y0, area.x1 + measure::kPadding, area.y0 + 1.0f},
                              theme.line);
  draw_heading(context, area.cut_top(kHeading + 4.0f), "The token itself", "");
  const std::string of = grouped_text(effect.sampled) + " tokens";
  draw_numbers(context,
               {{"rank of " + token_text(model, effect.token),
                 grouped_text(effect.own_rank) + " of " + grouped_text(effect.vocabulary)},
                {"itself first", fixed_text(100.0 * effect.own_first, 1) + " % of " + of},
                {"itself among ten", fixed_text(100.0 * effect.own_among_ten, 1) + " %"}},
               area);
  area.cut_top(6.0f);
  context.facts.set("circuit.own_rank", static_cast<double>(effect.own_rank));
  context.facts.set("circuit.promoted", static_cast<double>(effect.promoted.front().token));
}

}  // namespace

void draw_writes_panel(PanelContext& context, Rect frame) {
  const PanelScope scope(context, "writes", frame);
  Rect body = draw_panel_title(context, frame, "writes", "Writes", "", "after reading one token");
  body = body.inset(measure::kPadding, 8.0f);
  const ModelEntry* model = context.state.circuit_model();
  const std::optional<HeadRef> head = context.state.view.selection.head;
  const LayerCircuits* layer = model && head ? model->circuits.layer(head->layer) : nullptr;
  const bool there = layer && head->head < static_cast<std::int64_t>(layer->heads.size());
  if (!model || !model->model || model->circuits.all == 0) {
    draw_note(context, body, "Nothing is measured yet.");
  } else if (there && !layer->path_refused.empty()) {
    draw_note(context, body, "No path through the vocabulary.", "Refused: " + layer->path_refused + ".");
  } else {
    const std::optional<std::int64_t> token = context.state.circuit_token();
    draw_token_field(context, *model, token, body.cut_top(measure::kControl));
    body.cut_top(6.0f);
    const Rect buttons = body.height() >= 300.0f ? body.cut_bottom(measure::kControl) : Rect{};
    if (!buttons.empty()) body.cut_bottom(8.0f);
    const TokenEffect* effect = model->circuits.effect.get();
    if (!token)
      draw_note(context, body, "No token is chosen.", "Type a text or an id: the first token of the text is read.");
    else if (!model->circuits.effect_refused.empty())
      draw_note(context, body, "These tokens could not be ranked.", model->circuits.effect_refused);
    else if (!effect || !head || !there)
      draw_note(context, body, "Being measured.", "Every token of the vocabulary is ranked.");
    else {
      const bool stale = effect->layer != head->layer || effect->head != head->head || effect->token != *token;
      context.facts.set("circuit.stale", stale ? 1.0 : 0.0);
      draw_effect(context, *model, *effect, stale, body);
    }
    if (there) draw_how_to_read(context, *layer, head->head, body);
    if (!buttons.empty()) {
      const float see = context.ui.button_width("See it on the text"), copy = context.ui.button_width("Copy as CSV");
      context.ui.button(Rect::sized(buttons.x0, buttons.y0, see, measure::kControl), "See it on the text",
                        "circuit off");
      if (see + copy + measure::kGap <= buttons.width())
        context.ui.button(Rect::sized(buttons.x0 + see + measure::kGap, buttons.y0, copy, measure::kControl),
                          "Copy as CSV", "circuit.copy csv");
    }
  }
}

const PanelInfo kWritesPanel{.id = "writes", .title = "Writes", .least_width = 220.0f, .draw = draw_writes_panel};

}  // namespace headroom
