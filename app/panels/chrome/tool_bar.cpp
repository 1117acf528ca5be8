#include "app/panels/chrome/tool_bar.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/map/memory_state.h"
#include "app/panels/panel.h"
#include "app/plot/token_text.h"
#include "app/session/commands.h"
#include "app/ui/text_wrap.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/model/what_if_title.h"

namespace headroom {
namespace {

// From its width at 1024 pixels to that at 1440, and in proportion below.
float sized(float window, float narrow, float wide) {
  if (window < 1024.0f) return std::floor(narrow * std::max(window, 200.0f) / 1024.0f);
  return std::floor(narrow + (wide - narrow) * std::min(1.0f, (window - 1024.0f) / 416.0f));
}

struct StyledText {
  std::string text;
  TextStyle style;
  float gap = 10.0f;
};

// Texts side by side as far as there is room; the first that does not fit is elided, the others are left out.
void draw_parts(Ui& ui, float x, float right, float y, const std::vector<StyledText>& parts) {
  for (const StyledText& part : parts) {
    if (part.text.empty()) continue;
    if (right - x < 24.0f) return;
    const float w = ui.label_at(x, y, part.text, part.style, right - x);
    x += std::round(w) + part.gap;
  }
}

std::int64_t measured_heads(const RunSnapshot& data) {
  std::int64_t count = 0;
  for (const auto& layer : data.data) count += layer != nullptr ? static_cast<std::int64_t>(layer->heads.size()) : 0;
  return count;
}

std::string heads_text(const RunSnapshot& data) {
  const std::int64_t heads = measured_heads(data);
  return grouped_text(heads) + (heads == 1 ? " head" : " heads");
}

// How much the corpus is of, and of which model.
std::vector<StyledText> corpus_parts(const PanelContext& context, const RunEntry& run) {
  const Theme& theme = context.theme();
  const OpenedCorpus& file = *run.corpus.file;
  const bool stopped = run.corpus.growing(), partial = stopped || !file.attribute("sequences_missing").empty();
  const auto lost =
      std::ranges::count_if(run.corpus.statistics->non_finite_layers, [](auto layer) { return layer >= 0; });
  std::string text = corpus_size_text(file) + ", " + tokens_text(file.length) + " each";
  if (run.data) text += " · " + heads_text(*run.data);
  if (!run.data->model_name.empty()) text += " · " + run.data->model_name;
  return {{stopped   ? "stopped"
           : partial ? "partial"
                     : "open",
           theme.body(partial ? theme.warn : theme.ok)},
          {what_ifs_title(run.what_ifs), theme.body(theme.accent)},
          {lost > 0 ? grouped_text(lost) + " not finite" : "", theme.body(theme.warn)},
          {text, theme.body(theme.text2)}};
}

// What the run bar says of the shown run.
std::vector<StyledText> status_parts(const PanelContext& context) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  const TextStyle more = theme.body(theme.text2), hint = theme.body(theme.text3);
  const ModelEntry* model = state.find_model(state.model);
  if (model != nullptr && model->opening) return {{"opening", theme.body(theme.text)}, {model->name, more}};
  const RunEntry* run = state.shown();
  if (run == nullptr) {
    if (const ModelEntry* opening = state.opening_model())
      return {{"opening", theme.body(theme.text)}, {opening->name, more}};
    if (model == nullptr) return {{"open a checkpoint first", more}};
    if (!state.device.failed.empty()) return {{"cannot run", theme.body(theme.err)}, {state.device.failed, more}};
    return {{"not run yet", more}, {state.device.loading ? "LibTorch is loading" : "", hint}};
  }
  const RunEntry* other = state.other();
  if (state.view.centre == CentreView::Compare && other != nullptr) {
    if (run->corpus) {
      const PairedCorpora* pairs = run->corpus.paired.get();
      return {{pairs != nullptr ? "paired" : "comparing", theme.body(pairs != nullptr ? theme.ok : theme.text)},
              {pairs != nullptr ? grouped_text(pairs->sequences) + " sequences that both have" : "", more}};
    }
    const bool both = run->status == RunStatus::Done && other->status == RunStatus::Done;
    const bool same = run->data && other->data && run->data->prompt && other->data->prompt &&
                      run->data->prompt->ids == other->data->prompt->ids &&
                      run->data->prompt->key_ids == other->data->prompt->key_ids;
    return {{both ? "both done" : "partial", theme.body(both ? theme.ok : theme.warn)},
            {same ? "same tokens · selection, zoom and range linked" : "selection and zoom linked", more}};
  }
  const std::string seconds = run->seconds > 0.0 ? " in " + seconds_text(run->seconds) : "";
  if (run->corpus) return corpus_parts(context, *run);
  switch (run->status) {
    case RunStatus::Done: {
      std::string text = run->data ? heads_text(*run->data) + seconds : "";
      if (run->budget && run->budget->maps && run->budget->fit.kept_layers < run->budget->memory.layers)
        text += " · maps of " + grouped_text(run->budget->fit.kept_layers) + " of " +
                grouped_text(run->budget->memory.layers) + " layers kept";
      if (run->model < 0) text += text.empty() ? "from a run file" : " · from a run file";
      if (model != nullptr && model->changed_on_disk) {
        return {{"changed on disk", theme.body(theme.warn)}, {"F5 opens it again", more}};
      }
      if (run->model >= 0 && run->model == state.model && run->prompt_serial != state.prompt_serial) {
        const bool fits = !state.estimate || state.estimate->fit.fits;
        return {{"prompt changed", theme.body(theme.warn)},
                {"shown: " + run->prompt_title + (run->data ? ", " + tokens_text(run->data->length) : ""), more},
                {state.estimate ? "Run " + estimate_text(*state.estimate) : "", fits ? hint : theme.body(theme.warn)}};
      }
      if (state.view.centre == CentreView::WhatIf)
        text += run->quick ? " · what-if: quick, this head only" : " · what-if open";
      // The checkpoint's name beside it does not say that the run is another than the trained one.
      return {{"done", theme.body(theme.ok)},
              {run->model < 0 ? "" : what_ifs_title(run->what_ifs), theme.body(theme.accent)},
              {text, more}};
    }
    case RunStatus::Cancelled:
      return {{"cancelled", theme.body(theme.warn)},
              {run->data ? "partial: " + heads_text(*run->data) : "nothing was computed", more}};
    case RunStatus::Failed:
      if (lacks_memory(*run)) return {{"out of memory", theme.body(theme.err)}, {estimate_text(*run->budget), more}};
      return {{"failed", theme.body(theme.err)}, {run->error ? run->error->message : "", more}};
    case RunStatus::Waiting:
      if (lacks_memory(*run)) return {{"not started", theme.body(theme.err)}, {estimate_text(*run->budget), more}};
      if (state.estimate)
        return {{"not run yet", more},
                {state.device.loading ? "LibTorch is loading" : estimate_text(*state.estimate),
                 state.estimate->fit.fits ? hint : theme.body(theme.warn)}};
      return {{"not run yet", more}, {state.device.loading ? "LibTorch is loading" : "", hint}};
    case RunStatus::Running: break;
  }
  return {};
}

// "backcopy · 6 histories".
std::string training_title(const State& state) {
  std::string recipe;
  bool one = true;
  for (const TrainingEntry& entry : state.trainings) {
    if (!entry.data || entry.data->recipe.empty()) continue;
    one = one && (recipe.empty() || recipe == entry.data->recipe);
    recipe = entry.data->recipe;
  }
  const std::size_t count = state.trainings.size();
  std::string text = one && !recipe.empty() ? recipe + " · " : "";
  return text + std::to_string(count) + (count == 1 ? " history" : " histories");
}

std::vector<MenuItem> training_items(const PanelContext& context) {
  std::vector<MenuItem> items;
  for (const TrainingEntry& entry : context.state.trainings)
    items.push_back({entry.name,
                     entry.chosen ? "in the film strip" : "",
                     "training.show " + std::to_string(entry.id),
                     entry.chosen,
                     false,
                     {}});
  items.push_back({"Add a history…", "", "open.panel", false, true, {}});
  items.push_back({"Back to the map", "", "training.close", false, false, {}});
  items.push_back({"Close all histories", "", "close", false, false, {}});
  return items;
}

// How far the histories go, and how often they were looked at.
std::vector<StyledText> training_parts(const PanelContext& context) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  std::int64_t least = -1, most = 0, every = 0, validated = 0;
  std::size_t unfinished = 0, diverged = 0, reading = 0;
  const auto apart = [](const StepSeries& series) { return series.size() > 1 ? series.step(1) - series.step(0) : 0; };
  for (const TrainingEntry& entry : state.trainings) {
    if (!entry.data) {
      ++reading;
      continue;
    }
    const StoredHistory& history = *entry.data;
    least = least < 0 ? history.last_step() : std::min(least, history.last_step());
    most = std::max(most, history.last_step());
    every = std::max(every, apart(history.sink_score.median));
    validated = std::max(validated, apart(history.validation_loss));
    diverged += history.diverged_step ? 1 : 0;
    unfinished += !history.finished && !history.diverged_step && history.form != HistoryForm::Checkpoints ? 1 : 0;
  }
  if (reading == state.trainings.size()) return {{"opening", theme.body(theme.text)}};
  std::string text = grouped_text(most) + (state.trainings.size() > 1 && least == most ? " steps each" : " steps");
  if (least < most) text = grouped_text(least) + " to " + grouped_text(most) + " steps";
  if (every > 0) text += " · heads measured every " + grouped_text(every) + " steps";
  if (validated > 0) text += ", validation every " + grouped_text(validated);
  std::vector<StyledText> parts;
  if (diverged > 0)
    parts.push_back({std::to_string(diverged) + " diverged", theme.body(theme.err)});
  else if (unfinished > 0)
    parts.push_back({std::to_string(unfinished) + " unfinished", theme.body(theme.warn)});
  else
    parts.push_back({"open", theme.body(theme.ok)});
  parts.push_back({text, theme.body(theme.text2)});
  return parts;
}

