#include "app/panels/importance/importance_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/importance/importance_scatter.h"
#include "app/panels/importance/importance_view.h"
#include "app/panels/importance/importance_ways.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/session/commands.h"
#include "app/session/enum_words.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr std::size_t kManyHeads = 4096;

// Made once for what it is of: it looks at the shapes of all layers.
const SweepEstimate& kept_estimate(PanelContext& context, const ImportanceView& view) {
  const std::tuple of(view.run->id, view.way, view.table ? view.table->done : 0, view.data->finished_layers(),
                      view.run->seconds);
  return kept_for(context.ui.kept_value("estimate"), of, [&] { return estimate_sweep(context.state, view.way); });
}

// "one head changed at a time · 256 tokens, 255 predictions · whole model 3.0757 nats".
std::string importance_hint(const ImportanceView& view) {
  std::string text = "one head changed at a time · " + grouped_text(view.data->length) + " tokens";
  const double loss = view.table ? view.table->loss : view.data->next_token_loss.value_or(kNaN);
  if (view.table) text += ", " + grouped_text(static_cast<std::int64_t>(view.table->predictions)) + " predictions";
  if (std::isfinite(loss)) text += " · whole model " + fixed_text(loss, 4) + " nats";
  return text;
}

struct WayCard {
  std::string state;  // "270", "180 of 270"
  Color color;
  std::string line;  // below the title
  std::string refused;
};

WayCard way_card_of(const PanelContext& context, const ImportanceView& view, AblationWay way) {
  const Theme& theme = context.theme();
  WayCard card{"", theme.text3, way_info(way).what, ""};
  const std::optional<LossSweep>& sweep = sweep_of(view.run->sweeps, way);
  if (!sweep) {
    card.refused = no_importance(context.state, way);
    if (view.run->model < 0) card.refused = "not in this file";
    return card;
  }
  const LossTable* table = sweep->table.get();
  const bool whole = table != nullptr && table->done >= table->asked;
  if (table != nullptr)
    card.state = grouped_text(static_cast<std::int64_t>(table->done)) +
                 (whole ? "" : " of " + grouped_text(static_cast<std::int64_t>(table->asked)));
  switch (sweep->status) {
    case SweepStatus::Running: card.color = theme.accent; break;
    case SweepStatus::Done: card.color = theme.ok; break;
    case SweepStatus::Stopped: card.color = theme.warn; break;
    case SweepStatus::Failed: card.color = theme.err, card.state = "failed"; break;
  }
  return card;
}

void draw_way_card(PanelContext& context, const ImportanceView& view, AblationWay way, Rect area) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const WayCard card = way_card_of(context, view, way);
  const std::optional<LossSweep>& sweep = sweep_of(view.run->sweeps, way);
  const bool chosen = view.way == way, usable = card.refused.empty();
  const Interaction hit = ui.pressable(std::string("card ") + word_of(way), area, usable, Cursor::Hand);
  painter.fill_rect(area,
                    chosen                  ? theme.accent_soft
                    : hit.hovered && usable ? theme.hover
                                            : theme.raised,
                    measure::kRadius);
  if (chosen) painter.stroke_rect(area, theme.accent, 1.0f, measure::kRadius);
  const Rect inner = area.inset(10.0f, 0.0f);
  const TextStyle title{Face::SansSemibold, 12.0f, usable ? theme.text : theme.off},
      count{Face::Mono, 11.0f, card.color};
  const float taken = card.state.empty() ? 0.0f : ui.width(card.state, count);
  const bool both = inner.width() >= taken + ui.width(way_info(way).title, title) + 8.0f;
  const float y = area.y0 + 15.0f;
  ui.label_at(inner.x0, y, way_info(way).title, title, inner.width() - (both && taken > 0.0f ? taken + 8.0f : 0.0f));
  if (both && taken > 0.0f) painter.text_at(inner.x1, y, card.state, count, Painter::Align::Right);
  // Where there is no room beside the title, what is done stands below it.
  const std::string& line = !usable ? card.refused : !both && taken > 0.0f ? card.state : card.line;
  if (area.height() >= 40.0f)
    ui.label_at(inner.x0, area.y0 + 32.0f, line,
                {Face::Sans, 11.0f,
                 !usable                 ? theme.warn
                 : !both && taken > 0.0f ? card.color
                                         : theme.text3},
                inner.width());
  if (sweep && sweep->status == SweepStatus::Running) {
    const double share = sweep->table && sweep->table->asked > 0
                             ? static_cast<double>(sweep->table->done) / static_cast<double>(sweep->table->asked)
                             : 0.0;
    const Rect bar{inner.x0, area.y1 - 4.0f, inner.x1, area.y1 - 2.0f};
    painter.fill_rect(bar, theme.line);
    painter.fill_rect({bar.x0, bar.y0, bar.x0 + static_cast<float>(share) * bar.width(), bar.y1}, theme.accent);
  }
  if (hit.clicked && usable) ui.run(std::string("importance.colour ") + word_of(way));
}

