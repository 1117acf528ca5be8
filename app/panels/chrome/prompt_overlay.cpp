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
#include "app/panels/chrome/prompt_side.h"
#include "app/panels/panel.h"
#include "app/plot/token_text.h"
#include "app/session/commands.h"
#include "app/session/enum_words.h"
#include "app/session/prompt_entry.h"
#include "app/session/token_counter.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"
#include "core/text/prompt_ids.h"

namespace headroom {
namespace {

// A layer's matrices take 24 · tokens · hidden² operations, its causal maps and contexts 2 · tokens² · hidden.
constexpr double kMatrixWork = 12.0;
constexpr std::int64_t kLeastTimed = 64;  // shorter runs are mostly what every run begins with

// What the editor was left with for another overlay: the text as typed, or nothing, where it was not open before.
constexpr double kKept = 1.0, kNothingKept = 2.0;

// What the tokenizer of the open model makes of the text; null without one, or before the first count is there.
std::shared_ptr<const TokenCount> counted(const PanelContext& context, const ModelEntry* model, const std::string& text,
                                          BosMode bos) {
  if (!model || !model->tokenizer) return nullptr;
  if (context.tokens) return context.tokens->count(model->tokenizer, text, bos);
  return count_tokens(model->tokenizer, text, bos);
}

// "token 383 “␣pass” · bytes 1,732–1,736": of the token that the caret stands before or in, at the end the last one.
std::string caret_line(const TokenCount& count, std::span<const std::size_t> ends, std::string_view text,
                       std::size_t caret) {
  if (ends.empty() || caret == std::string::npos) return "";
  auto k = static_cast<std::size_t>(std::ranges::upper_bound(ends, caret) - ends.begin());
  if (k == ends.size() && count.ends.size() > ends.size()) return "";  // what is being counted
  k = std::min(k, ends.size() - 1);
  const std::size_t begin = k > 0 ? ends[k - 1] : 0, end = std::min(ends[k], text.size());
  if (begin >= end) return "";
  return "token " + grouped_text(static_cast<std::int64_t>(k)) + " “" + visible_token(text.substr(begin, end - begin)) +
         "” · bytes " + grouped_text(static_cast<std::int64_t>(begin)) + "–" +
         grouped_text(static_cast<std::int64_t>(end));
}

// The time of a run of so many tokens, from the latest whole run of the model as things are set; NaN without one. Work
// of a layer grows with tokens · hidden size for its matrices and with tokens² for its maps.
double run_seconds(const State& state, const ModelEntry* model, std::int64_t tokens) {
  if (!model || !model->model || tokens <= 0) return kNaN;
  const double hidden = static_cast<double>(std::max<std::int64_t>(model->model->spec.hidden_size, 1));
  const auto work = [hidden](std::int64_t n) {
    const auto length = static_cast<double>(n);
    return length * (kMatrixWork * hidden + length);
  };
  double seconds = kNaN;
  for (const RunEntry& run : state.runs)
    if (run.model == model->id && run.base < 0 && run.status == RunStatus::Done && run.seconds > 0.0 && run.data &&
        run.data->length >= kLeastTimed && run.device == state.settings.device && run.dtype == state.settings.dtype)
      seconds = run.seconds * work(tokens) / work(run.data->length);
  return seconds;
}

// "all: about 4 min"; nothing where no run was timed.
std::string all_text(const State& state, const ModelEntry* model, std::int64_t tokens) {
  const double seconds = run_seconds(state, model, tokens);
  return std::isfinite(seconds) ? "all: about " + estimated_seconds_text(seconds) : "";
}

// "first 512 of 7 639 tokens are read" with a button that reads all; true when it was pressed.
bool draw_limit(PanelContext& context, Rect area, std::int64_t reads, const TokenCount& count, const std::string& all) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  context.painter().fill_rect(area, theme.raised, measure::kRadius);
  context.painter().fill_rect({area.x0, area.y0, area.x0 + 3.0f, area.y1}, theme.warn);
  const Rect button = {area.x1 - 74.0f, area.y0 + 3.0f, area.x1 - 4.0f, area.y1 - 3.0f};
  const std::string text = "first " + grouped_text(reads) + " of " + (count.beginning ? "≥ " : "") +
                           grouped_text(count.tokens) + (count.tokens == 1 ? " token is read" : " tokens are read");
  const float left = area.x0 + 12.0f;
  const float used = ui.label_at(left, area.centre_y(), text, theme.body(theme.text), button.x0 - 8.0f - left);
  if (!all.empty() && left + used + 16.0f + ui.width(all, theme.hint()) <= button.x0 - 8.0f)
    context.painter().text_at(left + used + 16.0f, area.centre_y(), all, theme.hint());
  return ui.button(button, "Use all", "");
}

}  // namespace

