// Which experts of the selected layer each token is sent to: a row for each expert.
#include "app/panels/tokens/tokens_experts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kExpertRow = 18.0f, kCountBar = 56.0f;

struct ExpertRows {
  PanelContext& context;
  const RunSnapshot& run;
  const RouterSnapshot& router;
  float most_weight = 1.0f;
  std::int64_t most_tokens = 1;
};

// The weight of an expert for each token; NaN where it is not sent there.
std::vector<float> weights_of(const RouterSnapshot& router, std::size_t expert) {
  std::vector<float> weights(static_cast<std::size_t>(router.length()), std::numeric_limits<float>::quiet_NaN());
  const auto chosen = static_cast<std::size_t>(router.chosen);
  for (std::size_t i = 0; i < router.index.size(); ++i)
    if (router.index[i] == expert) weights[i / chosen] = router.weight[i];
  return weights;
}

// Of the rows in view, one picture: the largest weight under each pixel.
void draw_weights(const ExpertRows& rows, Rect strip, std::size_t first, std::size_t count) {
  static const std::uint64_t image_id = next_image_id();
  const auto width = static_cast<std::size_t>(std::max(1.0f, std::floor(strip.width())));
  const auto length = static_cast<std::size_t>(rows.router.length());
  const std::size_t columns = std::min(width, length);
  if (columns == 0 || count == 0) return;
  auto values = std::make_shared<std::vector<float>>();
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (std::size_t row = 0; row < count; ++row) {
    const std::vector<float> weights = weights_of(rows.router, first + row);
    for (std::size_t x = 0; x < columns; ++x) {
      float most = std::numeric_limits<float>::quiet_NaN();
      for (std::size_t i = x * length / columns; i < (x + 1) * length / columns; ++i)
        if (!std::isnan(weights[i]) && !(most >= weights[i])) most = weights[i];
      values->push_back(most);
      hash = (hash ^ static_cast<std::uint64_t>(std::lround(std::isnan(most) ? -1.0f : most * 65536.0f))) *
             0x100000001B3ULL;
    }
  }
  const Theme& theme = rows.context.theme();
  MapImage image;
  image.id = image_id;
  image.generation = hash ^ (columns << 32);
  image.width = static_cast<std::int32_t>(columns);
  image.height = static_cast<std::int32_t>(count);
  image.values = values;
  MapShading shading;
  shading.scale = {theme.sequential(), ScaleKind::Linear, 0.0f, rows.most_weight, 1e-3f};
  shading.nan = NanStyle::Masked;
  Painter& painter = rows.context.painter();
  painter.fill_rect(strip, theme.empty);
  painter.map(strip, image, {0.0f, 0.0f, static_cast<float>(columns), static_cast<float>(count)}, shading);
  for (std::size_t row = 0; row <= count; ++row) {
    const float y = strip.y0 + static_cast<float>(row) * kExpertRow;
    painter.fill_rect({strip.x0, y - 1.0f, strip.x1, y}, theme.panel);
  }
}

void draw_token_marks(const ExpertRows& rows, Rect strip) {
  const double length = static_cast<double>(rows.router.length());
  const auto line = [&](std::optional<std::int64_t> token, Color color) {
    if (!token || *token < 0 || *token >= rows.router.length()) return;
    const float x = strip.x0 + static_cast<float>((static_cast<double>(*token) + 0.5) / length) * strip.width();
    rows.context.painter().line({x, strip.y0}, {x, strip.y1}, color, 1.0f);
  };
  const State& state = rows.context.state;
  line(state.hover.key, rows.context.theme().text3);
  line(state.view.selection.query, rows.context.theme().text2);
  line(state.view.selection.key, rows.context.theme().accent);
}

void draw_expert_names(const ExpertRows& rows, Rect names, std::size_t first, std::size_t count) {
  Painter& painter = rows.context.painter();
  const Theme& theme = rows.context.theme();
  for (std::size_t row = 0; row < count; ++row) {
    const std::size_t expert = first + row;
    const std::int64_t tokens = rows.router.tokens[expert];
    const Rect line{names.x0, names.y0 + static_cast<float>(row) * kExpertRow, names.x1,
                    names.y0 + static_cast<float>(row + 1) * kExpertRow};
    painter.text_at(line.x0, line.centre_y(), "E" + std::to_string(expert),
                    theme.body(tokens > 0 ? theme.text : theme.off));
    painter.text_at(line.x1 - kCountBar - 6.0f, line.centre_y(), grouped_text(tokens),
                    {Face::Mono, 11.0f, tokens > 0 ? theme.text : theme.off}, Painter::Align::Right);
    const float share = static_cast<float>(tokens) / static_cast<float>(rows.most_tokens);
    painter.fill_rect(
        {line.x1 - kCountBar, line.y0 + 4.0f, line.x1 - kCountBar + share * (kCountBar - 6.0f), line.y1 - 4.0f},
        theme.text3);
  }
}

