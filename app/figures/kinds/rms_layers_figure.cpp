// Context RMS by layer: quantiles of ρᵢ over the rows of all heads against softmax's interval, and below them how many
// rows lie outside.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/figures/quantile_sticks.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr const char* kRhoRows = "rows/context_rms_relative";

// What the labels of the axes of both panels take at most: they stand flush.
float rms_left(const PageAxis& a, const PageAxis& b, const Page& page) {
  float widest = 0.0f;
  for (const float height : {16.0f, 28.0f, 50.0f, 90.0f, 160.0f, 280.0f})
    for (const PageAxis* axis : {&a, &b}) widest = std::max(widest, left_of_axis(*axis, page.style.pt(height), page));
  return widest;
}

// What the last label of the axis takes; where a panel is narrower than it is thought to be, this is a little more.
float rms_right(const PageAxis& x, Vec2 inner, const Page& page) {
  return std::max(page.style.pt(2.0f), beyond_axis(x, 0.9f * inner.x, page));
}

// The rows of one layer's heads, or of one head, together.
struct RmsColumn {
  std::int64_t layer = 0, head = -1;  // −1: of several
  QuantileStick stick;                // of the eligible rows with a finite ρ
  std::int64_t counted = 0;           // of the shares
  double above = kNaN, below = kNaN;  // %
};

