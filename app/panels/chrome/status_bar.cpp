#include "app/panels/chrome/status_bar.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/bars.h"
#include "app/panels/panel.h"
#include "app/panels/tokens/pointed_attention.h"
#include "app/panels/tokens/prediction_panel.h"
#include "app/plot/token_text.h"
#include "app/session/head_threshold.h"
#include "app/ui/text_wrap.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

// "key 129 “␣License”": a name, values, in the order in which they go when there is no room.
struct NamedValue {
  std::string name, value;
  Color color;
};

std::string quoted_token(const RunSnapshot& run, TokenAxis axis, std::int64_t token) {
  const std::string* text = axis_text(run, axis, token);
  return text ? " “" + visible_token(*text) + "”" : "";
}

// The largest weight of a row of a softmax map, from what the run keeps of each row; NaN where it keeps nothing.
double row_max(const LayerSnapshot& layer, std::int64_t head, std::int64_t query) {
  const auto logits = layer.row_values("rows/logit_max", head), lse = layer.row_values("rows/lse", head);
  const auto at = static_cast<std::size_t>(query);
  if (query < 0 || at >= logits.size() || at >= lse.size()) return std::nan("");
  return std::exp(static_cast<double>(logits[at]) - static_cast<double>(lse[at]));
}

void cell_parts(const PanelContext& context, const RunSnapshot& run, std::vector<NamedValue>& parts) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  const Selection& selection = state.view.selection;
  const std::optional<std::int64_t> query = state.hover.query ? state.hover.query : selection.query;
  const std::optional<std::int64_t> key = state.hover.key ? state.hover.key : selection.key;
  const LayerSnapshot* shown = selection.head ? run.layer(selection.head->layer) : nullptr;
  const CallAxes axes = shown ? shown->axes : CallAxes{TokenAxis::Tokens, TokenAxis::Tokens};
  if (query && *query >= 0 && *query < run.length) {
    parts.push_back({"query", std::to_string(*query) + quoted_token(run, axes.rows, *query), theme.text});
  }
  if (key && *key >= 0 && *key < run.length) {
    parts.push_back({"key", std::to_string(*key) + quoted_token(run, axes.keys, *key), theme.text});
  }
  const std::optional<HeadRef> head = selection.head;
  const LayerSnapshot* layer = head ? run.layer(head->layer) : nullptr;
  if (layer == nullptr || !query || !key || *query >= layer->length || *key >= layer->length || *query < 0 || *key < 0)
    return;
  const std::int64_t index = layer->head_index(head->head);
  if (index < 0) return;
  if (layer->maps == nullptr || layer->maps->find(head->head) == nullptr) {
    parts.push_back({"", "no map is kept of this layer", theme.text3});
    return;
  }
  const MapSource::Cell cell = layer->maps->cell(head->head, *query, *key);
  if (!cell.visible) {
    parts.push_back({"", *key > *query ? "masked: the key comes after the query" : "masked", theme.text3});
    return;
  }
  const HeadProgram& program = layer->programs[static_cast<std::size_t>(index)];
  if (program.has_second()) {
    parts.push_back({"a¹", readout_text(cell.first), theme.first});
    parts.push_back({"a²", readout_text(cell.second), theme.second});
    parts.push_back({"λ", readout_text(cell.lambda), theme.lambda});
    parts.push_back({"w", readout_text(cell.net), cell.net < 0.0 ? theme.second : theme.accent});
    parts.push_back({"logits", readout_text(cell.first_logit) + ", " + readout_text(cell.second_logit), theme.text});
    return;
  }
  parts.push_back({"a", readout_text(cell.first), theme.accent});
  parts.push_back({"logit", readout_text(cell.first_logit), theme.text});
  const double most = row_max(*layer, head->head, *query);
  if (std::isfinite(most)) parts.push_back({"row max", readout_text(most), theme.text});
}

// "loss off 3.3810  whole model 3.0757", after the change.
void importance_parts(const RunEntry& run, AblationWay way, HeadRef head, const Theme& theme,
                      std::vector<NamedValue>& parts) {
  const LossTable* table = table_of(run.sweeps, way);
  const auto place = table ? table->place(head) : std::nullopt;
  if (!place || !std::isfinite(table->delta[*place])) return;
  if (const double half = table->interval(*place); std::isfinite(half))
    parts.push_back({"±", fixed_text(half, 4), theme.text2});
  parts.push_back({"loss so", fixed_text(table->loss + table->delta[*place], 4), theme.text});
  parts.push_back({"whole model", fixed_text(table->loss, 4), theme.text});
  parts.push_back({"nats per token", "", theme.text3});
}

