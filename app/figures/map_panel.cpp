#include "app/figures/map_panel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "app/figures/figure_kinds.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kStrip = 1.4f, kStripGap = 1.0f;           // millimetres
constexpr float kSign = 3.4f;                              // beside a panel, with what is before and after a sign
constexpr float kTickLength = 2.2f, kTickToLabel = 2.0f;   // points, as those of axes
constexpr float kDigits = 0.72f;                           // height of digits, in sizes
constexpr float kCornerRows = 0.28f, kCornerKeys = 0.45f;  // shares of the map that bar and lens may take
constexpr float kLensShare = 0.39f;                        // of the map's width
constexpr Color kEdgeInk = Color::hex(0x8c8c8c), kLead = Color::hex(0x6b6b6b);

constexpr float kMapLow = 1e-4f, kNetLinear = 0.1f;  // of the colours

}  // namespace

MapImage image_of(const MapPart& part) {
  auto values = std::make_shared<std::vector<float>>(part.values.begin(), part.values.end());
  return {next_image_id(), 1, static_cast<std::int32_t>(part.width), static_cast<std::int32_t>(part.height),
          std::move(values)};
}

Rect whole_image(const MapImage& image) {
  return {0.0f, 0.0f, static_cast<float>(image.width), static_cast<float>(image.height)};
}

PageBar map_bar(const FigureChoice& choice, bool with_sign, std::span<const MapPart> parts) {
  double largest = 0.0, smallest = kInfinity, lowest = 0.0;
  for (const MapPart& part : parts)
    for (const double v : part.values) {
      if (!std::isfinite(v)) continue;
      largest = std::max(largest, std::abs(v)), smallest = std::min(smallest, v), lowest = std::min(lowest, v);
    }
  PageBar bar;
  ColorScale& scale = bar.scale;
  // A weight is at most 1 but for its rounding; a net weight at most 1 + |λ|.
  const double high = choice.high.value_or(largest <= 1.0 + 1e-6 ? 1.0 : nice_range(0.0, largest, false).high);
  scale.high = static_cast<float>(high);
  if (with_sign) {
    const bool linear = choice.scale && *choice.scale == ScaleKind::Linear;
    scale.map = diverging_map(choice.signed_colours, false);
    scale.kind = linear ? ScaleKind::Linear : ScaleKind::Symlog;
    scale.low = -scale.high, scale.threshold = kNetLinear * scale.high;
    bar.clips_high = largest > high * (1.0 + 1e-6), bar.clips_low = lowest < -high * (1.0 + 1e-6);
    return bar;
  }
  scale.map = sequential_map(choice.colours, false);
  scale.kind = choice.scale.value_or(ScaleKind::Log10);
  if (scale.kind == ScaleKind::Symlog) scale.kind = ScaleKind::Log10;    // nothing here is below 0
  if (choice.low && *choice.low <= 0.0) scale.kind = ScaleKind::Linear;  // no decades lead there
  scale.low =
      static_cast<float>(choice.low.value_or(scale.kind == ScaleKind::Log10 ? static_cast<double>(kMapLow) : 0.0));
  bar.clips_low = smallest<static_cast<double>(scale.low), bar.clips_high = largest> high * (1.0 + 1e-6);
  return bar;
}

