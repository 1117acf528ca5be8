// The film strip: the map of one head at each kept checkpoint, a row for each kind, and the slider of steps.
#include "app/panels/training/film_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "app/panels/training/training_parts.h"
#include "app/plot/color_bar.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr float kSliderRow = 36.0f, kLeader = 16.0f, kStepLabel = 16.0f;
constexpr float kNamesWidth = 104.0f, kLeastThumb = 44.0f, kMostThumb = 320.0f, kThumbGap = 12.0f;
constexpr float kWeightFloor = 1e-3f;

// Where a step lies along the slider, from 0 to 1: linear near 0, logarithmic beyond the first kept step, since sinks
// are born early.
double slider_place(std::int64_t step, const std::vector<std::int64_t>& kept, std::int64_t last) {
  std::int64_t first = std::max<std::int64_t>(1, last);
  for (const std::int64_t one : kept)
    if (one > 0) first = std::min(first, one);
  const double scale = static_cast<double>(first) / 3.0;
  const double whole = std::log1p(static_cast<double>(std::max<std::int64_t>(1, last)) / scale);
  return std::clamp(std::log1p(static_cast<double>(step) / scale) / whole, 0.0, 1.0);
}

std::int64_t slider_step(double place, const std::vector<std::int64_t>& kept, std::int64_t last) {
  // The place rises with the step: halve until the step is found.
  std::int64_t low = 0, high = std::max<std::int64_t>(1, last);
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (slider_place(middle, kept, last) < place)
      low = middle + 1;
    else
      high = middle;
  }
  return std::min(low, last);
}

void draw_diamond(Painter& painter, Vec2 at, float size, Color color) {
  const std::array<Vec2, 4> corners{
      {{at.x, at.y - size}, {at.x + size, at.y}, {at.x, at.y + size}, {at.x - size, at.y}}};
  painter.fill_polygon(corners, color);
}

void hatch(PanelContext& context, Rect rect) {
  Painter& painter = context.painter();
  painter.fill_rect(rect, context.theme().empty);
  painter.push_clip(rect);
  for (float x = rect.x0 - rect.height(); x < rect.x1; x += 8.0f)
    painter.line({x, rect.y1}, {x + rect.height(), rect.y0}, context.theme().hatch, 1.0f);
  painter.pop_clip();
}

// Rows of the strip and the columns of them that are seen.
struct Strip {
  std::vector<const TrainingEntry*> rows;
  std::vector<Color> colors;
  std::vector<std::int64_t> steps;  // all kept ones
  std::size_t begin = 0, count = 0;
  float thumb = 0.0f, pitch = 0.0f;
  std::size_t row_count = 0;
};

Strip lay_out_strip(const PanelContext& context, Rect area, std::int64_t step) {
  Strip strip;
  for (const TrainingKind& kind : training_kinds(context.state, context.theme()))
    for (const TrainingEntry* entry : kind.entries)
      if (entry->chosen && !entry->hidden && !entry->data->checkpoints.empty()) {
        strip.rows.push_back(entry);
        strip.colors.push_back(kind.color);
      }
  strip.steps = kept_steps(context.state);
  if (strip.rows.empty() || strip.steps.empty()) return strip;
  const float width = area.width() - kNamesWidth;
  strip.row_count =
      std::clamp<std::size_t>(static_cast<std::size_t>(area.height() / (kLeastThumb + 6.0f)), 1, strip.rows.size());
  const float high = std::max(12.0f, area.height() / static_cast<float>(strip.row_count) - 8.0f);
  const auto fits = static_cast<std::size_t>(std::max(1.0f, width / (kLeastThumb + kThumbGap)));
  strip.count = std::min(strip.steps.size(), fits);
  strip.thumb = std::floor(std::min({high, width / static_cast<float>(strip.count) - kThumbGap, kMostThumb}));
  strip.pitch = width / static_cast<float>(strip.count);
  // The steps round the cursor, where not all have room.
  const std::ptrdiff_t near = std::max<std::ptrdiff_t>(0, nearest_step(strip.steps, step));
  const auto most = static_cast<std::ptrdiff_t>(strip.steps.size() - strip.count);
  strip.begin = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(near - static_cast<std::ptrdiff_t>(strip.count) / 2, 0, most));
  return strip;
}

const FilmFrame* frame_of(const TrainingEntry& entry, std::int64_t step) {
  for (const FilmFrame& frame : entry.film)
    if (frame.checkpoint.step == step) return &frame;
  return nullptr;
}

std::string short_share(double value) {
  if (std::abs(value) < 0.005) return log_cell_texts(value)[1];
  std::string text = fixed_text(value, 2);
  if (text.starts_with("0.")) text.erase(0, 1);
  return text;
}