// The run that computes: the shown one first.
const RunEntry* running(const State& state) {
  const RunEntry* shown = state.shown();
  if (shown != nullptr && shown->status == RunStatus::Running) return shown;
  for (const RunEntry& run : state.runs) {
    if (run.status == RunStatus::Running) return &run;
  }
  return nullptr;
}

// The sweep that goes on where no run does, as a run's progress is said; nothing where there is none.
std::optional<RunEntry> running_sweep(const State& state) {
  for (const RunEntry& run : state.runs)
    for (const AblationWay way : kAblationWays) {
      const std::optional<LossSweep>& sweep = sweep_of(run.sweeps, way);
      if (!sweep || sweep->status != SweepStatus::Running || (sweep->doing == "waiting" && !sweep->table)) continue;
      RunEntry shown;
      shown.name = run.name;
      shown.fraction = sweep->fraction;
      shown.seconds_left = sweep->seconds_left;
      shown.doing = std::string("ablation, ") + way_info(way).title + ": ";
      if (sweep->table) {
        shown.fraction = static_cast<double>(sweep->table->done) /
                         static_cast<double>(std::max<std::size_t>(1, sweep->table->asked));
        shown.doing += grouped_text(static_cast<std::int64_t>(sweep->table->done)) + " of " +
                       grouped_text(static_cast<std::int64_t>(sweep->table->asked)) + " heads";
      } else {
        shown.doing += "the model itself";
      }
      return shown;
    }
  return {};
}

