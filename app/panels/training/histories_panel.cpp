// The histories that are open, by kind: how they ended, how they are drawn, and their values at the cursor's step.
#include "app/panels/training/histories_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/training/training_parts.h"
#include "app/session/commands.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr float kRow = 20.0f;
constexpr std::int64_t kEnd = 500;        // "at the end": the mean of so many steps
constexpr std::size_t kInARow = 3;        // measurements over ε before a sink has come
constexpr double kWidestSlider = 1001.0;  // steps; wider ones by command
constexpr std::size_t kMostSpikeRows = 12;
constexpr double kLookAgain = 2.0;

// Rows from the top of the panel down, scrolled as one.
struct Column {
  PanelContext& context;
  Rect area;  // between the paddings
  float y = 0.0f;
  // What would be cut at an edge is not drawn.
  [[nodiscard]] bool whole(const Rect& rect) const { return rect.y0 >= area.y0 && rect.y1 <= area.y1; }
  Rect row(float height) {
    const Rect rect{area.x0, y, area.x1, y + height};
    y += height;
    return rect;
  }
  void rule() {
    const Rect rect = row(9.0f);
    const float at = std::round(rect.centre_y());
    context.painter().fill_rect({rect.x0 - measure::kPadding, at, rect.x1 + measure::kPadding, at + 1.0f},
                                context.theme().line);
  }
  void text(Rect rect, float x, std::string_view words, const TextStyle& style, float width,
            Painter::Align align = Painter::Align::Left) const {
    if (width > 8.0f && whole(Rect::sized(x, rect.centre_y() - 8.0f, 1.0f, 16.0f)))
      context.ui.label_at(x, rect.centre_y(), words, style, width, align);
  }
  void note(std::string_view words) {
    const float width = area.width();
    const TextStyle style = context.theme().hint();
    const float height = context.ui.paragraph({area.x0, y}, words, style, width, 15.0f, /*draw=*/false);
    if (whole({area.x0, y, area.x1, y + height})) context.ui.paragraph({area.x0, y}, words, style, width, 15.0f);
    y += height + 2.0f;
  }
  void heading(std::string_view title, std::string_view hint) {
    const Rect rect = row(22.0f);
    const TextStyle style = context.theme().plot_title();
    const float named = context.ui.width(title, style);
    text(rect, rect.x0, title, style, rect.width());
    const float left = rect.width() - named - 12.0f;
    if (left > 40.0f) text(rect, rect.x1, hint, context.theme().hint(), left, Painter::Align::Right);
  }
};

std::string seed_text(const TrainingEntry& entry) {
  return entry.data->seed ? "seed " + std::to_string(*entry.data->seed) : entry.name;
}

std::string progress_text(const StoredHistory& history) {
  if (history.diverged_step) return "✕ at " + grouped_text(*history.diverged_step);
  if (history.finished || history.form == HistoryForm::Checkpoints) return "";
  std::string text = "at " + grouped_text(history.step);
  if (history.planned_steps > 0) text += " of " + grouped_text(history.planned_steps);
  return text;
}

std::string value_or_dash(double value, int decimals) {
  return std::isfinite(value) ? fixed_text(value, decimals) : "–";
}

// Three columns of numbers at the right of a row.
struct NumberColumns {
  float first, second, third;
};
NumberColumns number_columns(const Rect& row) {
  const float each = std::min(64.0f, 0.2f * row.width());
  return {row.x1 - 2.0f * each - 8.0f, row.x1 - each - 8.0f, row.x1};
}

// How a history's sink ended and when it came: over all its measurements, so worked out once.
struct SinkEnd {
  double end = kNaN;
  std::optional<std::int64_t> from;
};

const SinkEnd& end_of(Ui& ui, const TrainingEntry& entry, const StepSeries& series, double threshold) {
  return kept_for(ui.kept_value("end"), std::tuple(entry.data, &series, threshold),
                  [&] { return SinkEnd{mean_at_end(series, kEnd), first_above(series, threshold, kInARow)}; });
}

