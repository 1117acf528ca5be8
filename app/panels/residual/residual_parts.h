// What the panels of the residual stream share: what they show of the run, made once a frame, words for activations and
// tokens, and what stands in the place of data. Main thread only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "app/panels/panel.h"
#include "app/panels/residual/residual_view.h"

namespace headroom {

// Of the shown run, kept between frames; null: it has no residual stream (yet).
[[nodiscard]] std::shared_ptr<const ResidualView> residual_view(PanelContext& context);

// Why there is nothing, and what can be done: a sentence, and a button where there is one thing to do.
struct ResidualGap {
  std::string sentence, more, button;
  bool keep = false;  // the button runs again with the stream kept
  std::string line;   // else what the button runs
};
[[nodiscard]] ResidualGap residual_gap(const State& state);
void draw_residual_gap(PanelContext& context, Rect area);

// "25 805", "−574", "1.76".
[[nodiscard]] std::string activation_text(double value);
// "14 680": at least three digits.
[[nodiscard]] std::string ratio_text(double ratio);
// The token's text as a label; its id where it has none.
[[nodiscard]] std::string residual_token(const ResidualView& view, std::int64_t token, TokenAxis axis);
// The first of these that fits beside a panel's title; empty where none does.
[[nodiscard]] std::string fitting_hint(const PanelContext& context, Rect frame, std::string_view title,
                                       std::initializer_list<std::string> hints);
// Of the tokens of the largest activations the first have a colour each, others text3.
[[nodiscard]] Color token_color(const ResidualView& view, std::int64_t token, const Theme& theme);

}  // namespace headroom
