// Context RMS of heads against the interval of each: ρᵢ over nᵢ, both axes logarithmic.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/head_series.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/figures/premise_rows.h"
#include "app/figures/row_axis.h"
#include "app/figures/row_curve.h"
#include "app/figures/running_quantiles.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "app/plot/series.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/premise.h"

namespace headroom {
namespace {

constexpr const char* kRho = "rows/context_rms_relative";
constexpr std::int64_t kLeastRows = 30;                               // eligible, for a median line
constexpr std::size_t kManyRows = 4096;                               // whose marks lie on each other
constexpr std::size_t kBins = 45;                                     // of the margin's histogram
constexpr float kMarginGap = 1.2f, kMargin = 9.0f, kToShares = 1.6f;  // millimetres

struct RmsRow {
  std::int64_t row = 0;
  double place = 0.0, rho = 0.0, low = kNaN, high = kNaN;  // ends of the row's own interval
  bool counted = true;
};

class RmsPanel final : public FigurePanel {
 public:
  HeadRef head;
  std::vector<RmsRow> drawn;                                                     // ρ > 0 and finite
  std::int64_t zero = 0, not_finite = 0, eligible = 0, min_row = 1, beyond = 0;  // beyond: rows, of the axis
  double least_n = 1.0, last_n = 2.0, own_low = kNaN,
         own_high = kNaN;            // of the interval, at the last row, where it is a curve
  std::vector<double> grid, grid_n;  // places along the axis, and the keys that a row there sees
  bool by_position = false, own_per_row = false, own_over_root = true, softmax = true, image = false;
  std::int64_t all_rows = 0;                           // of the head, with those that are not drawn
  std::string low_name, high_name, premise, sentence;  // names: of the ends of its own interval
  RowShares shares;
  RunningQuantiles median;
  PremiseRows measured;
  Histogram counts;
  PageAxis x, y;

  [[nodiscard]] double low_at(double n) const { return own_over_root ? own_low / std::sqrt(n) : own_low; }
  [[nodiscard]] bool on_axis(double value) const { return value >= y.low && value <= y.high; }