void draw_progress(PanelContext& context, const RunEntry& run, float x, float right, float y) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  std::vector<StyledText> parts;
  const bool shown =
      &run == context.state.shown() || (context.state.shown() && run.name == context.state.shown()->name);
  parts.push_back({run.doing.empty() ? "running" : run.doing, theme.body(theme.text)});
  if (!shown) parts.push_back({run.name, theme.body(theme.text3)});
  if (run.seconds_left)
    parts.push_back({estimated_seconds_text(*run.seconds_left) + " left", {Face::Mono, 12.0f, theme.text}, 0.0f});
  float texts = 0.0f;
  for (const StyledText& part : parts) texts += std::ceil(ui.width(shown_text(part.text), part.style)) + part.gap;
  const float room = right - x;
  const float bar = std::min(300.0f, room - 14.0f - std::min(texts, std::max(120.0f, 0.5f * room)));
  if (bar >= 40.0f) {
    ui.progress({x, y - 6.0f, x + bar, y + 6.0f}, run.status == RunStatus::Waiting ? -1.0 : run.fraction);
    x += bar + 14.0f;
  }
  draw_parts(ui, x, right, y, parts);
}

// Device and type, or the device alone where both find no room; `next` gives the area of a width.
template <typename Next>
void draw_device_combo(PanelContext& context, float window, const Next& next) {
  Ui& ui = context.ui;
  const Settings& settings = context.state.settings;
  const std::string device = device_text(settings.device), both = device + " · " + dtype_text(settings.dtype);
  const auto needed = [&](const std::string& text) {
    return std::ceil(ui.width(text, context.theme().body(context.theme().text))) + measure::kComboLeft +
           measure::kComboRight;
  };
  const float width = std::max(sized(window, 104, 116), needed(device));
  const Rect area = next(width);
  const bool fits = needed(both) <= width;
  ui.combo("device", area, "", fits ? both : device, [&] { return device_items(context); });
  if (!fits) ui.tooltip(area, both);
}

}  // namespace