class RmsQuantilesPanel final : public FigurePanel {
 public:
  std::vector<RmsColumn> columns;
  double least_n = 1.0, most_n = 1.0;  // of the eligible rows
  PageAxis x, y, other_y;              // of the panel below, which stands flush
  std::weak_ptr<const bool> below;     // the panel below has the numbers of x, as long as it is part of the figure
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {rms_left(y, other_y, page), rms_right(x, inner, page), 0.0f, below_axis(layers(), page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(26.0f), page.style.pt(1.1f) * static_cast<float>(columns.size())),
            page.style.mm(16.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    const auto level = [&](double value) { return up.pixel(std::clamp(value, y.low, y.high)); };
    const float low = level(1.0 / std::sqrt(most_n)), high = level(1.0 / std::sqrt(least_n)), one = up.pixel(1.0);
    painter.begin_series({"", "", "bounds"});
    if (most_n > least_n)
      painter.fill_rect({inner.x0, high, inner.x1, low}, ink::kBandOfBounds);
    else
      painter.line({inner.x0, low}, {inner.x1, low}, ink::kBlack, style.pt(0.7f));
    const bool with_one = y.low <= 1.0 && y.high >= 1.0;
    if (with_one)
      painter.dashed_line({inner.x0, one}, {inner.x1, one}, ink::kBlack, style.pt(0.7f), style.pt(5.0f),
                          style.pt(3.0f));
    painter.end_series();
    if (with_one) space.block(Rect{inner.x0, one - style.pt(0.4f), inner.x1, one + style.pt(0.4f)});
    std::vector<QuantileStick> sticks;
    for (const RmsColumn& column : columns) sticks.push_back(column.stick);
    draw_quantile_sticks(painter, page, space, inner, along, up, kRhoRows, sticks);
    draw_names(painter, inner, low, high, page, space);
    draw_x_axis(painter, inner, layers(), page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const RmsColumn& column : columns)
      for (const auto& [series, form, low, high] :
           {std::tuple("1–99 %", "line", 0, 4), std::tuple("quartiles", "bar", 1, 3),
            std::tuple("median", "point", 2, 2)}) {
        FigureMark mark;
        mark.panel = id, mark.series = series, mark.kind = form;
        mark.layer = column.layer, mark.head = column.head;
        mark.x = static_cast<double>(column.head < 0 ? column.layer : column.head), mark.n = column.stick.rows;
        if (low == high)
          mark.y = column.stick.q[static_cast<std::size_t>(low)];
        else
          mark.low = column.stick.q[static_cast<std::size_t>(low)],
          mark.high = column.stick.q[static_cast<std::size_t>(high)];
        data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] PageAxis layers() const {
    PageAxis axis = x;
    axis.bare = !below.expired();
    return axis;
  }

  void draw_names(Painter& painter, const Rect& inner, float low, float high, const Page& page,
                  LabelSpace& space) const {
    const PageStyle& style = page.style;
    const auto [fewest, most] =
        std::ranges::minmax(columns, {}, [](const RmsColumn& column) { return column.stick.rows; });
    std::string rows = grouped_text(fewest.stick.rows);
    if (fewest.stick.rows != most.stick.rows) rows += " to " + grouped_text(most.stick.rows);
    const auto put = [&](const RichText& label, Color color, std::span<const float> levels, bool from_right) {
      const float width = rich_width(page.measure, label, style.text());
      std::vector<Vec2> places;
      for (const float at : levels)
        for (int i = 0; i <= 20; ++i) {
          const float share = 0.05f * static_cast<float>(from_right ? 20 - i : i), gap = style.pt(3.0f);
          places.push_back({inner.x0 + gap + share * std::max(0.0f, inner.width() - width - 2.0f * gap), at});
        }
      return put_label(painter, page, space, label, style.text(color), places);
    };
    const std::array<float, 3> above = {inner.y0 + 0.85f * style.size(), inner.y0 + 1.3f * style.size(),
                                        inner.y0 + 1.8f * style.size()};
    put(rich("median, quartiles, 1–99 % of " + rows + " rows"), Color::hex(0x3c6382), above, true);
    RichText band = rich("1/√{*n*_{*i*}} for *n*_{*i*} = " + short_text(least_n));
    if (most_n > least_n) band = band + rich("…" + short_text(most_n));
    std::vector<float> levels;
    for (const float share : {0.5f, 0.35f, 0.65f, 0.85f})
      levels.push_back(low + share * (high - low) + 0.36f * style.size());
    levels.push_back(low + 1.1f * style.size());
    levels.push_back(high - 0.4f * style.size());
    for (float at = inner.y1 - 0.4f * style.size(); at > high; at -= 0.5f * style.size()) levels.push_back(at);
    put(band, ink::kNote, levels, false);
  }
};

class RmsOutsidePanel final : public FigurePanel {
 public:
  std::vector<RmsColumn> columns;
  PageAxis x, y, other_y;
  std::shared_ptr<const bool> there = std::make_shared<const bool>(true);
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {rms_left(other_y, y, page), rms_right(x, inner, page), 0.0f, below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(26.0f), page.style.pt(1.1f) * static_cast<float>(columns.size())),
            page.style.mm(7.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    const float step = inner.width() / static_cast<float>(columns.size());
    const float half = std::min(0.31f * step, style.pt(6.0f)), zero = up.pixel(0.0);
    for (const bool above : {true, false}) {
      painter.begin_series({above ? "rows_above_bound" : "rows_below_bound", "", above ? "above" : "below"});
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const double share = above ? columns[i].above : columns[i].below;
        if (!(share > 0.0)) continue;
        const float at = along.pixel(static_cast<double>(i)), end = up.pixel(above ? share : -share);
        painter.fill_rect({at - half, std::min(end, zero), at + half, std::max(end, zero)},
                          above ? ink::kFirst.mark : ink::kSecond.mark);
      }
      painter.end_series();
    }
    painter.line({inner.x0, zero}, {inner.x1, zero}, ink::kBlack, style.pt(0.5f));
    draw_x_axis(painter, inner, x, page);
    // Shares both ways, no sign below; the panel is low, so that its ticks are closer than elsewhere.
    painter.line({inner.x0, inner.y0}, {inner.x0, inner.y1}, ink::kBlack, style.pt(0.5f));
    const double least = 1.25 * static_cast<double>(style.size());
    for (const Tick& tick : linear_ticks(y.low, y.high, static_cast<double>(inner.height()), least)) {
      const float at = up.pixel(tick.value);
      painter.line({inner.x0 - style.pt(2.2f), at}, {inner.x0, at}, ink::kBlack, style.pt(0.5f));
      draw_rich(painter, {inner.x0 - style.pt(4.2f), at + 0.36f * style.size()}, rich(short_text(std::abs(tick.value))),
                style.text(), Painter::Align::Right);
    }
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const bool above : {true, false})
      for (const RmsColumn& column : columns) {
        FigureMark mark;
        mark.panel = id, mark.series = above ? "rows_above_bound" : "rows_below_bound", mark.kind = "bar";
        mark.layer = column.layer, mark.head = column.head;
        mark.x = static_cast<double>(column.head < 0 ? column.layer : column.head);
        mark.y = above ? column.above : column.below, mark.n = column.counted;
        data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }
};

// The eligible rows of these heads.
struct EligibleRows {
  std::vector<double> rho;
  double least_n = kInfinity, most_n = 0.0;
};

void add_rows(EligibleRows& rows, const RunSnapshot& run, const LayerSnapshot& layer, std::int64_t head) {
  const std::int64_t index = layer.head_index(head);
  const std::span<const float> rho = layer.row_values(kRhoRows, head);
  if (index < 0 || rho.empty() || layer.visible.empty()) return;
  const auto at = static_cast<std::size_t>(index);
  const std::vector<std::int64_t>& visible = layer.visible.size() > at ? layer.visible[at] : layer.visible.front();
  const std::int64_t least = std::min(run.min_row, std::ranges::max(visible));
  for (std::size_t i = 0; i < std::min(rho.size(), visible.size()); ++i) {
    if (visible[i] < least || !std::isfinite(rho[i])) continue;
    rows.rho.push_back(static_cast<double>(rho[i]));
    rows.least_n = std::min(rows.least_n, static_cast<double>(visible[i]));
    rows.most_n = std::max(rows.most_n, static_cast<double>(visible[i]));
  }
}

bool is_softmax(const RunSnapshot& run, const DrawnHeads& drawn) {
  for (const std::int64_t l : drawn.layers)
    if (const LayerSnapshot* layer = run.layer(l))
      for (const HeadProgram& program : layer->programs)
        if (program.has_second() || !program.sums_to_one()) return false;
  return true;
}

// The file keeps shares of each head; of all together they are weighted by its rows.
void add_shares(RmsColumn& column, const RunSnapshot& run, std::span<const std::int64_t> heads, std::size_t bound) {
  double above = 0.0, below = 0.0;
  for (const std::int64_t head : heads) {
    const double rows = run.at("finite_rows", column.layer, head);
    const double over = run.at("rows_above_bound", column.layer, head, bound);
    const double under = run.at("rows_below_bound", column.layer, head, bound);
    if (!(rows > 0.0) || !std::isfinite(over) || !std::isfinite(under)) continue;
    column.counted += std::llround(rows);
    above += std::round(over * rows), below += std::round(under * rows);
  }
  if (column.counted == 0) return;
  column.above = 100.0 * above / static_cast<double>(column.counted);
  column.below = 100.0 * below / static_cast<double>(column.counted);
}

}  // namespace