// What a picture says, and whether it is there.
void draw_picture(PanelContext& context, const TrainingEntry& entry, std::int64_t step, Rect rect, bool nearest) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  ui.push_id(std::to_string(entry.id) + " " + std::to_string(step));
  const HeadRef head = state.training_head();
  const FilmFrame* frame = frame_of(entry, step);
  const auto index = static_cast<std::size_t>(head.head);
  const bool there = frame != nullptr && frame->shows(head.layer) && index < frame->maps.size();
  std::string tip = entry.name + ", step " + grouped_text(step);
  if (there) {
    double& image = ui.kept_number("image", 0.0);
    if (image == 0.0) image = static_cast<double>(next_image_id());
    MapShading shading;
    if (frame->is_signed)
      shading.scale = {theme.diverging(), ScaleKind::Symlog, -1.0f, 1.0f, kWeightFloor};
    else
      shading.scale = {theme.sequential(), ScaleKind::Log10, kWeightFloor, 1.0f, kWeightFloor};
    const auto side = static_cast<float>(frame->side);
    painter.fill_rect(rect, theme.empty);
    painter.map(rect,
                {static_cast<std::uint64_t>(image), (frame->generation << 16U) + index, frame->side, frame->side,
                 frame->maps[index]},
                {0.0f, 0.0f, side, side}, shading);
    const double sink = frame->run->at("sink_score", head.layer, head.head);
    const double net = frame->run->at("sink_score_net", head.layer, head.head);
    tip += "\nα₀ " + readout_text(sink) + " on this prompt";
    if (frame->is_signed) tip += ", net " + readout_text(net);
    if (frame->cell_tokens > 1)
      tip += "\na cell: the largest weight of " + std::to_string(frame->cell_tokens) + " × " +
             std::to_string(frame->cell_tokens) + " tokens";
    tip += "\nEnter or double-click opens it as a run";
    const TextStyle style{Face::Mono, 10.0f, nearest ? theme.text : theme.text2};
    const auto corner = [&](const std::string& text, float y) {
      if (ui.width(text, style) < 0.55f * rect.width() && y + 6.0f < rect.y0 + 0.5f * rect.height())
        painter.text_at(rect.x1 - 4.0f, y, text, style, Painter::Align::Right);
    };
    if (std::isfinite(sink)) corner("α₀ " + short_share(sink), rect.y0 + 8.0f);
    if (frame->is_signed && std::isfinite(net)) corner("net " + short_share(net), rect.y0 + 21.0f);
  } else {
    hatch(context, rect);
    std::string why = "not yet";
    if (frame == nullptr)
      why = "not kept";
    else if (!frame->failed.empty())
      why = "failed";
    else if (frame->running)
      why = "running";
    else if (frame->run && !frame->shows(head.layer))
      why = "not yet";
    if (frame != nullptr && !frame->failed.empty()) tip += "\n" + frame->failed;
    if (frame == nullptr) tip += "\nthis history kept no checkpoint of this step";
    const TextStyle style{Face::Sans, 11.0f, why == "failed" ? theme.err : theme.text3};
    const float width = ui.width(why, style);
    if (width + 12.0f < rect.width() && rect.height() > 18.0f) {
      painter.fill_rect(
          Rect::sized(rect.centre_x() - 0.5f * width - 5.0f, rect.centre_y() - 8.0f, width + 10.0f, 16.0f), theme.empty,
          2.0f);
      painter.text_at(rect.centre_x(), rect.centre_y(), why, style, Painter::Align::Centre);
    }
  }
  if (nearest) painter.stroke_rect(rect.inset(-2.0f), theme.accent, 2.0f);
  const Interaction hit = ui.interact("picture", rect, Cursor::Hand);
  if (hit.hovered && !nearest) painter.stroke_rect(rect.inset(-1.0f), theme.text2, 1.0f);
  if (hit.double_clicked && frame != nullptr)
    ui.run("training.checkpoint " + std::to_string(step) + " " + std::to_string(entry.id));
  else if (hit.clicked)
    ui.run("training.step " + std::to_string(step));
  ui.tooltip(rect, tip);
  ui.context_menu("menu", rect, [&] {
    const std::string number = std::to_string(step);
    return std::vector<MenuItem>{
        {"Open as a run", "", "training.checkpoint " + number + " " + std::to_string(entry.id), false, false, {}},
        {"The cursor here", "", "training.step " + number, false, false, {}},
        {"Export the curves as a figure…", "", "figure.screen map", false, true, {}}};
  });
  ui.pop_id();
}

