// The heads of the model: atlas, maps, scatter or table, and the table's columns.
#include "app/panels/heads/heads_panel.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/heads/heads_atlas.h"
#include "app/panels/heads/heads_intervals.h"
#include "app/panels/heads/heads_maps.h"
#include "app/panels/heads/heads_scatter.h"
#include "app/panels/heads/heads_table.h"
#include "app/panels/heads/layer_strip.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

// Of draw_note() with these sentences, and a gap.
float note_height(const PanelContext& context, float width, std::string_view first, std::string_view more) {
  const Theme& theme = context.theme();
  float height = 14.0f;
  for (const auto& [text, style] : {std::pair{first, theme.body(theme.text2)}, {more, theme.hint()}})
    height += static_cast<float>(wrap_text(text, width, context.ui.measure(), style.face, style.size).size()) *
              (style.size + 6.0f);
  return height;
}

}  // namespace

Rect draw_heads_title(PanelContext& context, Rect frame, std::string_view hint) {
  const HeadsState& view = context.state.view.heads;
  const std::array<Choice, 4> choices = {{{"Atlas", "heads atlas", view.view == HeadsView::Atlas, ""},
                                          {"Maps", "heads maps", view.view == HeadsView::Maps, ""},
                                          {"Scatter", "heads scatter", view.view == HeadsView::Scatter, ""},
                                          {"Table", "heads table", view.view == HeadsView::Table, ""}}};
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const float parts = ui.segmented({0.0f, 0.0f}, measure::kPanelControl, choices, false);
  const float title = ui.width("Heads", theme.title());
  constexpr float kIcon = 26.0f;  // to maximise the panel
  const bool with_icon = frame.width() >= parts + title + 2.0f * measure::kPadding + kIcon + measure::kGap;
  Rect bar = frame.cut_top(measure::kPanelTitle);
  context.painter().fill_rect(bar, theme.panel);
  context.painter().fill_rect({bar.x0, bar.y1 - 1.0f, bar.x1, bar.y1}, theme.line);
  Rect inner = bar.inset(measure::kPadding, 0.0f);
  if (with_icon) {
    const bool maximised = context.state.layout.maximised == "heads";
    ui.icon_button(Rect::sized(inner.x1 - 16.0f, bar.y0 + 7.0f, 16.0f, 16.0f),
                   maximised ? Icon::Restore : Icon::Maximise, "panel.maximise heads",
                   maximised ? "Back to all panels" : "This panel alone");
    inner.cut_right(kIcon);
  }
  if (inner.width() >= parts) {
    ui.segmented({inner.x1 - parts, bar.y0 + 4.0f}, measure::kPanelControl, choices);
    inner.cut_right(parts + measure::kGap);
  } else if (inner.width() >= 60.0f) {
    ui.combo("view", {inner.x0, bar.y0 + 4.0f, inner.x1, bar.y0 + 26.0f}, "",
             std::ranges::find_if(choices, &Choice::selected)->title, [choices] {
               std::vector<MenuItem> items;
               for (const Choice& choice : choices) {
                 MenuItem item;
                 item.title = choice.title, item.command = choice.command, item.checked = choice.selected;
                 items.push_back(std::move(item));
               }
               return items;
             });
    inner = {};
  }
  if (inner.width() >= title) {
    context.painter().text_at(inner.x0, bar.y0 + 15.0f, "Heads", theme.title());
    inner.cut_left(title + 10.0f);
    if (!hint.empty() && inner.width() > 60.0f)
      ui.label({inner.x0, bar.y0 + 15.0f + 0.36f * 12.0f}, hint, theme.body(theme.text3), inner.width());
  }
  return frame;
}

void draw_heads_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "heads", frame);
  const RunEntry* run = context.state.shown();
  const HeadsView view = context.state.view.heads.view;
  std::string hint;
  if (view != HeadsView::Atlas && run != nullptr) {
    hint = run->name;
    if (run->corpus) hint += " · " + statistic_title(context.state);
    if (run->data)
      hint += " · " + (run->prompt_title.empty() ? std::string() : run->prompt_title + ", ") +
              grouped_text(run->data->length) + " tokens";
  }
  Rect body = draw_heads_title(context, frame, hint);
  if (memory.run() == nullptr || memory.run()->heads.empty() || memory.run()->layers.empty()) {
    const bool waits = run != nullptr && run->status == RunStatus::Running;
    Rect inner = body.inset(measure::kPadding, 8.0f);
    const std::string_view first = waits ? "The first layer is not computed yet." : "No heads are measured yet.",
                           more = waits ? "Each layer appears here as soon as it is finished."
                                        : "Run shows every head of the model here, one cell each: Ctrl+R.";
    draw_note(context, inner, first, more);
    inner.cut_top(std::min(inner.height(), note_height(context, inner.width(), first, more)));
    const ModelEntry* model = run != nullptr ? context.state.find_model(run->model) : nullptr;
    if (model != nullptr && !model->layers.empty()) draw_layer_strip(context, *model, inner);
  } else if (body.width() < 110.0f || body.height() < 90.0f) {
    draw_note(context, body.inset(4.0f), "This panel is too small.");
  } else {
    switch (view) {
      case HeadsView::Atlas: draw_atlas(context, memory, body); break;
      case HeadsView::Scatter: draw_scatter(context, memory, body); break;
      case HeadsView::Table: draw_head_table(context, memory, body); break;
      case HeadsView::Maps: draw_maps(context, memory, body); break;
    }
  }
}

const PanelInfo kHeadsPanel{.id = "heads", .title = "Heads", .least_width = 160.0f, .draw = draw_heads_panel};

}  // namespace headroom