void draw_history_row(Column& column, const TrainingEntry& entry, Color color) {
  PanelContext& context = column.context;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const Rect row = column.row(kRow);
  if (!column.whole(row)) return;
  const std::string id = std::to_string(entry.id);
  ui.push_id("history " + id);
  const Rect whole{row.x0 - measure::kPadding, row.y0, row.x1 + measure::kPadding, row.y1};
  const Interaction hit = ui.interact("row", whole, Cursor::Hand);
  if (entry.chosen)
    context.painter().fill_rect(whole, theme.accent_soft);
  else if (hit.hovered)
    context.painter().fill_rect(whole, theme.raised);
  if (entry.chosen) context.painter().fill_rect({whole.x0, whole.y0, whole.x0 + 3.0f, whole.y1}, theme.accent);
  const Rect box = Rect::sized(row.x0, row.centre_y() - 6.0f, 12.0f, 12.0f);
  if (entry.hidden)
    context.painter().stroke_rect(box, theme.text3, 1.0f, 2.0f);
  else
    context.painter().fill_rect(box, color, 2.0f);
  if (!entry.hidden) ui.icon(Icon::Check, box.centre(), 8.0f, theme.panel);
  const Interaction check = ui.interact("check", box.inset(-4.0f, -3.0f), Cursor::Hand);
  if (check.clicked) ui.run("training.hide " + id);
  if (hit.clicked && !check.clicked) ui.run("training.show " + id);
  const StoredHistory& history = *entry.data;
  const NumberColumns at = number_columns(row);
  const Color ink = entry.hidden ? theme.off : entry.chosen ? theme.text : theme.text2;
  const TextStyle mono{Face::Mono, 11.0f, ink};
  const float first = at.first - 50.0f;
  const float name_x = box.x1 + 8.0f;
  const double validated = history.validation_loss.empty()
                               ? mean_at_end(history.loss, kEnd)
                               : static_cast<double>(history.validation_loss.values().back());
  const ShownHeads heads = shown_heads(entry, context.state);
  const std::string progress = progress_text(history);
  column.text(row, name_x, seed_text(entry), theme.body(ink), first - name_x);
  column.text(row, at.first, value_or_dash(validated, 4), mono, 60.0f, Painter::Align::Right);
  if (!progress.empty()) {
    const TextStyle style{Face::Sans, 11.0f, history.diverged_step ? theme.err : theme.warn};
    column.text(row, at.third, progress, style, at.third - at.first - 8.0f, Painter::Align::Right);
  } else {
    const SinkEnd* end =
        heads.sink_score ? &end_of(ui, entry, *heads.sink_score, context.state.view.heads.threshold) : nullptr;
    column.text(row, at.second, value_or_dash(end ? end->end : kNaN, 3), mono, 60.0f, Painter::Align::Right);
    std::string from = "–";
    if (end) from = end->from ? grouped_text(*end->from) : "never";
    const TextStyle style{from == "never" ? Face::Mono : Face::MonoSemibold, 11.0f,
                          from == "never" || entry.hidden ? theme.text3 : ink};
    column.text(row, at.third, from, style, 66.0f, Painter::Align::Right);
  }
  std::string tip = entry.path;
  if (!progress.empty()) tip += "\n" + progress;
  tip += "\n" + std::to_string(history.checkpoints.size()) + " kept checkpoints";
  ui.tooltip(whole, tip);
  ui.context_menu("menu", whole, [&] {
    return std::vector<MenuItem>{{"In the film strip", "", "training.show " + id, entry.chosen, false, {}},
                                 {entry.hidden ? "Show" : "Hide", "", "training.hide " + id, false, false, {}},
                                 {"Export the curves as a figure…", "", "figure.screen map", false, true, {}},
                                 {"Show in folder", "", "file.show " + quote_word(entry.path), false, true, {}},
                                 {"Close this history", "", "training.remove " + id, false, false, {}}};
  });
  ui.pop_id();
}

void draw_list(Column& column, const std::vector<TrainingKind>& kinds) {
  PanelContext& context = column.context;
  const Theme& theme = context.theme();
  const Rect header = column.row(22.0f);
  const NumberColumns at = number_columns(header);
  const TextStyle small = theme.hint();
  const bool validated = std::ranges::any_of(context.state.trainings, [](const TrainingEntry& entry) {
    return entry.data && !entry.data->validation_loss.empty();
  });
  column.text(header, header.x0 + 20.0f, "history", small, at.first - 76.0f - header.x0);
  column.text(header, at.first, validated ? "val. loss" : "loss", small, 56.0f, Painter::Align::Right);
  column.text(header, at.second, "α₀ end", small, 48.0f, Painter::Align::Right);
  const std::string threshold = "α₀ > " + short_text(context.state.view.heads.threshold);
  column.text(header, at.third, threshold, small, 66.0f, Painter::Align::Right);
  for (const TrainingKind& kind : kinds) {
    const Rect row = column.row(20.0f);
    const TextStyle style{Face::SansSemibold, 12.0f, kind.color};
    const bool second =
        std::ranges::any_of(kind.entries, [](const TrainingEntry* one) { return one->data->second_maps; });
    const std::string hint = second ? "α₀ of the first map" : "α₀ of its map";
    const float hint_width = context.ui.width(hint, small);
    const float name = context.ui.width(shown_text(kind.name), style);
    column.text(row, row.x0, kind.name, style, row.width());
    if (name + hint_width + 16.0f < row.width())
      column.text(row, row.x1, hint, small, hint_width + 4.0f, Painter::Align::Right);
    for (const TrainingEntry* entry : kind.entries) draw_history_row(column, *entry, kind.color);
    column.y += 5.0f;
  }
  const std::string note = "α₀ end: mean of the last 500 steps · α₀ > " +
                           short_text(context.state.view.heads.threshold) +
                           ": from the first of three measurements in a row";
  column.note(note);
}

