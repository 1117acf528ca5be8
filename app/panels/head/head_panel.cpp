// The selected head: its numbers among all heads, its context RMS, sinks, logits, λ, in sections that are scrolled.
#include "app/panels/head/head_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/head/head_sections.h"
#include "app/panels/head/head_view.h"
#include "app/panels/model/model_ribbons.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kHeader = 22.0f;  // title of a section
constexpr float kFolded = 21.0f;  // title of a folded one
constexpr float kSectionGap = 8.0f;
constexpr float kNotch = 48.0f;         // of the wheel, for a section
constexpr float kLeastColumn = 400.0f;  // sections stand side by side from twice this on

std::string program_hint(const HeadPanelView& view) {
  std::string text = view.layer.kind;
  const auto both = [](std::int64_t a, std::int64_t b) {
    return b >= 0 && b != a ? std::to_string(a) + ", " + std::to_string(b) : std::to_string(a);
  };
  if (view.pair()) text += " · q " + both(view.program.first.query_block, view.program.second.query_block);
  const std::int64_t first = view.program.first.key_block, second = view.program.second.key_block;
  if (first >= 0 || second >= 0) text += " · kv " + (first >= 0 ? both(first, second) : std::to_string(second));
  if (view.layer.context_dim > 0) text += " · d " + std::to_string(view.layer.context_dim);
  return text;
}

struct Placed {
  const HeadSection* section;
  bool folded;  // by hand, or higher than the panel
  float top, height;
};

struct Placement {
  std::vector<Placed> sections;  // whole ones
  std::size_t first = 0;         // of the list, that is shown at the top
  std::size_t last_first = 0;    // that it can be: from it on all fit
  std::size_t below = 0;         // of the list, after the last that is shown
};

// Sections stand below each other from `first` on, as many as fit whole; what does not is scrolled to. A line at the
// top and one at the bottom say what is above and below. Plots grow by up to `most_growth` times what they can use.
Placement place(std::span<const HeadSection> sections, const std::vector<std::string>& closed, std::size_t first,
                float room, float most_growth) {
  const std::size_t count = sections.size();
  const auto folded = [&](std::size_t i) { return std::ranges::find(closed, sections[i].name) != closed.end(); };
  const auto height = [&](std::size_t i) { return folded(i) ? kFolded : kHeader + sections[i].height + kSectionGap; };
  Placement placement;
  float all = 0.0f;
  for (std::size_t i = 0; i < count; ++i) all += height(i);
  if (all > room && count > 0) {
    placement.last_first = count - 1;
    float used = kFolded + height(count - 1);
    while (placement.last_first > 1 && used + height(placement.last_first - 1) <= room)
      used += height(--placement.last_first);
  }
  placement.first = std::min(first, placement.last_first);
  float y = placement.first > 0 ? kFolded : 0.0f, wanted = 0.0f, used = y;
  std::size_t end = placement.first;
  for (; end < count; ++end) {
    const float strip = end + 1 < count ? kFolded : 0.0f;
    if (used + height(end) + strip > room) break;
    used += height(end);
    wanted += folded(end) ? 0.0f : sections[end].more;
  }
  const bool too_high = end == placement.first && count > 0;
  if (too_high) ++end;  // its title at least
  placement.below = end;
  const float left = room - used - (end < count ? kFolded : 0.0f);
  const float share = wanted > 0.0f ? std::clamp(left / wanted, 0.0f, most_growth) : 0.0f;
  for (std::size_t i = placement.first; i < end; ++i) {
    const bool shut = folded(i) || too_high;
    const float h = shut ? kFolded : height(i) + std::floor(share * sections[i].more);
    if (y + h > room + 0.5f) break;
    placement.sections.push_back({&sections[i], shut, y, h});
    y += h;
  }
  return placement;
}

void draw_section(HeadPanelView& view, const Placed& placed, Rect frame) {
  Ui& ui = view.context.ui;
  const Theme& theme = view.context.theme();
  const HeadSection& section = *placed.section;
  Rect header = frame;
  header.y1 = header.y0 + (placed.folded ? kFolded : kHeader);
  if (!placed.folded && section.keep_right > 0.0f && section.keep_right + 40.0f < header.width())
    header.x1 -= section.keep_right + 6.0f;
  const Interaction hit = ui.pressable(std::string("section ") + section.name, header, true, Cursor::Hand);
  if (hit.clicked) ui.run(std::string("head.fold ") + section.name);
  float x = header.x0;
  if (placed.folded) {
    ui.icon(Icon::ChevronRight, {x + 4.0f, header.centre_y()}, 8.0f, theme.text2);
    x += 16.0f;
  } else if (hit.hovered) {
    ui.icon(Icon::ChevronDown, {x - 6.0f, header.centre_y()}, 8.0f, theme.text3);
  }
  const std::string hint = placed.folded ? "" : section.hint;
  const float title = ui.width(section.title, theme.plot_title());
  const float hint_width = ui.width(hint, theme.hint());
  const float y = header.centre_y() + 0.36f * 12.0f;
  if (title + hint_width + 12.0f <= header.x1 - x) {
    view.context.painter().text_at(header.x1, header.centre_y(), hint, theme.hint(), Painter::Align::Right);
    view.context.painter().text_at(x, header.centre_y(), section.title, theme.plot_title());
  } else {
    ui.label({x, y}, section.title, theme.plot_title(), header.x1 - x);
  }
  if (placed.folded) return;
  if (frame.contains(ui.input.pointer)) view.section_under_pointer = section.name;
  Rect area = frame;
  area.y0 += kHeader;
  area.y1 = frame.y1 - kSectionGap;
  ui.push_id(section.name);
  section.draw(view, area);
  ui.pop_id();
}

