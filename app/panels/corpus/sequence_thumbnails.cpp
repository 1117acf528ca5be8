#include "app/panels/corpus/sequence_thumbnails.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/panels/parts/head_parts.h"
#include "app/panels/parts/kept.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/color_bar.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr float kLongest = 96.0f;  // side of a thumbnail, where not all of them could be larger
constexpr float kUsualCell = 8.0f, kMostCell = 20.0f, kLeastAcross = 52.0f;
constexpr float kTileGap = 12.0f, kTileTexts = 31.0f;
constexpr std::size_t kSampled = 65536;

// The extremes of all values, and a sample of them.
HeadColumn column_of(const CorpusView& view) {
  HeadColumn column;
  column.ref = view.ref;
  const std::vector<float>& all = view.values->values;
  const std::size_t step = std::max<std::size_t>(1, all.size() / kSampled);
  for (std::size_t i = 0; i < all.size(); i += step) column.values.push_back(static_cast<double>(all[i]));
  double low = kInfinity, high = -kInfinity;
  for (const float value : all) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, static_cast<double>(value)), high = std::max(high, static_cast<double>(value));
  }
  if (low <= high) column.values.push_back(low), column.values.push_back(high);
  return measured(std::move(column));
}

// The thumbnails that are seen as one image, in their places but without what lies between them.
struct SeenSequences {
  std::shared_ptr<const std::vector<float>> values;
  std::int32_t width = 0, height = 0;
  std::uint64_t generation = 0;
};

struct SequenceTilesView {
  PanelContext& context;
  const CorpusView& view;
  const SequenceRows& rows;
  SequenceTiles tiles;
  std::size_t first = 0, count = 0;  // in the order
  std::size_t layers = 0, heads = 0;

  [[nodiscard]] std::size_t sequence(std::size_t i) const { return rows.order[first + i]; }
  [[nodiscard]] Rect place(Rect body, std::size_t i) const {
    const std::size_t row = i / tiles.columns, column = i % tiles.columns;
    return Rect::sized(body.x0 + static_cast<float>(column) * tiles.across,
                       body.y0 + static_cast<float>(row) * tiles.down, tiles.width, tiles.height);
  }
};

SeenSequences seen_sequences(const SequenceTilesView& of) {
  const std::size_t columns = std::min(of.tiles.columns, of.count), rows = (of.count + columns - 1) / columns;
  const std::size_t width = columns * of.heads, height = rows * of.layers;
  auto values = std::make_shared<std::vector<float>>(width * height, static_cast<float>(kNaN));
  for (std::size_t i = 0; i < of.count; ++i) {
    const std::size_t left = i % columns * of.heads, top = i / columns * of.layers, s = of.sequence(i);
    for (std::size_t l = 0; l < of.layers; ++l)
      for (std::size_t h = 0; h < of.heads; ++h)
        (*values)[(top + l) * width + left + h] = of.view.values->of_head(l * of.heads + h)[s];
  }
  return {std::move(values), static_cast<std::int32_t>(width), static_cast<std::int32_t>(height), next_image_id()};
}

std::string sequence_tip(const SequenceTilesView& of, std::size_t s) {
  const CorpusView& view = of.view;
  std::string tip = sequence_name(view.file, s) + "  " +
                    document_title(view.file, static_cast<std::size_t>(view.file.document[s])) + ", token " +
                    grouped_text(view.file.token_start[s]) + "\nloss " +
                    sequence_number_text(view, of.rows, CorpusSort::Loss, s) + " nats";
  if (view.head)
    tip += "\n" + head_text(view.head_at(*view.head)) + "  " +
           sequence_number_text(view, of.rows, CorpusSort::Value, s) + ", robust z " +
           sequence_number_text(view, of.rows, CorpusSort::Robust, s);
  tip += "\nheads far off " + sequence_number_text(view, of.rows, CorpusSort::Off, s);
  if (const std::int64_t layer = view.corpus.statistics->non_finite_layers[s]; layer >= 0)
    tip += "\nnot finite from layer " + std::to_string(layer) + " on";
  return tip;
}

