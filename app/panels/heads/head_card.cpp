#include "app/panels/heads/head_card.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/heads/thumbnails.h"
#include "app/panels/map/map_figure.h"
#include "app/panels/map/map_subject.h"
#include "app/panels/panel.h"
#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/key_hints.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr float kMap = 256.0f, kLeastMap = 128.0f, kCardStrip = 7.0f, kColumn = 124.0f, kPadding = 12.0f;
constexpr float kCardTitle = 30.0f, kKeys = 26.0f, kHints = 24.0f;
constexpr std::size_t kKeyCount = 5;
constexpr float kBeside = 8.0f;  // from the thumbnail

Vec2 card_size(float map) {
  return {2.0f * kPadding + kCardStrip + 2.0f + map + 14.0f + kColumn, kCardTitle + map + kKeys + kHints + 4.0f};
}

struct Card {
  PanelContext& context;
  RunCache& memory;
  const RunSnapshot& run;
  const LayerSnapshot& layer;
  HeadRef head;
  std::size_t index;  // of the head in its layer
  MapKind kind;
  Rect map, strip;
  bool kept = false;

  [[nodiscard]] const HeadProgram* program() const {
    return index < layer.programs.size() ? &layer.programs[index] : nullptr;
  }
  [[nodiscard]] bool differential() const { return program() != nullptr && program()->has_second(); }
};

// The whole map in one tile where queries and keys were kept; else its blocks.
std::string draw_map(const Card& card) {
  PanelContext& context = card.context;
  const Theme& theme = context.theme();
  const ColorScale scale = thumbnail_scale(card.run, card.memory, card.kind, theme);
  MapSubject subject;
  subject.ref = card.head, subject.kind = card.kind;
  subject.source = card.layer.maps && card.layer.maps->find(card.head.head) ? card.layer.maps : nullptr;
  subject.length = subject.source ? subject.source->length : 0;
  MapFigure figure{&subject, scale, FigureSlot::Card};
  if (card.kind == MapKind::Net && card.differential())
    figure.scale = {theme.diverging(), ScaleKind::Symlog, -1.0f, 1.0f, scale.low};
  if (draw_whole_map(context, card.map, figure)) {
    const std::int32_t level = top_level(subject.length);
    const std::string side = std::to_string(std::int64_t{1} << level);
    return level == 0 ? "every cell" : side + " × " + side + " cells per pixel, max";
  }
  if (card.kind == MapKind::Logits || !card.layer.pooled) return "";
  const std::span<const float> cells =
      card.layer.pooled->map(pooled_kind(card.kind), static_cast<std::int64_t>(card.index));
  if (cells.empty()) return "";
  const auto blocks = static_cast<float>(card.layer.pooled->blocks);
  draw_pooled_map(context, card.map, cells, {0.0f, 0.0f, blocks, blocks}, scale, FigureSlot::Card);
  const std::string side = std::to_string(card.layer.pooled->size);
  return "blocks of " + side + " × " + side + ", max";
}

void draw_strip(const Card& card) {
  if (card.kind == MapKind::Logits || !card.layer.pooled) return;
  const std::span<const float> cells =
      card.layer.pooled->key0(pooled_kind(card.kind), static_cast<std::int64_t>(card.index));
  if (cells.empty()) return;
  draw_pooled_strip(card.context, card.strip, cells,
                    thumbnail_scale(card.run, card.memory, card.kind, card.context.theme()), FigureSlot::Card);
}

std::vector<CardKey> keys_of(const Card& card) {
  const auto n = static_cast<std::size_t>(card.layer.length);
  const auto received = card.layer.row_values("keys/attention_received", card.head.head);
  if (received.size() < 2 * n) return {};
  const bool second = card.kind == MapKind::Second || (card.program() != nullptr && !card.program()->has_first());
  return largest_keys(received.subspan(second ? n : 0, n), kKeyCount);
}

// Below the map a line from each of the keys to its number.
void draw_key_marks(const Card& card, std::span<const CardKey> keys) {
  Painter& painter = card.context.painter();
  const Theme& theme = card.context.theme();
  std::vector<std::int64_t> sorted;
  for (const CardKey& key : keys) sorted.push_back(key.key);
  std::ranges::sort(sorted);
  std::vector<float> wanted, widths;
  const TextStyle style{Face::Mono, 10.0f, theme.accent};
  for (const std::int64_t key : sorted) {
    const double at = (static_cast<double>(key) + 0.5) /
                      static_cast<double>(std::max<std::int64_t>(
                          1, card.layer.keys > 0 ? std::max(card.layer.keys, card.layer.length) : card.layer.length));
    wanted.push_back(card.map.x0 + static_cast<float>(at) * card.map.width());
    widths.push_back(card.context.ui.width(std::to_string(key), style) + 6.0f);
  }
  const std::vector<float> labels = spread_labels(wanted, widths, card.strip.x0 - 4.0f, card.map.x1 + 6.0f);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    painter.line({wanted[i], card.map.y1 + 1.0f}, {labels[i], card.map.y1 + 10.0f}, theme.accent, 1.0f);
    painter.text_at(labels[i], card.map.y1 + 17.0f, std::to_string(sorted[i]), style, Painter::Align::Centre);
  }
}