namespace {

// Where the cells of a part lie; the last ones may reach beyond its range.
Rect cells_rect(const MapPart& part, const Axis& across, const Axis& down) {
  const auto edge = [&](const Axis& axis, std::int64_t from, std::int64_t cells) {
    return axis.pixel(static_cast<double>(from + cells * part.cell) - 0.5);
  };
  return {edge(across, part.keys[0], 0), edge(down, part.rows[0], 0), edge(across, part.keys[0], part.width),
          edge(down, part.rows[0], part.height)};
}

// Left of all that belongs to the panel.
void draw_sign(Painter& painter, const PanelFrame& frame, float left, const std::string& sign, const Page& page) {
  if (sign.empty()) return;
  const TextStyle style{Face::SansMedium, page.style.title_size() + page.style.pt(2.0f), ink::kBlack};
  painter.text_at(frame.inner.x0 - left + page.style.mm(0.5f * kSign), frame.inner.centre_y(), sign, style,
                  Painter::Align::Centre);
}

float left_of_map(const PageAxis& rows, bool named, const std::string& sign, float height, const Page& page) {
  float left = sign.empty() ? 0.0f : page.style.mm(kSign);
  if (named) return left + page.style.title_size() * 1.2f + left_of_axis(rows, height, page);
  return left + page.style.pt(kTickLength);
}

// Fewer than an axis of a curve has, and as many down as across, so that equal steps are equally labelled.
std::vector<PageTick> map_ticks(const PageAxis& axis, float from, float to, const Page& page) {
  Page sparse = page;
  sparse.style.text_size *= 1.6f;
  return page_ticks(axis, from, to, true, sparse);
}

void draw_row_ticks(Painter& painter, float x, const Rect& inner, const PageAxis& axis, bool named, const Page& page) {
  const PageStyle& style = page.style;
  for (const PageTick& tick : map_ticks(axis, inner.y0, inner.y1, page)) {
    painter.line({x - style.pt(kTickLength), tick.place}, {x, tick.place}, ink::kBlack, style.pt(0.5f));
    if (named)
      draw_rich(painter, {x - style.pt(kTickLength + kTickToLabel), tick.place + 0.5f * kDigits * style.size()},
                tick.label, style.text(), Painter::Align::Right);
  }
}

// The longer name where it has room.
RichText fitting(const RichText& text, const RichText& shorter, float width, const Page& page) {
  return rich_width(page.measure, text, page.style.title()) <= width ? text : shorter;
}

FigureMark cell_mark(const MapPanel& panel, const char* series, std::int64_t row, std::int64_t key, double value) {
  FigureMark mark;
  mark.panel = panel.id, mark.series = series, mark.kind = std::isinf(value) ? "hatched" : "cell";
  mark.layer = panel.head.layer, mark.head = panel.head.head, mark.component = panel.component;
  mark.row = row, mark.key = key;
  if (std::isfinite(value)) mark.y = value;
  return mark;
}

}  // namespace

PageAxis position_axis(const std::array<std::int64_t, 2>& range) {
  PageAxis axis{static_cast<double>(range[0]) - 0.5, static_cast<double>(range[1]) - 0.5};
  axis.whole = true;
  return axis;
}

std::int64_t MapPanel::end_of_row(std::int64_t y) const {
  std::int64_t end = part.width;
  while (end > 0 && std::isnan(value(y, end - 1))) --end;
  return end;
}

bool MapPanel::corner_is_free() const {
  for (std::int64_t y = 0; y < part.height; ++y) {
    if (static_cast<float>(y) >= kCornerRows * static_cast<float>(part.height)) return true;
    if (static_cast<float>(end_of_row(y)) > kCornerKeys * static_cast<float>(part.width)) return false;
  }
  return false;
}

float MapPanel::free_from(float y, const Rect& inner) const {
  const float share = std::clamp((y - inner.y0) / inner.height(), 0.0f, 1.0f);
  const auto row = std::min(static_cast<std::int64_t>(share * static_cast<float>(part.height)), part.height - 1);
  return inner.x0 + inner.width() * static_cast<float>(end_of_row(row)) / static_cast<float>(part.width);
}

PanelRoom MapPanel::room(const Page& page, Vec2 inner) const {
  const PageStyle& style = page.style;
  PanelRoom room;
  room.left = left_of_map(position_axis(part.rows), names_rows, sign, inner.y, page);
  if (!key0.empty()) room.left += style.mm(kStrip + kStripGap);
  room.right = 0.5f * page.measure.width(grouped_text(part.keys[1] - 1), Face::Sans, style.size());
  PageAxis keys = position_axis(part.keys);
  keys.title = rich("key");
  room.bottom = below_axis(keys, page);
  if (!corner_is_free()) {
    room.bottom += style.mm(1.6f) + page_bar_height(page);
    if (names_bar_above(inner.x, page)) room.bottom += 1.25f * style.size();
  }
  return room;
}

RichText MapPanel::bar_name() const { return rich(symbol + (note.empty() ? "" : ", " + note)); }