void draw_tile_texts(const SequenceTilesView& of, std::size_t s, Rect tile, bool chosen) {
  Ui& ui = of.context.ui;
  const Theme& theme = of.context.theme();
  const float room = of.tiles.across - 6.0f;
  float x = tile.x0;
  if (documents_have_colors(of.view)) {
    of.context.painter().disc({x + 3.5f, tile.y1 + 10.0f}, 3.0f,
                              document_color(theme, of.view, of.view.file.document[s]));
    x += 10.0f;
  }
  ui.label_at(x, tile.y1 + 10.0f, sequence_name(of.view.file, s),
              {chosen ? Face::MonoSemibold : Face::Mono, 11.0f, chosen ? theme.accent : theme.text},
              tile.x0 + room - x);
  const CorpusSort sort = of.context.state.view.corpus.sort;
  const bool marked = sort == CorpusSort::Robust && marks_outlier(of.view, s);
  ui.label_at(tile.x0, tile.y1 + 23.0f, sequence_number_text(of.view, of.rows, sort, s),
              {Face::Mono, 10.0f, marked ? theme.warn : theme.text3}, room);
}

void draw_tile(const SequenceTilesView& of, std::size_t i, Rect tile) {
  PanelContext& context = of.context;
  Ui& ui = context.ui;
  Painter& painter = context.painter();
  const Theme& theme = context.theme();
  const std::size_t s = of.sequence(i);
  const Rect whole{tile.x0 - 3.0f, tile.y0 - 3.0f, tile.x0 + of.tiles.across - 7.0f, tile.y1 + kTileTexts};
  const Interaction hit = ui.interact("tile " + sequence_name(of.view.file, s), whole, Cursor::Hand);
  act_on_sequence(context, of.view, s, hit);
  ui.tooltip(whole, sequence_tip(of, s));
  const bool chosen = chosen_sequence(context.state, of.view) == s;
  if (of.view.head && of.tiles.cell >= 3.0f) {
    const std::size_t layer = *of.view.head / of.heads, head = *of.view.head % of.heads;
    const auto row = static_cast<float>(layer), column = static_cast<float>(head);
    const Rect cell =
        Rect::sized(tile.x0 + column * of.tiles.cell, tile.y0 + row * of.tiles.cell, of.tiles.cell, of.tiles.cell);
    painter.stroke_rect(cell.inset(-1.0f, -1.0f), theme.accent, 1.0f);
  }
  if (chosen)
    painter.stroke_rect(tile.inset(-3.0f, -3.0f), theme.accent, 2.0f);
  else if (hit.hovered || context.state.hover.sequence == of.view.file.number[s])
    painter.stroke_rect(tile.inset(-2.0f, -2.0f), theme.text2, 1.0f);
  draw_tile_texts(of, s, tile, chosen);
}

// What the colours are of, at the left of the foot.
void draw_tiles_legend(PanelContext& context, const CorpusView& view, const ColumnRange& range, Rect row) {
  Ui& ui = context.ui;
  const Theme& theme = context.theme();
  const std::string title = quantity_title(view.ref);
  const auto end = [&](float value, const char* beyond, bool clips) {
    return (clips ? beyond : "") + short_text(static_cast<double>(value));
  };
  const std::string low = end(range.scale.low, "≤ ", range.clips_low),
                    high = end(range.scale.high, "≥ ", range.clips_high);
  constexpr float kBar = 72.0f;
  const float ends = ui.width(low, theme.tick()) + ui.width(high, theme.tick()) + kBar + 12.0f;
  if (row.width() < ends) return;
  float x = row.x0;
  if (const float width = ui.width(title, theme.hint()); row.width() >= ends + width + 12.0f) {
    context.painter().text_at(x, row.centre_y(), title, theme.hint());
    x += width + 12.0f;
  }
  context.painter().text_at(x, row.centre_y(), low, theme.tick());
  x += ui.width(low, theme.tick()) + 6.0f;
  for (float at = 0.0f; at < kBar; at += 1.0f)
    context.painter().fill_rect({x + at, row.centre_y() - 4.0f, x + at + 1.0f, row.centre_y() + 4.0f},
                                scale_color(range.scale, scale_value(range.scale, (at + 0.5f) / kBar)));
  context.painter().text_at(x + kBar + 6.0f, row.centre_y(), high, theme.tick());
}

}  // namespace