void draw_shares(const Card& card, std::span<const CardKey> keys, Rect column) {
  PanelContext& context = card.context;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  painter.text_at(column.x0, column.y0 + 6.0f, "Where it looks", theme.plot_title());
  context.ui.label_at(column.x0, column.y0 + 21.0f,
                      card.differential()
                          ? (card.kind == MapKind::Second ? "received, second map" : "received, first map")
                          : "attention received",
                      theme.hint(), column.width());
  float y = column.y0 + 40.0f;
  if (keys.empty()) {
    context.ui.label_at(column.x0, y, "its rows were not kept", theme.hint(), column.width());
    return;
  }
  const double most = std::max(keys.front().share, 1e-12);
  for (const CardKey& key : keys) {
    const std::string* text = axis_text(card.run, card.layer.axes.keys, key.key);
    const std::string number = std::to_string(key.key), share = fixed_text(key.share, 3);
    const TextStyle mono{Face::Mono, 11.0f, theme.text}, index{Face::Mono, 11.0f, theme.accent};
    painter.text_at(column.x0, y, number, index);
    painter.text_at(column.x1, y, share, mono, Painter::Align::Right);
    const float left = column.x0 + std::max(24.0f, context.ui.width(number, index) + 6.0f),
                right = column.x1 - context.ui.width(share, mono) - 6.0f;
    if (text != nullptr && right - left > 12.0f)
      context.ui.label_at(left, y, token_label(*text), {Face::Sans, 11.0f, theme.text2}, right - left);
    painter.fill_rect({column.x0, y + 8.0f,
                       column.x0 + std::max(1.0f, static_cast<float>(key.share / most) * column.width()), y + 10.0f},
                      theme.accent);
    y += 20.0f;
  }
}

void draw_values(const Card& card, Rect column) {
  PanelContext& context = card.context;
  const Theme& theme = context.theme();
  float y = column.y1 - 8.0f;
  std::vector<std::pair<std::string, std::string>> rows;
  for (const char* name : {"sink_score", "context_rms_relative_mean", "effective_keys_mean", "induction_score"}) {
    const auto ref = parse_quantity(name);
    if (!ref) continue;
    rows.emplace_back(ref->info->column,
                      number_text(*ref->info, head_value(card.run, *ref, card.head.layer, card.head.head)));
  }
  std::ranges::reverse(rows);
  for (const auto& [name, text] : rows) {
    const TextStyle mono{Face::Mono, 12.0f, theme.text};
    context.painter().text_at(column.x1, y, text, mono, Painter::Align::Right);
    context.ui.label_at(column.x0, y, name, theme.body(theme.text2),
                        column.width() - context.ui.width(text, mono) - 8.0f);
    y -= 18.0f;
  }
}

void draw_hints(const Card& card, Rect row) {
  std::vector<KeyHint> hints = {{"click", "select"}};
  if (card.context.state.layout.maximised == "heads") hints.push_back({"Enter", "open its map"});
  hints.push_back({"Space", card.kept ? "put this card away" : "keep this card"});
  draw_key_hints(card.context, row, hints);
}

}  // namespace

std::optional<Rect> place_card(Rect thumbnail, Vec2 size, Rect window) {
  const Rect inside = window.inset(4.0f);
  const auto along = [](float centre, float length, float from, float to) {
    return std::clamp(std::round(centre - 0.5f * length), from, std::max(from, to - length));
  };
  if (size.x > inside.width() || size.y > inside.height()) return {};
  const float y = along(thumbnail.centre_y(), size.y, inside.y0, inside.y1),
              x = along(thumbnail.centre_x(), size.x, inside.x0, inside.x1);
  const std::array<Rect, 4> places = {Rect::sized(std::ceil(thumbnail.x1 + kBeside), y, size.x, size.y),
                                      Rect::sized(std::floor(thumbnail.x0 - kBeside - size.x), y, size.x, size.y),
                                      Rect::sized(x, std::ceil(thumbnail.y1 + kBeside), size.x, size.y),
                                      Rect::sized(x, std::floor(thumbnail.y0 - kBeside - size.y), size.x, size.y)};
  for (const Rect& place : places)
    if (place.x0 >= inside.x0 && place.x1 <= inside.x1 && place.y0 >= inside.y0 && place.y1 <= inside.y1) return place;
  return {};
}