void draw_tool_bar(PanelContext& context, Rect frame) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  painter.begin_panel("tool bar", frame);
  painter.fill_rect(frame, theme.panel);
  painter.fill_rect({frame.x0, frame.y0, frame.x1, frame.y0 + 1.0f}, theme.line);
  ui.push_id("tool bar");
  const float window = frame.width(), top = frame.y0 + 8.0f, y = top + 12.0f;
  const float gap = window < 700.0f ? 4.0f : measure::kGap;
  float x = frame.x0 + (window < 700.0f ? 6.0f : measure::kPadding);
  const auto next = [&](float width) {
    const Rect area = Rect::sized(x, top, width, measure::kControl);
    x += width + gap;
    return area;
  };
  const RunEntry* run = state.shown();
  const std::optional<RunEntry> sweep = running_sweep(state);
  const RunEntry* busy = running(state) ? running(state) : sweep ? &*sweep : nullptr;
  const bool compare = state.view.centre == CentreView::Compare && state.other() != nullptr && run != nullptr;
  const std::string prompt = prompt_text(state);

  const bool training = state.view.centre == CentreView::Training;
  if (training) {
    ui.combo("training", next(sized(window, 226, 230)), "training", training_title(state),
             [&] { return training_items(context); });
    draw_device_combo(context, window, next);
  } else if (compare) {
    ui.combo("a", next(sized(window, 140, 164)), "A", run->name,
             [&] { return run_items(context, "show", state.view.run); });
    ui.combo("b", next(sized(window, 236, 298)), "B", state.other()->name,
             [&] { return run_items(context, "compare", state.view.other_run); });
    if (!run->corpus)
      ui.combo("prompt", next(sized(window, 150, 152)), "", prompt, [&] { return prompt_items(context); });
  } else {
    const ModelEntry* model = state.find_model(state.model);
    const ModelEntry* opening = model == nullptr ? state.opening_model() : nullptr;
    std::string name = model != nullptr ? model->name : opening != nullptr ? opening->name : "none open";
    if (run != nullptr && run->model < 0) name = run->name;
    // As wide as the name needs where there is room to spare.
    const float least = sized(window, 176, 196), spare = std::max(0.0f, std::min(120.0f, 0.25f * (window - 1100.0f)));
    const float needed = std::ceil(ui.width("checkpoint", theme.body(theme.text3)) +
                                   ui.width(shown_text(name), theme.body(theme.text))) +
                         measure::kComboLeft + measure::kComboRight + 9.0f;
    const bool corpus = run != nullptr && run->corpus;
    ui.combo("checkpoint", next(std::clamp(needed, least, least + spare)), corpus ? "corpus" : "checkpoint", name,
             [&] { return checkpoint_items(context); });
    if (!corpus)
      ui.combo("prompt", next(sized(window, 186, 208)), "prompt", prompt, [&] { return prompt_items(context); });
    draw_device_combo(context, window, next);
  }
  const bool small = window < 700.0f;
  if (busy != nullptr) {
    ui.button(next(small ? 60.0f : 84.0f), "Cancel", "cancel");
  } else if (state.corpus() != nullptr && compare) {
    ui.button(next(ui.button_width("Back")), "Back", "corpus");
  } else if (state.corpus() != nullptr && state.corpus()->growing()) {
    ui.button(next(ui.button_width("Go on")), "Go on", "corpus.go-on", ButtonStyle::Primary);
  } else if (state.corpus() != nullptr) {
    const auto& chosen = state.view.corpus.sequence;
    const std::string title = chosen ? "Open S" + std::to_string(*chosen) : "Open", command = "corpus.open";
    const bool can = chosen && context.commands.disabled_reason(state, command).empty();
    ui.button(next(ui.button_width(title)), title, command, can ? ButtonStyle::Primary : ButtonStyle::Plain);
  } else if (!training) {
    const char* title = compare ? "Run B" : "Run";
    const bool can = context.commands.disabled_reason(state, "run").empty();
    ui.button(next(small ? 56.0f : 72.0f), title, "run", can ? ButtonStyle::Primary : ButtonStyle::Plain,
              can && !small ? std::optional<Icon>(Icon::Play) : std::nullopt);
  }
  x += small ? 2.0f : 8.0f;
  const float right = frame.x1 - measure::kPadding;
  if (busy != nullptr) {
    draw_progress(context, *busy, x, right, y);
  } else {
    draw_parts(ui, x, right, y, training ? training_parts(context) : status_parts(context));
  }
  ui.pop_id();
  painter.end_panel();
}

}  // namespace headroom