SequenceTiles lay_out_sequences(Rect body, std::size_t layers, std::size_t heads, std::size_t sequences) {
  const auto down = static_cast<float>(layers), across = static_cast<float>(heads);
  const float room = std::min((body.height() - kTileTexts - 6.0f) / down, (body.width() - kTileGap) / across);
  if (layers == 0 || heads == 0 || room * down < 12.0f) return {};
  const auto tiles_of = [&](float cell) {
    SequenceTiles tiles;
    tiles.cell = cell;
    tiles.width = cell * across, tiles.height = cell * down;
    tiles.across = std::max(tiles.width + kTileGap, kLeastAcross);
    tiles.down = tiles.height + kTileTexts + 9.0f;
    tiles.columns = static_cast<std::size_t>(std::max(1.0f, std::floor((body.width() + kTileGap) / tiles.across)));
    tiles.rows = static_cast<std::size_t>(std::max(1.0f, std::floor((body.height() + 6.0f) / tiles.down)));
    return tiles;
  };
  const float usual = std::min({std::max(1.0f, std::floor(kLongest / std::max(down, across))), kUsualCell, room});
  SequenceTiles best = tiles_of(usual >= 1.0f ? std::floor(usual) : usual);
  // As large as leaves all of them in view.
  for (float cell = std::floor(usual) + 1.0f; cell <= std::min(kMostCell, room); cell += 1.0f)
    if (const SequenceTiles larger = tiles_of(cell); larger.columns * larger.rows >= sequences) best = larger;
  return best;
}

void draw_sequence_thumbnails(PanelContext& context, const CorpusView& view, const SequenceRows& rows, Rect body) {
  Ui& ui = context.ui;
  if (!view.values) {
    draw_note(context, body.inset(measure::kPadding, 8.0f), why_no_values(view));
    return;
  }
  const HeadColumn& column = kept_for(ui.kept_value("colours"), view.values, [&] { return column_of(view); });
  const ColumnRange range = column_range(column, context.theme());
  if (body.height() >= 110.0f) {
    Rect foot = body.cut_bottom(kSequencesFoot).inset(measure::kPadding, 0.0f);
    draw_tiles_legend(context, view, range, foot);
  }
  const Rect outer = body;
  body = {body.x0 + measure::kPadding, body.y0 + 8.0f, body.x1 - measure::kPadding - 8.0f, body.y1};
  SequenceTilesView of{context,
                       view,
                       rows,
                       lay_out_sequences(body, view.file.layers.size(), view.file.heads.size(), rows.order.size()),
                       0,
                       0,
                       view.file.layers.size(),
                       view.file.heads.size()};
  if (of.tiles.columns == 0) return;
  const std::size_t all_rows = (rows.order.size() + of.tiles.columns - 1) / of.tiles.columns;
  scroll_to_chosen(context, view, "tiles", of.tiles.columns, rows, of.tiles.down);
  const Rect seen{outer.x0, body.y0, outer.x1, body.y0 + static_cast<float>(of.tiles.rows) * of.tiles.down};
  const float offset = ui.scroll("tiles", seen, static_cast<float>(all_rows) * of.tiles.down, of.tiles.down);
  of.first = static_cast<std::size_t>(std::max(0.0f, std::round(offset / of.tiles.down))) * of.tiles.columns;
  of.count = std::min(rows.order.size() - std::min(of.first, rows.order.size()), of.tiles.rows * of.tiles.columns);
  context.facts.set("corpus.thumbnails", static_cast<double>(of.count));
  if (of.count == 0) return;
  static const std::uint64_t image = next_image_id();
  const SeenSequences& picture =
      kept_for(ui.kept_value("picture"), std::tuple(view.values, rows.order, of.first, of.count, of.tiles.columns),
               [&] { return seen_sequences(of); });
  const MapImage map{image, picture.generation, picture.width, picture.height, picture.values};
  MapShading shading;
  shading.scale = range.scale;
  shading.nan = NanStyle::Hatched;
  const std::size_t columns = std::min(of.tiles.columns, of.count);
  for (std::size_t i = 0; i < of.count; ++i) {
    const Rect tile = of.place(body, i);
    const std::size_t down = i / columns, across = i % columns;
    const auto left = static_cast<float>(across * of.heads), top = static_cast<float>(down * of.layers);
    context.painter().map(
        tile, map, {left, top, left + static_cast<float>(of.heads), top + static_cast<float>(of.layers)}, shading);
    draw_tile(of, i, tile);
  }
}

}  // namespace headroom