std::vector<CardKey> largest_keys(std::span<const float> received, std::size_t count) {
  std::vector<CardKey> keys;
  for (std::size_t key = 0; key < received.size(); ++key)
    if (std::isfinite(received[key]))
      keys.push_back({static_cast<std::int64_t>(key), static_cast<double>(received[key])});
  const std::size_t most = std::min(count, keys.size());
  std::ranges::partial_sort(
      keys, keys.begin() + static_cast<std::ptrdiff_t>(most),
      [](const CardKey& a, const CardKey& b) { return a.share != b.share ? a.share > b.share : a.key < b.key; });
  keys.resize(most);
  return keys;
}

std::vector<float> spread_labels(std::vector<float> wanted, std::span<const float> widths, float from, float to) {
  float left = from;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = std::max(wanted[i], left + 0.5f * widths[i]);
    left = wanted[i] + 0.5f * widths[i];
  }
  float right = to;
  for (std::size_t i = wanted.size(); i-- > 0;) {
    wanted[i] = std::min(wanted[i], right - 0.5f * widths[i]);
    right = wanted[i] - 0.5f * widths[i];
  }
  return wanted;
}

void draw_head_card(PanelContext& context, Rect window) {
  if (context.run_cache == nullptr || context.state.overlay != Overlay::None) return;
  RunCache& memory = *context.run_cache;
  const std::optional<HeadCardWish> wish = memory.head_card();
  const RunSnapshot* run = memory.run();
  const LayerSnapshot* layer = wish && run ? run->layer(wish->head.layer) : nullptr;
  const std::int64_t index = layer ? layer->head_index(wish->head.head) : -1;
  if (index < 0) return;
  window.cut_top(measure::kMenu), window.cut_bottom(measure::kStatusBar);
  float map = kMap;
  std::optional<Rect> frame;
  Rect lower = window;
  lower.y0 = std::max(window.y0, wish->below - 4.0f);
  frame = place_card(wish->beside, card_size(map), lower);
  if (frame) map -= 32.0f;
  for (; map >= kLeastMap && !frame; map -= 32.0f) frame = place_card(wish->beside, card_size(map), window);
  if (!frame) return;
  map += 32.0f;

  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  ui.begin_overlay("head card", *frame, false);
  painter.fill_rect(*frame, theme.raised, measure::kRadius);
  painter.stroke_rect(*frame, wish->kept ? theme.accent : theme.faint, 1.0f, measure::kRadius);
  Card card{context,
            memory,
            *run,
            *layer,
            wish->head,
            static_cast<std::size_t>(index),
            context.state.view.heads.maps_show,
            {},
            {},
            wish->kept};
  Rect inner = frame->inset(kPadding, 0.0f);
  const Rect title = inner.cut_top(kCardTitle), hints = inner.cut_bottom(kHints);
  card.strip = Rect::sized(inner.x0, inner.y0, kCardStrip, map);
  card.map = Rect::sized(inner.x0 + kCardStrip + 2.0f, inner.y0, map, map);
  const std::string reason = thumbnail_reason(*run, card.kind, card.head);
  std::string how;
  if (reason.empty()) {
    how = draw_map(card);
    draw_strip(card);
  } else {
    painter.fill_rect(card.map, theme.empty);
    draw_note(context, card.map.inset(10.0f), reason);
  }
  const float name = ui.width(head_text(card.head), {Face::MonoSemibold, 12.0f, theme.text});
  painter.text_at(title.x0, title.centre_y(), head_text(card.head), {Face::MonoSemibold, 12.0f, theme.text});
  std::string what = layer->kind;
  if (card.index < layer->kv_heads.size() && layer->kv_heads[card.index][0] >= 0)
    what += " · kv " + std::to_string(layer->kv_heads[card.index][0]);
  if (!how.empty()) what += " · " + how;
  ui.label_at(title.x0 + name + 12.0f, title.centre_y(), what, theme.hint(), title.width() - name - 12.0f);

  const std::vector<CardKey> keys = keys_of(card);
  if (reason.empty()) draw_key_marks(card, keys);
  const Rect column{card.map.x1 + 14.0f, card.map.y0, inner.x1, card.map.y1};
  draw_shares(card, keys, column);
  draw_values(card, column);
  draw_hints(card, hints);
  context.facts.set("card.head", head_text(card.head));
  context.facts.set("card.keys", static_cast<double>(keys.size()));
  ui.end_overlay();
}

}  // namespace headroom