bool MapPanel::names_bar_above(float width, const Page& page) const {
  return rich_width(page.measure, bar_name(), page.style.text()) + page.style.mm(5.0f) > 0.6f * width;
}

Vec2 MapPanel::least_inner(const Page& page) const {
  const float side = page.style.mm(lens ? 40.0f : note.empty() ? 21.0f : 28.0f);
  return {side, corner_is_free() ? side : page.style.mm(10.0f)};
}

void MapPanel::draw(Painter& painter, const PanelFrame& frame, const Page& page) const {
  const Rect& inner = frame.inner;
  const Axis across = placed_axis(position_axis(part.keys), inner.x0, inner.x1),
             down = placed_axis(position_axis(part.rows), inner.y0, inner.y1);
  painter.begin_plot({id, kind, across, down});
  draw_cells(painter, inner, across, down, page);
  draw_edge(painter, inner, across, down, page);
  draw_axes(painter, inner, page);
  if (lens && corner_is_free()) draw_lens(painter, inner, across, down, page);
  painter.end_plot();
  draw_sign(painter, frame, room(page, {inner.width(), inner.height()}).left, sign, page);
  draw_bar(painter, frame, page);
}

void MapPanel::draw_cells(Painter& painter, const Rect& inner, const Axis& across, const Axis& down,
                          const Page& page) const {
  MapShading shading;
  shading.scale = bar.scale;
  painter.push_clip(inner);
  painter.begin_series({quantity, head_text(head), series});
  const MapImage image = image_of(part);
  painter.map(cells_rect(part, across, down), image, whole_image(image), shading);
  painter.end_series();
  painter.pop_clip();
  if (key0.empty()) return;
  MapPart column = part;
  column.width = 1, column.values = key0;
  const float end = inner.x0 - page.style.mm(kStripGap);
  const Rect strip{end - page.style.mm(kStrip), inner.y0, end, inner.y1};
  Rect target = cells_rect(part, across, down);
  target.x0 = strip.x0, target.x1 = strip.x1;
  painter.push_clip(strip);
  painter.begin_series({"rows/first_key_weight", head_text(head), "key 0"});
  const MapImage narrow = image_of(column);
  painter.map(target, narrow, whole_image(narrow), shading);
  painter.end_series();
  painter.pop_clip();
}

// A hairline between what rows see and what comes after it.
void MapPanel::draw_edge(Painter& painter, const Rect& inner, const Axis& across, const Axis& down,
                         const Page& page) const {
  std::vector<Vec2> corners;
  bool masked = false;
  const auto place = [](const Axis& axis, std::int64_t from, std::int64_t cells, std::int64_t size) {
    return axis.pixel(static_cast<double>(from + cells * size) - 0.5);
  };
  const auto corner = [&](Vec2 at) {
    at = {std::clamp(at.x, inner.x0, inner.x1), std::clamp(at.y, inner.y0, inner.y1)};
    if (corners.size() > 1) {  // straight on: the end moves
      const Vec2 a = corners.back() - corners[corners.size() - 2], b = at - corners.back();
      if (std::abs(a.x * b.y - a.y * b.x) < 1e-3f && a.x * b.x + a.y * b.y >= 0.0f) corners.pop_back();
    }
    corners.push_back(at);
  };
  const bool steps = part.height <= 128;
  std::int64_t before = 0;
  for (std::int64_t y = 0; y < part.height; ++y) {
    const std::int64_t end = end_of_row(y);
    masked = masked || end < part.width;
    const float x = place(across, part.keys[0], end, part.cell);
    const float top = place(down, part.rows[0], y, part.cell), foot = place(down, part.rows[0], y + 1, part.cell);
    // Where each row sees one more than the last, a straight line; corners where it is otherwise.
    if (steps || (y > 0 && end != before + 1)) corner({x, top});
    if (y == 0 && !steps) corner({place(across, part.keys[0], std::max<std::int64_t>(end - 1, 0), part.cell), top});
    corner({x, foot});
    before = end;
  }
  if (masked && corners.size() > 1) painter.polyline(corners, kEdgeInk, page.style.pt(0.4f));
}

