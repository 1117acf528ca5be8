// The design's colours and measures (dark and light), by role. Immutable; safe from any thread.
#pragma once

#include "app/plot/color_map.h"
#include "app/plot/painter.h"

namespace headroom {

struct Theme {
  bool dark = true;
  Colours colours = Colours::Headroom;  // of maps
  SignedColours signed_colours = SignedColours::Headroom;
  Color bg, panel, raised, hover, line, grid, empty;
  Color text, text2, text3, off, faint;
  Color accent, on_accent, accent_soft;
  Color first, second, lambda, kappa;  // a¹ and positive; a² and negative; λ; ½ log κ
  Color warn, err, ok, scrim, mark, halo, hatch;

  [[nodiscard]] ColorMapId sequential() const { return sequential_map(colours, dark); }
  [[nodiscard]] ColorMapId diverging() const { return diverging_map(signed_colours, dark); }
  [[nodiscard]] ColorMapId lambda_map() const { return dark ? ColorMapId::LambdaDark : ColorMapId::LambdaLight; }

  [[nodiscard]] TextStyle body(Color c) const { return {Face::Sans, 12.0f, c}; }
  [[nodiscard]] TextStyle hint() const { return {Face::Sans, 11.0f, text3}; }
  [[nodiscard]] TextStyle value() const { return {Face::Mono, 12.0f, text}; }
  [[nodiscard]] TextStyle tick() const { return {Face::Mono, 10.0f, text3}; }
  [[nodiscard]] TextStyle title() const { return {Face::SansSemibold, 13.0f, text}; }
  [[nodiscard]] TextStyle plot_title() const { return {Face::SansSemibold, 12.0f, text}; }
};

[[nodiscard]] const Theme& dark_theme();
[[nodiscard]] const Theme& light_theme();

namespace measure {
inline constexpr float kMenu = 28, kToolBar = 40, kControl = 24, kPanelControl = 22, kPanelTitle = 30, kPadding = 12,
                       kStatusBar = 24, kTableRow = 18, kFullTableRow = 20, kTokenLine = 21, kRadius = 4, kGap = 8,
                       kGroupGap = 14, kTitleToPlot = 17, kComboLeft = 8,
                       kComboRight = 22;  // beside the text of a combo; its triangle is at the right
}

}  // namespace headroom
