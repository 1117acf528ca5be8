#include "app/panels/head/head_sections.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "app/figures/row_axis.h"
#include "app/panels/head/head_curves.h"
#include "app/panels/head/head_intervals.h"
#include "app/panels/head/head_lambda.h"
#include "app/panels/head/head_numbers.h"
#include "app/panels/head/head_rms.h"
#include "app/panels/head/head_rounding.h"
#include "app/panels/head/head_set.h"
#include "app/panels/head/head_sinks.h"
#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"
#include "app/panels/parts/named_values.h"
#include "core/base/number_text.h"

namespace headroom {

namespace {

constexpr float kNumberRow = 18.0f;

float plot_height(float room, float share, float least, float most) {
  return std::clamp(std::round(share * room), least, most);
}

}  // namespace

std::vector<HeadSection> head_sections(const HeadPanelView& view, float room) {
  std::vector<HeadSection> sections;
  const HeadSeries& series = view.series;
  const std::size_t computed = view.run.finished_layers() * view.run.heads.size();
  const std::string company = view.run.complete ? "this head among all " + std::to_string(computed)
                                                : "this head among " + std::to_string(computed) + " so far";
  const std::string rms = view.context.state.view.head.rms;
  const float plot = plot_height(room, 0.21f, 110.0f, 300.0f), more = 0.8f * plot;
  const float small_plot = plot_height(room, 0.15f, 90.0f, 200.0f), small_more = 0.8f * small_plot;
  const auto add = [&](const char* name, std::string title, std::string hint, float height, float extra,
                       void (*draw)(HeadPanelView&, Rect), float keep = 0.0f) {
    HeadSection section;
    section.name = name, section.title = std::move(title), section.hint = std::move(hint);
    section.height = height, section.more = extra, section.keep_right = keep, section.draw = draw;
    sections.push_back(std::move(section));
  };

  add("numbers", "In numbers", view.pair() ? "" : company, kNumberRow * static_cast<float>(head_numbers(view).size()),
      0.0f, draw_numbers,
      !view.pair()  ? 0.0f
      : view.narrow ? 132.0f
                    : 180.0f);
  const std::string over = " " + over_rows(series, view.narrow);
  std::string title = (rms == "raw" ? "Context RMS" : rms == "weights" ? "‖w‖₂" : "Context RMS ρ") + over;
  if (rms == "relative" && view.program.post_norm)
    title = view.narrow ? "ρ before the norm" : "ρ before the norm, " + over_rows(series, true);
  const float note = 18.0f;  // the premise
  add("rms", title, "", interval_table_height(view) + plot + note, more, draw_rms, rms_switch_width(view));
  if (has_set(view))
    add("set", "Across the selection", view.narrow ? "" : set_hint(view), set_height(view), 0.0f, draw_set_section);
  if (!series.kept) return sections;
  if (!series.after_norm.empty())
    add("norm", "RMS through the norm, " + over_rows(series, true), view.narrow ? "" : "median, quartiles",
        small_plot + 10.0f, small_more, draw_through_norm);
  if (!series.weight_cancellation.empty())
    add("cancellation", "Cancellation" + over, view.narrow ? "" : "1 = nothing cancels", small_plot + 10.0f, small_more,
        draw_cancellation);
  if (!series.log_rho.empty())
    add("decomposition", view.narrow ? "Decomposition" : "Decomposition: log ρ = log e + log r̃ + ½ log κ", "",
        small_plot + 10.0f, small_more, draw_decomposition);
  if (!series.lambda.empty())
    add("lambda", series.v1 ? "λ, one number per layer" : "λ over position: λᵢ = σ(·), per token", "", small_plot,
        small_more, draw_lambda);
  if (!series.gain.empty())
    add("gain", "Gain of the norm", grouped_text(series.gains) + " rows that count", small_plot + 52.0f, small_more,
        draw_gain);
  add("sinks", "Sinks", "attention received by key", small_plot + (view.pair() ? 110.0f : 92.0f), small_more,
      draw_sinks);
  add("logits", "Logits", "largest and smallest per query", small_plot + 112.0f, small_more, draw_logits);
  add("rounding", "Rounding in bfloat16", view.narrow ? "N₁" : "weights that round to the largest", small_plot + 54.0f,
      small_more, draw_rounding);
  const bool implicit = !view.program.sums_to_one() && !series.implicit.empty();
  if (!series.gate.empty() || implicit)
    add("gate", series.gate.empty() ? "Mass given to nothing" : "Gate over position", "", small_plot, small_more,
        draw_gate);
  return sections;
}

float number_width(const TextMeasure& measure, float size, int digits) {
  return measure.width(std::string(static_cast<std::size_t>(digits), '0'), Face::Mono, size);
}

void draw_named_values(PanelContext& context, Rect row, std::span<const NamedValue> values) {
  const Theme& theme = context.theme();
  const TextStyle name_style = theme.hint();
  // Closer together where they would not fit.
  float total = -12.0f, gap = 12.0f, inner = 6.0f;
  for (const NamedValue& one : values)
    total += (one.name.empty() ? 0.0f : context.ui.width(one.name, name_style) + inner) +
             context.ui.width(one.value, {Face::Mono, 11.0f, theme.text}) + gap;
  if (total > row.width()) gap = 6.0f, inner = 3.0f;
  float x = row.x0;
  for (const NamedValue& one : values) {
    const TextStyle value_style{Face::Mono, 11.0f, one.color.a == 0 ? theme.text : one.color};
    const float name = one.name.empty() ? 0.0f : context.ui.width(one.name, name_style) + inner;
    const float value = context.ui.width(one.value, value_style);
    if (x + name + value > row.x1 + 0.5f) return;
    if (!one.name.empty()) context.painter().text_at(x, row.centre_y(), one.name, name_style);
    context.painter().text_at(x + name, row.centre_y(), one.value, value_style);
    x += name + value + gap;
  }
}

}  // namespace headroom