void draw_row_name(PanelContext& context, const TrainingEntry& entry, Color color, Rect rect) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const bool is_signed = std::ranges::any_of(entry.film, &FilmFrame::is_signed);
  const float width = rect.width() - 12.0f;
  float y = rect.y0 + 8.0f;
  ui.label_at(rect.x0, y, entry.data->seed ? entry.name.substr(0, entry.name.rfind(' ')) : entry.name,
              {Face::SansSemibold, 12.0f, color}, width);
  const auto line = [&](const std::string& text, float height) {
    y += height;
    if (y + 6.0f < rect.y1) ui.label_at(rect.x0, y, text, theme.hint(), width);
  };
  if (entry.data->seed) line("seed " + std::to_string(*entry.data->seed), 16.0f);
  line(is_signed ? "w = a¹ − λa²" : "weights", 15.0f);
  y += 14.0f;
  if (y + 34.0f > rect.y1 || width < 60.0f) return;
  ColorBarSpec bar;
  bar.vertical = false;
  bar.thickness = 8.0f;
  bar.clips_low = !is_signed;
  if (is_signed)
    bar.scale = {theme.diverging(), ScaleKind::Symlog, -1.0f, 1.0f, kWeightFloor};
  else
    bar.scale = {theme.sequential(), ScaleKind::Log10, kWeightFloor, 1.0f, kWeightFloor};
  draw_color_bar(context.painter(), {rect.x0, y, rect.x0 + width, y + 26.0f}, bar, theme);
}

void draw_slider(PanelContext& context, const Strip& strip, Rect row, float left, float thumbs_top) {
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const State& state = context.state;
  const float y = std::round(row.centre_y());
  const bool plays = state.training_plays;
  const float button = std::ceil(std::max(ui.button_width("Play", true), ui.button_width("Stop", true)));
  ui.button(Rect::sized(row.x0, y - 12.0f, button, measure::kControl), plays ? "Stop" : "Play", "training.play",
            ButtonStyle::Plain, plays ? Icon::Stop : Icon::Play);
  const std::int64_t last = state.last_training_step(), step = state.training_step();
  const float x0 = left + 8.0f, x1 = row.x1 - 10.0f;
  if (x1 - x0 < 40.0f) return;
  const auto x_of = [&](std::int64_t at) {
    return x0 + static_cast<float>(slider_place(at, strip.steps, last)) * (x1 - x0);
  };
  const float knob = x_of(step);
  painter.fill_rect({x0, y - 2.0f, x1, y + 2.0f}, theme.raised, 2.0f);
  painter.fill_rect({x0, y - 2.0f, knob, y + 2.0f}, theme.accent, 2.0f);
  const Interaction hit = ui.interact("slider", {x0 - 8.0f, y - 10.0f, x1 + 8.0f, y + 10.0f}, Cursor::Hand);
  for (std::size_t i = 0; i < strip.steps.size(); ++i) {
    const float x = x_of(strip.steps[i]);
    draw_diamond(painter, {x, y}, 5.0f, strip.steps[i] <= step ? theme.accent : theme.text3);
    if (i < strip.begin || i >= strip.begin + strip.count) continue;
    // From the kept step to its pictures.
    const float to =
        left + kNamesWidth - kNamesWidth + (static_cast<float>(i - strip.begin)) * strip.pitch + 0.5f * strip.thumb;
    const float turn = y + 13.0f;
    painter.line({x, y + 7.0f}, {x, turn}, theme.faint, 1.0f);
    painter.line({x, turn}, {to, thumbs_top - kStepLabel - 5.0f}, theme.faint, 1.0f);
  }
  painter.disc({knob, y}, 6.5f, theme.panel);
  painter.disc({knob, y}, 5.0f, theme.text);
  context.facts.set("training.slider.x", static_cast<double>(knob));
  context.facts.set("training.slider.y", static_cast<double>(y));
  if (!hit.held && !hit.pressed) return;
  const double place = static_cast<double>((std::clamp(ui.input.pointer.x, x0, x1) - x0) / (x1 - x0));
  std::int64_t wanted = slider_step(place, strip.steps, last);
  // Near a kept step it holds on to it.
  for (const std::int64_t kept : strip.steps)
    if (std::abs(x_of(kept) - ui.input.pointer.x) < 5.0f) wanted = kept;
  if (wanted != step) ui.run("training.step " + std::to_string(wanted));
}

