#include "app/panels/chrome/prompt_overlay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/chrome/overlay.h"
#include "app/panels/panel.h"
#include "app/plot/number_text.h"
#include "app/session/commands.h"
#include "app/session/token_counter.h"
#include "app/ui/text_wrap.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

std::string ids_line(const std::vector<std::int32_t>& ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

std::int64_t code_points(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

// What the tokenizer of the open model makes of the text; null without one, or before the first count is there.
std::shared_ptr<const TokenCount> counted(const PanelContext& context, const ModelEntry* model,
                                          const std::string& text) {
  if (!model || !model->tokenizer) return nullptr;
  if (context.tokens) return context.tokens->count(model->tokenizer, text);
  return count_tokens(model->tokenizer, text);
}

// "first 512 of 7 639 tokens are read" with a button that reads all; true when it was pressed.
bool draw_limit(PanelContext& context, Rect area, std::int64_t reads, std::int64_t tokens) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  context.painter().fill_rect(area, theme.raised, measure::kRadius);
  context.painter().fill_rect({area.x0, area.y0, area.x0 + 3.0f, area.y1}, theme.warn);
  const Rect button = {area.x1 - 74.0f, area.y0 + 3.0f, area.x1 - 4.0f, area.y1 - 3.0f};
  const std::string text = "first " + grouped_text(reads) + " of " + grouped_text(tokens) +
                           (tokens == 1 ? " token is read" : " tokens are read");
  ui.label_at(area.x0 + 12.0f, area.centre_y(), text, theme.body(theme.text), button.x0 - area.x0 - 20.0f);
  return ui.button(button, "Use all", "");
}

}  // namespace