void draw_way_cards(PanelContext& context, const ImportanceView& view, Rect& body) {
  const std::size_t columns = body.width() >= 520.0f ? 4 : 2, rows = kAblationWays.size() / columns;
  const float height = 46.0f, gap = 6.0f;
  const float width = (body.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  const Rect area = body.cut_top(height * static_cast<float>(rows) + gap * static_cast<float>(rows - 1));
  for (std::size_t i = 0; i < kAblationWays.size(); ++i) {
    const std::size_t line = i / columns;
    const auto column = static_cast<float>(i % columns), row = static_cast<float>(line);
    draw_way_card(context, view, kAblationWays[i],
                  Rect::sized(area.x0 + column * (width + gap), area.y0 + row * (height + gap), width, height));
  }
  body.cut_top(8.0f);
}

// A sentence and one button in a line: what goes on, what can go on.
void draw_action(PanelContext& context, const ImportanceView& view, Rect& body) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  std::string text, button, command;
  Color color = theme.text2;
  if (view.running()) {
    text = doing_text(*view.sweep);
    if (view.table) text = done_text(*view.table) + " · " + text;
    if (view.sweep->seconds_left) text += " · " + estimated_seconds_text(*view.sweep->seconds_left) + " left";
    button = "Stop", command = "importance.stop";
  } else if (view.sweep && view.sweep->status == SweepStatus::Failed) {
    text = view.sweep->error ? view.sweep->error->message : "failed";
    color = theme.err;
    button = "Try again", command = std::string("importance.run ") + word_of(view.way);
  } else if (view.table) {
    const SweepEstimate& left = kept_estimate(context, view);
    const bool more = left.heads > 0 && view.run->model >= 0;
    if (!more && view.table->done >= view.table->asked) return;
    text = "partial: " + done_text(*view.table) + " so far";
    color = theme.warn;
    if (more) {
      text += " · left: " + estimate_text(left);
      button = "Continue", command = std::string("importance.run ") + word_of(view.way);
    }
  } else {
    return;
  }
  Rect row = body.cut_top(measure::kPanelControl);
  body.cut_top(6.0f);
  if (!button.empty()) {
    const float width = ui.button_width(button);
    if (row.width() > width + 40.0f) {
      ui.button(row.cut_right(width), button, command);
      row.cut_right(measure::kGap);
    }
  }
  ui.label_at(row.x0, row.centre_y(), text, theme.body(color), row.width());
}

// Nothing of the shown way is there yet: a sentence, what it takes, one button.
void draw_nothing_yet(PanelContext& context, const ImportanceView& view, Rect body) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const AblationWayInfo& info = way_info(view.way);
  Rect area = body.inset(0.0f, 8.0f);
  area.x1 = std::min(area.x1, area.x0 + 560.0f);
  const auto say = [&](const std::string& text, const TextStyle& style) {
    const float height = ui.paragraph({area.x0, area.y0}, text, style, area.width(), style.size + 6.0f, false);
    if (height > area.height()) return;
    ui.paragraph({area.x0, area.y0}, text, style, area.width(), style.size + 6.0f);
    area.cut_top(height + 8.0f);
  };
  if (view.running()) {
    say(std::string(info.title) + ": " + doing_text(*view.sweep) + ".", theme.body(theme.text2));
    return;
  }
  const std::string refused = no_importance(context.state, view.way);
  if (!refused.empty()) {
    say(std::string(info.title) + " cannot be computed here: " + refused + ".", theme.body(theme.warn));
    return;
  }
  const SweepEstimate& estimate = kept_estimate(context, view);
  say(std::string("How much the loss of this text changes with ") + info.title + " (" + info.what +
          "), one head after the other, is not computed yet.",
      theme.body(theme.text2));
  say(estimate_text(estimate) +
          ". The last layer comes first; what is done shows at once, can be stopped and goes on "
          "later.",
      theme.hint());
  if (estimate.heads >= kManyHeads)
    say("That is long. Fewer heads: “importance.run " + std::string(word_of(view.way)) +
            " layer 0 1” takes layers, “importance.run " + word_of(view.way) + " lasso” the lasso.",
        theme.hint());
  const std::string title =
      "Compute " + grouped_text(static_cast<std::int64_t>(estimate.heads)) + (estimate.heads == 1 ? " head" : " heads");
  const float width = ui.button_width(title);
  if (area.height() >= measure::kControl && area.width() >= width) {
    ui.button(Rect::sized(area.x0, area.y0, width, measure::kControl), title,
              std::string("importance.run ") + word_of(view.way), ButtonStyle::Primary);
  }
}

}  // namespace

void draw_importance_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "importance", frame);
  const std::optional<ImportanceView> view = importance_view(context.state);
  Rect body = draw_panel_title(context, frame, "map", "Importance", "", view ? importance_hint(*view) : "");
  body = body.inset(measure::kPadding, 8.0f);
  if (!view) {
    draw_note(context, body, "No run with results is shown.",
              "Run a model on a text: then the loss without each of its heads can be computed.");
  } else if (body.width() < 150.0f || body.height() < 120.0f) {
    draw_note(context, body, "This panel is too small.");
  } else {
    draw_way_cards(context, *view, body);
    draw_action(context, *view, body);
    if (view->table == nullptr || view->table->done == 0) {
      const bool others = std::ranges::any_of(
          kAblationWays, [&](AblationWay way) { return table_of(view->run->sweeps, way) != nullptr; });
      const Rect ways = others && body.height() > 420.0f ? body.cut_bottom(std::round(0.38f * body.height())) : Rect{};
      draw_nothing_yet(context, *view, body);
      draw_importance_ways(context, *view, ways);
    } else {
      const Rect ways =
          body.height() > 360.0f ? body.cut_bottom(std::round(std::max(150.0f, 0.3f * body.height()))) : Rect{};
      if (!ways.empty()) body.cut_bottom(10.0f);
      draw_importance_scatter(context, memory, *view, body);
      draw_importance_ways(context, *view, ways);
    }
  }
}

const PanelInfo kImportancePanel{
    .id = "importance", .title = "Importance", .least_width = 360.0f, .draw = draw_importance_panel};

}  // namespace headroom