void MapPanel::draw_axes(Painter& painter, const Rect& inner, const Page& page) const {
  const PageStyle& style = page.style;
  const PageAxis rows = position_axis(part.rows), keys = position_axis(part.keys);
  const float strip = key0.empty() ? 0.0f : style.mm(kStrip + kStripGap);
  draw_row_ticks(painter, inner.x0 - strip, inner, rows, names_rows, page);
  if (names_rows) {
    const RichText row_name = fitting(rich("query position *i*"), rich("query *i*"), inner.height(), page);
    draw_rich_upwards(painter,
                      {inner.x0 - strip - left_of_axis(rows, inner.height(), page) - style.pt(3.0f), inner.centre_y()},
                      row_name, style.title());
  }
  const float labels = inner.y1 + style.pt(kTickLength + kTickToLabel) + kDigits * style.size();
  for (const PageTick& tick : map_ticks(keys, inner.x0, inner.x1, page)) {
    painter.line({tick.place, inner.y1}, {tick.place, inner.y1 + style.pt(kTickLength)}, ink::kBlack, style.pt(0.5f));
    draw_rich(painter, {tick.place, labels}, tick.label, style.text(), Painter::Align::Centre);
  }
  const RichText key_name = fitting(rich("key position *j*"), rich("key *j*"), inner.width(), page);
  draw_rich(painter, {inner.centre_x(), labels + style.pt(4.5f) + kDigits * style.title_size()}, key_name,
            style.title(), Painter::Align::Centre);
}

void MapPanel::draw_bar(Painter& painter, const PanelFrame& frame, const Page& page) const {
  const PageStyle& style = page.style;
  const Rect& inner = frame.inner;
  const float height = style.mm(2.0f) + page_bar_below(page);
  if (!corner_is_free()) {
    PageAxis keys = position_axis(part.keys);
    keys.title = rich("key");
    const float top = inner.y1 + below_axis(keys, page) + style.mm(1.6f);
    RichText words = bar_name();
    if (names_bar_above(inner.width(), page)) {
      // A line of its own above the bar; of a title that is too long for that too, the symbol: the caption has all.
      if (rich_width(page.measure, words, style.text()) > frame.outer.x1 - inner.x0) words = rich(symbol);
      draw_rich(painter, {inner.x0, top + 0.72f * style.size()}, words, style.text());
      const float under = top + 1.25f * style.size();
      draw_page_bar(painter, {inner.x0, under, inner.x1, under + page_bar_height(page)}, bar, page);
      return;
    }
    const float width = rich_width(page.measure, words, style.text()) + style.mm(5.0f);
    const Rect area{inner.x0 + width, top, inner.x1, top + page_bar_height(page)};
    draw_rich(painter, {inner.x0, area.y1 - page_bar_below(page) - style.mm(1.0f) + 0.36f * style.size()}, words,
              style.text());
    draw_page_bar(painter, area, bar, page);
    return;
  }
  const float wide = inner.width(), top = inner.y0 + style.mm(lens ? 0.0f : 1.2f);
  // Beside a lens it stands before it, behind the diagonal.
  const float bar_end = lens ? inner.x0 + (wide < style.mm(55.0f) ? 0.49f : 0.53f) * wide : inner.x1 - style.pt(1.0f);
  const float share = bar.scale.low < 0.0f ? 0.55f : 0.42f;  // signed ones have more to label
  const float width =
      std::min(lens ? (wide < style.mm(55.0f) ? 0.27f : 0.36f) * wide : std::max(share * wide, style.mm(11.5f)),
               style.mm(26.0f));
  draw_page_bar(painter, {bar_end - width, top, bar_end, top + height}, bar, page);
  if (!note.empty()) draw_note(painter, inner, top + height + 1.1f * style.size(), page);
}

