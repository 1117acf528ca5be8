// The curves of a training: loss, gradient norm, largest logit and sink score of all histories over each other, with
// one cursor through all of them.
#include "app/panels/training/training_panel.h"

#include <algorithm>
#include <any>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/history_kinds.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/training/training_curves.h"
#include "app/panels/training/training_parts.h"
#include "app/session/commands.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kStrong = 2.0f, kThin = 1.0f, kFaintLine = 0.55f;
constexpr float kLeastPlot = 96.0f;  // its height, title included

struct PlotList {
  StepPlot loss, gradient, logit, sink, rate;
};

std::string steps_text(std::int64_t steps) { return grouped_text(steps) + (steps == 1 ? " step" : " steps"); }

// A series of an entry: thick and named where the entry is in the film strip.
StepCurve curve_of_entry(const TrainingEntry& entry, const TrainingKind& kind, const StepSeries& series,
                         std::shared_ptr<const void> owner, bool strong) {
  StepCurve curve;
  curve.series = &series;
  curve.owner = std::move(owner);
  curve.color = strong ? kind.color : kind.color.faded(kFaintLine);
  curve.width = strong ? kStrong : kThin;
  if (strong) curve.name = shown_text(entry.name);
  if (entry.data->diverged_step) curve.diverged = entry.data->diverged_step;
  return curve;
}

void add_loss(const TrainingEntry& entry, const TrainingKind& kind, bool strong, PlotList& plots) {
  const StoredHistory& history = *entry.data;
  const bool validated = !history.validation_loss.empty();
  if (entry.smoothed && !entry.smoothed->loss.empty()) {
    StepCurve training = curve_of_entry(entry, kind, entry.smoothed->loss, entry.smoothed, strong && !validated);
    training.color = kind.color.faded(validated ? 0.4f : strong ? 1.0f : kFaintLine);
    if (validated) training.diverged.reset();
    plots.loss.curves.insert(plots.loss.curves.begin(), training);  // below what was validated
  }
  if (validated) plots.loss.curves.push_back(curve_of_entry(entry, kind, history.validation_loss, entry.data, strong));
  if (entry.smoothed && !entry.smoothed->gradient_norm.empty())
    plots.gradient.curves.push_back(curve_of_entry(entry, kind, entry.smoothed->gradient_norm, entry.smoothed, strong));
  if (!history.learning_rate.empty())
    plots.rate.curves.push_back(curve_of_entry(entry, kind, history.learning_rate, entry.data, strong));
}

void add_heads(const State& state, const TrainingEntry& entry, const TrainingKind& kind, bool strong, PlotList& plots) {
  const ShownHeads heads = shown_heads(entry, state);
  const auto add = [&](const StepSeries* series, const HeadBand* band, StepPlot& plot) {
    if (series == nullptr) return;
    StepCurve curve = curve_of_entry(entry, kind, *series, entry.data, strong);
    if (band != nullptr && strong) curve.band_low = &band->low, curve.band_high = &band->high;
    plot.curves.push_back(std::move(curve));
  };
  add(heads.logit_max, heads.logit_band, plots.logit);
  add(heads.sink_score, heads.sink_band, plots.sink);
  if (heads.sink_score_net != nullptr && strong) {
    StepCurve net = curve_of_entry(entry, kind, *heads.sink_score_net, entry.data, true);
    net.dotted = true;
    net.name += ", net";
    net.diverged.reset();
    plots.sink.curves.push_back(std::move(net));
  }
  // Where nothing was measured while training, the film strip's runs say it.
  if (heads.sink_score == nullptr && strong && !state.view.training.all_heads) {
    const HeadRef head = state.training_head();
    for (const FilmFrame& frame : entry.film) {
      if (!frame.run) continue;
      const double value = frame.run->at("sink_score", head.layer, head.head);
      if (std::isfinite(value))
        plots.sink.points.push_back({static_cast<float>(frame.checkpoint.step), static_cast<float>(value)});
    }
    plots.sink.points_color = kind.color;
  }
}

std::string gradient_hint(std::int64_t width) {
  return "before clipping" + (width > 1 ? " · largest of each " + steps_text(width) : std::string());
}

std::string loss_hint(std::int64_t width, bool validated) {
  const std::string training =
      width > 1 ? "training, mean of " + steps_text(width) : std::string("training, each step");
  return validated ? "thick: validation · faint: " + training : training;
}

