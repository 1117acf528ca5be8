#include "app/panels/chrome/palette.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/chrome/overlay.h"
#include "app/panels/chrome/palette_list.h"
#include "app/panels/panel.h"
#include "app/panels/parts/key_hints.h"
#include "app/plot/token_text.h"
#include "app/ui/text_wrap.h"

namespace headroom {
namespace {

constexpr float kCommandRow = 32.0f, kHead = 51.0f, kFoot = 34.0f;
constexpr std::size_t kMostRows = 10;

// The title with its matched letters in the accent.
void draw_command_title(Ui& ui, float x, float y, float most, const PaletteItem& item) {
  const Theme& theme = ui.theme;
  const bool enabled = item.disabled.empty();
  const TextStyle plain{Face::Sans, 13.0f, enabled ? theme.text : theme.off};
  const TextStyle strong{Face::SansSemibold, 13.0f, enabled ? theme.accent : theme.off};
  const float baseline = std::round(y + 0.36f * 13.0f);
  const std::string shown = elide_end(shown_text(item.title), most - 6.0f, ui.measure(), plain.face, plain.size);
  const bool as_it_is = item.title.starts_with(shown) || shown.ends_with("…");
  if (item.positions.empty() || !as_it_is) {
    if (!shown.empty()) ui.painter.text({x, baseline}, shown, plain);
    return;
  }
  const std::size_t kept =
      shown == item.title ? shown.size() : shown.size() - std::min(shown.size(), std::string("…").size());
  std::size_t at = 0;
  while (at < shown.size()) {
    const auto matched = [&](std::size_t i) {
      return i < kept && std::binary_search(item.positions.begin(), item.positions.end(), i);
    };
    const bool hit = matched(at);
    std::size_t end = at + 1;
    while (end < shown.size() && matched(end) == hit) ++end;
    const std::string part = shown.substr(at, end - at);
    const TextStyle& style = hit ? strong : plain;
    ui.painter.text({x, baseline}, part, style);
    x += ui.width(part, style);
    at = end;
  }
}

void draw_command(Ui& ui, Rect row, const PaletteItem& item, bool hot) {
  const Theme& theme = ui.theme;
  Painter& painter = ui.painter;
  const float y = row.centre_y();
  if (hot) {
    painter.fill_rect(row, theme.accent_soft);
    painter.fill_rect(Rect::sized(row.x0, row.y0, 3.0f, row.height()), theme.accent);
  }
  float right = row.x1 - 20.0f;
  const float x = row.x0 + 19.0f, least = x + 0.45f * (right - x);
  if (!item.disabled.empty()) {
    const TextStyle style{Face::Sans, 11.0f, theme.warn};
    right -= ui.label_at(right, y, item.disabled, style, right - least, Painter::Align::Right) + 16.0f;
  } else {
    if (!item.key.empty()) {
      right -= ui.key_cap_width(item.key);
      ui.key_cap({right, y}, item.key);
      right -= 12.0f;
    }
    const TextStyle style{Face::Mono, 11.0f, hot ? theme.text2 : theme.text3};
    const std::string line = item.needs_text ? item.line + " …" : item.line;
    if (right > least + 40.0f)
      right -= ui.label_at(right, y, line, style, right - least, Painter::Align::Right) + 16.0f;
  }
  draw_command_title(ui, x, y, right - x, item);
}

}  // namespace

void draw_palette(PanelContext& context, Rect window) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const bool first = ui.appeared("palette");
  std::string& query = ui.kept_text("palette query");
  std::string& known = ui.kept_text("palette given");
  if (first || known != context.state.overlay_text) {
    query = context.state.overlay_text;
    if (!query.empty() && query.find(' ') == std::string::npos) query += ' ';
    known = context.state.overlay_text;
  }
  // Room for the rows first, so that the box does not change while one types.
  const float room = window.height() - 16.0f - kHead - kFoot;
  const auto rows =
      static_cast<std::size_t>(std::clamp(std::floor(room / kCommandRow), 1.0f, static_cast<float>(kMostRows)));
  const float height = kHead + kCommandRow * static_cast<float>(rows) + kFoot;
  const float top = std::min(97.0f, std::floor(0.11f * window.height()));
  // An option of a figure is a command: the figure is there again when it has run, or none was chosen.
  const bool over_figure = ui.kept_number("under the palette") == static_cast<double>(Overlay::Figure);
  const Rect box = begin_box(context, "palette", window, {640.0f, height}, top);
  const auto lead_back = [&] {
    if (over_figure) ui.run("figure " + context.state.figure.kind);
  };
  if (closes_box(ui, box)) lead_back();  // it closes itself
  Rect rest = box;
  const Rect head = rest.cut_top(kHead);
  const Rect foot = rest.cut_bottom(std::min(kFoot, rest.height()));