  PanelRoom room(const Page& page, Vec2 inner) const override {
    const float shares_width = std::max(page.measure.width("interval", Face::Sans, page.style.size()),
                                        page.measure.width("100.0 %", Face::Sans, page.style.size()));
    return {left_of_axis(y, inner.y, page), page.style.mm(kMarginGap + kMargin + kToShares) + shares_width, 0.0f,
            below_axis(x, page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space({inner.x0 + page.style.pt(2.0f), inner.y0, inner.x1, inner.y1}, page.style.pt(1.0f));
    painter.push_clip(inner);
    draw_interval(painter, along, up, page);
    draw_signs(painter, along, up);
    painter.pop_clip();
    draw_rows(painter, along, up, page);
    draw_rows_beyond(painter, inner, along, page, space);
    const std::vector<Vec2> bound = draw_bounds(painter, inner, along, up, page, space);
    const bool named = name_bound(painter, bound, {1.0f}, false, page, space);
    draw_uniform(painter, inner, along, up, page, space);
    draw_median(painter, inner, along, up, page, space);
    name_median(painter, inner, along, up, page, space);
    name_own_ends(painter, inner, along, up, page, space);
    draw_notes(painter, inner, along, up, page, space);
    // A line that hardly falls takes more room below it, but none from the names of curves.
    if (!named && !name_bound(painter, bound, {2.5f, 4.5f}, true, page, space)) leave_out(page, bound_name());
    draw_margin(painter, frame, up, page);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    const auto mark = [&](const char* series, const char* form) {
      FigureMark one;
      one.panel = id, one.series = series, one.kind = form, one.layer = head.layer, one.head = head.head;
      return one;
    };
    for (const RmsRow& row : drawn) {
      FigureMark one = mark(row.counted ? "rows" : "rows not counted", "point");
      one.row = row.row, one.x = row.place, one.y = row.rho, one.low = row.low, one.high = row.high;
      data.add(std::move(one));
    }
    for (std::size_t i = 0; i < median.n.size(); ++i) {
      FigureMark one = mark("median", "line");
      one.x = median.n[i], one.y = median.median[i];
      data.add(std::move(one));
    }
    for (std::size_t i = 0; i < measured.uniform.place.size(); ++i) {
      FigureMark one = mark("uniform attention", "line");
      one.x = measured.uniform.place[i], one.y = measured.uniform.value[i];
      data.add(std::move(one));
    }
    for (const PremiseRows::Signs& row : measured.signs) {
      FigureMark one = mark("random signs", "range");
      one.row = row.row, one.x = row.place, one.low = row.low, one.high = row.high;
      data.add(std::move(one));
    }
    for (std::size_t i = 0; i < counts.bins(); ++i) {
      FigureMark one = mark("histogram", "bar");
      one.low = counts.edges[i], one.high = counts.edges[i + 1], one.n = std::llround(counts.counts[i]);
      data.add(std::move(one));
    }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] bool few() const { return last_n <= 100.0; }

  void draw_interval(Painter& painter, const Axis& along, const Axis& up, const Page& page) const {
    if (!own_per_row) {
      std::vector<Vec2> wash;
      for (std::size_t i = 0; i < grid.size(); ++i)
        wash.push_back({along.pixel(grid[i]), std::min(up.pixel(std::max(low_at(grid_n[i]), y.low)), up.from)});
      wash.push_back({along.to, up.pixel(own_high)});
      wash.push_back({along.from, up.pixel(own_high)});
      painter.fill_polygon(wash, ink::kInterval);
      if (softmax) return;
      painter.begin_series({"", head_text(head), "own interval"});
      const std::span<const Vec2> curve = std::span(wash).first(grid.size());
      // In print without colours it is no median.
      for (const std::vector<Vec2>& line : {std::vector<Vec2>(curve.begin(), curve.end()),
                                            {{along.from, up.pixel(own_high)}, {along.to, up.pixel(own_high)}}})
        draw_page_line(painter, line, ink::kLambda.mark, 0.6f, kLongDash, page);
      painter.end_series();
      return;
    }
    // Each row's own ends: short strokes, never a curve of the mean.
    painter.begin_series({"", head_text(head), "own interval"});
    std::vector<Vec2> ends;
    for (const RmsRow& row : drawn)
      for (const double end : {row.low, row.high})
        if (end > 0.0) ends.push_back({along.pixel(row.place), up.pixel(end)});
    const float half = page.style.pt(1.1f), width = page.style.pt(0.5f);
    draw_points(painter, page, image, along, up, 0.0f, ends, 0.6f, [&](Painter& to, Vec2 at, float opacity) {
      to.line({at.x - half, at.y}, {at.x + half, at.y}, ink::kLambda.mark.faded(opacity), width);
    });
    painter.end_series();
  }

  // Where rows would lie if every value could as well have had the opposite sign.
  void draw_signs(Painter& painter, const Axis& along, const Axis& up) const {
    std::vector<Vec2> band;
    const RunningQuantiles &low = measured.low, &high = measured.high;
    for (std::size_t i = 0; i < low.n.size(); ++i)
      band.push_back({along.pixel(low.n[i]), up.pixel(std::max(low.median[i], y.low))});
    for (std::size_t i = high.n.size(); i-- > 0;)
      band.push_back({along.pixel(high.n[i]), up.pixel(std::max(high.median[i], y.low))});
    if (band.size() < 4) return;
    painter.begin_series({"rows/sign_rms_relative", head_text(head), "random signs"});
    painter.fill_polygon(band, ink::kSecond.mark.faded(0.22f));
    painter.end_series();
  }

  void draw_uniform(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                    LabelSpace& space) const {
    std::vector<Vec2> line;
    for (std::size_t i = 0; i < measured.uniform.place.size(); ++i)
      if (measured.uniform.value[i] > 0.0)
        line.push_back({along.pixel(measured.uniform.place[i]), up.pixel(measured.uniform.value[i])});
    if (line.size() < 2) return;
    painter.push_clip(inner);
    painter.begin_series({"rows/uniform_rms_relative", head_text(head), "uniform attention"});
    draw_page_line(painter, line, ink::kNull, 0.7f, kDots, page);
    painter.end_series();
    painter.pop_clip();
    space.block_line(thinned_line(line), page.style.pt(1.0f));
  }

  void draw_rows(Painter& painter, const Axis& along, const Axis& up, const Page& page) const {
    const float radius = page.style.pt(few() ? 1.2f : 0.85f);
    for (const bool counted : {false, true}) {
      painter.begin_series({kRho, head_text(head), counted ? "rows" : "rows not counted"});
      const Color color = counted ? ink::kHead.mark : ink::kNotCounted.mark;
      std::vector<Vec2> places;
      for (const RmsRow& row : drawn)
        if (row.counted == counted && on_axis(row.rho)) places.push_back({along.pixel(row.place), up.pixel(row.rho)});
      draw_points(painter, page, image, along, up, radius, places, few() ? 0.95f : 0.55f,
                  [&](Painter& to, Vec2 at, float opacity) { to.disc(at, radius, color.faded(opacity)); });
      painter.end_series();
    }
  }

  void draw_rows_beyond(Painter& painter, const Rect& inner, const Axis& along, const Page& page,
                        LabelSpace& space) const {
    if (beyond == 0) return;
    std::vector<BeyondMark> marks;
    for (const RmsRow& row : drawn)
      if (!on_axis(row.rho)) marks.push_back({along.pixel(row.place), row.rho, row.rho > y.high});
    painter.begin_series({kRho, head_text(head), "beyond"});
    draw_all_beyond(painter, page, space, inner, marks, ink::kHead);
    painter.end_series();
  }

  // The line of the lower bound, for its name.
  std::vector<Vec2> draw_bounds(Painter& painter, const Rect& inner, const Axis& along, const Axis& up,
                                const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    const float width = style.pt(0.7f);
    auto block = [&, taken = std::set<std::pair<int, int>>()](Vec2 at, Vec2 half) mutable {
      // Of many rows one mark in each place is enough.
      const float cell = style.pt(2.0f);
      if (drawn.size() > kManyRows &&
          !taken.insert({static_cast<int>(at.x / cell), static_cast<int>(at.y / cell)}).second)
        return;
      space.block(Rect{at.x - half.x, at.y - half.y, at.x + half.x, at.y + half.y});
    };
    for (const RmsRow& row : drawn)
      if (on_axis(row.rho)) block({along.pixel(row.place), up.pixel(row.rho)}, {1.0f, 1.0f});
    painter.begin_series({"", "", "bounds"});
    std::vector<Vec2> low;
    for (std::size_t i = 0; i < grid.size(); ++i)
      if (const double value = 1.0 / std::sqrt(grid_n[i]); on_axis(value))
        low.push_back({along.pixel(grid[i]), up.pixel(value)});
    const float top = up.pixel(1.0);
    painter.polyline(low, ink::kBlack, width);
    if (on_axis(1.0))
      painter.dashed_line({inner.x0, top}, {inner.x1 + style.mm(kMarginGap + kMargin), top}, ink::kBlack, width,
                          style.pt(5.0f), style.pt(3.0f));
    painter.end_series();
    for (const RmsRow& row : drawn)
      for (const double end : {row.low, row.high})
        if (own_per_row && on_axis(end)) {
          block({along.pixel(row.place), up.pixel(end)}, {style.pt(1.1f), 0.5f});
        }
    if (!softmax && !own_per_row) {
      std::vector<Vec2> own;
      for (std::size_t i = 0; i < grid.size(); ++i)
        if (on_axis(low_at(grid_n[i]))) own.push_back({along.pixel(grid[i]), up.pixel(low_at(grid_n[i]))});
      space.block_line(own, style.pt(1.0f));
      const float high = up.pixel(own_high);
      if (on_axis(own_high)) space.block(Rect{inner.x0, high - 0.5f, inner.x1, high + 0.5f});
    }
    space.block_line(low, style.pt(2.0f));
    if (on_axis(1.0)) space.block(Rect{inner.x0, top - 1.0f, inner.x1, top + 1.0f});
    return low;
  }

  // Below the line of the bound, where it is free, its name, else `above` it. False: the places that far below it are
  // taken.
  [[nodiscard]] bool name_bound(Painter& painter, std::span<const Vec2> low, std::initializer_list<float> drops,
                                bool above, const Page& page, LabelSpace& space) const {
    if (low.size() < 2) return true;
    const PageStyle& style = page.style;
    const RichText bound = bound_name();
    const float name_width = rich_width(page.measure, bound, style.text()), height = style.size();
    const auto put = [&](float share, const auto& corner) {
      const Vec2 at = corner(low[static_cast<std::size_t>(share * static_cast<float>(low.size() - 1))]);
      if (!space.place(OrientedBox::of(Rect::sized(at.x, at.y, name_width, height * 1.15f)))) return false;
      draw_rich(painter, {at.x, at.y + 0.88f * height}, bound, style.text());
      return true;
    };
    for (const float drop : drops)
      for (const float share : {0.30f, 0.22f, 0.40f, 0.15f, 0.50f, 0.60f, 0.70f})
        if (put(share, [&](Vec2 at) { return Vec2{at.x - name_width - style.pt(3.0f), at.y + style.pt(drop)}; }))
          return true;
    for (const float share : {0.70f, 0.60f, 0.50f, 0.40f, 0.80f, 0.30f, 0.90f})
      if (above &&
          put(share, [&](Vec2 at) { return Vec2{at.x + style.pt(3.0f), at.y - style.pt(2.5f) - 1.15f * height}; }))
        return true;
    return false;
  }

  [[nodiscard]] static RichText bound_name() { return rich("1/√{*n*_{*i*}}"); }

  void draw_median(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                   LabelSpace& space) const {
    std::vector<Vec2> line;
    for (std::size_t i = 0; i < median.n.size(); ++i)
      line.push_back({along.pixel(median.n[i]), up.pixel(median.median[i])});
    if (line.size() < 2) return;
    painter.push_clip(inner);
    painter.begin_series({kRho, head_text(head), "median"});
    painter.polyline(line, ink::kHeadMedian, page.style.pt(1.0f));
    painter.end_series();
    painter.pop_clip();
    space.block_line(line, page.style.pt(1.0f));
  }

  // The ends of the head's own interval by their formulas, beside the strokes or the edges of the wash.
  void name_own_ends(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                     LabelSpace& space) const {
    if (softmax) return;
    const PageStyle& style = page.style;
    const float height = style.size();
    for (const bool top : {true, false}) {
      std::vector<Vec2> ends;
      if (own_per_row) {
        for (const RmsRow& row : drawn)
          if (const double end = top ? row.high : row.low; on_axis(end))
            ends.push_back({along.pixel(row.place), up.pixel(end)});
      } else {
        for (std::size_t i = 0; i < grid.size(); ++i)
          if (const double end = top ? own_high : low_at(grid_n[i]); on_axis(end))
            ends.push_back({along.pixel(grid[i]), up.pixel(end)});
      }
      if (ends.empty()) continue;
      ends = thinned_line(ends);
      const RichText words = rich_title(top ? high_name : low_name);
      const float wide = rich_width(page.measure, words, style.text());
      std::vector<Vec2> places;
      for (const Vec2& end : ends)
        for (const float away : {0.6f, 1.2f, 2.0f}) {
          const float left = std::clamp(end.x - 0.5f * wide, inner.x0 + style.pt(3.0f), inner.x1 - wide);
          places.push_back({left, top ? end.y - away * height : end.y + (0.6f + away) * height});
        }
      put_led_label(painter, page, space, words, style.text(ink::kLambda.text), places, ends);
    }
  }

  void name_median(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                   LabelSpace& space) const {
    const PageStyle& style = page.style;
    const float height = style.size();
    if (median.n.size() < 2) return;
    std::vector<Vec2> places, curve;
    const float width = page.measure.width("median", Face::Sans, height);
    for (std::size_t i = 0; i < median.n.size(); ++i) {
      if (!on_axis(median.median[i])) continue;
      const float px = std::min(along.pixel(median.n[i]), inner.x1 - width), py = up.pixel(median.median[i]);
      for (const float rise : {-0.6f, 1.3f, -1.2f, 1.9f, -2.0f, 2.8f}) places.push_back({px, py + rise * height});
      curve.push_back({along.pixel(median.n[i]), py});
    }
    if (curve.empty()) return;
    put_led_label(painter, page, space, rich("median"), style.on_lines(ink::kHeadMedian), places, curve);
  }

  void draw_notes(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                  LabelSpace& space) const {
    const PageStyle& style = page.style;
    const float height = style.size();
    // On the curves: where there is room, from the right.
    const auto name_curve = [&](const char* words, Color color, const std::vector<Vec2>& curve) {
      std::vector<Vec2> beside;
      const float wide = page.measure.width(words, Face::Sans, height);
      for (std::size_t i = curve.size(); i-- > 0;)
        for (const float rise : {-0.6f, 1.3f, -1.2f, 1.9f, -2.0f, 2.8f, 3.8f, 5.0f})
          beside.push_back({std::clamp(curve[i].x - 0.5f * wide, inner.x0 + style.pt(3.0f), inner.x1 - wide),
                            curve[i].y + rise * height});
      if (!beside.empty()) put_led_label(painter, page, space, rich(words), style.on_lines(color), beside, curve);
    };
    std::vector<Vec2> curve;
    const std::size_t rows = measured.uniform.place.size(), step = std::max<std::size_t>(1, rows / 24);
    for (std::size_t i = 0; i < rows; i += step)
      if (on_axis(measured.uniform.value[i]))
        curve.push_back({along.pixel(measured.uniform.place[i]), up.pixel(measured.uniform.value[i])});
    name_curve("uniform attention", ink::kNull, curve);
    curve.clear();
    for (std::size_t i = 0; i < measured.low.n.size(); i += 2)
      if (on_axis(measured.low.median[i]))
        curve.push_back({along.pixel(measured.low.n[i]), up.pixel(measured.low.median[i])});
    name_curve("random signs", ink::kSecond.text, curve);
    if (min_row == 1 || std::ranges::all_of(drawn, &RmsRow::counted)) return;
    std::vector<Vec2> places;
    for (const float share : {0.88f, 0.8f, 0.7f, 0.95f, 0.6f, 0.5f, 0.4f})
      for (const float over : {0.0f, 0.06f, 0.12f, 0.18f})
        places.push_back({inner.x0 + style.pt(3.0f) + over * inner.width(), inner.y0 + share * inner.height()});
    put_label(painter, page, space, rich("*n*_{*i*} < " + std::to_string(min_row) + ": not counted"),
              style.on_lines(ink::kNotCounted.text), places);
  }

  void draw_margin(Painter& painter, const PanelFrame& frame, const Axis& up, const Page& page) const {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Rect margin = Rect::sized(inner.x1 + style.mm(kMarginGap), inner.y0, style.mm(kMargin), inner.height());
    painter.line({margin.x0, margin.y0}, {margin.x0, margin.y1}, ink::kGuide, style.pt(0.5f));
    painter.begin_series({kRho, head_text(head), "histogram"});
    const float gap = style.pt(0.15f);
    for (const Rect& bar : horizontal_bars(counts, up, margin))
      painter.fill_rect({bar.x0, bar.y0 + gap, bar.x1, bar.y1 - gap}, ink::kHead.mark.faded(0.8f));
    painter.end_series();
    // Shares beside what they are of, apart from each other.
    const auto percent = [](double share) { return fixed_text(100.0 * share, 1) + " %"; };
    const float line = 1.25f * style.size(), x0 = margin.x1 + style.mm(kToShares);
    const double top = std::min(own_high, y.high), middle = std::sqrt(std::max(y.low, low_at(last_n)) * top);
    struct Share {
      const char* name;
      std::string value;
      float at;
    };
    const std::vector<Share> all = {
        {"above", percent(shares.above), std::max(inner.y0, up.pixel(top) - 0.2f * line)},
        {"inside", percent(shares.inside), up.pixel(own_per_row ? std::sqrt(y.low * top) : middle)},
        {"below", percent(shares.below), inner.y1 - 2.2f * line}};
    // Whose interval the shares are of.
    const float first = softmax ? inner.y0 : inner.y0 + 2.6f * line;
    if (!softmax)
      for (const auto& [word, down] : {std::pair{"own", 0.3f}, {"interval", 1.3f}})
        painter.text({x0, inner.y0 + down * line}, word, style.text(ink::kLambda.text));
    std::vector<float> wanted;
    for (const Share& share : all) wanted.push_back(std::clamp(share.at, first, inner.y1));
    const std::vector<float> places = spread_labels(wanted, 2.3f * line, first, inner.y1 - 1.6f * line);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!std::isfinite(shares.inside) || std::isnan(places[i])) continue;
      painter.text({x0, places[i] + 0.3f * line}, all[i].name, style.text(ink::kNote));
      painter.text({x0, places[i] + 1.3f * line}, all[i].value, style.text());
    }
    const std::string rows = grouped_text(eligible) + (eligible == 1 ? " row" : " rows");
    const float width = page.measure.width(rows, Face::Sans, style.size());
    painter.text({std::max(margin.x0, frame.outer.x1 - style.mm(0.8f) - width), inner.y1 + below_axis(x, page)}, rows,
                 style.text(ink::kNote));
  }
};

// The head that has the most rows outside, where none is named: what there is to see.
std::vector<HeadRef> usual_head(const RunSnapshot& run) {
  HeadRef best{run.layers.front(), run.heads.front()};
  double most = -1.0;
  for (const std::int64_t layer : run.layers)
    for (const std::int64_t head : run.heads) {
      const double inside = run.at("rows_inside_bound", layer, head, 2);
      if (std::isfinite(inside) && 1.0 - inside > most) most = 1.0 - inside, best = {layer, head};
    }
  return {best};
}

std::string rms_sentence(const RmsPanel& panel) {
  const auto percent = [](double share) { return fixed_text(100.0 * share, 1) + " %"; };
  std::string text = "Context RMS *ρ*_{*i*} = RMS_{*i*}/*r̄*_{*i*} of " + head_text(panel.head) +
                     (panel.by_position ? " over the position of the row" : " over visible keys *n*_{*i*}") + "; " +
                     grouped_text(panel.eligible) + (panel.eligible == 1 ? " row" : " rows") + " with *n*_{*i*} ≥ " +
                     std::to_string(panel.min_row) + (panel.eligible == 1 ? " counts" : " count") +
                     (panel.min_row > 1 ? " (grey: the others)" : "") + ". ";
  if (panel.by_position)
    text += "Rows see " + (panel.least_n < panel.last_n ? short_text(panel.least_n) + " to " : std::string()) +
            short_text(panel.last_n) + " keys. ";
  text += "Solid 1/√{*n*_{*i*}}, dashed 1: softmax’s interval for uncorrelated values";
  if (!panel.softmax)
    text += std::string("; violet: the ends of ") + (panel.own_per_row ? "each row’s" : "its") + " own interval, [" +
            markup_text(rich_title(panel.low_name)) + ", " + markup_text(rich_title(panel.high_name)) +
            "], of which the shares are";
  if (std::isfinite(panel.shares.inside))
    text += "; " + percent(panel.shares.above) + " of rows above, " + percent(panel.shares.inside) + " inside, " +
            percent(panel.shares.below) + " below";
  text += "." + panel.premise;
  if (panel.zero > 0) text += " " + std::to_string(panel.zero) + " rows with *ρ*_{*i*} = 0 have no place on the axis.";
  if (panel.not_finite > 0)
    text += " " + std::to_string(panel.not_finite) + " rows without a finite value are left out.";
  text += beyond_sentence(panel.beyond, "row lies", "rows lie");
  if (!panel.median.n.empty())
    text +=
        panel.by_position
            ? " Dark line: medians of the counted rows of " + std::to_string(kPositionBins) + " pieces of equal length."
            : std::string(
                  " Dark line: median of the counted rows with *n* within a factor 1.33, where there are at least 15.");
  return text;
}

Result<std::unique_ptr<RmsPanel>> rms_panel(const RunSnapshot& run, HeadRef head, const FigureChoice& choice) {
  const LayerSnapshot& layer = *run.layer(head.layer);
  const HeadSeries series = make_head_series(run, layer, head.head);
  auto panel = std::make_unique<RmsPanel>();
  panel->kind = "rms", panel->name = head_text(head), panel->head = head;
  panel->title = rich("context RMS in units of the values, *ρ*_{*i*}");
  panel->brief = rich("context RMS *ρ*_{*i*}");
  panel->min_row = std::llround(series.least), panel->by_position = series.by_position;
  panel->grid = place_grid(series, 64);
  for (const double place : panel->grid) panel->grid_n.push_back(visible_at(series, place));
  if (panel->by_position) {
    const Range seen = visible_range(series);
    panel->least_n = std::max(1.0, seen.low), panel->last_n = std::max(2.0, seen.high);
  } else {
    panel->least_n = panel->grid_n.front(), panel->last_n = panel->grid_n.back();
  }
  const RowIntervals& intervals = series.intervals[static_cast<std::size_t>(RmsTab::Relative)];
  const RowInterval& own = intervals.own();
  panel->softmax = own.name == "softmax", panel->all_rows = static_cast<std::int64_t>(series.rho.size());
  panel->low_name = own.low.name, panel->high_name = own.high.name;
  panel->own_per_row = own.low.per_row() || own.high.per_row();
  panel->own_over_root = own.low.over_root;
  panel->own_low = own.low.value, panel->own_high = own.high.value;
  panel->shares = own.shares;
  std::vector<double> counted, medians(series.rho.size(), kNaN);
  double low = kInfinity, high = 0.0;
  for (std::size_t i = 0; i < series.rho.size(); ++i) {
    const auto rho = static_cast<double>(series.rho[i]);
    const bool counts = series.faint[i] == 0;
    panel->eligible += counts ? 1 : 0;
    if (!std::isfinite(rho)) {
      ++panel->not_finite;
      continue;
    }
    if (rho <= 0.0) {
      ++panel->zero;
      continue;
    }
    panel->drawn.push_back({static_cast<std::int64_t>(i), series.place[i], rho, own.low.at(i, series.visible[i]),
                            own.high.at(i, series.visible[i]), counts});
    if (counts) counted.push_back(rho), medians[i] = rho;
    low = std::min(low, rho), high = std::max(high, rho);
  }
  // The axis holds every bound that is drawn; one at 0 has no place on it.
  double highest = 1.0, lowest = panel->own_per_row ? kInfinity : panel->low_at(panel->last_n);
  if (panel->own_per_row)
    for (const RmsRow& row : panel->drawn) {
      if (std::isfinite(row.high)) highest = std::max(highest, row.high);
      if (row.low > 0.0) lowest = std::min(lowest, row.low);
    }
  if (panel->own_per_row)
    panel->own_high = highest;
  else if (std::isfinite(panel->own_high))
    highest = std::max(highest, panel->own_high);
  if (lowest > 0.0) low = std::min(low, lowest);
  low = std::min({low, 1.0 / std::sqrt(panel->last_n), high > 0.0 ? high : 1.0});
  // Room for the upper end's name: an eighth of the axis.
  const double above = panel->softmax ? 1.0 : std::pow(std::max(high, highest) / low, 1.0 / 7.0);
  const Range range = roomy_range(low, std::max(high, highest) * above, true);
  panel->y = {range.low / 1.08, range.high * 1.06, true};
  HEADROOM_TRY_VOID(set_range(panel->y, choice));
  panel->beyond = std::ranges::count_if(panel->drawn, [&](const RmsRow& row) { return !panel->on_axis(row.rho); });
  panel->x = page_row_axis(series);
  if (std::ssize(counted) >= kLeastRows)
    panel->median = row_medians(series, medians, static_cast<double>(std::max<std::int64_t>(series.min_row, 1)),
                                series.by_position);
  if (panel->all_rows > 1) panel->counts = histogram(counted, panel->y.low, panel->y.high, kBins, true);
  const RunPremise premises(run);
  const HeadPremise premise = premises.of(head.layer, head.head);
  panel->premise = premise_sentence(premise, premises.tests());
  panel->measured = premise_rows(layer, head.head, series);
  panel->sentence = rms_sentence(*panel);
  panel->source = run_sentence(run);
  return panel;
}

}  // namespace

Result<void> check_rms(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, usual_head(*run.run)));
  for (const HeadRef& head : heads) {
    const LayerSnapshot* layer = run.run->layer(head.layer);
    if (layer == nullptr || layer->row_values(kRho, head.head).empty())
      return lacks(run, "rms", "/rows/context_rms_relative", "written with --only summary",
                   "run analyze again without --only summary");
  }
  return {};
}

Result<Figure> make_rms(std::span<const FigureRun> runs, const FigureChoice& choice) {
  Figure figure;
  std::size_t heads_drawn = 0;
  FigureChoice named = choice;  // heads of two runs are told apart
  named.names = choice.names || runs.size() > 1;
  for (const FigureRun& run : runs) {
    HEADROOM_TRY_VOID(check_rms(run, choice));
    HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, usual_head(*run.run)));
    if (choice.heads.empty())
      figure.notes.push_back(run.name() + ": " + head_text(heads.front()) +
                             " has the most rows outside its interval; --head chooses another");
    for (const HeadRef& head : heads) {
      HEADROOM_TRY(std::unique_ptr<RmsPanel> panel, rms_panel(*run.run, head, choice));
      name_head(*panel, *run.run, head, named);
      if (panel->drawn.empty())
        return Error(ErrorCode::Unsupported,
                     head_text(head) + ": no row of " + run.name() + " has a finite context RMS above 0");
      panel->image = as_image(choice, panel->drawn.size());
      figure.panels.push_back(std::move(panel));
      ++heads_drawn;
    }
  }
  arrange(figure, choice, heads_drawn > 1 ? 174.0 : 84.0, 120.0, 58.0);
  return figure;
}

}  // namespace headroom
