#include "app/panels/residual/residual_parts.h"

#include <algorithm>
#include <any>
#include <array>
#include <cmath>
#include <cstddef>

#include "app/panels/parts/head_parts.h"
#include "app/plot/token_text.h"
#include "app/session/command_parts.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

using ViewPtr = std::shared_ptr<const ResidualView>;

}  // namespace

ViewPtr residual_view(PanelContext& context) {
  const RunEntry* entry = context.state.shown();
  const std::shared_ptr<const RunSnapshot> run = entry ? entry->data : nullptr;
  const ResidualState& state = context.state.view.residual;
  std::any& kept = context.ui.kept_value("residual view");
  const ViewPtr* before = std::any_cast<ViewPtr>(&kept);
  if (before && *before && (*before)->run == run && (*before)->of == state) return *before;
  ViewPtr made = make_residual_view(run, state, before ? before->get() : nullptr);
  kept = made;
  return made;
}

ResidualGap residual_gap(const State& state) {
  ResidualGap gap;
  const RunEntry* run = state.shown();
  const ModelEntry* model = run ? state.find_model(run->model) : nullptr;
  if (!run || (run->model >= 0 && !run->data)) {
    gap.sentence = "Nothing has run yet.";
    gap.more = "RMS, kurtosis and the largest activations of the residual stream appear here, boundary by boundary.";
    if (run && run->status == RunStatus::Waiting) gap.button = "Run", gap.line = "run";
  } else if (run->model < 0) {
    gap.sentence = "This run file has no residual stream.";
    gap.more = "It is kept by headroom analyze --hidden, and by every run of its checkpoint in the window.";
    gap.button = "Open its checkpoint";
    gap.line = "run.checkpoint";
  } else if (model && model->model && model->model->spec.capture) {
    gap.sentence = "A capture has no residual stream.";
    gap.more = "It holds the queries, keys and values of calls of attention, and nothing between them.";
  } else if (run->data && run->data->residual.empty()) {
    gap.sentence = "This run has no residual stream.";
    gap.button = "Run again";
    gap.line = "run";
  } else {
    gap.sentence = "No boundary is computed yet.";
    gap.more = "Each appears as soon as the layer before it is done.";
  }
  return gap;
}

void draw_residual_gap(PanelContext& context, Rect area) {
  const ResidualGap gap = residual_gap(context.state);
  context.facts.set("residual.state", gap.sentence);
  Rect note = area.inset(measure::kPadding, 8.0f);
  if (note.width() < 40.0f || note.height() < 20.0f) return;
  const float button = gap.button.empty() ? 0.0f : context.ui.button_width(gap.button);
  const Rect text = note.cut_top(std::max(0.0f, std::min(110.0f, note.height() - (button > 0.0f ? 34.0f : 0.0f))));
  draw_note(context, text, gap.sentence, gap.more);
  if (button <= 0.0f || note.height() < 26.0f || button > note.width()) return;
  if (context.ui.button(Rect::sized(note.x0, note.y0, button, 26.0f), gap.button, gap.line, ButtonStyle::Primary) &&
      gap.keep) {
    context.ui.run("residual.keep on");
    context.ui.run("run");
  }
}

std::string activation_text(double value) {
  if (!std::isfinite(value)) return "–";
  if (std::abs(value) < 100.0) return readout_text(value);
  const std::string size = grouped_text(std::llround(std::abs(value)));
  return value < 0.0 ? "\u2212" + size : size;
}

std::string ratio_text(double ratio) {
  if (std::isinf(ratio)) return "∞";
  return activation_text(ratio);
}

std::string residual_token(const ResidualView& view, std::int64_t token, TokenAxis axis) {
  const std::string* text = axis_text(*view.run, axis, token);
  return text ? token_label(*text) : std::string();
}

std::string fitting_hint(const PanelContext& context, Rect frame, std::string_view title,
                         std::initializer_list<std::string> hints) {
  const Theme& theme = context.theme();
  const float room = frame.width() - 2.0f * measure::kPadding - 24.0f - 11.0f - context.ui.width(title, theme.title());
  for (const std::string& hint : hints)
    if (context.ui.width(hint, theme.body(theme.text3)) <= room - 1.0f) return hint;
  return {};
}

Color token_color(const ResidualView& view, std::int64_t token, const Theme& theme) {
  const std::array<Color, kTokenColours> colours = {theme.accent, theme.first, theme.kappa, theme.lambda};
  const auto found = std::ranges::find(view.coloured, token);
  if (found == view.coloured.end()) return theme.text3;
  return colours[static_cast<std::size_t>(found - view.coloured.begin())];
}

}  // namespace headroom
