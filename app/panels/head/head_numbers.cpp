// The head in numbers, each with a strip of all heads; of a differential head first, second and net.
#include "app/panels/head/head_numbers.h"

#include <algorithm>
#include <any>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"
#include "app/panels/parts/named_values.h"
#include "app/plot/strip.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr float kNumberLine = 18.0f;

// A row of a differential head: what each column shows; an empty name leaves it out, "–" where the run has no such
// number.
struct PairRow {
  const char* title;
  const char* quantity;   // whose digits count
  const char* component;  // a quantity per component; "": none
  const char* net;
  bool dash = false;  // a net value that cannot be: "–"
  bool tall = false;  // in panels with room to spare only
};

constexpr PairRow kPairRows[] = {
    {"sink score α₀", "sink_score", "sink_score", "sink_score_net"},
    {"mean ‖·‖₂", "weight_l2_mean", "rows/weight_l2_component", "weight_l2_mean"},
    {"mean ρ", "context_rms_relative_mean", "", "context_rms_relative_mean"},
    {"coherence κ", "coherence_mean", "", "coherence_mean", false, true},
    {"entropy / ln n", "entropy_normalized_mean", "entropy_normalized_mean", "", true, true},
    {"effective keys", "effective_keys_mean", "effective_keys_mean", "", true, true},
    {"largest logit", "logit_max", "logit_max", "", true},
    {"λ mean", "lambda_mean", "", "lambda_mean"},
    {"λ standard deviation", "lambda_std", "", "lambda_std"},
    {"negative mass", "negative_mass_mean", "", "negative_mass_mean"},
    {"map cosine", "map_cosine_mean", "", "map_cosine_mean"},
    {"output cancellation", "output_cancellation_mean", "", "output_cancellation_mean", false, true},
    {"norm gain, median", "norm_gain_median", "", "norm_gain_median"},
    {"mean RMS after the norm", "context_rms_relative_mean", "", "after_norm"},
};

double component_value(const HeadPanelView& view, const PairRow& row, std::size_t component) {
  const std::string_view name = row.component;
  if (name.empty()) return std::nan("");
  if (name != "rows/weight_l2_component") return view.value(name, component);
  const std::span<const float> rows = view.layer.row_values(name, view.head.head);
  const std::size_t count = view.series.rows();
  return rows.size() == 2 * count ? view.series.mean(rows.subspan(component * count, count)) : std::nan("");
}

double net_value(const HeadPanelView& view, const PairRow& row) {
  const std::string_view name = row.net;
  if (name.empty()) return std::nan("");
  if (name == "after_norm")
    return view.series.after_norm.empty() ? std::nan("") : view.series.mean(view.series.after_norm);
  return view.value(name, 0);
}

// What applies to this head, in the panel's order; a small panel shows the first of them.
std::vector<const PairRow*> pair_rows(const HeadPanelView& view) {
  std::vector<const PairRow*> rows;
  for (const PairRow& row : kPairRows) {
    const bool none = std::isnan(net_value(view, row)) && std::isnan(component_value(view, row, 0));
    if (none || (view.series.v1 && std::string_view(row.net) == "lambda_std")) continue;
    if (row.tall && !view.tall) continue;
    if (view.low && rows.size() >= 6) break;
    rows.push_back(&row);
  }
  return rows;
}

// Numbers of one quantity line up on their points: by the digits after it. Returns where the number begins.
float draw_number(PanelContext& context, float right, float y, const QuantityInfo& info, double value, Color color,
                  float size) {
  const Theme& theme = context.theme();
  const std::string text = number_text(info, value);
  // Three digits after the point is the widest; a number with fewer stands so far to the left.
  const float digit = number_width(context.ui.measure(), size, 1);
  const int missing = info.decimals == 0 ? 0 : std::max(0, 3 - info.decimals);
  const float shift = std::isnan(value) ? digit : static_cast<float>(missing) * digit;
  const TextStyle style{Face::Mono, size, std::isnan(value) ? theme.text3 : color};
  context.painter().text_at(right - shift, y, text, style, Painter::Align::Right);
  return right - shift - context.ui.width(text, style);
}

