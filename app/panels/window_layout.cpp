#include "app/panels/window_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "app/plot/theme.h"

namespace headroom {
namespace {

constexpr float kGap = 1.0f;
constexpr float kNarrow = 1200.0f;  // below it the panels of 1024 × 640
constexpr float kLeastMap = 300.0f;
constexpr float kLeastHeads = 160.0f, kLeastSide = 240.0f;  // below these their texts have no room
constexpr float kBesideMap = 110.0f;  // labels, profile and bar, less what stands above and below the square
constexpr std::int64_t kLongPrompt = 16384;

float chosen(float by_person, float by_design) { return by_person > 0.0f ? by_person : by_design; }

bool selected_is_differential(const State& state) {
  const LayerSnapshot* layer = state.selected_layer();
  if (!layer) return false;
  const std::int64_t index = layer->head_index(state.view.selection.head->head);
  return index >= 0 && layer->programs[static_cast<std::size_t>(index)].has_second();
}

}  // namespace

WindowLayout window_layout(Rect window, const State& state) {
  using Side = WindowLayout::Side;
  WindowLayout layout;
  Rect rest = window;
  layout.menu = rest.cut_top(measure::kMenu);
  layout.tool_bar = rest.cut_top(measure::kToolBar);
  rest.cut_top(kGap);
  layout.status = rest.cut_bottom(measure::kStatusBar);
  rest.cut_bottom(kGap);
  if (state.nothing_open()) {
    layout.start = rest;
    return layout;
  }
  const bool narrow = window.width() < kNarrow;
  const Layout& wish = state.layout;
  const ViewState& view = state.view;
  const bool differential = selected_is_differential(state);
  const bool long_prompt = state.data() && state.data()->length >= kLongPrompt && !view.map.window.whole();
  const bool table = view.centre == CentreView::Map && view.heads.view == HeadsView::Table;
  const bool scatter = view.centre == CentreView::Map && view.heads.view == HeadsView::Scatter;

  if (wish.maximised == "heads") {
    layout.heads = rest;
    return layout;
  }
  if (wish.maximised == "map") {
    layout.centre = rest;
    return layout;
  }
  if (wish.maximised == "head") {
    layout.side = rest;
    return layout;
  }
  if (wish.maximised == "tokens") {
    layout.tokens = rest;
    return layout;
  }
  if (view.centre == CentreView::Map && !table && !scatter) {
    const float design = rest.height() < 560.0f ? 78.0f : 100.0f;
    float tokens = chosen(wish.tokens_height, design);
    layout.tokens_rail = wish.tokens_folded || rest.height() < 380.0f;
    if (layout.tokens_rail) tokens = measure::kPanelTitle;
    if (rest.height() >= 300.0f) {
      layout.tokens = rest.cut_bottom(std::min(tokens, 0.45f * rest.height()));
      rest.cut_bottom(kGap);
    }
  }
  if (table) {
    layout.side_kind = Side::Columns;
    layout.side_rail = narrow || wish.head_folded;
    layout.side = rest.cut_right(layout.side_rail ? kRail : 290.0f);
    rest.cut_right(kGap);
    layout.heads = rest;
    return layout;
  }
  float heads = 0.0f, side = 0.0f;
  switch (view.centre) {
    case CentreView::Map:
      if (scatter) {
        layout.side_kind = Side::Model;
        heads =
            std::clamp(chosen(wish.heads_width, 0.43f * rest.width()), 320.0f, std::max(320.0f, rest.width() - 360.0f));
        if (rest.width() < 760.0f) heads = rest.width();
        layout.heads = rest.cut_left(heads);
        rest.cut_left(kGap);
        layout.side = rest;
        return layout;
      }
      layout.side_kind = view.head.across_model ? Side::Model : long_prompt ? Side::Where : Side::Head;
      heads = std::max(kLeastHeads, chosen(wish.heads_width, narrow ? 190.0f : 300.0f));
      side = std::max(kLeastSide, chosen(wish.head_width, narrow ? 262.0f : differential ? 372.0f : 340.0f));
      layout.heads_rail =
          wish.heads_folded || ((long_prompt || (differential && view.map.swipe)) && window.width() < 1700.0f);
      break;
    case CentreView::WhatIf:
      layout.side_kind = Side::Change;
      heads = narrow ? 190.0f : 272.0f;
      side = narrow ? 330.0f : 388.0f;
      layout.heads_rail = wish.heads_folded || narrow;
      break;
    case CentreView::Compare:
      layout.side_kind = Side::Compare;
      heads = narrow ? 190.0f : 272.0f;
      side = narrow ? 300.0f : 352.0f;
      layout.heads_rail = wish.heads_folded || narrow;
      break;
  }
  layout.side_rail = wish.head_folded;
  // The map is a square: what a wide window has beside it goes to the other panels, up to twice their width.
  if (view.centre == CentreView::Map && !view.map.swipe) {
    const float spare = rest.width() - heads - side - (rest.height() + kBesideMap);
    if (spare > 0.0f) {
      if (wish.heads_width <= 0.0f) heads += std::min(0.4f * spare, heads);
      if (wish.head_width <= 0.0f) side += std::min(0.6f * spare, side);
    }
  }
  // Too narrow for all: the heads fold first, then the side.
  const auto needed = [&] {
    return (layout.heads_rail ? kRail : heads) + (layout.side_rail ? kRail : side) + kLeastMap;
  };
  if (needed() > rest.width()) layout.heads_rail = true;
  if (needed() > rest.width()) layout.side_rail = true;
  layout.heads = rest.cut_left(layout.heads_rail ? kRail : heads);
  rest.cut_left(kGap);
  layout.side = rest.cut_right(layout.side_rail ? kRail : side);
  rest.cut_right(kGap);
  layout.centre = rest;
  return layout;
}

std::vector<ShownPanel> shown_panels(const WindowLayout& layout) {
  std::vector<ShownPanel> shown;
  const auto add = [&](const char* name, Rect rect, bool rail) {
    if (!rect.empty() && !rail) shown.push_back({name, rect});
  };
  add("heads", layout.heads, layout.heads_rail);
  add("map", layout.centre, false);
  add("head", layout.side, layout.side_rail);
  add("tokens", layout.tokens, layout.tokens_rail);
  return shown;
}

}  // namespace headroom