// What a cell is, below the bar: on one line or on two, before the cells begin.
void MapPanel::draw_note(Painter& painter, const Rect& inner, float baseline, const Page& page) const {
  const PageStyle& style = page.style;
  const float line = 1.25f * style.size();
  const auto fits = [&](const std::string& text, float at) {
    return inner.x1 - page.measure.width(text, Face::Sans, style.size()) > free_from(at, inner) + style.pt(2.0f);
  };
  const auto put = [&](const std::string& text, float at) {
    draw_rich(painter, {inner.x1, at}, rich(text), style.text(ink::kNote), Painter::Align::Right);
  };
  if (fits(note, baseline)) return put(note, baseline);
  const std::size_t of = note.find(" of ");
  if (of == std::string::npos) return;
  put(note.substr(0, of + 3), baseline);
  put(note.substr(of + 4), baseline + line);
}

void MapPanel::draw_lens(Painter& painter, const Rect& inner, const Axis& across, const Axis& down,
                         const Page& page) const {
  const PageStyle& style = page.style;
  const float side = kLensShare * std::min(inner.width(), inner.height());
  const auto columns = static_cast<float>(lens->part.width), lines = static_cast<float>(lens->part.height);
  const float cell = side / std::max(columns, lines);
  const Rect box{inner.x1 - cell * columns, inner.y0, inner.x1, inner.y0 + cell * lines};
  const Rect from = cells_rect(lens->part, across, down);
  const float hair = style.pt(0.5f);
  painter.line({from.x0, from.y0}, {box.x0, box.y0}, kLead, hair);
  painter.line({from.x1, from.y1}, {box.x0, box.y1}, kLead, hair);
  painter.fill_rect(box, ink::kWhite);
  MapShading shading;
  shading.scale = bar.scale;
  painter.begin_series({quantity, head_text(head), "lens"});
  const MapImage image = image_of(lens->part);
  painter.map(box, image, whole_image(image), shading);
  painter.end_series();
  const float frame_width = style.pt(0.7f), out = 0.5f * frame_width;
  painter.stroke_rect({box.x0 - out, box.y0 - out, box.x1 + out, box.y1 + out}, ink::kBlack, frame_width);
  painter.stroke_rect({from.x0 - out, from.y0 - out, from.x1 + out, from.y1 + out}, ink::kBlack, frame_width);
  const float x = box.x0 + cell * static_cast<float>(lens->key - lens->part.keys[0]),
              y = box.y0 + cell * static_cast<float>(lens->row - lens->part.rows[0]);
  painter.stroke_rect({x - out, y - out, x + cell + out, y + cell + out}, ink::kBlack, style.pt(1.0f));
  draw_lens_texts(painter, inner, box, page);
}

void MapPanel::draw_lens_texts(Painter& painter, const Rect& inner, const Rect& box, const Page& page) const {
  const PageStyle& style = page.style;
  const float line = 1.3f * style.size();
  float baseline = box.y1 + style.pt(2.5f) + line * 0.85f;
  const auto put = [&](const std::string& what, const std::string& token) {
    const float room = inner.x1 - free_from(baseline + 0.3f * line, inner) - style.pt(3.0f);
    const TextStyle text = style.text();
    const float name_width = rich_width(page.measure, rich(what), text), quotes = style.pt(12.0f);
    if (name_width > room) return;
    std::string quoted;
    const bool whole = name_width + quotes + page.measure.width(token, text.face, text.size) <= room;
    if (!token.empty() && (whole || room > name_width + quotes + style.pt(24.0f)))
      quoted = elide_end(token, room - name_width - quotes, page.measure, text.face, text.size);
    if (!quoted.empty()) {
      quoted = "“" + quoted + "”";
      painter.text({inner.x1 - page.measure.width(quoted, text.face, text.size), baseline}, quoted, text);
    }
    const float taken = quoted.empty() ? 0.0f : page.measure.width(quoted, text.face, text.size) + style.pt(4.0f);
    draw_rich(painter, {inner.x1 - taken, baseline}, rich(what), text, Painter::Align::Right);
    baseline += line;
  };
  put("query " + grouped_text(lens->row), lens->row_text);
  put("key " + grouped_text(lens->key), lens->key_text);
  if (std::isfinite(lens->value)) put(symbol + " = " + short_text(lens->value), {});
}

