#include "app/panels/importance/importance_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "app/panels/parts/kept.h"
#include "core/base/number_text.h"

namespace headroom {

bool ImportanceView::differs(std::size_t place) const {
  return table && std::abs(table->delta[place]) > half_width * table->error[place];
}

std::optional<ImportanceView> importance_view(const State& state) {
  ImportanceView view;
  view.run = state.shown();
  if (!view.run || !view.run->data || view.run->data->heads.empty()) return {};
  view.data = view.run->data.get();
  view.way = state.view.importance.colour;
  const std::optional<LossSweep>& sweep = sweep_of(view.run->sweeps, view.way);
  view.sweep = sweep ? &*sweep : nullptr;
  view.table = sweep ? sweep->table.get() : nullptr;
  // Panels index its numbers by the run's heads.
  if (view.table && (view.table->layers != view.data->layers || view.table->heads != view.data->heads))
    view.table = nullptr;
  if (view.table) view.half_width = view.table->half_width();
  return view;
}

AxisSpec loss_axis(const LossSweeps& sweeps) {
  double low = 0.0, high = 0.0;
  for (const AblationWay way : kAblationWays)
    if (const LossTable* table = table_of(sweeps, way))
      for (const double delta : table->delta)
        if (std::isfinite(delta)) low = std::min(low, delta), high = std::max(high, delta);
  return signed_axis(low, high, kSmallLossChange);
}

double detectable_change(PanelContext& context, const ImportanceView& view) {
  if (view.table == nullptr) return kNaN;
  return kept_for(context.ui.kept_value("detectable"), view.sweep->table, [&] { return view.table->detectable(); });
}

std::string done_text(const LossTable& table) {
  const auto done = static_cast<std::int64_t>(table.done), asked = static_cast<std::int64_t>(table.asked);
  if (done >= asked) return grouped_text(done) + (done == 1 ? " head" : " heads");
  return grouped_text(done) + " of " + grouped_text(asked) + " heads";
}

std::string doing_text(const LossSweep& sweep) {
  if (sweep.doing == "waiting") return "waiting: what was asked for meanwhile goes first";
  if (!sweep.table) return "the model itself, " + sweep.doing;
  const LossTable& table = *sweep.table;
  for (std::size_t l = table.layers.size(); l-- > 0;) {
    const auto row = table.delta.begin() + static_cast<std::ptrdiff_t>(l * table.heads.size());
    if (std::any_of(row, row + static_cast<std::ptrdiff_t>(table.heads.size()),
                    [](double delta) { return std::isnan(delta); }))
      return "layer " + std::to_string(table.layers[l]) + ", from the last upward";
  }
  return sweep.doing;
}

std::string change_text(const ImportanceView& view, std::size_t place) {
  const double delta = view.table ? view.table->delta[place] : kNaN;
  if (!std::isfinite(delta)) return "not computed";
  const double half = view.half_width * view.table->error[place];
  return signed_text(delta, 4) + (std::isfinite(half) ? " ± " + fixed_text(half, 4) : "");
}

std::string cell_of_way(const LossSweeps& sweeps, AblationWay way, std::size_t place) {
  const std::optional<LossSweep>& sweep = sweep_of(sweeps, way);
  if (!sweep) return "–";
  const bool known = sweep->table && place < sweep->table->delta.size() && std::isfinite(sweep->table->delta[place]);
  if (known) return signed_text(sweep->table->delta[place], 4);
  return sweep->status == SweepStatus::Done ? "–" : "not yet";
}

void draw_hatched(PanelContext& context, Rect area) {
  if (area.empty()) return;
  static const std::uint64_t id = next_image_id();
  static const auto values = std::make_shared<const std::vector<float>>(1, std::nanf(""));
  MapImage image;
  image.id = id, image.width = image.height = 1, image.values = values;
  MapShading shading;
  shading.scale.map = context.theme().sequential();
  shading.nan = NanStyle::Hatched;
  context.painter().map(area, image, {0.0f, 0.0f, 1.0f, 1.0f}, shading);
}

}  // namespace headroom
