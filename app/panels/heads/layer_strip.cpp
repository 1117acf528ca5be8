// The layers of a model as a strip of cells, before a run: what attends there, where there are experts, what is not
// measured and why.
#include "app/panels/heads/layer_strip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/heads/heads_layout.h"
#include "app/panels/panel.h"

namespace headroom {
namespace {

constexpr float kLayerCell = 18.0f, kMostCellHeight = 18.0f, kExperts = 4.0f, kLegendLine = 16.0f,
                kLegendSwatch = 10.0f;
constexpr float kLeastLegend = 110.0f;

// Variants in the order of their first layers; those without heads are grey.
Color variant_color(const Theme& theme, std::size_t variant) {
  const std::array colors = {theme.accent, theme.lambda, theme.second, theme.first, theme.kappa, theme.warn};
  return colors[variant % colors.size()].faded(0.8f);
}

struct Strip {
  PanelContext& context;
  const ModelEntry& model;
  std::vector<LikeLayers> variants;
  std::vector<std::size_t> variant_of;  // by layer

  [[nodiscard]] Color color(std::size_t layer) const {
    const Theme& theme = context.theme();
    return model.layers[layer].unmeasured.empty() ? variant_color(theme, variant_of[layer]) : theme.off.faded(0.5f);
  }
};

std::string facts_text(const LayerFacts& facts) {
  std::string text = facts.name + ": " + facts.variant;
  if (!facts.unmeasured.empty()) return text + "\n" + facts.unmeasured + "\n" + facts.block;
  const std::pair<const char*, const std::string*> lines[] = {
      {"", &facts.heads}, {"mask: ", &facts.mask}, {"rotation: ", &facts.rotation}, {"block: ", &facts.block}};
  for (const auto& [name, value] : lines)
    if (!value->empty()) text += "\n" + (name + *value);
  return text;
}

// Returns the right end of what it drew.
float draw_layer_cells(const Strip& strip, Rect area) {
  PanelContext& context = strip.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::size_t layers = strip.model.layers.size();
  const float step = std::min(kMostCellHeight, area.height() / static_cast<float>(layers));
  const float labels = context.ui.width(std::to_string(layers - 1), theme.tick()) + 6.0f;
  const float gap = step >= 6.0f ? 1.0f : 0.0f, x0 = area.x0 + labels;
  const auto row = [&](std::size_t layer) {
    const float y = area.y0 + static_cast<float>(layer) * step;
    return Rect{x0, y, x0 + kLayerCell, y + step - gap};
  };
  for (const std::size_t layer : thinned_positions(layers, step, 12.0f))
    painter.text_at(x0 - 6.0f, std::clamp(row(layer).centre_y(), area.y0 + 5.0f, area.y1 - 5.0f), std::to_string(layer),
                    theme.tick(), Painter::Align::Right);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const Rect cell = row(layer);
    painter.fill_rect(cell, strip.color(layer));
    if (!strip.model.layers[layer].experts.empty())
      painter.fill_rect({cell.x1 + 2.0f, cell.y0, cell.x1 + 2.0f + kExperts, cell.y1}, theme.text3);
  }
  const Rect all{x0, area.y0, x0 + kLayerCell + 2.0f + kExperts, area.y0 + step * static_cast<float>(layers)};
  if (context.ui.hovered(all)) {
    const auto at = static_cast<std::size_t>(std::max(0.0f, (context.ui.input.pointer.y - area.y0) / step));
    const std::size_t layer = std::min(at, layers - 1);
    painter.stroke_rect(row(layer).inset(-1.0f), theme.text, 1.0f);
    context.ui.tooltip(row(layer), facts_text(strip.model.layers[layer]));
  }
  return all.x1;
}

// Sentences below each other, as far as they go.
class Legend {
 public:
  Legend(PanelContext& context, Rect area) : context_(context), area_(area) {}

