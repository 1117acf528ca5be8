#include "app/panels/parts/head_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/panels/panel.h"
#include "app/plot/quantiles.h"
#include "app/plot/token_text.h"
#include "app/ui/text_wrap.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"
#include "core/run/missing_value.h"

namespace headroom {

std::vector<MenuItem> quantity_menu(std::string_view command, std::string_view selected, bool with_layer) {
  std::vector<MenuItem> menu;
  const auto item = [&](const QuantityRef& ref, std::string title) {
    MenuItem entry;
    entry.title = std::move(title);
    entry.detail = quantity_text(ref);
    entry.command = std::string(command) + " " + entry.detail;
    entry.checked = entry.detail == selected;
    return entry;
  };
  if (with_layer) {
    MenuItem layer;
    layer.title = "Layer";
    layer.command = std::string(command) + " layer";
    layer.checked = selected == "layer";
    menu.push_back(std::move(layer));
  }
  for (std::size_t g = 0; g < kQuantityGroups; ++g) {
    MenuItem group;
    group.title = group_title(static_cast<QuantityGroup>(g));
    for (const QuantityInfo& info : quantity_infos()) {
      if (info.group != static_cast<QuantityGroup>(g)) continue;
      const QuantityRef usual{&info, info.default_index};
      if (info.axes.empty()) {
        group.items.push_back(item(usual, quantity_heading(usual)));
        continue;
      }
      MenuItem elements;
      elements.title = quantity_heading({&info, info.default_index});
      elements.detail = info.name;
      for (std::size_t i = 0; i < info.elements(); ++i) {
        elements.items.push_back(item({&info, i}, element_title(info, i)));
        elements.checked = elements.checked || elements.items.back().checked;
      }
      group.items.push_back(std::move(elements));
    }
    group.checked = std::ranges::any_of(group.items, &MenuItem::checked);
    if (!group.items.empty()) menu.push_back(std::move(group));
  }
  return menu;
}

std::string column_heading(std::string_view name) {
  if (name == "layer") return "Layer";
  if (name == kRowDistance) return quantity_heading({&row_distance_info(), 0});
  const Result<QuantityRef> ref = parse_quantity(name);
  return ref ? quantity_heading(*ref) : visible_token(name);
}

std::string column_title(std::string_view name) {
  if (name == "layer") return "layer";
  const Result<QuantityRef> ref = parse_quantity(name);
  return ref ? quantity_title(*ref) : visible_token(name);
}

ColumnRange column_range(const HeadColumn& column, const Theme& theme, bool log) {
  ColumnRange range;
  range.scale.map = theme.sequential();
  const bool any = column.finite > 0;
  const Range* natural = column.ref.info != nullptr && column.ref.info->natural ? &*column.ref.info->natural : nullptr;
  if (column.ref.info != nullptr && column.ref.info->centred) range.scale.map = theme.diverging();
  RobustRange found{0.0, 1.0, false, false};
  const double linear = column.ref.info != nullptr ? column.ref.info->linear_to : 0.0;
  if (linear > 0.0) {
    // All that is there: the largest change is what one looks for.
    const double largest = any ? std::max({std::abs(column.low), std::abs(column.high), 5.0 * linear}) : 10.0 * linear;
    const double high = nice_range(0.5 * largest, largest, true).high;
    range.scale.kind = ScaleKind::Symlog;
    range.scale.threshold = static_cast<float>(linear);
    found = {-high, high, false, false};
  } else if (log && any) {
    found = robust_log_range(column.sample);
    range.scale.kind = ScaleKind::Log10;
  } else if (natural && (!any || (column.low >= natural->low && column.high <= natural->high))) {
    found = {natural->low, natural->high, false, false};
  } else if (any && range.scale.map == theme.diverging()) {
    found = robust_signed_range(column.sample);
  } else if (any) {
    found = robust_range(column.sample);
    // Quantities that begin at zero are shown from zero where they come near it.
    if (found.low > 0.0 && found.low < 0.5 * found.high) found.low = 0.0, found.clips_low = false;
  }
  range.scale.low = static_cast<float>(found.low);
  range.scale.high = static_cast<float>(found.high);
  range.clips_low = found.clips_low;
  range.clips_high = found.clips_high;
  return range;
}

std::string head_tip(const RunSnapshot& run, const QuantityRef& ref, HeadRef head) {
  const LayerSnapshot* layer = run.layer(head.layer);
  std::string tip = head_text(head);
  if (layer == nullptr) return tip + "\n" + missing_reason(run, ref, head.layer);
  tip += "  " + layer->kind;
  if (ref.info == nullptr) return tip;
  const auto line = [&](const QuantityRef& one) {
    const double value = head_value(run, one, head.layer, head.head);
    return "\n" + quantity_title(one) + "  " + number_text(*ref.info, value) +
           (ref.info->percent && !std::isnan(value) ? " %" : "");
  };
  const double value = head_value(run, ref, head.layer, head.head);
  tip += line(ref);
  if (!std::isfinite(value)) tip += "\n" + missing_reason(run, ref, head.layer, head.head);
  const std::int64_t index = layer->head_index(head.head);
  const bool pair = index >= 0 && layer->programs[static_cast<std::size_t>(index)].has_first() &&
                    layer->programs[static_cast<std::size_t>(index)].has_second();
  if (pair && ref.info->per_component() && ref.info->axes.size() == 1) {
    for (std::size_t component = 0; component < 2; ++component)
      if (component != ref.index) tip += line({ref.info, component});
    if (ref.info->name == "sink_score")
      if (const QuantityInfo* net = find_quantity_info("sink_score_net")) {
        const double net_value = head_value(run, {net, 0}, head.layer, head.head);
        tip += "\n" + net->title + "  " + number_text(*net, net_value);
      }
  }
  return tip;
}

std::optional<std::size_t> row_of(const RunSnapshot& run, HeadRef head) {
  const auto layer = std::ranges::lower_bound(run.layers, head.layer);
  const auto at = std::ranges::lower_bound(run.heads, head.head);
  if (layer == run.layers.end() || *layer != head.layer || at == run.heads.end() || *at != head.head) return {};
  return static_cast<std::size_t>(layer - run.layers.begin()) * run.heads.size() +
         static_cast<std::size_t>(at - run.heads.begin());
}

std::string select_command(const State& state, HeadRef head) {
  return state.view.selection.head == head ? "select none" : "select " + head_text(head);
}

void draw_sort_arrow(Painter& painter, Vec2 centre, bool descending, Color color) {
  const float down = descending ? 1.0f : -1.0f;
  const std::array<Vec2, 3> triangle = {{{centre.x - 3.5f, centre.y - 2.5f * down},
                                         {centre.x + 3.5f, centre.y - 2.5f * down},
                                         {centre.x, centre.y + 3.0f * down}}};
  painter.fill_polygon(triangle, color);
}

void draw_note(PanelContext& context, Rect area, std::string_view first, std::string_view more) {
  const Theme& theme = context.theme();
  float y = area.y0 + 10.0f;
  const auto paragraph = [&](std::string_view text, const TextStyle& style) {
    if (text.empty() || area.width() < 24.0f) return;
    for (const std::string& line : wrap_text(text, area.width(), context.ui.measure(), style.face, style.size)) {
      if (y + 8.0f > area.y1) return;
      context.painter().text_at(area.x0, y, line, style);
      y += style.size + 6.0f;
    }
  };
  paragraph(first, theme.body(theme.text2));
  paragraph(more, theme.hint());
}

}  // namespace headroom