void draw_pair(HeadPanelView& view, Rect area) {
  PanelContext& context = view.context;
  const Theme& theme = context.theme();
  const float column = view.narrow ? 48.0f : 54.0f;
  area.x1 = std::min(area.x1, area.x0 + 460.0f);  // numbers stay near their names
  const std::array<float, 3> right = {area.x1 - 2.0f * column, area.x1 - column, area.x1};
  const std::array<Color, 3> colors = {theme.first, theme.second, theme.text};
  const std::array<const char*, 3> names = {"first", "second", "net"};
  const bool room = area.width() >= 3.0f * column;  // else the net column alone
  for (std::size_t c = room ? 0 : 2; c < 3; ++c)
    context.painter().text_at(right[c], area.y0 - 11.0f, names[c], {Face::SansSemibold, 11.0f, colors[c]},
                              Painter::Align::Right);
  float y = area.y0 + 0.5f * kNumberLine;
  for (const PairRow* row : pair_rows(view)) {
    const QuantityInfo* info = find_quantity_info(row->quantity);
    if (info == nullptr) continue;
    const double first = component_value(view, *row, 0), second = component_value(view, *row, 1),
                 net = net_value(view, *row);
    const bool components = room && (!std::isnan(first) || !std::isnan(second));
    const float name_end = components ? right[0] - column : right[1];
    context.ui.label({area.x0, y + 4.3f}, row->title, theme.body(theme.text2),
                     std::max(0.0f, name_end - area.x0 + 4.0f));
    if (components) {
      draw_number(context, right[0], y, *info, first, theme.text, 11.0f);
      draw_number(context, right[1], y, *info, second, theme.text, 11.0f);
    }
    if (row->dash || !std::isnan(net)) draw_number(context, right[2], y, *info, net, theme.text, 11.0f);
    if (!std::isnan(net) && *row->net != '\0' && std::string_view(row->net) != "after_norm" &&
        context.ui.hovered({area.x0, y - 9.0f, area.x1, y + 9.0f}))
      view.number_under_pointer = row->net;
    context.ui.tooltip({area.x0, y - 9.0f, area.x1, y + 9.0f}, info->long_name + "\n" + info->definition);
    y += kNumberLine;
  }
}

}  // namespace

std::vector<std::string> head_numbers(const HeadPanelView& view) {
  std::vector<std::string> names;
  if (view.pair()) {
    for (const PairRow* row : pair_rows(view)) names.emplace_back(row->title);
    return names;
  }
  static constexpr std::string_view kSmall[] = {
      "sink_score", "context_rms_relative_mean", "weight_l2_mean", "coherence_mean", "value_drain", "logit_max"};
  std::any& usual = view.memory.piece("usual numbers");
  if (!usual.has_value()) usual = usual_numbers(view.run);
  for (const std::string& name : std::any_cast<const std::vector<std::string>&>(usual)) {
    if (view.low && std::ranges::find(kSmall, name) == std::end(kSmall)) continue;
    // Heads without a sink of their own give nothing to it: no news.
    if (name == "implicit_sink_mass" && view.program.sums_to_one()) continue;
    names.push_back(name);
  }
  return names;
}

void draw_numbers(HeadPanelView& view, Rect area) {
  if (view.pair()) {
    draw_pair(view, area);
    return;
  }
  PanelContext& context = view.context;
  const Theme& theme = context.theme();
  const float strip = std::clamp(area.width() - 168.0f, 50.0f, std::max(160.0f, 0.55f * area.width()));
  const float right = area.x1 - strip - 12.0f;  // of the numbers
  float y = area.y0 + 0.5f * kNumberLine;
  for (const std::string& name : head_numbers(view)) {
    const HeadColumn& column = view.memory.column(name);
    if (column.ref.info == nullptr) continue;
    const QuantityInfo& info = *column.ref.info;
    const double value = head_value(view.run, column.ref, view.head.layer, view.head.head);
    const float left = draw_number(context, right, y, info, value, theme.text, 12.0f);
    context.ui.label({area.x0, y + 4.3f}, info.title, theme.body(theme.text2), std::max(0.0f, left - 6.0f - area.x0));
    const Rect bar{area.x1 - strip, y - 5.0f, area.x1, y + 5.0f};
    const std::optional<double> threshold =
        info.sink_null ? std::optional(context.state.view.heads.threshold) : std::nullopt;
    draw_strip(context.painter(), bar, column.sample, value, threshold, theme);
    const Rect row{area.x0, y - 9.0f, area.x1, y + 9.0f};
    if (context.ui.hovered(row)) {
      view.number_under_pointer = name;
      const std::string ends = strip_hint(strip_range(column.sample, threshold), info.decimals);
      context.ui.tooltip(row, info.long_name + "\n" + info.definition + (ends.empty() ? "" : "\n" + ends));
    }
    y += kNumberLine;
  }
}

}  // namespace headroom
