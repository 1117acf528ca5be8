#include "app/panels/chrome/window_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "app/panels/circuit/circuit_panel.h"
#include "app/panels/circuit/circuit_side.h"
#include "app/panels/compare/compare_panel.h"
#include "app/panels/compare/compare_side.h"
#include "app/panels/corpus/corpus_heads.h"
#include "app/panels/corpus/corpus_side.h"
#include "app/panels/corpus/paired_list.h"
#include "app/panels/corpus/paired_panel.h"
#include "app/panels/corpus/sequences_panel.h"
#include "app/panels/head/head_panel.h"
#include "app/panels/heads/columns_panel.h"
#include "app/panels/heads/heads_panel.h"
#include "app/panels/heads/heads_set.h"
#include "app/panels/importance/importance_list.h"
#include "app/panels/importance/importance_panel.h"
#include "app/panels/map/map_panel.h"
#include "app/panels/map/where_panel.h"
#include "app/panels/model/model_panel.h"
#include "app/panels/residual/massive_panel.h"
#include "app/panels/residual/residual_cells.h"
#include "app/panels/residual/residual_panel.h"
#include "app/panels/tokens/prediction_panel.h"
#include "app/panels/tokens/tokens_large.h"
#include "app/panels/tokens/tokens_panel.h"
#include "app/panels/training/film_panel.h"
#include "app/panels/training/histories_panel.h"
#include "app/panels/training/training_panel.h"
#include "app/panels/what_if/what_if_change.h"
#include "app/panels/what_if/what_if_panel.h"
#include "app/plot/theme.h"