void draw_choices(Column& column) {
  PanelContext& context = column.context;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const TrainingView& view = context.state.view.training;
  const float x = column.area.x0 + 62.0f;
  column.heading("Curves", "");
  const auto choice = [&](const char* name, const std::vector<Choice>& choices) {
    const Rect row = column.row(28.0f);
    column.text(row, row.x0, name, theme.body(theme.text2), 58.0f);
    if (column.whole(row)) ui.segmented({x, row.centre_y() - 11.0f}, measure::kPanelControl, choices);
  };
  choice("steps",
         {{"linear", "training.x linear", !view.log_steps, ""}, {"log", "training.x log", view.log_steps, ""}});
  choice("seeds", {{"each", "training.seeds each", !view.seed_range, ""},
                   {"range", "training.seeds range", view.seed_range, ""}});
  const HeadRef shape = training_shape(context.state);
  if (shape.layer * shape.head > 1) {
    const Rect row = column.row(28.0f);
    column.text(row, row.x0, "head", theme.body(theme.text2), 58.0f);
    if (column.whole(row))
      ui.combo(
          "head", {x, row.y0 + 3.0f, std::min(row.x1, x + 180.0f), row.y1 - 3.0f}, "",
          training_head_text(context.state), [&] {
            std::vector<MenuItem> items{
                {"Median and range of all heads", "", "training.head all", view.all_heads, false, {}}};
            const HeadRef now = context.state.training_head();
            for (std::int64_t layer = 0; layer < shape.layer; ++layer) {
              std::vector<MenuItem> heads;
              for (std::int64_t head = 0; head < shape.head; ++head) {
                const std::string name = head_text({layer, head});
                heads.push_back(
                    {name, "", "training.head " + name, !view.all_heads && now == HeadRef{layer, head}, false, {}});
              }
              if (shape.layer == 1)
                items.insert(items.end(), heads.begin(), heads.end());
              else
                items.push_back({"Layer " + std::to_string(layer), "", "", false, layer == 0, std::move(heads)});
            }
            return items;
          });
  }
  const Rect row = column.row(28.0f);
  column.text(row, row.x0, "smooth", theme.body(theme.text2), 58.0f);
  const std::string steps = grouped_text(view.smooth) + (view.smooth == 1 ? " step" : " steps");
  const TextStyle mono{Face::Mono, 11.0f, theme.text2};
  const float label = ui.width("1 001 steps", mono) + 6.0f;
  const Rect track{x, row.y0 + 4.0f, std::max(x + 40.0f, row.x1 - label - 8.0f), row.y1 - 4.0f};
  // By the logarithm of the width; odd ones, so that the mean lies on its step.
  const auto moved = column.whole(row) ? ui.slider("smooth", track, std::log(static_cast<double>(view.smooth)), 0.0,
                                                   std::log(kWidestSlider))
                                       : std::nullopt;
  if (moved) {
    const std::int64_t width = std::llround((std::exp(*moved) - 1.0) / 2.0) * 2 + 1;
    if (width != view.smooth) ui.run("training.smooth " + std::to_string(width));
  }
  column.text(row, row.x1, steps, mono, label, Painter::Align::Right);
  column.note("only loss and gradient norm; measured points never");
}

