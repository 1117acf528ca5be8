// What went wrong, as cards over the map: what, where, why, what to do. Nothing is modal and nothing that is open
// changes.
#include "app/panels/chrome/error_cards.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/ui/text_wrap.h"
#include "core/base/capitals.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kCardWidth = 560.0f, kCardHead = 48.0f, kSide = 20.0f, kButtons = 26.0f;

struct Paragraph {
  std::string label, text;
  TextStyle style;
  bool rule_above = false;
  float height = 0.0f, line = 18.0f;
};

struct Card {
  const ErrorCard* error = nullptr;
  std::vector<Paragraph> paragraphs;
  int max_lines = 6;
  float height = 0.0f;
  bool note = false;  // what stays open
};

std::string code_text(ErrorCode code) {
  std::string text(code_name(code));
  std::replace(text.begin(), text.end(), '_', ' ');
  return capitalised(text);
}

std::vector<Paragraph> paragraphs_of(const ErrorCard& card, const Theme& theme) {
  std::vector<Paragraph> out;
  const Error& error = card.error;
  const TextStyle body = theme.body(theme.text), mono{Face::Mono, 12.0f, theme.text};
  out.push_back({"What", capitalised(error.message), body});
  std::string place = error.tensor;
  if (error.offset)
    place += (place.empty() ? "" : ", ") + ("byte " + grouped_text(static_cast<std::int64_t>(*error.offset)));
  if (!error.file.empty()) out.push_back({"Where", short_path(error.file), mono, false, 0.0f, 20.0f});
  if (!place.empty()) out.push_back({error.file.empty() ? "Where" : "", place, mono, false, 0.0f, 20.0f});
  std::string why;
  if (!error.expected.empty()) why = "expected " + error.expected;
  if (!error.found.empty()) why += (why.empty() ? "found " : "; found ") + error.found;
  if (!why.empty()) out.push_back({"Why", why, body});
  if (!error.hint.empty()) out.push_back({"Do", capitalised(error.hint), body, true});
  return out;
}

float label_width(float width) { return width < 360.0f ? 48.0f : 54.0f; }

void measure_card(const Ui& ui, Card& card, float width) {
  const float text = width - 2.0f * kSide - label_width(width);
  card.height = kCardHead + 10.0f;
  for (Paragraph& p : card.paragraphs) {
    p.height = p.line * static_cast<float>(wrap_text(p.text, text, ui.measure(), p.style.face, p.style.size,
                                                     static_cast<std::size_t>(card.max_lines))
                                               .size());
    card.height += p.height + 4.0f + (p.rule_above ? 17.0f : 0.0f);
  }
  card.height += 8.0f + kButtons + (card.note ? 28.0f : 12.0f);
}

// The card with as many lines as `room` lets it have; parts go from the least important one on.
Card fitted(const Ui& ui, const ErrorCard& error, float width, float room) {
  Card card;
  card.error = &error;
  card.paragraphs = paragraphs_of(error, ui.theme);
  card.note = !error.stays_open.empty();
  measure_card(ui, card, width);
  while (card.height > room && card.max_lines > 2) {
    --card.max_lines;
    measure_card(ui, card, width);
  }
  if (card.height > room && card.note) {
    card.note = false;
    measure_card(ui, card, width);
  }
  if (card.height > room) {
    card.max_lines = 1;
    measure_card(ui, card, width);
  }
  while (card.height > room && card.paragraphs.size() > 1) {
    const auto why = std::find_if(card.paragraphs.begin() + 1, card.paragraphs.end(),
                                  [](const Paragraph& p) { return !p.rule_above; });
    card.paragraphs.erase(why != card.paragraphs.end() ? why : card.paragraphs.end() - 1);
    measure_card(ui, card, width);
  }
  if (card.height > room && !card.paragraphs.empty()) {
    card.paragraphs.clear();
    measure_card(ui, card, width);
  }
  return card;
}