// Of a corpus: the head's mean with its interval, and of the sequence under the pointer, or the chosen one, its number.
void corpus_readouts(const State& state, const Theme& theme, std::vector<NamedValue>& parts) {
  const CorpusEntry& corpus = *state.corpus();
  const OpenedCorpus& file = *corpus.file;
  const auto ref = parse_quantity(state.view.heads.quantity);
  const std::optional<HeadRef> head = state.hover.head ? state.hover.head : state.view.selection.head;
  const auto place = head ? place_of(file.layers, file.heads, *head) : std::nullopt;
  if (!ref || !place) return;
  parts.push_back({"head", head_text(*head), theme.text});
  const CorpusIntervals intervals = corpus_intervals(corpus, *ref, state.view.corpus.bootstrap);
  const double half = intervals.half(*place);
  std::string mean = number_text(*ref->info, intervals.mean[*place]);
  if (std::isfinite(half)) mean += " ± " + number_text(*ref->info, half);
  parts.push_back({quantity_title(*ref), mean, theme.accent});
  if (std::isfinite(half))
    parts.push_back({state.view.corpus.bootstrap ? "95 % bootstrap" : "95 % t interval", "", theme.text3});
  parts.push_back({"n", corpus_size_text(file), theme.text});
  const auto number = state.hover.sequence ? state.hover.sequence : state.view.corpus.sequence;
  const auto s = number ? file.find(*number) : std::nullopt;
  if (!s) return;
  parts.push_back({"sequence", sequence_name(file, *s), theme.text});
  if (const auto values = values_of(corpus, *ref))
    parts.push_back({"", number_text(*ref->info, static_cast<double>(values->of_head(*place)[*s])), theme.accent});
}

// The cursor's step, and what the first history of the film strip says there, while training and on the film's prompt.
std::vector<NamedValue> training_cursor_parts(const PanelContext& context) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  std::vector<NamedValue> parts = {
      {"step", grouped_text(state.hover.step.value_or(state.training_step())), theme.accent}};
  const HeadRef head = state.training_head();
  for (const TrainingEntry& entry : state.trainings) {
    if (!entry.data || !entry.chosen || entry.hidden) continue;
    const std::int64_t step = state.hover.step.value_or(state.training_step());
    parts.push_back({"", entry.name, theme.text2});
    const auto curves = entry.data->curves.find({head.layer, head.head});
    if (curves != entry.data->curves.end())
      if (const auto at = curves->second.sink_score.nearest(step))
        parts.push_back({"α₀ on the training batch",
                         fixed_text(static_cast<double>(curves->second.sink_score.values()[*at]), 3), theme.text});
    for (const FilmFrame& frame : entry.film)
      if (frame.checkpoint.step == step && frame.run)
        parts.push_back(
            {"on the film's prompt", fixed_text(frame.run->at("sink_score", head.layer, head.head), 3), theme.text});
    if (!entry.data->checkpoints.empty())
      parts.push_back({"Enter: open the kept checkpoint nearest to it as a run", "", theme.text3});
    break;
  }
  return parts;
}

// Of the large text: the pointed token, and the text as a whole.
void token_parts(const PanelContext& context, const RunSnapshot& run, std::vector<NamedValue>& parts) {
  const Theme& theme = context.theme();
  const std::optional<std::int64_t> token = pointed_token(context.state);
  if (!token) return;
  parts.push_back({"token", std::to_string(*token) + quoted_token(run, TokenAxis::Tokens, *token), theme.text});
  const Predictions* predictions = run.predictions.get();
  if (predictions == nullptr || *token >= predictions->rows()) return;
  const auto row = static_cast<std::size_t>(*token);
  if (row > 0) parts.push_back({"loss", fixed_text(predictions->loss[row - 1], 3), theme.accent});
  const std::size_t first = row * static_cast<std::size_t>(Predictions::kLikeliest);
  if (const auto text = predictions->texts.find(predictions->token[first]); text != predictions->texts.end())
    parts.push_back(
        {"next",
         "“" + visible_token(text->second) + "” " + probability_text(std::exp(predictions->log_probability[first])),
         theme.accent});
  if (run.next_token_loss)
    parts.push_back({"",
                     "mean loss " + fixed_text(*run.next_token_loss, 4) + " over " +
                         grouped_text(static_cast<std::int64_t>(predictions->loss.size())) +
                         " predictions, perplexity " + fixed_text(std::exp(*run.next_token_loss), 2),
                     theme.text2});
}

// Thousands apart, as in the panels.
std::string grouped_readout(double value) {
  return std::abs(value) >= 1000.0 && std::abs(value) < 1e6 ? grouped_text(std::lround(value)) : readout_text(value);
}