void draw_step_field(Column& column) {
  PanelContext& context = column.context;
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const State& state = context.state;
  const Rect row = column.row(28.0f);
  const bool hovering = state.hover.step.has_value();
  const TextStyle title = theme.plot_title();
  const float named = std::ceil(ui.width("At step", title));
  column.text(row, row.x0, "At step", title, named + 2.0f);
  std::string& typed = ui.kept_text("step");
  double& shown = ui.kept_number("shown step", -1.0);
  const std::int64_t step = shown_step(state);
  if (shown != static_cast<double>(step)) {
    typed = std::to_string(step);
    shown = static_cast<double>(step);
  }
  TextFieldOptions options;
  options.mono = true;
  const Rect field{row.x0 + named + 10.0f, row.y0 + 2.0f, row.x0 + named + 92.0f, row.y1 - 4.0f};
  const TextFieldResult result = column.whole(row) ? ui.text_field("step", field, typed, options) : TextFieldResult{};
  if (result.submitted) {
    std::string digits;
    for (const char c : typed)
      if (c >= '0' && c <= '9') digits += c;
    if (!digits.empty() && digits.size() < 18) ui.run("training.step " + digits);
    shown = -1.0;
  }
  const float room = row.x1 - field.x1 - 8.0f;
  std::string hint = hovering ? "under the pointer" : "values of the batch";
  if (ui.width(hint, theme.hint()) > room) hint = hovering ? "pointer" : "of the batch";
  column.text(row, row.x1, hint, theme.hint(), room, Painter::Align::Right);
}

// Loss, gradient norm, largest logit, α₀ of the first and of the net map: as the file has them at the nearest step.
void draw_values(Column& column, const std::vector<TrainingKind>& kinds) {
  PanelContext& context = column.context;
  const Theme& theme = context.theme();
  const State& state = context.state;
  const std::int64_t step = shown_step(state);
  const Rect header = column.row(18.0f);
  // Columns of five digits, those of a score of four.
  const float each = std::min(42.0f, 0.142f * header.width()), narrow = 0.8f * each;
  const auto right = [&](int k) {
    return header.x1 - static_cast<float>(4 - std::max(k, 2)) * narrow - static_cast<float>(std::max(2 - k, 0)) * each;
  };
  const char* names[] = {"loss", "‖g‖", "logit", "α₀", "net"};
  for (int k = 0; k < 5; ++k) column.text(header, right(k), names[k], theme.hint(), each, Painter::Align::Right);
  bool first = true;
  for (const TrainingKind& kind : kinds)
    for (const TrainingEntry* entry : kind.entries) {
      if (entry->hidden) continue;
      const Rect row = column.row(18.0f);
      const StoredHistory& history = *entry->data;
      const ShownHeads heads = shown_heads(*entry, state);
      const double values[] = {value_at_step(&history.loss, step), value_at_step(&history.gradient_norm, step),
                               value_at_step(heads.logit_max, step), value_at_step(heads.sink_score, step),
                               value_at_step(heads.sink_score_net, step)};
      if (first || entry->chosen) {
        // Every digit, for scripts: what stands in the file.
        const char* facts[] = {"loss", "gradient_norm", "logit_max", "sink_score", "sink_score_net"};
        for (int k = 0; k < 5; ++k) {
          if (first) context.facts.set(std::string("training.at.") + facts[k], values[k]);
          context.facts.set("training.at." + entry->name + "." + facts[k], values[k]);
        }
        first = false;
      }
      if (!column.whole(row)) continue;
      context.painter().fill_rect(Rect::sized(row.x0, row.centre_y() - 1.5f, 12.0f, 3.0f), kind.color);
      const Color ink = entry->chosen ? theme.text : theme.text2;
      column.text(row, row.x0 + 18.0f, entry->name, {entry->chosen ? Face::SansMedium : Face::Sans, 11.0f, ink},
                  right(0) - each - row.x0 - 22.0f);
      const int decimals[] = {3, 2, 1, 2, 2};
      for (int k = 0; k < 5; ++k) {
        std::string text = std::abs(values[k]) >= 1e4 ? short_text(values[k]) : value_or_dash(values[k], decimals[k]);
        // Scores live in [−1, 1]: without the zero they keep clear of the column before.
        if (k >= 3 && std::abs(values[k]) < 1.0)
          if (const std::size_t zero = text.find("0."); zero != std::string::npos) text.erase(zero, 1);
        column.text(row, right(k), text, {k == 3 ? Face::MonoSemibold : Face::Mono, 11.0f, ink}, each + 2.0f,
                    Painter::Align::Right);
      }
    }
}