std::string film_hint(const State& state, std::size_t done, std::size_t all, const Strip& strip) {
  std::string text = "the map of " + head_text(state.training_head()) + " at each kept checkpoint";
  if (!state.film_prompt.empty()) text += " · " + state.film_prompt;
  if (strip.row_count < strip.rows.size())
    text = std::to_string(strip.row_count) + " of " + std::to_string(strip.rows.size()) + " kinds have room · " + text;
  if (strip.count < strip.steps.size())
    text = std::to_string(strip.count) + " of " + std::to_string(strip.steps.size()) + " steps · " + text;
  if (done < all) text = std::to_string(done) + " of " + std::to_string(all) + " maps · " + text;
  return text;
}

void draw_film_panel(PanelContext& context, Rect frame) {
  Painter& painter = context.painter();
  Ui& ui = context.ui;
  const State& state = context.state;
  const PanelScope scope(context, "film", frame);
  std::size_t done = 0, all = 0, failed = 0;
  const HeadRef head = state.training_head();
  for (const TrainingEntry& entry : state.trainings) {
    if (!entry.chosen || entry.hidden) continue;
    for (const FilmFrame& one : entry.film) {
      ++all;
      done += one.shows(head.layer) ? 1 : 0;
      failed += one.failed.empty() ? 0 : 1;
    }
  }
  context.facts.set("training.film.all", static_cast<double>(all));
  context.facts.set("training.film.done", static_cast<double>(done));
  context.facts.set("training.film.failed", static_cast<double>(failed));
  context.facts.set("training.head", head_text(head));
  context.facts.set("training.plays", state.training_plays ? 1.0 : 0.0);
  Rect below = frame.inset(measure::kPadding, 0.0f);
  below.cut_top(measure::kPanelTitle + kSliderRow + kLeader + kStepLabel);
  below.cut_bottom(4.0f);
  const std::int64_t step = state.training_step();
  const Strip strip = lay_out_strip(context, below, step);
  const Rect body = draw_panel_title(context, frame, "tokens", "Film strip", "", film_hint(state, done, all, strip));
  Rect area = body.inset(measure::kPadding, 0.0f);
  if (strip.rows.empty()) {
    draw_note(context, area.inset(0.0f, 8.0f),
              "This history kept no checkpoints; train with \"checkpoints\": [0, 100, 1000] in the recipe.",
              "Folders step_N and checkpoint-N beside a history are its checkpoints.");
  } else if (area.height() > 30.0f && area.width() > kNamesWidth + 60.0f) {
    const float left = area.x0 + kNamesWidth;
    const bool pictures = below.height() > 20.0f;
    draw_slider(context, strip, area.cut_top(std::min(kSliderRow, area.height())), left, below.y0);
    const std::ptrdiff_t near = nearest_step(strip.steps, step);
    for (std::size_t i = 0; pictures && i < strip.count; ++i) {
      const std::size_t column = strip.begin + i;
      const float x = std::round(left + static_cast<float>(i) * strip.pitch);
      const bool nearest = static_cast<std::ptrdiff_t>(column) == near;
      const TextStyle style{Face::Mono, 11.0f, nearest ? context.theme().accent : context.theme().text2};
      const std::string whole = "step " + grouped_text(strip.steps[column]), number = grouped_text(strip.steps[column]);
      const float room = strip.pitch - 6.0f;
      const std::string& label = ui.width(whole, style) <= room ? whole : number;
      if (ui.width(label, style) <= room)
        painter.text_at(std::clamp(x + 0.5f * strip.thumb, x + 0.5f * ui.width(label, style) - 0.5f * kThumbGap,
                                   area.x1 - 0.5f * ui.width(label, style)),
                        below.y0 - 0.5f * kStepLabel - 1.0f, label, style, Painter::Align::Centre);
      for (std::size_t r = 0; r < strip.row_count; ++r) {
        const float pitch_y = below.height() / static_cast<float>(strip.row_count);
        const float top = std::round(below.y0 + static_cast<float>(r) * pitch_y) + 2.0f;
        draw_picture(context, *strip.rows[r], strip.steps[column], Rect::sized(x, top, strip.thumb, strip.thumb),
                     nearest);
      }
    }
    for (std::size_t r = 0; pictures && r < strip.row_count; ++r) {
      const float pitch_y = below.height() / static_cast<float>(strip.row_count);
      const float top = std::round(below.y0 + static_cast<float>(r) * pitch_y);
      draw_row_name(context, *strip.rows[r], strip.colors[r], {area.x0, top + 2.0f, left, top + pitch_y - 4.0f});
    }
  }
}

}  // namespace

const PanelInfo kFilmPanel{.id = "film", .title = "Film strip", .least_width = 240.0f, .draw = draw_film_panel};

}  // namespace headroom