  void entry(const Color* swatch, const std::string& text, const TextStyle& style) {
    const float indent = swatch != nullptr ? kLegendSwatch + 6.0f : 0.0f, width = area_.width() - indent;
    const float height = context_.ui.paragraph({area_.x0 + indent, area_.y0}, text, style, width, kLegendLine, false);
    if (height > area_.height()) {
      area_.y0 = area_.y1;
      return;
    }
    if (swatch != nullptr)
      context_.painter().fill_rect(Rect::sized(area_.x0, area_.y0 + 3.0f, kLegendSwatch, kLegendSwatch), *swatch);
    context_.ui.paragraph({area_.x0 + indent, area_.y0}, text, style, width, kLegendLine);
    area_.cut_top(height);
  }
  void space() { area_.cut_top(std::min(6.0f, area_.height())); }

 private:
  PanelContext& context_;
  Rect area_;
};

std::string layers_of(const LikeLayers& like, std::size_t count) {
  if (like.layers.size() == count) return "all " + std::to_string(count) + " layers";
  return (like.layers.size() == 1 ? "layer " : "layers ") + layers_text(like.layers);
}

void draw_layer_legend(const Strip& strip, Rect area) {
  const Theme& theme = strip.context.theme();
  const std::vector<LayerFacts>& layers = strip.model.layers;
  Legend legend(strip.context, area);
  for (const LikeLayers& like : strip.variants) {
    const Color color = strip.color(static_cast<std::size_t>(like.layers.front()));
    legend.entry(&color, like.text, theme.body(theme.text));
    legend.entry(nullptr, layers_of(like, layers.size()), theme.hint());
    legend.space();
  }
  const auto facts = [&](std::string LayerFacts::* of, const char* name) {
    for (const LikeLayers& like : like_layers(layers, of))
      if (!like.text.empty())
        legend.entry(
            nullptr,
            name + like.text + (like.layers.size() == layers.size() ? "" : ": " + layers_of(like, layers.size())),
            theme.body(theme.text2));
  };
  facts(&LayerFacts::heads, "");
  facts(&LayerFacts::experts, "");
  facts(&LayerFacts::rotation, "rotation: ");
  legend.space();
  for (const LikeLayers& like : like_layers(layers, &LayerFacts::unmeasured))
    if (!like.text.empty())
      legend.entry(nullptr, "Not measured, " + layers_of(like, layers.size()) + ": " + like.text,
                   theme.body(theme.warn));
  if (!strip.model.not_run.empty())
    legend.entry(nullptr, "Not run, of another task: " + strip.model.not_run, theme.body(theme.text2));
}

}  // namespace

std::string layer_tip(const State& state, std::int64_t layer) {
  const RunEntry* run = state.shown();
  const ModelEntry* model = run != nullptr ? state.find_model(run->model) : nullptr;
  if (model == nullptr || layer < 0 || layer >= static_cast<std::int64_t>(model->layers.size())) return "";
  return facts_text(model->layers[static_cast<std::size_t>(layer)]);
}

void draw_layer_strip(PanelContext& context, const ModelEntry& model, Rect area) {
  Strip strip{context, model, like_layers(model.layers, &LayerFacts::variant), {}};
  strip.variant_of.resize(model.layers.size());
  for (std::size_t v = 0; v < strip.variants.size(); ++v)
    for (const std::int64_t layer : strip.variants[v].layers) strip.variant_of[static_cast<std::size_t>(layer)] = v;
  const auto unmeasured =
      std::ranges::count_if(model.layers, [](const LayerFacts& facts) { return !facts.unmeasured.empty(); });
  context.facts.set("layers.count", static_cast<double>(model.layers.size()));
  context.facts.set("layers.variants", static_cast<double>(strip.variants.size()));
  context.facts.set("layers.unmeasured", static_cast<double>(unmeasured));
  if (area.height() < 24.0f || area.width() < 60.0f) return;
  area.x0 = draw_layer_cells(strip, area) + 14.0f;
  if (area.width() >= kLeastLegend) draw_layer_legend(strip, area);
}

}  // namespace headroom