void draw_spikes(Column& column, const std::vector<TrainingKind>& kinds) {
  PanelContext& context = column.context;
  const Theme& theme = context.theme();
  const bool any = std::ranges::any_of(context.state.trainings, [](const TrainingEntry& entry) {
    return entry.data && (entry.data->loss_spikes || entry.data->gradient_norm_spikes);
  });
  if (!any) return;
  column.rule();
  column.heading("Spikes", "as counted while training");
  const Rect header = column.row(18.0f);
  constexpr float kMost = 66.0f;  // "max ÷ med"
  const float third = header.x1, second = third - kMost, each = std::min(50.0f, 0.17f * header.width()),
              first = second - each;
  column.text(header, first, "loss", theme.hint(), each, Painter::Align::Right);
  column.text(header, second, "‖g‖", theme.hint(), each, Painter::Align::Right);
  column.text(header, third, "max ÷ med", theme.hint(), kMost, Painter::Align::Right);
  std::size_t rows = 0;
  for (const bool chosen : {true, false})
    for (const TrainingKind& kind : kinds)
      for (const TrainingEntry* entry : kind.entries) {
        if (entry->hidden || entry->chosen != chosen || rows >= kMostSpikeRows) continue;
        ++rows;
        const Rect row = column.row(18.0f);
        if (!column.whole(row)) continue;
        const StoredHistory& history = *entry->data;
        context.painter().fill_rect(Rect::sized(row.x0, row.centre_y() - 1.5f, 12.0f, 3.0f), kind.color);
        const TextStyle mono{Face::Mono, 11.0f, theme.text2};
        const auto count = [](const std::optional<std::int64_t>& spikes) {
          return spikes ? grouped_text(*spikes) : "–";
        };
        column.text(row, row.x0 + 18.0f, entry->name, {Face::Sans, 11.0f, theme.text2}, first - each - row.x0 - 20.0f);
        column.text(row, first, count(history.loss_spikes), mono, each, Painter::Align::Right);
        column.text(row, second, count(history.gradient_norm_spikes), mono, each, Painter::Align::Right);
        column.text(row, third, value_or_dash(history.gradient_norm_max_over_median.value_or(kNaN), 1), mono, kMost,
                    Painter::Align::Right);
      }
}

void draw_histories_panel(PanelContext& context, Rect frame) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const State& state = context.state;
  const PanelScope scope(context, "histories", frame);
  const std::vector<TrainingKind> kinds = training_kinds(state, theme);
  std::size_t read = 0, visible = 0, unfinished = 0;
  for (const TrainingEntry& entry : state.trainings) {
    read += entry.data ? 1 : 0;
    visible += entry.data && !entry.hidden ? 1 : 0;
    unfinished += entry.data && !entry.data->finished ? 1 : 0;
  }
  std::string hint = std::to_string(visible) + " of " + std::to_string(state.trainings.size()) + " shown";
  if (read < state.trainings.size())
    hint = std::to_string(read) + " of " + std::to_string(state.trainings.size()) + " read";
  const Rect body = draw_panel_title(context, frame, "heads", "Histories", "", hint);
  context.facts.set("training.histories", static_cast<double>(read));
  context.facts.set("training.visible", static_cast<double>(visible));
  context.facts.set("training.unfinished", static_cast<double>(unfinished));
  if (unfinished > 0) ui.wake_in(kLookAgain);
  if (state.training_plays) ui.wake_in(0.1);
  double& height = ui.kept_number("height", 0.0);
  const float offset = ui.scroll("list", body, static_cast<float>(height));
  const float bar = static_cast<float>(height) > body.height() ? 8.0f : 0.0f;
  Column column{context,
                {body.x0 + measure::kPadding, body.y0, body.x1 - measure::kPadding - bar, body.y1},
                body.y0 + 4.0f - offset};
  ui.push_clip(body);
  draw_list(column, kinds);
  column.rule();
  draw_choices(column);
  column.rule();
  draw_step_field(column);
  draw_values(column, kinds);
  column.y += 8.0f;
  const Rect add = column.row(26.0f);
  const float button = std::ceil(ui.button_width("Add a history…"));
  if (column.whole(add))
    ui.button({add.x0, add.y0, add.x0 + button, add.y0 + measure::kControl}, "Add a history…", "open.panel");
  const float beside = add.width() - button - 10.0f;
  const std::string whole = "or drop training.h5 files here";
  const std::string drop = ui.width(whole, theme.hint()) <= beside ? whole : "or drop files here";
  if (ui.width(drop, theme.hint()) <= beside)
    column.text({add.x0, add.y0, add.x1, add.y0 + measure::kControl}, add.x0 + button + 10.0f, drop, theme.hint(),
                beside);
  draw_spikes(column, kinds);
  ui.pop_clip();
  const double now = static_cast<double>(column.y + offset - body.y0) + 8.0;
  if (height != now) {
    height = now;
    ui.wake_in(0.0);
  }
}

}  // namespace

const PanelInfo kHistoriesPanel{
    .id = "histories", .title = "Histories", .least_width = 260.0f, .draw = draw_histories_panel};

}  // namespace headroom
