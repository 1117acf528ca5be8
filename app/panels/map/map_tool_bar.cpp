#include "app/panels/map/map_tool_bar.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/map/map_range.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/session/enum_words.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kHeight = measure::kPanelControl;

// A box with "label value ▾" as wide as it needs.
float combo_width(const PanelContext& context, std::string_view label, std::string_view value) {
  const TextStyle name = context.theme().body(context.theme().text3), word = context.theme().body(context.theme().text);
  const float label_width = label.empty() ? 0.0f : context.ui.width(label, name) + 6;
  return std::ceil(label_width + context.ui.width(value, word)) + 38;
}

std::string range_title(const MapView& view, const MapRange& range) {
  const double low = static_cast<double>(range.scale.low), high = static_cast<double>(range.scale.high);
  const bool centred = range.scale.kind == ScaleKind::Symlog || low < 0.0;
  if (view.range) return centred ? "±" + short_text(high) : short_text(low) + " … " + short_text(high);
  return view.exclude_sink ? "without key 0" : "automatic";
}

std::string fix_line(double low, double high) {
  char line[80];
  std::snprintf(line, sizeof line, "map.range %.6g %.6g", low, high);
  return line;
}

}  // namespace

std::string scale_title(ScaleKind kind) {
  return kind == ScaleKind::Linear ? "linear" : kind == ScaleKind::Log10 ? "log₁₀" : "symlog";
}
const char* scale_word(ScaleKind kind) {
  return kind == ScaleKind::Linear ? "linear" : kind == ScaleKind::Log10 ? "log10" : "symlog";
}
std::string pooling_title(Pooling pooling) {
  switch (pooling) {
    case Pooling::MaxMagnitude: return "max";
    case Pooling::Mean: return "mean";
    case Pooling::Positive: return "positive";
    case Pooling::Negative: return "negative";
  }
  return "";
}