namespace headroom {
namespace {

constexpr float kGap = 1.0f;
constexpr float kNarrow = 1200.0f;    // below it the panels of 1024 × 640
constexpr float kBesideMap = 110.0f;  // labels, profile and bar, less what stands above and below the square

float chosen(float by_person, float by_design) { return by_person > 0.0f ? by_person : by_design; }

bool selected_is_differential(const State& state) {
  const LayerSnapshot* layer = state.selected_layer();
  if (!layer) return false;
  const std::int64_t index = layer->head_index(state.view.selection.head->head);
  return index >= 0 && layer->programs[static_cast<std::size_t>(index)].has_second();
}

constexpr std::int64_t kLongPrompt = 16384;
constexpr float kHeadsBesideText = 1700.0f;  // from this width of the window on

// What stands in the slots of a view, and how wide by design: a new view is a line of panels_of().
struct ViewPanels {
  const PanelInfo *heads = nullptr, *centre = nullptr, *side = nullptr;
  float heads_width = 272.0f, side_width = 352.0f;    // in a window as wide as kNarrow
  float heads_narrow = 190.0f, side_narrow = 300.0f;  // and in a smaller one
  float fold_heads_below = kNarrow;                   // width of the window; 0: not for the view's sake
  bool tokens = false;                                // the text stands below
  const PanelInfo* below = nullptr;                   // or this, under the centre alone
  float below_share = 0.0f;                           // of the height
};

ViewPanels panels_of(const State& state) {
  const ViewState& view = state.view;
  switch (view.centre) {
    case CentreView::WhatIf: return {&kHeadsPanel, &kWhatIfPanel, &kChangePanel, 272.0f, 388.0f, 190.0f, 330.0f};
    case CentreView::Compare:
      if (state.corpus() && state.other() && state.other()->corpus)
        return {&kHeadsPanel, &kPairedPanel, &kPairedListPanel, 300.0f, 360.0f, 190.0f, 262.0f};
      return {&kHeadsPanel, &kComparePanel, &kComparedHeadsPanel};
    case CentreView::Circuit: return {&kHeadsPanel, &kCircuitPanel, &kWritesPanel, 300.0f, 330.0f, 190.0f, 262.0f};
    case CentreView::Importance: return {&kHeadsPanel, &kImportancePanel, &kImportanceListPanel, 300.0f, 340.0f};
    case CentreView::Training:
      return {.heads = &kHistoriesPanel,
              .centre = &kTrainingPanel,
              .heads_width = 300.0f,
              .heads_narrow = 264.0f,
              .fold_heads_below = 0.0f,
              .below = &kFilmPanel,
              .below_share = 0.43f};
    case CentreView::Tokens:
      return {&kHeadsPanel, &kLargeTokensPanel, &kPredictionPanel, 300.0f, 340.0f, 190.0f, 280.0f, kHeadsBesideText};
    case CentreView::Residual:
      return {&kResidualPanel, &kResidualCellsPanel, &kMassivePanel, 500.0f, 340.0f, 340.0f, 280.0f, 1000.0f};
    case CentreView::Map: break;
  }
  const bool table = view.heads.view == HeadsView::Table, scatter = view.heads.view == HeadsView::Scatter;
  if (state.corpus() && !table && !scatter)
    return {.heads = &kHeadsPanel,
            .centre = &kCorpusHeadsPanel,
            .side = &kCorpusSidePanel,
            .heads_width = 300.0f,
            .side_width = 340.0f,
            .heads_narrow = 190.0f,
            .side_narrow = 262.0f,
            .fold_heads_below = 0.0f,
            .below = &kSequencesPanel,
            .below_share = 0.5f};
  const bool differential = selected_is_differential(state);
  const bool long_prompt = state.data() && state.data()->length >= kLongPrompt && !view.map.window.whole();
  ViewPanels panels{&kHeadsPanel, &kMapPanel, &kHeadPanel, 300.0f, differential ? 372.0f : 340.0f, 190.0f, 262.0f};
  if (shown_beside(view) && !state.corpus()) {
    panels.below = view.heads.lasso.empty() ? nullptr : &kHeadsSetPanel;
    panels.below_share = 0.3f;
    panels.fold_heads_below = 0.0f;
    return panels;
  }
  if (table)
    panels.side = &kColumnsPanel;
  else if (scatter || view.head.across_model)
    panels.side = &kModelPanel;
  else if (long_prompt)
    panels.side = &kWherePanel;
  panels.fold_heads_below = long_prompt || (differential && view.map.swipe) ? 1700.0f : 0.0f;
  panels.tokens = !table && !scatter && !state.corpus();
  return panels;
}

}  // namespace

WindowLayout window_layout(Rect window, const State& state) {
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
  const ViewPanels panels = panels_of(state);
  const bool corpus = state.corpus() != nullptr;
  const bool beside = shown_beside(view) && !corpus;
  const bool table = view.centre == CentreView::Map && view.heads.view == HeadsView::Table && !beside;
  const bool scatter = view.centre == CentreView::Map && view.heads.view == HeadsView::Scatter && !beside;

  layout.heads.panel = panels.heads;
  layout.centre.panel = panels.centre;
  layout.side.panel = panels.side;
  layout.tokens.panel = panels.below ? panels.below : &kTokensPanel;
  for (PanelSlot* slot : {&layout.heads, &layout.centre, &layout.side, &layout.tokens})
    if (wish.maximised == slot->name) {
      slot->rect = rest;
      return layout;
    }
  if (panels.tokens) {
    const float design = rest.height() < 560.0f ? 78.0f : 100.0f;
    float tokens = chosen(wish.tokens_height, design);
    layout.tokens.folded = wish.tokens_folded || rest.height() < 380.0f;
    if (layout.tokens.folded) tokens = measure::kPanelTitle;
    if (rest.height() >= 300.0f) {
      layout.tokens.rect = rest.cut_bottom(std::min(tokens, 0.45f * rest.height()));
      rest.cut_bottom(kGap);
    }
  }
  if (table) {
    layout.side.folded = narrow || wish.head_folded;
    layout.side.rect = rest.cut_right(layout.side.folded ? kRail : 290.0f);
    rest.cut_right(kGap);
    layout.heads.rect = rest;
    return layout;
  }
  if (scatter) {
    float heads =
        std::clamp(chosen(wish.heads_width, 0.43f * rest.width()), 320.0f, std::max(320.0f, rest.width() - 360.0f));
    if (rest.width() < 760.0f) heads = rest.width();
    layout.heads.rect = rest.cut_left(heads);
    rest.cut_left(kGap);
    layout.side.rect = rest;
    return layout;
  }
  if (panels.below && !panels.side) {
    float heads = chosen(wish.heads_width, narrow ? panels.heads_narrow : panels.heads_width);
    heads = std::max(panels.heads->least_width, heads);
    layout.heads.folded = wish.heads_folded || heads + panels.centre->least_width > rest.width();
    layout.heads.rect = rest.cut_left(layout.heads.folded ? kRail : heads);
    rest.cut_left(kGap);
    layout.tokens.folded = wish.tokens_folded || rest.height() < 300.0f;
    const float below = layout.tokens.folded
                            ? measure::kPanelTitle
                            : std::clamp(chosen(wish.tokens_height, panels.below_share * rest.height()),
                                         std::min(190.0f, 0.5f * rest.height()), 0.75f * rest.height());
    layout.tokens.rect = rest.cut_bottom(std::round(below));
    rest.cut_bottom(kGap);
    layout.centre.rect = rest;
    return layout;
  }
  const bool sized = view.centre == CentreView::Map;  // a person's widths are those of the map's view
  float heads = narrow ? panels.heads_narrow : panels.heads_width;
  float side = narrow ? panels.side_narrow : panels.side_width;
  if (sized) {
    heads = std::max(layout.heads.panel->least_width, chosen(wish.heads_width, heads));
    side = std::max(layout.side.panel->least_width, chosen(wish.head_width, side));
  }
  if (beside) heads = std::clamp(chosen(wish.heads_width, 0.39f * rest.width()), 320.0f, 560.0f);
  layout.heads.folded =
      wish.heads_folded || (panels.fold_heads_below > 0.0f && window.width() < panels.fold_heads_below);
  layout.side.folded = wish.head_folded;
  // The map is a square: what a wide window has beside it goes to the other panels, up to twice their width.
  if (view.centre == CentreView::Map && !view.map.swipe && !beside && !corpus) {
    const float spare = rest.width() - heads - side - (rest.height() + kBesideMap);
    if (spare > 0.0f) {
      if (wish.heads_width <= 0.0f) heads += std::min(0.4f * spare, heads);
      if (wish.head_width <= 0.0f) side += std::min(0.6f * spare, side);
    }
  }
  // Too narrow for all: the heads fold first, then the side.
  const auto needed = [&] {
    return (layout.heads.folded ? kRail : heads) + (layout.side.folded ? kRail : side) +
           layout.centre.panel->least_width;
  };
  if (needed() > rest.width() && beside) layout.side.folded = true;
  if (needed() > rest.width()) layout.heads.folded = true;
  if (needed() > rest.width()) layout.side.folded = true;
  layout.heads.rect = rest.cut_left(layout.heads.folded ? kRail : heads);
  rest.cut_left(kGap);
  layout.side.rect = rest.cut_right(layout.side.folded ? kRail : side);
  rest.cut_right(kGap);
  layout.centre.rect = rest;
  if (panels.below && rest.height() >= 300.0f) {
    layout.tokens.folded = wish.tokens_folded;
    const float below =
        layout.tokens.folded
            ? measure::kPanelTitle
            : std::clamp(chosen(wish.tokens_height, panels.below_share * rest.height()), 110.0f, 0.5f * rest.height());
    layout.tokens.rect = layout.centre.rect.cut_bottom(std::round(below));
    layout.centre.rect.cut_bottom(kGap);
  }
  return layout;
}

}  // namespace headroom