// Sections side by side in a wide panel: in their order, so that the fullest column is as low as can be. The first
// section of each column but the first.
std::vector<std::size_t> column_starts(std::span<const HeadSection> sections, std::size_t columns) {
  const auto height = [](const HeadSection& section) { return kHeader + section.height + kSectionGap; };
  float room = 0.0f, all = 0.0f;
  for (const HeadSection& section : sections) room = std::max(room, height(section)), all += height(section);
  std::vector<std::size_t> starts;
  for (; room <= all; room += 4.0f) {
    starts.clear();
    float used = 0.0f;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      if (used + height(sections[i]) > room) starts.push_back(i), used = 0.0f;
      used += height(sections[i]);
    }
    if (starts.size() < columns) return starts;
  }
  return {};
}

// "▾ Sinks, Logits": what is beyond an end of the column, and the way there.
[[nodiscard]] bool draw_more(HeadPanelView& view, Rect row, std::span<const HeadSection> sections, bool below) {
  Ui& ui = view.context.ui;
  const Theme& theme = view.context.theme();
  std::string names;
  for (const HeadSection& section : sections) names += (names.empty() ? "" : ", ") + section.title;
  const Interaction hit = ui.pressable(below ? "below" : "above", row, true, Cursor::Hand);
  if (hit.hovered) view.context.painter().fill_rect(row, theme.raised, 2.0f);
  view.context.painter().fill_rect({row.x0, below ? row.y0 : row.y1 - 1.0f, row.x1, below ? row.y0 + 1.0f : row.y1},
                                   theme.line);
  const std::string count = std::to_string(sections.size()) + (below ? " below" : " above");
  const float width = ui.width(count, theme.hint());
  view.context.painter().text_at(row.x1 - width - 8.0f, row.centre_y(), count, theme.hint());
  const float room = row.width() - width - 24.0f;
  if (room > 40.0f)
    view.context.painter().text_at(row.x0, row.centre_y(), elide_end(names, room, ui.measure(), Face::Sans, 12.0f),
                                   theme.body(theme.text2));
  ui.tooltip(row, names);
  return hit.clicked;
}

void draw_column(HeadPanelView& view, Rect body, std::size_t column, std::span<const HeadSection> sections,
                 float most_growth) {
  Ui& ui = view.context.ui;
  const std::vector<std::string>& closed = view.context.state.view.head.folded;
  const std::string name = "sections " + std::to_string(column);
  // A notch of the wheel, three steps, is a section.
  const std::size_t last = place(sections, closed, 0, body.height(), 0.0f).last_first;
  const float offset =
      ui.scroll(name, body, last > 0 ? body.height() + kNotch * static_cast<float>(last) : 0.0f, kNotch / 3.0f);
  const auto first = static_cast<std::size_t>(std::lround(offset / kNotch));
  const Placement placement = place(sections, closed, first, body.height(), most_growth);
  const Rect inner{body.x0 + measure::kPadding, body.y0, body.x1 - measure::kPadding, body.y1};
  std::optional<std::size_t> wanted;
  ui.push_id(name);
  if (placement.first > 0) {
    Rect row = inner;
    row.y1 = row.y0 + kFolded;
    if (draw_more(view, row, sections.first(placement.first), false)) wanted = placement.first - 1;
  }
  if (placement.below < sections.size()) {
    Rect row = inner;
    row.y0 = row.y1 - kFolded;
    if (draw_more(view, row, sections.subspan(placement.below), true)) wanted = placement.first + 1;
  }
  ui.pop_id();
  if (wanted) {
    const float top = kNotch * static_cast<float>(*wanted);
    ui.scroll_to(name, top, top + body.height());
  }
  for (const Placed& placed : placement.sections) {
    const float top = body.y0 + placed.top;
    draw_section(view, placed, {inner.x0, top, inner.x1, top + placed.height});
  }
}

void draw_sections(HeadPanelView& view, Rect body) {
  const std::vector<HeadSection> sections = head_sections(view, body.height());
  const std::size_t most = std::clamp<std::size_t>(static_cast<std::size_t>(body.width() / kLeastColumn), 1, 4);
  std::vector<std::size_t> starts = most > 1 ? column_starts(sections, most) : std::vector<std::size_t>();
  const std::size_t count = starts.size() + 1;
  const float width = body.width() / static_cast<float>(count);
  starts.insert(starts.begin(), 0);
  starts.push_back(sections.size());
  for (std::size_t c = 0; c < count; ++c) {
    const float x = std::round(body.x0 + width * static_cast<float>(c));
    if (c > 0) view.context.painter().fill_rect({x, body.y0, x + 1.0f, body.y1}, view.context.theme().line);
    draw_column(view, {x, body.y0, x + width, body.y1}, c,
                std::span(sections).subspan(starts[c], starts[c + 1] - starts[c]), count > 1 ? 4.0f : 1.0f);
  }
}