void draw_card(PanelContext& context, const Card& card, Rect box) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::string id = std::to_string(card.error->id);
  ui.begin_overlay("error card " + id, box, false);
  painter.fill_rect(box, theme.raised, measure::kRadius);
  painter.fill_rect({box.x0, box.y0 + 3.0f, box.x0 + 4.0f, box.y1 - 3.0f}, theme.err);
  painter.stroke_rect(box, theme.err, 1.0f, measure::kRadius);
  const float y = box.y0 + 26.0f;
  float right = box.x1 - 12.0f;
  ui.icon_button(Rect::sized(right - 20.0f, y - 10.0f, 20.0f, 20.0f), Icon::Close, "error.close " + id, "Close");
  right -= 28.0f;
  const TextStyle code{Face::Mono, 12.0f, theme.err};
  const float code_width = ui.width(code_text(card.error->error.code), code);
  if (!card.error->of_program && right - code_width > box.x0 + 0.55f * box.width()) {
    painter.text_at(right, y, code_text(card.error->error.code), code, Painter::Align::Right);
    right -= code_width + 16.0f;
  }
  ui.icon(Icon::Error, {box.x0 + 24.0f, y}, 18.0f, theme.err);
  ui.label_at(box.x0 + 42.0f, y, card.error->title, {Face::SansSemibold, 14.0f, theme.text}, right - box.x0 - 42.0f);
  painter.fill_rect({box.x0 + 16.0f, box.y0 + kCardHead, box.x1 - 16.0f, box.y0 + kCardHead + 1.0f}, theme.hover);

  const float x = box.x0 + kSide + label_width(box.width()), width = box.x1 - kSide - x;
  float at = box.y0 + kCardHead + 10.0f;
  for (const Paragraph& p : card.paragraphs) {
    if (p.rule_above) {
      at += 8.0f;
      painter.fill_rect({box.x0 + 16.0f, at, box.x1 - 16.0f, at + 1.0f}, theme.hover);
      at += 9.0f;
    }
    if (!p.label.empty()) painter.text_at(box.x0 + kSide, at + 0.5f * p.line, p.label, theme.body(theme.text3));
    at += ui.paragraph({x, at}, p.text, p.style, width, p.line, true, card.max_lines) + 4.0f;
  }
  at += 8.0f;
  // Buttons from the left, as many as there is room for; the close button is above as well.
  struct Action {
    std::string title;
    std::string command;
    ButtonStyle style;
    const RunOffer* offer = nullptr;
  };
  std::vector<Action> actions;
  for (const RunOffer& offer : card.error->offers)
    actions.push_back({offer.title, "", actions.empty() ? ButtonStyle::Primary : ButtonStyle::Card, &offer});
  if (!card.error->retry.empty()) actions.push_back({"Try again", card.error->retry, ButtonStyle::Primary});
  if (!card.error->error.file.empty())
    actions.push_back({"Show in folder", "file.show " + quote_word(card.error->error.file), ButtonStyle::Card});
  actions.push_back({"Copy details", "error.copy " + id, ButtonStyle::Card});
  actions.push_back({"Close", "error.close " + id, ButtonStyle::Card});
  float left = card.paragraphs.empty() ? box.x0 + kSide : x;
  float total = 0.0f;
  for (const Action& action : actions) total += ui.button_width(action.title) + 8.0f;
  if (left + total > box.x1 - 8.0f) left = box.x0 + kSide;
  for (const Action& action : actions) {
    const float w = ui.button_width(action.title);
    if (left + w > box.x1 - 8.0f) break;
    if (ui.button(Rect::sized(left, at, w, kButtons), action.title, action.command, action.style) &&
        (action.offer || action.style == ButtonStyle::Primary)) {
      if (action.offer)
        for (const std::string& line : action.offer->lines) ui.run(line);
      ui.run("error.close " + id);
    }
    left += w + 8.0f;
  }
  if (card.note) ui.label_at(x, at + kButtons + 14.0f, card.error->stays_open, theme.hint(), width);
  ui.end_overlay();
}

}  // namespace

void draw_error_cards(PanelContext& context, Rect map_frame) {
  const std::vector<ErrorCard>& errors = context.state.errors;
  if (errors.empty()) return;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const float margin = map_frame.width() < 420.0f ? 6.0f : 24.0f;
  const float width = std::min(kCardWidth, std::floor(map_frame.width() - 2.0f * margin));
  const float right = map_frame.x1 - margin, top = map_frame.y0 + 8.0f;
  float bottom = map_frame.y1 - (map_frame.height() < 420.0f ? 6.0f : 23.0f);
  if (width < 120.0f) return;
  std::size_t shown = 0;
  for (auto error = errors.rbegin(); error != errors.rend(); ++error) {
    const float least = shown == 0 ? 0.0f : 34.0f;  // a line above tells how many more there are
    const Card card = fitted(ui, *error, width, bottom - top - least);
    if (shown > 0 && (card.height > bottom - top - least || card.paragraphs.empty())) break;
    if (card.height > bottom - ui.input.window.y0) break;  // a window lower than a card: the line below tells of it
    const Rect box = Rect::sized(right - width, std::round(bottom - card.height), width, std::round(card.height));
    draw_card(context, card, box);
    bottom = box.y0 - 8.0f;
    ++shown;
  }
  const std::size_t more = errors.size() - shown;
  if (more == 0 || bottom - 26.0f < map_frame.y0) return;
  const std::string text = std::to_string(more) + (shown > 0 ? " more" : "") + (more == 1 ? " error" : " errors");
  const float w = std::min(width, std::round(ui.width(text, theme.body(theme.err))) + 44.0f);
  const Rect strip = Rect::sized(right - w, bottom - 26.0f, w, 26.0f);
  ui.begin_overlay("error cards, more", strip, false);
  context.painter().fill_rect(strip, theme.raised, measure::kRadius);
  context.painter().stroke_rect(strip, theme.err, 1.0f, measure::kRadius);
  ui.icon(Icon::Error, {strip.x0 + 16.0f, strip.centre_y()}, 12.0f, theme.err);
  ui.label_at(strip.x0 + 30.0f, strip.centre_y(), text, theme.body(theme.text), w - 40.0f);
  const Interaction hit = ui.interact("more", strip, Cursor::Hand);
  ui.tooltip(strip, "Show the messages");
  if (hit.clicked) ui.run("log");
  ui.end_overlay();
}

}  // namespace headroom