void draw_map_tool_bar(PanelContext& context, const Rect& bar, const MapSubject& subject, const MapRange& range,
                       bool numbers) {
  Ui& ui = context.ui;
  const MapView& view = context.state.view.map;
  const bool differential = subject.differential;
  const std::vector<MapKind> order =
      differential ? std::vector{MapKind::Net, MapKind::First, MapKind::Second, MapKind::ScaledSecond, MapKind::Logits}
                   : std::vector{MapKind::Net, MapKind::Logits, MapKind::First, MapKind::Second, MapKind::ScaledSecond};
  const auto choices_of = [&](bool all) {
    std::vector<Choice> choices;
    for (const MapKind kind : order) {
      Choice choice;
      choice.title = kind_title(kind, differential);
      choice.command = std::string("map ") + word_of(kind);
      choice.selected = subject.program && kind == subject.kind;
      choice.disabled = kind_disabled(subject, kind);
      if (all || choice.disabled.empty() || choice.selected) choices.push_back(std::move(choice));
    }
    return choices;
  };
  const ScaleKind scale = range.scale.kind;
  const auto scale_items = [&]() {
    std::vector<MenuItem> items;
    for (const ScaleKind kind : {ScaleKind::Linear, ScaleKind::Log10, ScaleKind::Symlog})
      items.push_back({scale_title(kind), "", std::string("map.scale ") + scale_word(kind), kind == scale, false, {}});
    items.push_back({"the usual one of this map", "", "map.scale auto", !view.scale, true, {}});
    return items;
  };
  const auto pool_items = [&]() {
    const std::pair<Pooling, const char*> all[] = {{Pooling::MaxMagnitude, "largest magnitude, with its sign"},
                                                   {Pooling::Mean, "of the visible cells"},
                                                   {Pooling::Positive, "mean of the positive part"},
                                                   {Pooling::Negative, "mean of the negative part"}};
    std::vector<MenuItem> items;
    for (const auto& [pooling, detail] : all)
      items.push_back(
          {pooling_title(pooling), detail, "map.pool " + pooling_title(pooling), pooling == view.pooling, false, {}});
    return items;
  };
  const auto range_items = [&]() {
    const double low = static_cast<double>(range.scale.low), high = static_cast<double>(range.scale.high);
    std::vector<MenuItem> items;
    items.push_back({"automatic", range.automatic ? range.statement : "", "map.range auto", !view.range, false, {}});
    items.push_back({"fixed as it is", "", fix_line(low, high), view.range.has_value(), false, {}});
    if (!subject.is_logits) {
      if (subject.is_signed || scale == ScaleKind::Symlog) {
        items.push_back({"±1", "", fix_line(-1, 1), false, false, {}});
        items.push_back({"±0.1", "", fix_line(-0.1, 0.1), false, false, {}});
      } else if (scale == ScaleKind::Log10) {
        items.push_back({"10⁻⁴ … 1", "", fix_line(1e-4, 1), false, false, {}});
        items.push_back({"10⁻⁶ … 1", "", fix_line(1e-6, 1), false, false, {}});
      } else {
        items.push_back({"0 … 1", "", fix_line(0, 1), false, false, {}});
        items.push_back({"0 … 0.1", "", fix_line(0, 0.1), false, false, {}});
      }
    }
    items.push_back({"leave key 0 out", "and a pinned key", "map.exclude-sink", view.exclude_sink, true, {}});
    return items;
  };

  enum Part { Scale, Pool, RangePart, Fit };
  const bool range_first = numbers || view.range || view.exclude_sink;
  const std::string range_value = range_title(view, range), pool_value = pooling_title(view.pooling),
                    scale_value = scale_title(scale);
  const auto width_of = [&](Part part) {
    switch (part) {
      case Scale: return combo_width(context, "scale", scale_value);
      case Pool: return combo_width(context, "pool", pool_value);
      case RangePart: return combo_width(context, "range", range_value);
      case Fit: return 40.0f;
    }
    return 0.0f;
  };
  const std::string beside = "first | second beside";
  const float beside_width = context.ui.width(beside, context.theme().body(context.theme().text)) + 22;
  struct Plan {
    bool all_kinds;
    bool kind_menu;
    bool beside;
    std::vector<Part> parts;
  };
  std::vector<Plan> plans;
  const std::vector<Part> usual = range_first ? std::vector{Scale, RangePart, Fit} : std::vector{Scale, Pool, Fit};
  plans.push_back({true, false, differential, {Scale, Pool, RangePart, Fit}});
  if (bar.width() < 820) plans.clear();
  plans.push_back({true, false, differential, usual});
  plans.push_back({false, false, differential, usual});
  plans.push_back({false, false, false, usual});
  plans.push_back({false, false, false, {Scale, Fit}});
  plans.push_back({false, true, false, usual});
  plans.push_back({false, true, false, {Scale, Fit}});
  plans.push_back({false, true, false, {Fit}});
  plans.push_back({false, true, false, {}});

  const std::string kind_value = kind_title(subject.kind, differential);
  for (const Plan& plan : plans) {
    const std::vector<Choice> choices = choices_of(plan.all_kinds);
    const float left =
        plan.kind_menu ? combo_width(context, "", kind_value) : ui.segmented({bar.x0, bar.y0}, kHeight, choices, false);
    float right = 0.0f;
    for (const Part part : plan.parts) right += width_of(part) + measure::kGap;
    const float middle = plan.beside ? measure::kGroupGap + beside_width : 0.0f;
    const bool last = &plan == &plans.back();
    if (!last && left + middle + right + (plan.parts.empty() ? 0.0f : measure::kGap) > bar.width()) continue;
    if (plan.kind_menu) {
      ui.combo("kind", Rect::sized(bar.x0, bar.y0, std::min(left, bar.width()), kHeight), "", kind_value, [&]() {
        std::vector<MenuItem> items;
        for (const Choice& choice : choices_of(true))
          items.push_back({choice.title, "", choice.command, choice.selected, false, {}});
        return items;
      });
    } else {
      ui.segmented({bar.x0, bar.y0}, kHeight, choices);
    }
    if (plan.beside)
      ui.check_box(Rect::sized(bar.x0 + left + measure::kGroupGap, bar.y0, beside_width, kHeight), beside, view.swipe,
                   view.swipe ? "swipe off" : "swipe on");
    float x = bar.x1;
    for (auto part = plan.parts.rbegin(); part != plan.parts.rend(); ++part) {
      const float width = width_of(*part);
      const Rect area = Rect::sized(x - width, bar.y0, width, kHeight);
      switch (*part) {
        case Scale: ui.combo("scale", area, "scale", scale_value, scale_items); break;
        case Pool: ui.combo("pool", area, "pool", pool_value, pool_items); break;
        case RangePart: ui.combo("range", area, "range", range_value, range_items); break;
        case Fit: ui.button(area, "Fit", "map.fit"); break;
      }
      x -= width + measure::kGap;
    }
    return;
  }
}

void draw_map_state(PanelContext& context, const Rect& body, const MapSubject& subject) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const Rect inner = body.inset(12, 8);
  if (inner.width() < 40 || inner.height() < 24) return;
  const float width = std::min(420.0f, inner.width());
  const bool button = !subject.command.empty() && !subject.action.empty();
  const float why_height = ui.paragraph({0, 0}, subject.why, theme.hint(), width, 16, false);
  const float needed = 20 + why_height + (button ? 12 + measure::kControl : 0);
  float y = std::max(inner.y0, inner.centre_y() - 0.5f * needed);
  const float x = inner.centre_x() - 0.5f * width;
  ui.label_at(x, y + 8, subject.headline, theme.title(), width);
  y += 20;
  if (y + why_height <= inner.y1) {
    ui.paragraph({x, y}, subject.why, theme.hint(), width, 16);
    y += why_height + 12;
  }
  if (button && y + measure::kControl <= inner.y1 + 4)
    ui.button(Rect::sized(x, y, std::min(width, ui.button_width(subject.action)), measure::kControl), subject.action,
              subject.command, ButtonStyle::Primary);
}

}  // namespace headroom