PlotList make_plots(const PanelContext& context) {
  const State& state = context.state;
  PlotList plots;
  plots.loss.id = "loss";
  plots.gradient.id = "gradient";
  plots.logit.id = "logit";
  plots.sink.id = "sink";
  plots.rate.id = "rate";
  bool validated = false, second = false;
  double clip = 0.0;
  std::string unit;
  for (const TrainingKind& kind : training_kinds(state, context.theme())) {
    for (const bool strong : {false, true})
      for (const TrainingEntry* entry : kind.entries) {
        if (entry->hidden || entry->chosen != strong) continue;
        if (!strong && state.view.training.seed_range) continue;
        add_loss(*entry, kind, strong, plots);
        add_heads(state, *entry, kind, strong, plots);
        validated = validated || !entry->data->validation_loss.empty();
        second = second || entry->data->second_maps;
        clip = std::max(clip, entry->data->gradient_clip);
        unit = entry->data->loss_unit;
      }
  }
  const TrainingView& view = state.view.training;
  plots.loss.title = unit == "nat" ? "Loss, nats" : "Loss";
  plots.loss.hint = loss_hint(view.smooth, validated);
  plots.gradient.title = "Gradient norm";
  plots.gradient.hint = gradient_hint(view.smooth);
  plots.gradient.log_y = true;
  if (clip > 0.0) plots.gradient.line = clip, plots.gradient.line_name = "clip " + short_text(clip);
  const std::string head =
      view.all_heads || training_shape(state) != HeadRef{1, 1} ? training_head_text(state) + " · " : "";
  plots.logit.title = "Largest logit";
  plots.logit.hint = head + "log axis" + (second ? " · of both maps" : "");
  plots.logit.log_y = true;
  plots.sink.title = "Sink score α₀";
  plots.sink.natural = Range{0.0, 1.0};
  plots.sink.line = state.view.heads.threshold;
  plots.sink.line_name = "ε = " + short_text(state.view.heads.threshold);
  plots.sink.hint = plots.sink.curves.empty() ? "on the film's prompt, at kept checkpoints"
                    : second                  ? head + "solid: first map · dotted: net map"
                                              : head + "of the batch";
  plots.rate.title = "Learning rate";
  plots.rate.hint = "each step";
  return plots;
}

// Where seeds are shown as their range: bands between the lowest and the highest of a kind at each step of the first,
// as far as every seed goes, as in figures: the range of fewer is narrower. The series are made once for what is open.
struct KindBands {
  std::vector<std::shared_ptr<const StoredHistory>> of;
  std::int64_t width = 0;
  HeadRef head;
  bool all = false;
  std::vector<std::pair<StepSeries, StepSeries>> loss, gradient, logit, sink;  // by kind
};

std::shared_ptr<const KindBands> kind_bands(PanelContext& context, const std::vector<TrainingKind>& kinds) {
  const State& state = context.state;
  std::any& kept = context.ui.kept_value("bands");
  using Kept = std::shared_ptr<const KindBands>;
  auto now = std::make_shared<KindBands>();
  now->width = state.view.training.smooth;
  now->head = state.training_head();
  now->all = state.view.training.all_heads;
  for (const TrainingEntry& entry : state.trainings)
    if (!entry.hidden && !entry.smoothing) now->of.push_back(entry.data);
  if (const Kept* known = std::any_cast<Kept>(&kept); known && (*known)->of == now->of &&
                                                      (*known)->width == now->width && (*known)->head == now->head &&
                                                      (*known)->all == now->all)
    return *known;
  for (const TrainingKind& kind : kinds) {
    std::vector<const StepSeries*> loss, gradient, logit, sink;
    for (const TrainingEntry* entry : kind.entries) {
      if (entry->hidden) continue;
      const ShownHeads heads = shown_heads(*entry, state);
      const bool validated = !entry->data->validation_loss.empty();
      loss.push_back(validated ? &entry->data->validation_loss : entry->smoothed ? &entry->smoothed->loss : nullptr);
      gradient.push_back(entry->smoothed ? &entry->smoothed->gradient_norm : nullptr);
      logit.push_back(heads.logit_max);
      sink.push_back(heads.sink_score);
    }
    now->loss.push_back(seed_range(loss));
    now->gradient.push_back(seed_range(gradient));
    now->logit.push_back(seed_range(logit));
    now->sink.push_back(seed_range(sink));
  }
  const Kept made = std::move(now);
  kept = made;
  return made;
}

void add_kind_bands(PanelContext& context, PlotList& plots) {
  const std::vector<TrainingKind> kinds = training_kinds(context.state, context.theme());
  const auto bands = kind_bands(context, kinds);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto add = [&](const std::vector<std::pair<StepSeries, StepSeries>>& of, StepPlot& plot) {
      if (k >= of.size() || of[k].first.empty()) return;
      StepCurve edge;
      edge.series = &of[k].second;
      edge.owner = bands;
      edge.color = kinds[k].color.faded(0.3f);
      edge.band_low = &of[k].first;
      edge.band_high = &of[k].second;
      plot.curves.insert(plot.curves.begin(), edge);
    };
    add(bands->loss, plots.loss);
    add(bands->gradient, plots.gradient);
    add(bands->logit, plots.logit);
    add(bands->sink, plots.sink);
  }
}

