#include "app/panels/tokens/tokens_arcs.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr int kArcPieces = 28;
constexpr float kWeightHeight = 13.0f;

Color weight_color(const PointedAttention& attention, std::int64_t key, const Theme& theme) {
  if (!attention.is_signed) return theme.accent;
  return attention.weight(key) < 0.0f ? theme.second : theme.first;
}

// ".47"; ".020"; with a minus before it where it is negative.
std::string weight_text(float weight) {
  const auto value = static_cast<double>(weight);
  return std::abs(value) >= 0.095 ? cell_text(value) : log_cell_texts(value)[0];
}

void draw_weight(PanelContext& context, const LargeText& text, Rect key, const std::string& weight, Color color,
                 std::vector<Rect>& taken) {
  const Theme& theme = context.theme();
  const TextStyle style{Face::Mono, 10.0f, color};
  const float width = std::round(context.ui.width(weight, style)) + 8.0f;
  const float x = std::clamp(key.centre_x() - 0.5f * width, text.area.x0, std::max(text.area.x0, text.area.x1 - width));
  const Rect label = Rect::sized(std::round(x), key.y0 - kWeightHeight - 2.0f, width, kWeightHeight);
  const auto touches = [&](const Rect& other) {
    return label.x0 < other.x1 + 2.0f && other.x0 < label.x1 + 2.0f && label.y0 < other.y1 && other.y0 < label.y1;
  };
  if (std::ranges::any_of(taken, touches)) return;
  taken.push_back(label);
  Painter& painter = context.painter();
  painter.fill_rect(label, theme.panel, 3.0f);
  painter.stroke_rect(label, color, 1.0f, 3.0f);
  painter.text_at(label.centre_x(), label.centre_y(), weight, style, Painter::Align::Centre);
}

}  // namespace

std::vector<std::int64_t> arc_keys(const PointedAttention& attention, double least) {
  std::vector<std::int64_t> keys;
  if (!attention.weights) return keys;
  for (const std::int64_t key : attention.strongest)
    if (keys.size() < kMostArcs && std::abs(static_cast<double>(attention.weight(key))) >= least) keys.push_back(key);
  return keys;
}

std::vector<Vec2> arc_between(Rect token, Rect key) {
  std::vector<Vec2> points;
  if (std::abs(token.y0 - key.y0) < 1.0f) return points;
  const bool up = key.y0 < token.y0;  // from the token's top to the key's foot, or the other way round
  const Vec2 from{token.centre_x(), up ? token.y0 : token.y1}, to{key.centre_x(), up ? key.y1 + 2.0f : key.y0};
  const float reach = 0.5f * (to.y - from.y);
  const Vec2 leave{from.x, from.y + reach}, arrive{to.x, to.y - reach};
  for (int i = 0; i <= kArcPieces; ++i) {
    const float t = static_cast<float>(i) / static_cast<float>(kArcPieces), s = 1.0f - t;
    const float a = s * s * s, b = 3.0f * s * s * t, c = 3.0f * s * t * t, d = t * t * t;
    points.push_back(
        {a * from.x + b * leave.x + c * arrive.x + d * to.x, a * from.y + b * leave.y + c * arrive.y + d * to.y});
  }
  return points;
}

std::size_t draw_attention(PanelContext& context, const LargeText& text, std::int64_t token,
                           const PointedAttention& attention, double least, bool arcs) {
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::vector<std::int64_t> keys = arc_keys(attention, least);
  std::size_t drawn = 0;
  for (auto key = keys.rbegin(); key != keys.rend() && arcs; ++key) {  // the strongest above the others
    const std::vector<Vec2> curve = arc_between(text.box(token), text.box(*key));
    if (curve.empty()) continue;
    const Color color = weight_color(attention, *key, theme);
    const float width = 1.0f + 2.0f * std::min(1.0f, std::abs(attention.weight(*key)));
    painter.polyline(curve, theme.panel.faded(0.75f), width + 2.0f);
    painter.polyline(curve, color, width);
    ++drawn;
  }
  std::vector<Rect> taken;
  for (const std::int64_t key : keys) {
    if (!text.in_view(key)) continue;
    const Rect box = text.box(key);
    const Color color = weight_color(attention, key, theme);
    if (key != token) painter.stroke_rect(box, color, 1.0f, 2.0f);
    painter.fill_rect({box.x0, box.y1, box.x1, box.y1 + 2.0f}, color);
    draw_weight(context, text, box, weight_text(attention.weight(key)), color, taken);
  }
  return drawn;
}

}  // namespace headroom