void point_at(const ExpertRows& rows, Rect strip, std::size_t first, std::size_t count) {
  Ui& ui = rows.context.ui;
  const Interaction hit = ui.interact("experts", strip, Cursor::Hand);
  if (!hit.hovered || count == 0) return;
  const auto share = static_cast<double>((ui.input.pointer.x - strip.x0) / std::max(1.0f, strip.width()));
  const auto token = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(share * static_cast<double>(rows.router.length())), 0, rows.router.length() - 1);
  const std::size_t row =
      std::min(count - 1, static_cast<std::size_t>(std::max(0.0f, (ui.input.pointer.y - strip.y0) / kExpertRow)));
  rows.context.hover.key = token;
  const std::size_t expert = first + row;
  const float weight = weights_of(rows.router, expert)[static_cast<std::size_t>(token)];
  std::string tip =
      std::to_string(token) + "  " + quoted_token(*rows.run.prompt, token) + "\n" +
      (std::isnan(weight) ? "not sent to E" + std::to_string(expert)
                          : "E" + std::to_string(expert) + "  " + readout_text(static_cast<double>(weight)));
  tip +=
      "\n" + experts_of_token(rows.run, rows.router.layer, token) + "\nclick: pin as key · Shift and click: as query";
  ui.tooltip({ui.input.pointer.x - 4.0f, strip.y0 + static_cast<float>(row) * kExpertRow, ui.input.pointer.x + 4.0f,
              strip.y0 + static_cast<float>(row + 1) * kExpertRow},
             tip);
  if (hit.clicked)
    ui.run(ui.input.modifiers.shift ? "pin " + std::to_string(token) + " -" : "pin - " + std::to_string(token));
}

std::string layers_with_experts(const RunSnapshot& run) {
  std::vector<std::int64_t> layers;
  for (const auto& router : run.routers) layers.push_back(router->layer);
  return layers_text(layers);
}

}  // namespace

std::string quoted_token(const Prompt& prompt, std::int64_t token) {
  const auto at = static_cast<std::size_t>(token);
  if (at < prompt.texts.size()) return "“" + visible_token(prompt.texts[at]) + "”";
  return at < prompt.ids.size() ? "“id " + std::to_string(prompt.ids[at]) + "”" : "";
}

std::string experts_of_token(const RunSnapshot& run, std::int64_t layer, std::int64_t token) {
  const RouterSnapshot* router = run.router(layer);
  if (router == nullptr || token < 0 || token >= router->length()) return "";
  std::string text;
  for (std::int64_t k = 0; k < router->chosen; ++k) {
    const auto at = static_cast<std::size_t>(token * router->chosen + k);
    text += (text.empty() ? (router->chosen == 1 ? "expert " : "experts ") : ", ") + std::to_string(router->index[at]) +
            " (" + readout_text(static_cast<double>(router->weight[at])) + ")";
  }
  return text;
}

void draw_token_experts(PanelContext& context, const RunSnapshot& run, Rect area) {
  const std::optional<HeadRef> head = context.state.view.selection.head;
  const RouterSnapshot* router = head                  ? run.router(head->layer)
                                 : run.routers.empty() ? nullptr
                                                       : run.routers.front().get();
  if (router == nullptr) {
    draw_note(context, area,
              run.routers.empty() ? "No layer of this run has experts."
                                  : "Layer " + std::to_string(head->layer) + " sends every token through one MLP.",
              run.routers.empty() ? "" : "Layers with experts: " + layers_with_experts(run) + ".");
    return;
  }
  const std::size_t experts = router->tokens.size();
  ExpertRows rows{context, run, *router};
  rows.most_tokens = std::max<std::int64_t>(1, *std::ranges::max_element(router->tokens));
  for (const float weight : router->weight)
    if (std::isfinite(weight)) rows.most_weight = std::max(rows.most_weight, weight);
  const auto most = std::ranges::max_element(router->tokens) - router->tokens.begin();
  context.facts.set("tokens.experts", static_cast<double>(experts));
  context.facts.set("tokens.expert_most", static_cast<double>(most));
  context.facts.set("tokens.expert_most_count", static_cast<double>(router->tokens[static_cast<std::size_t>(most)]));

  const Theme& theme = context.theme();
  const auto fitting = static_cast<std::size_t>(std::max(0.0f, std::floor(area.height() / kExpertRow)));
  const float digits = context.ui.width(grouped_text(rows.most_tokens), {Face::Mono, 11.0f, theme.text});
  const float names_width =
      context.ui.width("E" + std::to_string(experts - 1), theme.body(theme.text)) + digits + kCountBar + 22.0f;
  if (fitting == 0 || area.width() < names_width + 40.0f) return;
  area.y1 = area.y0 + static_cast<float>(fitting) * kExpertRow;
  const float offset = context.ui.scroll("experts", area, static_cast<float>(experts) * kExpertRow, kExpertRow);
  const auto first = std::min(experts - 1, static_cast<std::size_t>(std::lround(offset / kExpertRow)));
  const std::size_t count = std::min(fitting, experts - first);
  Rect strip{area.x0 + names_width, area.y0, area.x1 - 12.0f, area.y0 + static_cast<float>(count) * kExpertRow};
  draw_expert_names(rows, {area.x0, area.y0, strip.x0, strip.y1}, first, count);
  if (router->index.empty()) {
    draw_note(context, strip, "The run kept no routing per token.");
    return;
  }
  draw_weights(rows, strip, first, count);
  draw_token_marks(rows, strip);
  point_at(rows, strip, first, count);
}

}  // namespace headroom