void MapPanel::add_data(FigureData& data) const {
  for (std::int64_t y = 0; y < part.height; ++y)
    for (std::int64_t x = 0; x < part.width; ++x)
      if (!std::isnan(value(y, x)))
        data.add(
            cell_mark(*this, series.c_str(), part.rows[0] + y * part.cell, part.keys[0] + x * part.cell, value(y, x)));
  for (std::size_t y = 0; y < key0.size(); ++y)
    if (!std::isnan(key0[y]))
      data.add(cell_mark(*this, "key 0", part.rows[0] + static_cast<std::int64_t>(y) * part.cell, 0, key0[y]));
  if (!lens) return;
  for (std::int64_t y = 0; y < lens->part.height; ++y)
    for (std::int64_t x = 0; x < lens->part.width; ++x) {
      const double v = lens->part.values[static_cast<std::size_t>(y * lens->part.width + x)];
      if (!std::isnan(v)) data.add(cell_mark(*this, "lens", lens->part.rows[0] + y, lens->part.keys[0] + x, v));
    }
}

PanelRoom LambdaPanel::room(const Page& page, Vec2 inner) const {
  const PageAxis x{low, high};
  return {left_of_map(position_axis(rows), false, sign, inner.y, page),
          0.5f * page.measure.width(grouped_text(rows[1] - 1), Face::Sans, page.style.size()), 0.0f,
          below_axis(x, page)};
}

void LambdaPanel::draw(Painter& painter, const PanelFrame& frame, const Page& page) const {
  const PageStyle& style = page.style;
  const Rect& inner = frame.inner;
  PageAxis x{low, high};
  x.high_label = true;
  const Axis across = placed_axis(x, inner.x0, inner.x1), down = placed_axis(position_axis(rows), inner.y0, inner.y1);
  painter.begin_plot({id, kind, across, down});
  painter.begin_series({"rows/lambda", head_text(head), "lambda"});
  const float zero = across.pixel(0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t first = rows[0] + static_cast<std::int64_t>(i) * each;
    const std::int64_t last = shared ? rows[1] : std::min(first + each, rows[1]);
    // Each reaches a little below the next, so that viewers show no seams.
    const float top = down.pixel(static_cast<double>(first) - 0.5),
                end_of_bar = down.pixel(static_cast<double>(last) - 0.5);
    const float foot = std::min(inner.y1, end_of_bar + std::min(style.pt(0.3f), 0.25f * (end_of_bar - top)));
    if (!std::isfinite(values[i])) {
      draw_hatch(painter, {inner.x0, top, inner.x1, foot}, page);
      continue;
    }
    const float end = across.pixel(values[i]);
    painter.fill_rect({std::min(zero, end), top, std::max(zero, end), foot}, mix(ink::kLambda.mark, ink::kWhite, 0.2f));
  }
  painter.end_series();
  if (shared && std::isfinite(values.front())) {
    // Its number along it, on the bar or beside it.
    const float end = across.pixel(values.front()), wide = std::abs(end - zero);
    const bool inside = wide > 1.6f * style.title_size();
    const float middle = inside ? 0.5f * (zero + end) : std::max(zero, end) + 0.8f * style.title_size();
    draw_rich_upwards(painter, {middle + 0.36f * style.title_size(), inner.centre_y()},
                      rich(short_text(values.front())), style.title(inside ? ink::kWhite : ink::kBlack));
  }
  painter.line({zero, inner.y0}, {zero, inner.y1}, ink::kBlack, style.pt(0.5f));
  draw_row_ticks(painter, inner.x0, inner, position_axis(rows), false, page);
  draw_x_axis(painter, inner, x, page);
  painter.end_plot();
  draw_sign(painter, frame, room(page, {inner.width(), inner.height()}).left, sign, page);
}

void LambdaPanel::add_data(FigureData& data) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    FigureMark mark;
    mark.panel = id, mark.series = "lambda", mark.kind = "bar", mark.layer = head.layer, mark.head = head.head;
    mark.row = rows[0] + static_cast<std::int64_t>(i) * each;
    if (std::isfinite(values[i])) mark.y = values[i];
    mark.n = shared ? rows[1] - rows[0] : std::min(each, rows[1] - mark.row);
    data.add(std::move(mark));
  }
}

}  // namespace headroom