// The kind of figure that a section's plot is; empty: of none.
std::string_view figure_of_section(std::string_view section) {
  if (section == "gain" || section == "norm") return "norm-gain";
  for (const std::string_view kind : {"rms", "decomposition", "lambda", "sinks", "logits"})
    if (section == kind) return kind;
  return "";
}

// On a right click: the number under the pointer, the rows as data, a picture.
void draw_menu(HeadPanelView& view, Rect body) {
  Ui& ui = view.context.ui;
  std::string& number = ui.kept_text("number of the menu");  // that the pointer was on when it was pressed
  std::string& kind = ui.kept_text("figure of the menu");
  if (ui.input.pressed[kRightButton])
    number = view.number_under_pointer, kind = figure_of_section(view.section_under_pointer);
  ui.context_menu("menu", body, [&] {
    std::vector<MenuItem> items;
    if (!number.empty()) {
      const QuantityInfo* info = find_quantity_info(number);
      items.push_back({"Copy " + (info ? info->title : number),
                       full_text(view.value(number, 0)),
                       "copy.number " + number,
                       false,
                       false,
                       {}});
    }
    items.push_back({"Copy every row of " + head_text(view.head) + " as CSV", "", "copy.head", false, false, {}});
    items.push_back({"Copy the address of the selection", "", "copy.address", false, false, {}});
    const bool own = !kind.empty() && kind != "rms";
    if (own) items.push_back({"Export this plot as a figure…", "", "figure.screen " + kind, false, true, {}});
    items.push_back({own ? "Figure of context RMS…" : "Export context RMS as a figure…",
                     "",
                     "figure.screen head",
                     false,
                     !own,
                     {}});
    items.push_back({"Save a picture of this panel…", "", "export.panel head", false, false, {}});
    return items;
  });
}

struct MissingHead {
  std::string headline, why;
};

// Why there are no numbers to show.
MissingHead missing_head(const RunEntry* entry, const RunSnapshot* run, const LayerSnapshot* layer,
                         const std::optional<HeadRef>& head) {
  if (!head)
    return {"No head is selected.",
            "A click on a cell of the atlas shows the head in numbers, its context RMS against the bounds, its sinks "
            "and logits."};
  const std::string title =
      layer && !layer->call_name.empty() ? layer->call_name : "Layer " + std::to_string(head->layer);
  const RunStatus status = entry ? entry->status : RunStatus::Waiting;
  if (status == RunStatus::Waiting && !run)
    return {"Nothing has run yet.", "The numbers of " + head_text(*head) + " appear here after a run."};
  if (status == RunStatus::Running && !layer)
    return {title + " is not computed yet.", "Its numbers appear here as soon as it is finished."};
  if (!layer && (!run || !run->complete))
    return {title + " was not computed.",
            status == RunStatus::Cancelled ? "The run was cancelled before it." : "The run ended before it."};
  return {head_text(*head) + " is not measured.", "This run has other layers and heads."};
}

}  // namespace

void draw_head_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "head", frame);
  const State& state = context.state;
  const std::optional<HeadRef> head = state.view.selection.head;
  const LayerSnapshot* layer = state.selected_layer();
  const std::int64_t index = layer != nullptr && head ? layer->head_index(head->head) : -1;
  if (memory.run() == nullptr || index < 0) {
    const Rect body = draw_panel_title(context, frame, "head", "Head", head ? head_text(*head) : "", "");
    const auto [headline, why] = missing_head(state.shown(), memory.run(), layer, head);
    draw_note(context, body.inset(measure::kPadding, 8.0f), headline, why);
  } else {
    const auto at = static_cast<std::size_t>(index);
    HeadPanelView view{context,
                       memory,
                       *memory.run(),
                       *layer,
                       *head,
                       at < layer->programs.size() ? layer->programs[at] : HeadProgram(),
                       memory.series(*layer, head->head),
                       frame.width() < 300.0f,
                       frame.height() < 520.0f,
                       frame.height() >= 900.0f};
    const Rect body =
        draw_panel_title(context, frame, "head", "Head", head_text(*head), view.narrow ? "" : program_hint(view));
    if (state.view.head.across_model) {
      draw_menu(view, body);  // ribbons have their own
      draw_ribbons(context, memory, body.inset(measure::kPadding, 8.0f), 1);
    } else {
      draw_sections(view, body.inset(0.0f, 4.0f));
      draw_menu(view, body);
    }
  }
}

const PanelInfo kHeadPanel{.id = "head", .title = "Head", .least_width = 240.0f, .draw = draw_head_panel};

}  // namespace headroom