void keep_prompt(PanelContext& context) {
  Ui& ui = context.ui;
  for (const char* name : {"prompt text", "prompt ids", "prompt limit", "prompt target", "prompt target ids"})
    (void)ui.kept_text(name);
  for (const char* name : {"prompt by ids", "prompt limit typed", "prompt bos", "prompt parts", "prompt serial"})
    (void)ui.kept_number(name);
  double& away = ui.kept_number("prompt away");
  away = ui.appeared("prompt") ? kNothingKept : away != 0.0 ? away : kKept;
}

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
  double& bos_word = ui.kept_number("prompt bos");
  double& parts = ui.kept_number("prompt parts");
  const auto take = [&](const PromptEntry& entry) {
    text = entry.text;
    ids = ids_line(entry.ids);
    target = entry.target;
    target_ids = ids_line(entry.target_ids);
    limit = entry.max_tokens > 0 ? std::to_string(entry.max_tokens) : "";
    by_ids = entry.ids.empty() ? 0.0 : 1.0;
    limit_typed = 0.0;
    bos_word = static_cast<double>(entry.bos);
  };
  const bool first = ui.appeared("prompt");
  double &away = ui.kept_number("prompt away"), &serial = ui.kept_number("prompt serial");
  const auto now = static_cast<double>(context.state.prompt_serial);
  if (first || away == kNothingKept || (away == kKept && serial != now)) take(prompt);
  away = 0.0;
  serial = now;
  const ModelEntry* model = context.state.find_model(context.state.model);
  const bool decodes = model && model->model && model->model->spec.encoder;
  const Rect box = begin_box(context, "prompt", window, {1080.0f, 640.0f});
  Rect rest = draw_box_title(context, box, "Prompt", "what the model reads", "prompt.edit");
  const float margin = box.width() < 600.0f ? 10.0f : 24.0f;
  const Rect foot = rest.cut_bottom(48.0f);
  Rect side;
  if (rest.width() >= 760.0f) {
    side = rest.cut_right(264.0f);
    painter.fill_rect({side.x0, side.y0, side.x0 + 1.0f, side.y1}, theme.line);
    side = {side.x0 + 16.0f, side.y0 + 12.0f, side.x1 - 16.0f, side.y1 - 8.0f};
  }
  rest = {rest.x0 + margin, rest.y0 + 10.0f, rest.x1 - (side.empty() ? margin : 16.0f), rest.y1 - 4.0f};
  const Rect bar = rest.cut_top(30.0f);
  ui.push_id("prompt");
  const std::vector<Choice> ways{{"Text", "", by_ids == 0.0, ""}, {"Token ids", "", by_ids != 0.0, ""}};
  std::size_t way = ways.size();
  const float width = ui.segmented({bar.x0, bar.y0}, 22.0f, ways, true, &way);
  if (way < ways.size()) by_ids = static_cast<double>(way);
  const bool as_ids = by_ids != 0.0;
  std::string& value = as_ids ? ids : text;
  std::string& second = as_ids ? target_ids : target;

  // The token limit is part of a text; a list of ids is as long as it is.
  bool limit_ok = true;
  std::int64_t tokens = 0;
  if (!as_ids) {
    const char* name = "first tokens";
    const float field = 90.0f, x = bar.x1 - field;
    const float label = std::round(ui.width(name, theme.body(theme.text3))) + 10.0f;
    if (x - label > bar.x0 + width + 12.0f) {
      painter.text_at(x - label, bar.y0 + 11.0f, name, theme.body(theme.text3));
      TextFieldOptions options;
      options.hint = "all";
      options.mono = true;
      if (ui.text_field("limit", {x, bar.y0, bar.x1, bar.y0 + 22.0f}, limit, options).changed) limit_typed = 1.0;
      const std::vector<Choice> styles{
          {"Shades", "", parts == 0.0, ""}, {"Marks", "", parts == 1.0, ""}, {"Off", "", parts == 2.0, ""}};
      const float styles_width = ui.segmented({0.0f, 0.0f}, 22.0f, styles, false);
      const float styles_x = x - label - 20.0f - styles_width;
      std::size_t style = styles.size();
      if (model && model->tokenizer && styles_x > bar.x0 + width + 16.0f)
        ui.segmented({styles_x, bar.y0}, 22.0f, styles, true, &style);
      if (style < styles.size()) parts = static_cast<double>(style);
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

  const auto bos = static_cast<BosMode>(bos_word);
  const std::shared_ptr<const TokenCount> count = as_ids ? nullptr : counted(context, model, text, bos);
  const bool exact = count && count->text == text && count->bos == bos;
  const std::int64_t reads = count && tokens > 0 ? std::min(tokens, count->tokens) : count ? count->tokens : 0;
  const bool cut = count && limit_ok && reads < count->tokens;
  if (cut) {
    Rect line = rest.cut_bottom(30.0f);
    line.y0 += 4.0f;
    const std::string all = count->beginning ? "" : all_text(context.state, model, count->tokens);
    context.facts.set("prompt.all", all);
    if (draw_limit(context, line, reads, *count, all)) {
      limit.clear();
      limit_typed = 1.0;
    }
  }

  TextFieldOptions options;
  options.multiline = true;
  options.mono = true;
  options.line_numbers = !as_ids && box.width() >= 600.0f;
  options.parts = static_cast<PartStyle>(parts);
  const bool caret_room = !as_ids && rest.height() >= 120.0f;
  const Rect caret_row = caret_room ? rest.cut_bottom(20.0f) : Rect{};
  if (count) {
    const std::size_t known = count->ends_in(text);
    options.ends = std::span(count->ends).first(known);
    if (cut && static_cast<std::size_t>(reads) <= known) options.read_to = count->end_of(reads);
  }
  options.hint = as_ids ? "ids with spaces or commas between them" : "the text, as the model reads it";
  double& taken = ui.kept_number("prompt taken");  // a prompt was, beside the text: the keyboard goes on in it
  options.focus = first || taken != 0.0 || ui.appeared(as_ids ? "ids field" : "text field");
  taken = 0.0;
  const TextFieldResult typed = ui.text_field(as_ids ? "ids" : "text", rest, value, options);
  if (caret_room && count) {
    const std::string at = caret_line(*count, options.ends, value, typed.caret);
    ui.label_at(caret_row.x0 + 2.0f, caret_row.centre_y() + 2.0f, at, {Face::Mono, 11.0f, theme.text2},
                caret_row.width());
    context.facts.set("prompt.caret", at);
  }
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
      note = (count->beginning ? "≥ " : "") + tokens_text(count->tokens) + (exact ? " · " : ", counting · ");
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
  const bool unchanged =
      (as_ids ? !prompt.ids.empty() && value == ids_line(prompt.ids)
              : prompt.ids.empty() && value == prompt.text && limit == set_limit && bos == prompt.bos) &&
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
    if (box.width() >= 900.0f) {
      painter.text_at(right, y, key, theme.hint(), Painter::Align::Right);
      right -= std::round(ui.width(key, theme.hint())) + 14.0f;
    }
    return clicked;
  };
  const auto pressed = [&](Key key) {
    return std::ranges::any_of(ui.input.keys, [key](const KeyPress& press) {
      return press.key == key && press.modifiers.ctrl && !press.modifiers.shift && !press.modifiers.alt;
    });
  };
  const bool run_key = pressed(letter_key('R')), apply_key = pressed(Key::Enter);
  const bool runs =
      button("Apply and run", 124.0f, "Ctrl+R", can ? ButtonStyle::Primary : ButtonStyle::Plain) || run_key;
  const bool applied = button("Apply", 72.0f, "Ctrl+Enter", ButtonStyle::Plain);
  if (can && (runs || applied || apply_key)) {
    ui.run("overlay.close");
    ui.run(line);
    if (decodes && !second.empty())
      ui.run(as_ids ? "target-ids " + quote_word(second) : "target " + quote_word(second));
    if (!as_ids && bos != BosMode::Auto) ui.run(std::string("prompt.bos ") + word_of(bos));
    if (runs) ui.run("run");
  }
  right -= 80.0f;
  ui.button(Rect::sized(right, y - 13.0f, 80.0f, 26.0f), "Cancel", "overlay.close");
  ui.label_at(foot.x0 + margin, y, can ? note : problem, theme.body(can ? theme.text3 : theme.warn),
              right - foot.x0 - margin - 12.0f);
  if (!side.empty()) {
    PromptSide of{as_ids ? nullptr : count.get(), exact, reads, bos};
    if (const PromptEntry* chosen = draw_prompt_side(context, side, value, of)) {
      take(*chosen);
      taken = 1.0;
    }
    if (of.bos != bos) bos_word = static_cast<double>(of.bos);
  }
  ui.pop_id();
  end_box(context);
}

}  // namespace headroom
