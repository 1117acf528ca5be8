#include "app/panels/circuit/circuit_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/circuit/circuit_plots.h"
#include "app/panels/heads/heads_rows.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/panel_scope.h"
#include "app/panels/parts/panel_title.h"
#include "core/base/number_text.h"
#include "core/run/head_table.h"
#include "core/run/head_values.h"
#include "core/run/quantity_info.h"

namespace headroom {
namespace {

constexpr float kBetween = 26.0f;  // plots beside each other

std::string head_hint(const LayerCircuits& layer, HeadRef head) {
  const HeadProgram& program = layer.programs[static_cast<std::size_t>(head.head)];
  std::string text = layer.kind;
  if (program.first.key_block >= 0) text += " · kv " + std::to_string(program.first.key_block);
  return text + " · d " + std::to_string(layer.head_dim) + " · weights only";
}

std::string progress_hint(const ModelCircuits& circuits) {
  if (!circuits.running)
    return circuits.complete() ? "" : std::to_string(circuits.done) + " of " + std::to_string(circuits.all) + " layers";
  if (circuits.done == 0) return "vocabulary " + fixed_text(200.0 * circuits.fraction, 0) + " %";
  return std::to_string(circuits.done) + " of " + std::to_string(circuits.all) + " layers";
}

// Nothing is measured: why, and what can be done.
void draw_nothing(PanelContext& context, const ModelEntry* model, Rect area) {
  if (model == nullptr) {
    draw_note(context, area, "A run file has no weights.",
              "Open its checkpoint to see what its heads can read and write.");
    return;
  }
  const ModelCircuits& circuits = model->circuits;
  if (circuits.running) {
    draw_note(context, area, "The circuits are being measured.", progress_hint(circuits));
    context.ui.progress({area.x0, area.y0 + 44.0f, std::min(area.x1, area.x0 + 260.0f), area.y0 + 56.0f},
                        circuits.fraction);
    return;
  }
  const std::string first = circuits.error ? "The circuits could not be measured." : "No circuit is measured yet.";
  draw_note(context, area, first,
            circuits.error ? circuits.error->message
                           : "What a head can read and write follows from its weights: no prompt is needed.");
  const float width = context.ui.button_width("Measure all heads");
  context.ui.button(Rect::sized(area.x0, area.y0 + 54.0f, width, measure::kControl), "Measure all heads", "circuit on",
                    ButtonStyle::Primary);
}

void draw_table(PanelContext& context, RunCache& memory, const ModelCircuits& circuits, Rect area) {
  const Theme& theme = context.theme();
  Painter& painter = context.painter();
  painter.fill_rect({area.x0, area.y0 - 1.0f, area.x1, area.y0}, theme.line);
  Rect bar = area.cut_top(measure::kPanelTitle).inset(measure::kPadding, 0.0f);
  const float title =
      context.ui.label_at(bar.x0, bar.centre_y(), "Heads by copying score", theme.plot_title(), bar.width());
  const std::string hint =
      circuits.complete() ? "and by what they do on the text, where it ran" : progress_hint(circuits) + " so far";
  const float room = bar.width() - title - 14.0f;
  if (room > 80.0f) context.ui.label_at(bar.x1, bar.centre_y(), hint, theme.hint(), room, Painter::Align::Right);
  if (memory.run() == nullptr || area.height() < 50.0f) return;
  // Sorted once for what is measured.
  const std::vector<std::size_t>& sorted = kept_for(context.ui.kept_value("sorted"), context.state.heads_shown(), [&] {
    return make_head_table(*memory.run(), "", "copying_score", true).rows;
  });
  HeadRowsOptions options;
  options.columns = circuit_columns(*memory.run());
  options.kind = false;
  options.row_height = measure::kFullTableRow;
  context.ui.push_id("circuits");
  draw_head_rows(context, memory, sorted, options, area);
  context.ui.pop_id();
}

void draw_plots(const CircuitView& view, Rect area) {
  const Theme& theme = view.context.theme();
  area = area.inset(measure::kPadding, 6.0f);
  const bool wide = area.width() >= 520.0f, low = area.height() < 330.0f;
  if (!wide) {
    const float each = 0.5f * area.height();
    draw_ov_spectrum(view, area.cut_top(each - 4.0f));
    area.cut_top(8.0f);
    draw_eigenvalues(view, area);
    return;
  }
  Rect spectra = area.cut_top(std::round((low ? 1.0f : 0.47f) * area.height()));
  const float half = 0.5f * (spectra.width() - kBetween);
  draw_ov_spectrum(view, spectra.cut_left(half));
  spectra.cut_left(kBetween);
  draw_qk_spectrum(view, spectra);
  if (low) return;
  area.cut_top(6.0f);
  view.context.painter().fill_rect({area.x0 - measure::kPadding, area.y0, area.x1 + measure::kPadding, area.y0 + 1.0f},
                                   theme.line);
  area.cut_top(8.0f);
  const float third = (area.width() - 2.0f * kBetween) / 3.0f;
  draw_eigenvalues(view, area.cut_left(third));
  area.cut_left(kBetween);
  draw_alignment(view, area.cut_left(third));
  area.cut_left(kBetween);
  draw_alignment_by_layer(view, area);
}

}  // namespace

void draw_circuit_panel(PanelContext& context, Rect frame) {
  RunCache own;
  RunCache& memory = run_cache(context, own);
  const PanelScope scope(context, "circuit", frame);
  const ModelEntry* model = context.state.circuit_model();
  const std::optional<HeadRef> head = context.state.view.selection.head;
  const LayerCircuits* layer = model && head ? model->circuits.layer(head->layer) : nullptr;
  const bool there = layer && head->head < static_cast<std::int64_t>(layer->heads.size());
  std::string hint = there ? head_hint(*layer, *head) : "";
  if (model && model->circuits.all > 0)
    if (const std::string progress = progress_hint(model->circuits); !progress.empty())
      hint += (hint.empty() ? "" : " · ") + progress;
  Rect body = draw_panel_title(context, frame, "map", "Circuit", head ? head_text(*head) : "", hint);
  if (!there) {
    if (model && model->circuits.done > 0)
      draw_note(
          context, body.inset(measure::kPadding, 8.0f),
          head ? layer ? "The layer has no such head." : "This layer is not measured yet." : "No head is selected.",
          "Choose one among the heads at the left.");
    else
      draw_nothing(context, model, body.inset(measure::kPadding, 8.0f));
  } else {
    const float rows = body.height() >= 560.0f ? 0.27f : body.height() >= 420.0f ? 0.3f : 0.0f;
    const Rect table = body.cut_bottom(std::round(rows * body.height()));
    draw_plots({context, model->circuits, *layer, *head}, body);
    if (!table.empty()) draw_table(context, memory, model->circuits, table);
  }
  if (model) {
    context.facts.set("circuit.layers", static_cast<double>(model->circuits.done));
    context.facts.set("circuit.running", model->circuits.running ? 1.0 : 0.0);
  }
  if (there) {
    context.facts.set("circuit.copying_score", layer->heads[static_cast<std::size_t>(head->head)].copying);
    context.facts.set("circuit.eigenvalues",
                      static_cast<double>(layer->heads[static_cast<std::size_t>(head->head)].eigenvalues.size()));
  }
}

const PanelInfo kCircuitPanel{.id = "circuit", .title = "Circuit", .least_width = 300.0f, .draw = draw_circuit_panel};

}  // namespace headroom