// The boundary, token and channel that the panels of this frame look at.
void residual_parts(const PanelContext& context, const RunSnapshot& run, std::vector<NamedValue>& parts) {
  const Theme& theme = context.theme();
  const std::int64_t boundary = context.readouts.boundary, channel = context.readouts.residual_channel,
                     token = context.state.hover.key.value_or(context.state.view.residual.token);
  const ResidualBoundary* at = run.boundary(boundary);
  if (!at || token >= at->rows) return;
  const TokenAxis axis = boundary < run.encoder_boundaries ? TokenAxis::KeyTokens : TokenAxis::Tokens;
  parts.push_back({"boundary", std::to_string(boundary), theme.accent});
  parts.push_back({"token", std::to_string(token) + quoted_token(run, axis, token), theme.text});
  parts.push_back({"channel", std::to_string(channel), theme.text});
  const auto h = static_cast<double>(at->value(token, channel));
  parts.push_back({"h", std::isfinite(h) ? grouped_readout(h) : "not kept", theme.accent});
  parts.push_back({"median |h|", readout_text(at->median), theme.text});
}

// Where the head stands among all, which one is selected, and what a thumbnail is made of.
void maps_parts(const PanelContext& context, HeadRef head, std::vector<NamedValue>& parts) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  const Readouts& said = context.readouts;
  if (!said.maps_rank.empty()) parts.push_back({"rank", said.maps_rank, theme.text});
  if (const auto& selected = state.view.selection.head; selected && *selected != head)
    parts.push_back({"selected", head_text(*selected), theme.accent});
  const auto atlas = parse_quantity(state.view.heads.quantity);
  const auto threshold = atlas ? threshold_of(atlas->info, state.view.heads) : std::nullopt;
  if (threshold && !said.maps_over.empty())
    parts.push_back({quantity_title(*atlas) + " > " + short_text(*threshold), said.maps_over, theme.text2});
  if (!said.maps.empty()) parts.push_back({"maps", said.maps, theme.text2});
}

std::vector<NamedValue> left_parts(const PanelContext& context) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  std::vector<NamedValue> parts;
  if (state.view.centre == CentreView::Training && !state.trainings.empty()) return training_cursor_parts(context);
  if (state.nothing_open()) {
    if (state.ready_seconds > 0.0) parts.push_back({format("Ready in %.1f s", state.ready_seconds), "", theme.text3});
    if (!state.device.failed.empty()) {
      parts.push_back({"LibTorch could not be loaded:", state.device.failed, theme.warn});
    } else if (state.device.loading) {
      parts.push_back({"LibTorch is loading in the background", "", theme.text3});
    }
    return parts;
  }
  const RunSnapshot* run = state.data();
  if (run == nullptr) return parts;
  const bool maps = state.view.heads.view == HeadsView::Maps && state.view.centre != CentreView::Compare;
  const std::optional<HeadRef> card = maps ? state.view.heads.maps_card : std::nullopt;
  // A card that is kept is looked at, and so are the heads where no map is seen.
  const bool on_head = ((state.hover.head || card) && !state.hover.query && !state.hover.key) ||
                       (state.layout.maximised == "heads" && state.view.centre == CentreView::Map);
  const std::optional<HeadRef> head = state.hover.head ? state.hover.head : card ? card : state.view.selection.head;
  const RunEntry* entry = state.shown();
  const bool table = state.view.heads.view == HeadsView::Table && state.view.centre == CentreView::Map;
  if (state.corpus() != nullptr && state.view.centre == CentreView::Map) {
    corpus_readouts(state, theme, parts);
  } else if (state.view.centre == CentreView::Residual) {
    residual_parts(context, *run, parts);
  } else if (state.view.centre == CentreView::Tokens && !on_head) {
    token_parts(context, *run, parts);
  } else if (head && (on_head || table || state.view.centre == CentreView::Importance)) {
    parts.push_back({"head", head_text(*head), theme.text});
    const auto add = [&](const std::string& name) {
      const auto ref = parse_quantity(name);
      if (!ref) return;
      const double value = head_value(*run, *ref, head->layer, head->head);
      parts.push_back({quantity_title(*ref), number_text(*ref->info, value), theme.accent});
    };
    add(table ? state.view.heads.sort : maps ? maps_quantity(state.view) : atlas_quantity(state.view));
    if (maps) maps_parts(context, *head, parts);
    if (state.view.centre == CentreView::Importance)
      importance_parts(*entry, state.view.importance.colour, *head, theme, parts);
    if (!context.readouts.row_distance.empty())
      parts.push_back({"row distance", context.readouts.row_distance, theme.accent});
    if (!table && state.view.heads.view == HeadsView::Scatter) {
      parts.pop_back();
      add(state.view.heads.x);
      add(state.view.heads.y);
    }
  } else {
    cell_parts(context, *run, parts);
    if (!context.readouts.map.empty()) parts.push_back({"", context.readouts.map, theme.text2});
  }
  if (entry->status == RunStatus::Running && run->finished_layers() > 0) {
    parts.push_back({std::to_string(run->finished_layers()) + " layers", "final, usable now", theme.ok});
  }
  if (entry->status == RunStatus::Cancelled) parts.push_back({"cancelled:", "partial", theme.warn});
  return parts;
}

}  // namespace