  PaletteList list = palette_list(context.commands, context.state, query);
  const std::string arguments = palette_arguments(context.commands, query);
  const std::string count =
      !arguments.empty() ? arguments
                         : std::to_string(list.items.size()) + " of " + std::to_string(list.commands) + " commands";
  const TextStyle hint = arguments.empty() ? theme.hint() : TextStyle{Face::Mono, 11.0f, theme.text3};
  const float count_width = std::min(0.45f * head.width(), std::ceil(ui.width(count, hint)));
  ui.label_at(head.x1 - 20.0f, head.centre_y() - 0.5f, count, hint, count_width, Painter::Align::Right);
  TextFieldOptions options;
  options.hint = "Find a command, or type one";
  options.focus = options.keeps_tab = true;
  options.bare = true;
  options.size = 16.0f;
  const Rect field{head.x0 + 19.0f, head.y0 + 12.0f, head.x1 - 20.0f - count_width - 12.0f, head.y1 - 13.0f};
  const TextFieldResult typed = ui.text_field("query", field, query, options);
  painter.fill_rect({head.x0 + 1.0f, head.y1 - 1.0f, head.x1 - 1.0f, head.y1}, theme.line);
  double& hot = ui.kept_number("palette hot");
  std::string& completing = ui.kept_text("palette completing");
  double& completion = ui.kept_number("palette completion");
  if (typed.changed) {
    hot = 0.0;
    completing.clear();
    list = palette_list(context.commands, context.state, query);
  }

  const auto last = static_cast<double>(list.items.empty() ? 0 : list.items.size() - 1);
  const double before = hot;
  if (ui.key(Key::Down)) hot = hot >= last ? 0.0 : hot + 1.0;
  if (ui.key(Key::Up)) hot = hot <= 0.0 ? last : hot - 1.0;
  if (ui.key(Key::PageDown)) hot += static_cast<double>(rows) - 1.0;
  if (ui.key(Key::PageUp)) hot -= static_cast<double>(rows) - 1.0;
  hot = std::clamp(hot, 0.0, last);
  const auto at = static_cast<std::size_t>(hot);
  ui.push_id("rows");
  if (hot != before || typed.changed)
    ui.scroll_to("list", kCommandRow * static_cast<float>(at), kCommandRow * static_cast<float>(at + 1));
  const float offset = ui.scroll("list", rest, kCommandRow * static_cast<float>(list.items.size()), kCommandRow);
  const auto top_row = static_cast<std::size_t>(offset / kCommandRow);
  std::optional<std::size_t> chosen;
  for (std::size_t i = top_row; i < std::min(list.items.size(), top_row + rows); ++i) {
    const Rect row = Rect::sized(rest.x0 + 1.0f, rest.y0 + kCommandRow * static_cast<float>(i - top_row),
                                 rest.width() - 2.0f, kCommandRow);
    const Interaction hit = ui.interact(std::to_string(i), row);
    if (hit.hovered && i != at) painter.fill_rect(row, theme.raised);
    draw_command(ui, row, list.items[i], i == at);
    if (hit.clicked) chosen = i;
  }
  ui.pop_id();
  if (list.items.empty()) {
    painter.text_at(rest.x0 + 19.0f, rest.y0 + 0.5f * kCommandRow, "No command is called so.", theme.body(theme.text3));
  }

  // Tab goes through what the typed line can become.
  const bool complete = ui.key(Key::Tab) || ui.key(Key::Tab, {.shift = true});
  if (typed.submitted && at < list.items.size()) chosen = at;
  if (chosen) {
    const PaletteItem& item = list.items[*chosen];
    if (item.needs_text) {
      query = item.line + " ";
    } else if (item.disabled.empty()) {
      ui.run("overlay.close");
      lead_back();
      ui.run(item.line);
    }
  } else if (complete) {
    if (completing.empty()) {
      completing = query;
      completion = -1.0;
    }
    std::vector<std::string> ways = palette_completions(context.commands, context.state, completing);
    if (ways.empty() && at < list.items.size()) ways = {list.items[at].line + (list.items[at].needs_text ? " " : "")};
    if (!ways.empty()) {
      const auto n = static_cast<double>(ways.size());
      completion = std::fmod(completion + (ui.input.modifiers.shift ? n - 1.0 : 1.0) + n, n);
      query = ways[static_cast<std::size_t>(completion)];
      hot = 0.0;
      if (ways.size() == 1) completing.clear();  // what follows is completed next
    }
  }

  if (foot.height() >= 24.0f) {
    painter.fill_rect({foot.x0 + 1.0f, foot.y0, foot.x1 - 1.0f, foot.y0 + 1.0f}, theme.line);
    const KeyHint hints[] = {{"↑ ↓", "choose"}, {"Enter", "run"}, {"Tab", "complete the arguments"}, {"Esc", "close"}};
    draw_key_hints(context, {foot.x0 + 19.0f, foot.y0, foot.x1 - 19.0f, foot.y1}, hints);
  }
  end_box(context);
}

}  // namespace headroom