Result<void> check_rms_layers(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  for (const std::int64_t l : drawn.layers)
    if (const LayerSnapshot* layer = run.run->layer(l))
      for (const std::int64_t head : drawn.heads)
        if (!layer->row_values(kRhoRows, head).empty()) return {};
  return lacks(run, "rms-layers", "/rows/context_rms_relative", "written with --only summary",
               "run analyze again without --only summary");
}

Result<Figure> make_rms_layers(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  const RunSnapshot& run = *one.run;
  HEADROOM_TRY_VOID(check_rms_layers(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  Figure figure;
  // Of one layer its heads are what there is to compare.
  const bool by_head = drawn.layers.size() == 1;
  if (by_head)
    figure.notes.push_back(one.name() + ": one layer, L" + std::to_string(drawn.layers.front()) +
                           "; its heads are drawn beside each other");
  const bool softmax = is_softmax(run, drawn);
  auto quantiles_panel = std::make_unique<RmsQuantilesPanel>();
  double least_n = kInfinity, most_n = 0.0, low = kInfinity, high = 1.0;
  std::vector<RmsColumn> columns;
  for (std::size_t i = 0; i < (by_head ? drawn.heads.size() : drawn.layers.size()); ++i) {
    RmsColumn column;
    column.layer = drawn.layers[by_head ? 0 : i];
    if (by_head) column.head = drawn.heads[i];
    const std::vector<std::int64_t> heads = by_head ? std::vector{drawn.heads[i]} : drawn.heads;
    EligibleRows rows;
    if (const LayerSnapshot* layer = run.layer(column.layer))
      for (const std::int64_t head : heads) add_rows(rows, run, *layer, head);
    column.stick.rows = std::ssize(rows.rho);
    const std::vector<double> q = quantiles(rows.rho, kStickAt);
    std::copy(q.begin(), q.end(), column.stick.q.begin());
    add_shares(column, run, heads, softmax ? 0 : 2);
    least_n = std::min(least_n, rows.least_n), most_n = std::max(most_n, rows.most_n);
    for (const double v : q)
      if (v > 0.0) low = std::min(low, v), high = std::max(high, v);
    columns.push_back(column);
  }
  if (!(most_n > 0.0))
    return Error(ErrorCode::Unsupported, "rms-layers: no row of " + one.name() + " has a finite context RMS");
  low = std::min(low, 1.0 / std::sqrt(most_n));
  // Of one token all are 1: the axis still has numbers on both sides.
  if (high < 1.05 * low) low /= 1.5, high *= 1.5;
  RmsQuantilesPanel& a = *quantiles_panel;
  a.kind = "rms-layers", a.name = "quantiles", a.columns = columns, a.least_n = least_n, a.most_n = most_n;
  a.x = layer_axis(by_head ? drawn.heads : drawn.layers, by_head ? 0 : drawn.all_layers);
  if (by_head) a.x.title = rich("head");
  // Above the sticks there is room for what they are.
  a.y = {low / std::pow(high / low, 0.04), high * std::pow(high / low, 0.17), true};
  HEADROOM_TRY_VOID(set_range(a.y, choice));
  a.title = rich("context RMS in units of the values, *ρ*_{*i*}");
  auto outside = std::make_unique<RmsOutsidePanel>();
  RmsOutsidePanel& b = *outside;
  b.kind = "rms-layers", b.name = "outside", b.columns = columns, b.x = a.x;
  double up = 0.0, down = 0.0;
  for (const RmsColumn& column : columns)
    if (std::isfinite(column.above)) up = std::max(up, column.above), down = std::max(down, column.below);
  // A tick on each side that has bars.
  const double span = std::max(1.0, up + down);
  double step = std::pow(10.0, std::floor(std::log10(span / 4.0)));
  for (const double times : {2.0, 2.5, 2.0})
    if (step < span / 4.0) step *= times;
  b.y = {-std::max(1.04 * down, down > 0.0 ? step : 0.3 * step), std::max(1.04 * up, up > 0.0 ? step : 0.3 * step)};
  a.other_y = b.y, b.other_y = a.y;
  b.title = rich(softmax ? "rows outside [1/√{*n*_{*i*}}, 1), %" : "rows outside their own interval, %");
  b.series_names = {{rich("above"), ink::kFirst.text}, {rich("below"), ink::kSecond.text}};
  const std::string pooled = by_head ? "each head of layer " + std::to_string(drawn.layers.front())
                                     : "all " + std::to_string(drawn.heads.size()) + " heads of a layer";
  a.sentence =
      "Context RMS *ρ*_{*i*} = RMS_{*i*}/*r̄*_{*i*} of the rows of " + pooled + " with at least " +
      std::to_string(static_cast<std::int64_t>(least_n)) +
      " visible keys *n*_{*i*}: line from the 1st to the 99th percentile, bar between the quartiles, dot at the "
      "median (linear interpolation). Grey: 1/√{*n*_{*i*}} over these rows; dashed: 1; between them lie "
      "uncorrelated values under softmax.";
  std::vector<QuantileStick> sticks;
  for (const RmsColumn& column : columns) sticks.push_back(column.stick);
  a.sentence += beyond_sentence(sticks_beyond(sticks, a.y.low, a.y.high), "median lies", "medians lie");
  std::int64_t counted = 0;
  for (const RmsColumn& column : columns) counted += column.counted;
  b.sentence = std::string("Share of the rows above and below ") +
               (softmax ? "that interval, each held against its own 1/√{*n*_{*i*}}"
                        : "the interval that each row’s own λ or sink gives") +
               "; " + grouped_text(counted) + " rows in all.";
  a.below = b.there;
  figure.panels.push_back(std::move(quantiles_panel));
  figure.panels.push_back(std::move(outside));
  figure.width_mm = choice.width_mm.value_or(84.0);
  figure.height_mm = choice.height_mm.value_or(66.04);  // whole pixels at 300 dpi, which 66 mm are not
  figure.rows = {{0}, {1}};
  figure.row_shares = {0.76f, 0.24f};
  return figure;
}

}  // namespace headroom