void draw_status_bar(PanelContext& context, Rect frame) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  painter.begin_panel("status bar", frame);
  painter.fill_rect(frame, theme.panel);
  painter.fill_rect({frame.x0, frame.y0, frame.x1, frame.y0 + 1.0f}, theme.line);
  ui.push_id("status bar");
  const float y = frame.y0 + 12.5f;
  float right = frame.x1 - measure::kPadding;

  if (state.unseen_warnings > 0 || state.unseen_errors > 0) {
    const bool bad = state.unseen_errors > 0;
    std::string text;
    for (const auto& [count, word] :
         {std::pair{state.unseen_errors, " error"}, std::pair{state.unseen_warnings, " warning"}})
      if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + word + (count == 1 ? "" : "s");
    const Color color = bad ? theme.err : theme.warn;
    const float w = std::round(ui.width(text, theme.body(color)));
    const Rect area{right - w - 22.0f, frame.y0 + 2.0f, frame.x1 - 6.0f, frame.y1 - 2.0f};
    const Interaction hit = ui.interact("warnings", area, Cursor::Hand);
    if (hit.hovered) painter.fill_rect(area, theme.hover, measure::kRadius);
    ui.icon(bad ? Icon::Error : Icon::Warning, {right - w - 12.0f, y}, 11.0f, color);
    painter.text_at(right - w, y, text, theme.body(color));
    ui.tooltip(area, "Show the messages");
    if (hit.clicked) ui.run("log");
    right -= w + 22.0f + 14.0f;
  }
  const TextStyle mono{Face::Mono, 11.0f, theme.text2};
  const auto put = [&](const std::string& text, const TextStyle& style, std::string_view tip) {
    const std::string shown = shown_text(text);
    const float w = std::round(ui.width(shown, style));
    if (shown.empty() || right - w < frame.x0 + 0.4f * frame.width()) return;
    painter.text_at(right - w, y, shown, style);
    ui.tooltip({right - w, frame.y0, right, frame.y1}, tip);
    right -= w + 18.0f;
  };
  if (state.memory_bytes > 0.0) put(size_text(state.memory_bytes), mono, "Memory that the program holds");
  const RunEntry* run = state.shown();
  const std::string device = run != nullptr && !run->device.empty() ? run->device : state.settings.device;
  const std::string dtype = run != nullptr && !run->dtype.empty() ? run->dtype : state.settings.dtype;
  std::string computed = device_text(device) + " · " + dtype_text(dtype);
  if (state.nothing_open() && state.device.info)
    computed = device_text(device) + format(" · %d threads", state.device.info->threads);
  put(computed, mono,
      run != nullptr && !run->backend.empty() ? "Attention backend: " + run->backend
                                              : "Device and type of the next run");
  if (state.nothing_open() && state.device.info && !state.device.info->cuda_note.empty()) {
    put("no GPU found", mono, state.device.info->cuda_note);
  }

  right -= 6.0f;
  float x = frame.x0 + measure::kPadding;
  for (const NamedValue& part : left_parts(context)) {
    const TextStyle name = theme.body(part.value.empty() ? part.color : theme.text3),
                    value{Face::Mono, 12.0f, part.color};
    const bool sentence = part.name.empty();
    const TextStyle style = sentence ? theme.body(part.color) : value;
    const float name_width = part.name.empty() ? 0.0f : std::round(ui.width(shown_text(part.name), name)) + 7.0f;
    if (x + name_width + (part.value.empty() ? 0.0f : 24.0f) > right) break;
    if (!part.name.empty()) ui.label_at(x, y, part.name, name, name_width);
    x += name_width;
    if (!part.value.empty()) x += std::round(ui.label_at(x, y, part.value, style, right - x));
    x += part.value.empty() ? 23.0f : 18.0f;
  }
  ui.pop_id();
  painter.end_panel();
}

}  // namespace headroom
