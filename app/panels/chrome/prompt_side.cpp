#include "app/panels/chrome/prompt_side.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/plot/token_text.h"
#include "app/session/prompt_entry.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kEntry = 38.0f, kFact = 19.0f, kSectionTitle = 24.0f, kBetween = 14.0f;

void draw_section(PanelContext& context, Rect& area, const char* title, bool line) {
  const Theme& theme = context.theme();
  if (line) {
    const Rect gap = area.cut_top(kBetween);
    context.painter().fill_rect({gap.x0, gap.y0 + 6.0f, gap.x1, gap.y0 + 7.0f}, theme.line);
  }
  const Rect row = area.cut_top(kSectionTitle);
  context.ui.label_at(row.x0, row.centre_y(), title, {Face::SansSemibold, 12.0f, theme.text}, row.width());
}

// Two lines that are pressed together.
bool draw_entry(PanelContext& context, const std::string& id, Rect row, const std::string& line,
                std::string_view detail, bool selected) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const Interaction hit = ui.pressable(id, row.inset(0.0f, 1.0f));
  if (selected || hit.hovered)
    context.painter().fill_rect(row.inset(0.0f, 1.0f), selected ? theme.accent_soft : theme.hover, measure::kRadius);
  if (selected) context.painter().fill_rect({row.x0, row.y0 + 1.0f, row.x0 + 3.0f, row.y1 - 1.0f}, theme.accent);
  const float x = row.x0 + 9.0f, width = row.width() - 16.0f;
  const TextStyle style{Face::SansMedium, 12.0f, theme.text};
  context.painter().text_at(x, row.y0 + 12.0f, elide_end(line, width, ui.measure(), style.face, style.size), style);
  ui.label_at(x, row.y0 + 27.0f, detail, theme.hint(), width);
  return hit.clicked;
}

void draw_fact(PanelContext& context, Rect& area, const char* name, const std::string& value) {
  const Theme& theme = context.theme();
  const Rect row = area.cut_top(kFact);
  const float left = context.ui.label_at(row.x0, row.centre_y(), name, theme.body(theme.text2), row.width());
  const TextStyle style{Face::Mono, 11.0f, theme.text};
  const std::string fitting =
      elide_middle(value, row.width() - left - 12.0f, context.ui.measure(), style.face, style.size);
  context.painter().text_at(row.x1, row.centre_y(), fitting, style, Painter::Align::Right);
}

void draw_tokens(PanelContext& context, Rect& area, PromptSide& side) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const TokenCount& count = *side.count;
  draw_section(context, area, "Tokens", true);
  const std::string least = count.beginning ? "≥ " : "";
  draw_fact(context, area, "different",
            least + grouped_text(count.different) + " of " + least + grouped_text(count.tokens));
  draw_fact(context, area, "unknown",
            count.tokenizer && !count.tokenizer->unknown_id() ? "none can be" : least + grouped_text(count.unknown));
  draw_fact(context, area, "special", least + grouped_text(count.special));
  draw_fact(context, area, "longest", count.longest.empty() ? "none" : visible_token(count.longest));
  const Rect row = area.cut_top(30.0f);
  ui.label_at(row.x0, row.centre_y(), "BOS", theme.body(theme.text2), row.width());
  std::vector<Choice> modes;
  for (const auto& [mode, title] :
       {std::pair(BosMode::Auto, "as trained"), std::pair(BosMode::Always, "add"), std::pair(BosMode::Never, "never")})
    modes.push_back({title, "", mode == side.bos, ""});
  const float width = ui.segmented({0.0f, 0.0f}, 22.0f, modes, false);
  std::size_t chosen = modes.size();
  ui.segmented({row.x1 - width, row.y0 + 4.0f}, 22.0f, modes, true, &chosen);
  if (chosen < modes.size()) side.bos = static_cast<BosMode>(chosen);
  const Rect note = area.cut_top(kFact);
  const std::string what = count.error                 ? ""
                           : !count.bos_text.empty()   ? visible_token(count.bos_text) + " stands in front"
                           : side.bos == BosMode::Auto ? "this tokenizer adds none"
                                                       : "none stands in front";
  ui.label_at(note.x0, note.centre_y(), what, theme.hint(), note.width());
  if (!side.exact) return;
  context.facts.set("prompt.different", static_cast<double>(count.different));
  context.facts.set("prompt.unknown", static_cast<double>(count.unknown));
  context.facts.set("prompt.special", static_cast<double>(count.special));
  context.facts.set("prompt.bos", count.bos_text.empty() ? "none" : count.bos_text);
}

}  // namespace

const PromptEntry* draw_prompt_side(PanelContext& context, Rect area, const std::string& typed, PromptSide& side) {
  const State& state = context.state;
  const float tokens = side.count ? kBetween + kSectionTitle + 4.0f * kFact + 30.0f + kFact : 0.0f;
  const float built_in = state.built_in_prompts.empty()
                             ? 0.0f
                             : kBetween + kSectionTitle + kEntry * static_cast<float>(state.built_in_prompts.size());
  const float files = kBetween + kSectionTitle + kFact + measure::kControl + 4.0f;
  const PromptEntry* chosen = nullptr;
  const auto selected = [&](const PromptEntry& entry) {
    return !typed.empty() && (entry.ids.empty() ? entry.text == typed : ids_line(entry.ids) == typed);
  };
  context.ui.push_id("side");
  // The newest ones have what the other sections leave.
  const float room = area.height() - tokens - built_in - files - kSectionTitle;
  const auto rows = static_cast<std::size_t>(std::max(0.0f, std::floor(room / kEntry)));
  if (rows > 0) {
    draw_section(context, area, "Recent", false);
    for (std::size_t i = 0; i < std::min(rows, state.recent_prompts.size()); ++i)
      if (draw_entry(context, "recent " + std::to_string(i), area.cut_top(kEntry), prompt_line(state.recent_prompts[i]),
                     prompt_detail(state.recent_prompts[i]), selected(state.recent_prompts[i])))
        chosen = &state.recent_prompts[i];
    if (state.recent_prompts.empty()) {
      const Rect row = area.cut_top(kFact);
      context.ui.label_at(row.x0, row.centre_y(), "what you type stays here", context.theme().hint(), row.width());
    }
  }
  if (built_in > 0.0f && area.height() >= built_in + tokens) {
    draw_section(context, area, "Built-in", rows > 0);
    for (const PromptEntry& entry : state.built_in_prompts)
      if (draw_entry(context, "built-in " + entry.title, area.cut_top(kEntry), entry.title,
                     grouped_text(static_cast<std::int64_t>(entry.text.size())) + " bytes", selected(entry)))
        chosen = &entry;
  }
  if (area.height() >= files + tokens) {
    draw_section(context, area, "From a file", true);
    const Rect row = area.cut_top(kFact);
    context.ui.label_at(row.x0, row.centre_y(), "drop a text on the window, or choose one", context.theme().hint(),
                        row.width());
    area.cut_top(4.0f);
    const Rect button = area.cut_top(measure::kControl);
    context.ui.button({button.x0, button.y0, button.x0 + context.ui.button_width("Browse…"), button.y1}, "Browse…",
                      "prompt.browse");
  }
  if (side.count && area.height() >= tokens) draw_tokens(context, area, side);
  context.ui.pop_id();
  context.facts.set("prompt.recent", static_cast<double>(state.recent_prompts.size()));
  return chosen;
}

}  // namespace headroom