std::string panel_hint(const State& state, std::size_t kinds) {
  if (state.view.training.seed_range) return "bands: lowest and highest of a kind's seeds · thick: in the film strip";
  return std::string(kinds > 1 ? "one colour per kind · " : "") + "thick: in the film strip";
}

void draw_plots(PanelContext& context, Rect body) {
  PlotList plots = make_plots(context);
  if (context.state.view.training.seed_range) add_kind_bands(context, plots);
  std::vector<const StepPlot*> shown;
  for (const StepPlot* plot : {&plots.loss, &plots.gradient, &plots.logit, &plots.sink})
    if (!plot->curves.empty() || !plot->points.empty()) shown.push_back(plot);
  if (plots.logit.curves.empty() && !plots.rate.curves.empty())
    shown.insert(shown.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(shown.size())), &plots.rate);
  context.facts.set("training.plots", static_cast<double>(shown.size()));
  if (shown.empty()) {
    const bool any = std::ranges::any_of(context.state.trainings, [](const TrainingEntry& one) { return !one.hidden; });
    draw_note(context, body.inset(measure::kPadding, 8.0f),
              any ? "No numbers were kept of this training." : "All histories are hidden.",
              any ? "The film strip shows the checkpoints that are there." : "Check one in the list at the left.");
    return;
  }
  body = {body.x0 + measure::kPadding, body.y0 + 6.0f, body.x1 - measure::kPadding, body.y1 - 4.0f};
  const std::size_t columns = body.width() >= 560.0f && shown.size() > 1 ? 2 : 1;
  std::size_t rows = (shown.size() + columns - 1) / columns;
  rows = std::clamp<std::size_t>(static_cast<std::size_t>(body.height() / kLeastPlot), 1, rows);
  const float width = body.width() / static_cast<float>(columns), height = body.height() / static_cast<float>(rows);
  for (std::size_t i = 0; i < std::min(shown.size(), rows * columns); ++i) {
    const std::size_t row = i / columns;
    const Rect cell = Rect::sized(std::round(body.x0 + static_cast<float>(i % columns) * width),
                                  std::round(body.y0 + static_cast<float>(row) * height),
                                  width - (columns > 1 && i % columns == 0 ? 16.0f : 0.0f), height - 4.0f);
    draw_training_plot(context, cell, *shown[i]);
  }
}

void draw_training_panel(PanelContext& context, Rect frame) {
  Ui& ui = context.ui;
  const State& state = context.state;
  const PanelScope scope(context, "training", frame);
  std::string recipe;
  for (const TrainingEntry& entry : state.trainings)
    if (entry.data && recipe.empty()) recipe = entry.data->recipe;
  const HeadRef shape = training_shape(state);
  if (shape.layer > 0)
    recipe += std::string(recipe.empty() ? "" : ", ") + grouped_text(shape.layer) +
              (shape.layer == 1 ? " layer" : " layers") + " × " + grouped_text(shape.head) +
              (shape.head == 1 ? " head" : " heads");
  const std::size_t kinds = training_kinds(state, context.theme()).size();
  const std::string hint = recipe + (recipe.empty() ? "" : " · ") + panel_hint(state, kinds);
  const Rect body = draw_panel_title(context, frame, "map", "Training", "", hint);
  context.facts.set("training.step", static_cast<double>(state.training_step()));
  context.facts.set("training.last", static_cast<double>(state.last_training_step()));
  context.facts.set("training.kinds", static_cast<double>(kinds));
  if (kinds == 0) {
    const bool reading = !state.trainings.empty();
    draw_note(context, body.inset(measure::kPadding, 8.0f),
              reading ? "The history is being read." : "No training is open.",
              reading ? "" : "Drop a training.h5 here, or a folder of step checkpoints.");
  } else {
    draw_plots(context, body);
  }
  // The keys of this view alone: others have Enter for something else.
  if (state.overlay == Overlay::None && !ui.wants_text() && !ui.popup_open() && ui.key(Key::Enter) &&
      context.commands.disabled_reason(state, "training.checkpoint").empty())
    ui.run("training.checkpoint");
}

}  // namespace

const PanelInfo kTrainingPanel{
    .id = "training", .title = "Training", .least_width = 320.0f, .draw = draw_training_panel};

}  // namespace headroom