void draw_prompt(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const PromptEntry& prompt = context.state.prompt;
  std::string& text = ui.kept_text("prompt text");
  std::string& ids = ui.kept_text("prompt ids");
  std::string& limit = ui.kept_text("prompt limit");
  std::string& target = ui.kept_text("prompt target");
  std::string& target_ids = ui.kept_text("prompt target ids");
  double& by_ids = ui.kept_number("prompt by ids");
  double& limit_typed = ui.kept_number("prompt limit typed");
  const bool first = ui.appeared("prompt");
  if (first) {
    text = prompt.text;
    ids = ids_line(prompt.ids);
    target = prompt.target;
    target_ids = ids_line(prompt.target_ids);
    limit = prompt.max_tokens > 0 ? std::to_string(prompt.max_tokens) : "";
    by_ids = prompt.ids.empty() ? 0.0 : 1.0;
    limit_typed = 0.0;
  }
  const ModelEntry* model = context.state.find_model(context.state.model);
  const bool decodes = model && model->model && model->model->spec.encoder;
  const Rect box = begin_box(context, "prompt", window, {820.0f, 540.0f});
  Rect rest = draw_box_title(context, box, "Prompt", "what the model reads", "prompt.edit");
  const float margin = box.width() < 600.0f ? 10.0f : 24.0f;
  const Rect foot = rest.cut_bottom(48.0f);
  rest = {rest.x0 + margin, rest.y0 + 10.0f, rest.x1 - margin, rest.y1 - 4.0f};
  const Rect bar = rest.cut_top(30.0f);
  ui.push_id("prompt");
  const std::vector<Choice> ways{{"Text", "", by_ids == 0.0, ""}, {"Token ids", "", by_ids != 0.0, ""}};
  const float width = ui.segmented({bar.x0, bar.y0}, 22.0f, ways);
  const float half = ui.segmented({0.0f, 0.0f}, 22.0f, std::span(ways).first(1), false);
  if (ui.input.pressed[kLeftButton] && ui.hovered({bar.x0, bar.y0, bar.x0 + width, bar.y0 + 22.0f})) {
    by_ids = ui.input.pointer.x >= bar.x0 + half ? 1.0 : 0.0;
  }
  const bool as_ids = by_ids != 0.0;
  std::string& value = as_ids ? ids : text;
  std::string& second = as_ids ? target_ids : target;

  // The token limit is part of a text; a list of ids is as long as it is.
  bool limit_ok = true;
  std::int64_t tokens = 0;
  if (!as_ids) {
    const char* name = "first tokens";
    const float field = 110.0f, x = bar.x1 - field;
    const float label = std::round(ui.width(name, theme.body(theme.text3))) + 10.0f;
    if (x - label > bar.x0 + width + 12.0f) {
      painter.text_at(x - label, bar.y0 + 11.0f, name, theme.body(theme.text3));
      TextFieldOptions options;
      options.hint = "all";
      options.mono = true;
      if (ui.text_field("limit", {x, bar.y0, bar.x1, bar.y0 + 22.0f}, limit, options).changed) limit_typed = 1.0;
    }
    if (!limit.empty()) {
      const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), tokens);
      limit_ok = error == std::errc() && end == limit.data() + limit.size() && tokens > 0;
    }
  }

  if (decodes) {
    Rect line = rest.cut_bottom(28.0f);
    rest.y1 -= 6.0f;
    const char* name = as_ids ? "decoder reads" : "decoder predicts";
    painter.text_at(line.x0, line.centre_y(), name, theme.body(theme.text3));
    line.x0 += std::round(ui.width(name, theme.body(theme.text3))) + 10.0f;
    TextFieldOptions field;
    field.hint = "the prompt";
    field.mono = as_ids;
    ui.text_field(as_ids ? "target ids" : "target", line, second, field);
  }

  const std::shared_ptr<const TokenCount> count = as_ids ? nullptr : counted(context, model, text);
  const bool exact = count && count->text == text;
  const std::int64_t reads = count && tokens > 0 ? std::min(tokens, count->tokens) : count ? count->tokens : 0;
  const bool cut = count && limit_ok && reads < count->tokens;
  if (cut) {
    Rect line = rest.cut_bottom(30.0f);
    line.y0 += 4.0f;
    if (draw_limit(context, line, reads, count->tokens)) {
      limit.clear();
      limit_typed = 1.0;
    }
  }

  TextFieldOptions options;
  options.multiline = true;
  options.mono = as_ids;
  if (count) {
    const std::size_t known = count->ends_in(text);
    options.ends = std::span(count->ends).first(known);
    if (cut && static_cast<std::size_t>(reads) <= known) options.read_to = count->end_of(reads);
  }
  options.hint = as_ids ? "ids with spaces or commas between them" : "the text, as the model reads it";
  options.focus = first || ui.appeared(as_ids ? "ids field" : "text field");
  const TextFieldResult typed = ui.text_field(as_ids ? "ids" : "text", rest, value, options);
  // The limit was that of the text that stood here; whoever types another one means all of it.
  if (typed.changed && !as_ids && limit_typed == 0.0) limit.clear();

  painter.fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
  std::string problem, note;
  if (value.find_first_not_of(" \n\t") == std::string::npos) {
    problem = as_ids ? "no ids yet" : "the prompt is empty";
  } else if (as_ids) {
    const auto parsed = parse_ids(value);
    if (parsed) {
      note = grouped_text(static_cast<std::int64_t>(parsed->size())) + (parsed->size() == 1 ? " token" : " tokens");
    } else {
      problem = parsed.error().message;
    }
  } else {
    if (count && count->error)
      problem = count->error->message;
    else if (count)
      note = tokens_text(count->tokens) + (exact ? " · " : ", counting · ");
    note += grouped_text(code_points(value)) + " characters";
    if (model && model->model && exact)
      if (const std::int64_t most = model->model->spec.max_positions; most > 0 && reads > most)
        note += " · the model was trained on " + grouped_text(most) + " positions";
    if (!limit_ok) problem = "the number of tokens is 1 or more, or nothing for all";
  }
  if (decodes && as_ids && !second.empty())
    if (const auto parsed = parse_ids(second); !parsed) problem = parsed.error().message;
  if (!as_ids) {
    context.facts.set("prompt.tokens", exact ? static_cast<double>(count->tokens) : 0.0);
    context.facts.set("prompt.reads", exact ? static_cast<double>(reads) : 0.0);
    context.facts.set("prompt.limit", limit.empty() ? "all" : limit);
  }
  // Of the prompt that is set, and of it alone.
  const std::string set_limit = prompt.max_tokens > 0 ? std::to_string(prompt.max_tokens) : "";
  const bool same_target = second == (as_ids ? ids_line(prompt.target_ids) : prompt.target);
  const bool unchanged = (as_ids ? !prompt.ids.empty() && value == ids_line(prompt.ids)
                                 : prompt.ids.empty() && value == prompt.text && limit == set_limit) &&
                         same_target;
  if (const RunBudget* estimate = unchanged ? context.state.estimate.get() : nullptr) {
    note += " · a run " + estimate_text(*estimate);
    context.facts.set("prompt.estimate", note);
  }
  std::string line = as_ids ? "ids " + quote_word(value) : "prompt " + quote_word(value);
  if (!as_ids && tokens > 0) line += " " + std::to_string(tokens);
  const std::string reason = context.commands.disabled_reason(context.state, as_ids ? "ids 0" : "prompt x");
  if (!reason.empty()) problem = reason;

  const float y = foot.centre_y();
  const bool can = problem.empty();
  float right = foot.x1 - margin;
  const auto button = [&](const char* title, float width_of, const char* key, ButtonStyle style) {
    right -= width_of;
    const Rect place = Rect::sized(right, y - 13.0f, width_of, 26.0f);
    const bool clicked = ui.button(place, title, "", style);
    ui.tooltip(place, can ? key : problem);
    right -= 8.0f;
    return clicked;
  };
  const bool run_key = std::ranges::any_of(ui.input.keys, [](const KeyPress& press) {
    return press.key == letter_key('R') && press.modifiers.ctrl && !press.modifiers.shift && !press.modifiers.alt;
  });
  const bool runs =
      button("Apply and run", 124.0f, "Ctrl+R", can ? ButtonStyle::Primary : ButtonStyle::Plain) || run_key;
  const bool applied = button("Apply", 72.0f, "Ctrl+Enter", ButtonStyle::Plain);
  if (can && (runs || applied || typed.submitted)) {
    ui.run("overlay.close");
    ui.run(line);
    if (decodes && !second.empty())
      ui.run(as_ids ? "target-ids " + quote_word(second) : "target " + quote_word(second));
    if (runs) ui.run("run");
  }
  right -= 80.0f;
  ui.button(Rect::sized(right, y - 13.0f, 80.0f, 26.0f), "Cancel", "overlay.close");
  ui.label_at(foot.x0 + margin, y, can ? note : problem, theme.body(can ? theme.text3 : theme.warn),
              right - foot.x0 - margin - 12.0f);
  ui.pop_id();
  end_box(context);
}

}  // namespace headroom
