// λ of differential heads: of every token and head, its quantiles per head and how it is spread in one; where a layer
// has one λ for all tokens (DIFF V1), that against where it began.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/kinds/lambda_layers.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/plot/quantiles.h"
#include "app/plot/token_text.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr const char* kLambdaRows = "rows/lambda";
constexpr std::int64_t kMostCells = 128;  // along the tokens; more are means of blocks
constexpr std::size_t kLambdaBins = 20;
constexpr float kLayerGap = 0.42f;        // between layers, in rows
constexpr float kLongestToken = 9.0f;     // millimetres, of one that is turned
constexpr double kLeastShareNamed = 0.8;  // of the tokens, else positions

struct LambdaHead {
  HeadRef head;
  std::vector<double> values;  // one for each token
};

// Heads in the order of layers, one row each, layers a little apart.
struct LambdaRows {
  std::vector<LambdaHead> heads;

  [[nodiscard]] float units() const {
    float all = static_cast<float>(heads.size());
    for (std::size_t i = 1; i < heads.size(); ++i) all += starts_layer(i) ? kLayerGap : 0.0f;
    return all;
  }
  [[nodiscard]] bool starts_layer(std::size_t i) const {
    return i == 0 || heads[i].head.layer != heads[i - 1].head.layer;
  }
  // Top and height of each row.
  [[nodiscard]] std::vector<float> tops(const Rect& inner) const {
    const float pitch = inner.height() / units();
    std::vector<float> result;
    float y = inner.y0;
    for (std::size_t i = 0; i < heads.size(); ++i) {
      if (i > 0 && starts_layer(i)) y += kLayerGap * pitch;
      result.push_back(y);
      y += pitch;
    }
    return result;
  }
  [[nodiscard]] float widest(const Page& page) const {
    float width = 0.0f;
    for (const LambdaHead& one : heads)
      width = std::max(width, page.measure.width(head_text(one.head), Face::Sans, page.style.size()));
    return width;
  }

  // Each head where there is room for a line of text, else layers.
  void draw_names(Painter& painter, const Rect& inner, const Page& page) const {
    const float pitch = inner.height() / units(), size = page.style.size(), right = inner.x0 - page.style.pt(2.5f);
    const std::vector<float> at = tops(inner);
    if (pitch >= 1.02f * size) {
      for (std::size_t i = 0; i < heads.size(); ++i)
        painter.text_at(right, at[i] + 0.5f * pitch, head_text(heads[i].head), page.style.text(),
                        Painter::Align::Right);
      return;
    }
    std::vector<std::pair<std::int64_t, float>> layers;  // and their middles
    for (std::size_t i = 0, end = 0; i < heads.size(); i = end) {
      end = i + 1;
      while (end < heads.size() && !starts_layer(end)) ++end;
      layers.emplace_back(heads[i].head.layer, 0.5f * (at[i] + at[end - 1] + pitch));
    }
    float free = inner.y0 - size;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const bool last = i + 1 == layers.size();
      if (layers[i].second < free || (!last && layers[i].second + 1.2f * size > layers.back().second)) continue;
      painter.text_at(right, layers[i].second, "L" + std::to_string(layers[i].first), page.style.text(),
                      Painter::Align::Right);
      free = layers[i].second + 1.2f * size;
    }
  }
};

struct LambdaRange {
  double low = 0.0, high = 1.0;
};

class LambdaStripPanel final : public FigurePanel {
 public:
  LambdaRows rows;
  std::int64_t tokens = 0, block = 1;
  std::vector<std::string> texts;  // of each token; empty: not known
  LambdaRange range;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    PanelRoom room;
    room.left = rows.widest(page) + page.style.pt(2.5f);
    const Naming naming = naming_for(inner.x, page);
    room.right = page.style.pt(1.5f);
    if (naming == Naming::Positions)  // half of the last index
      room.right =
          std::max(room.right, 0.5f * page.measure.width(grouped_text(tokens - 1), Face::Sans, page.style.size()) -
                                   0.5f * inner.x / static_cast<float>(tokens));
    if (naming == Naming::Positions)
      room.bottom = below_axis(token_axis(), page);
    else if (naming == Naming::Turned)
      room.bottom = page.style.pt(2.5f) + turned_length(page);
    else
      room.bottom = page.style.pt(2.5f) + page.style.size();
    return room;
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(token_axis(), inner.x0, inner.x1);
    painter.begin_plot({id, kind, along, {}});
    draw_cells(painter, inner, along, page);
    rows.draw_names(painter, inner, page);
    draw_tokens(painter, inner, page);
    painter.end_plot();
    draw_bar(painter, frame, page);
  }

  void add_data(FigureData& data) const override {
    for (const LambdaHead& one : rows.heads)
      for (std::int64_t from = 0; from < tokens; from += block) {
        FigureMark mark;
        mark.panel = id, mark.series = "lambda", mark.kind = "cell";
        mark.layer = one.head.layer, mark.head = one.head.head, mark.row = from, mark.y = cell(one, from);
        mark.n = std::min(block, tokens - from);
        data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }

 private:
  enum class Naming : std::uint8_t { Level, Turned, Positions };

  [[nodiscard]] PageAxis token_axis() const {
    PageAxis axis{-0.5, static_cast<double>(tokens) - 0.5};
    axis.whole = true, axis.title = rich("token");
    return axis;
  }
  [[nodiscard]] double cell(const LambdaHead& one, std::int64_t from) const {
    double sum = 0.0;
    const std::int64_t end = std::min(from + block, tokens);
    for (std::int64_t i = from; i < end; ++i) sum += one.values[static_cast<std::size_t>(i)];
    return sum / static_cast<double>(end - from);
  }

  // Where a token's text is centred: the first may reach to the left of its cell.
  [[nodiscard]] float middle_of(std::size_t i, float half, float pitch) const {
    const float middle = (static_cast<float>(i) + 0.5f) * pitch;
    return i == 0 ? std::min(middle, pitch - half) : middle;
  }
  // Whether a token's text stands under its own cell and apart from the next.
  [[nodiscard]] std::vector<bool> level_fits(float width, const Page& page) const {
    const float pitch = width / static_cast<float>(tokens), gap = page.style.pt(0.4f);
    std::vector<bool> fits;
    float taken = -1e9f;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const float half = 0.5f * page.measure.width(texts[i], Face::Sans, page.style.size());
      const float middle = middle_of(i, half, pitch);
      fits.push_back(middle - half > taken + gap && (i == 0 || half < 0.75f * pitch) &&
                     (i == 0 || middle + half < width + page.style.pt(1.5f)));
      if (fits.back()) taken = middle + half;
    }
    return fits;
  }
  [[nodiscard]] Naming naming_for(float width, const Page& page) const {
    if (block > 1 || std::ssize(texts) != tokens) return Naming::Positions;
    const std::vector<bool> fits = level_fits(width, page);
    if (static_cast<double>(std::ranges::count(fits, true)) >= kLeastShareNamed * static_cast<double>(tokens))
      return Naming::Level;
    return width / static_cast<float>(tokens) >= 1.1f * page.style.size() ? Naming::Turned : Naming::Positions;
  }
  [[nodiscard]] float turned_length(const Page& page) const {
    float longest = 0.0f;
    for (const std::string& text : texts)
      longest = std::max(longest, page.measure.width(text, Face::Sans, page.style.size()));
    return std::min(longest, page.style.mm(kLongestToken));
  }

  void draw_cells(Painter& painter, const Rect& inner, const Axis& along, const Page&) const {
    const std::vector<float> tops = rows.tops(inner);
    const float pitch = inner.height() / rows.units();
    MapShading shading;
    shading.scale = {ColorMapId::LambdaPaper, ScaleKind::Linear, static_cast<float>(range.low),
                     static_cast<float>(range.high)};
    shading.nan = NanStyle::Hatched;
    const std::int64_t whole = tokens / block;
    for (std::size_t i = 0, end = 0; i < rows.heads.size(); i = end) {
      end = i + 1;
      while (end < rows.heads.size() && !rows.starts_layer(end)) ++end;
      painter.begin_series({kLambdaRows, "L" + std::to_string(rows.heads[i].head.layer), "cells"});
      // The last block may be shorter than the others.
      for (const auto& [from, to] : {std::pair{std::int64_t{0}, whole * block}, std::pair{whole * block, tokens}}) {
        if (to <= from) continue;
        auto values = std::make_shared<std::vector<float>>();
        for (std::size_t h = i; h < end; ++h)
          for (std::int64_t at = from; at < to; at += block)
            values->push_back(static_cast<float>(cell(rows.heads[h], at)));
        const auto height = static_cast<std::int32_t>(end - i);
        const auto width = static_cast<std::int32_t>(std::ssize(*values) / height);
        const Rect target{along.pixel(static_cast<double>(from) - 0.5), tops[i],
                          along.pixel(static_cast<double>(to) - 0.5), tops[end - 1] + pitch};
        painter.map(target, {next_image_id(), 1, width, height, std::move(values)},
                    {0.0f, 0.0f, static_cast<float>(width), static_cast<float>(height)}, shading);
      }
      painter.end_series();
    }
  }

  void draw_tokens(Painter& painter, const Rect& inner, const Page& page) const {
    const PageStyle& style = page.style;
    const Naming naming = naming_for(inner.width(), page);
    if (naming == Naming::Positions) return draw_x_axis(painter, inner, token_axis(), page);
    const float pitch = inner.width() / static_cast<float>(tokens);
    const std::vector<bool> fits = level_fits(inner.width(), page);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const float x = inner.x0 + (static_cast<float>(i) + 0.5f) * pitch;
      const Color color = texts[i] == "␣" ? ink::kFaintNote : ink::kBlack;
      if (naming == Naming::Level) {
        const float width = page.measure.width(texts[i], Face::Sans, style.size());
        if (fits[i])
          painter.text({inner.x0 + middle_of(i, 0.5f * width, pitch) - 0.5f * width,
                        inner.y1 + style.pt(2.5f) + 0.75f * style.size()},
                       texts[i], style.text(color));
        continue;
      }
      const std::string text = elide_end(texts[i], turned_length(page), page.measure, Face::Sans, style.size());
      const float width = page.measure.width(text, Face::Sans, style.size());
      draw_rich_upwards(painter, {x + 0.36f * style.size(), inner.y1 + style.pt(2.5f) + 0.5f * width},
                        {{TextRun::Form::Upright, text}}, style.text(color));
    }
  }

  [[nodiscard]] bool clips(bool above) const {
    for (const LambdaHead& one : rows.heads)
      for (std::int64_t from = 0; from < tokens; from += block)
        if (const double v = cell(one, from); above ? v > range.high : v < range.low) return true;
    return false;
  }
  // In the title line: two labels beside the bar.
  void draw_bar(Painter& painter, const PanelFrame& frame, const Page& page) const {
    const PageStyle& style = page.style;
    const std::string low = (clips(false) ? "≤ " : "") + short_text(range.low),
                      high = (clips(true) ? "≥ " : "") + short_text(range.high);
    const float y = frame.outer.y0 + style.mm(3.1f) - 0.36f * style.size(), gap = style.pt(2.5f);
    const float end = frame.inner.x1 - page.measure.width(high, Face::Sans, style.size());
    const float width = std::min(style.mm(22.0f), 0.16f * frame.inner.width());
    const Rect bar{end - gap - width, y - style.mm(0.85f), end - gap, y + style.mm(0.85f)};
    auto values = std::make_shared<std::vector<float>>();
    for (int i = 0; i < 256; ++i)
      values->push_back(static_cast<float>(range.low + (range.high - range.low) * i / 255.0));
    MapShading shading;
    shading.scale = {ColorMapId::LambdaPaper, ScaleKind::Linear, static_cast<float>(range.low),
                     static_cast<float>(range.high)};
    painter.map(bar, {next_image_id(), 1, 256, 1, std::move(values)}, {0.0f, 0.0f, 256.0f, 1.0f}, shading);
    painter.stroke_rect(bar, ink::kBlack, style.pt(0.4f));
    painter.text_at(end, y, high, style.text());
    painter.text_at(bar.x0 - gap, y, low, style.text(), Painter::Align::Right);
  }
};

class LambdaQuantilePanel final : public FigurePanel {
 public:
  LambdaRows rows;
  std::vector<std::array<double, 5>> found;  // 5, 25, 50, 75, 95 %
  std::int64_t tokens = 0;
  PageAxis x;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {rows.widest(page) + page.style.pt(2.5f), std::max(page.style.pt(3.0f), beyond_axis(x, inner.x, page)), 0.0f,
            below_axis(x, page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1);
    const float pitch = inner.height() / rows.units();
    const std::vector<float> tops = rows.tops(inner);
    const auto middle = [&](std::size_t i) { return tops[i] + 0.5f * pitch; };
    const auto within = [&](double v) { return along.pixel(std::clamp(v, x.low, x.high)); };
    painter.begin_plot({id, kind, along, {}});
    painter.push_clip(inner.inset(-style.pt(2.0f)));
    painter.begin_series({kLambdaRows, "", "5–95 %"});
    for (std::size_t i = 0; i < found.size(); ++i)
      painter.line({within(found[i][0]), middle(i)}, {within(found[i][4]), middle(i)}, ink::kLambda.mark.faded(0.7f),
                   std::min(style.pt(0.6f), 0.3f * pitch));
    painter.end_series();
    const float bar = std::min(style.pt(2.4f), 0.7f * pitch);
    painter.begin_series({kLambdaRows, "", "quartiles"});
    for (std::size_t i = 0; i < found.size(); ++i)
      painter.fill_rect({within(found[i][1]), middle(i) - 0.5f * bar, within(found[i][3]), middle(i) + 0.5f * bar},
                        ink::kLambda.mark);
    painter.end_series();
    const float radius = std::min(style.pt(1.45f), 0.45f * pitch), rim = 0.48f * radius;
    for (std::size_t i = 0; i < found.size(); ++i)
      painter.disc({along.pixel(found[i][2]), middle(i)}, radius, ink::kWhite);
    painter.begin_series({kLambdaRows, "", "medians"});
    for (std::size_t i = 0; i < found.size(); ++i)
      painter.ring({along.pixel(found[i][2]), middle(i)}, radius, ink::kLambda.mark, rim);
    painter.end_series();
    painter.pop_clip();
    painter.begin_series({kLambdaRows, "", "beyond"});
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i][0] < x.low) draw_edge_arrow(painter, {inner.x0, middle(i)}, {-1.0f, 0.0f}, ink::kLambda.mark, page);
      if (found[i][4] > x.high) draw_edge_arrow(painter, {inner.x1, middle(i)}, {1.0f, 0.0f}, ink::kLambda.mark, page);
    }
    painter.end_series();
    rows.draw_names(painter, inner, page);
    draw_x_axis(painter, inner, x, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto add = [&](const char* series, const char* form, double at, double low, double high) {
        FigureMark mark;
        mark.panel = id, mark.series = series, mark.kind = form;
        mark.layer = rows.heads[i].head.layer, mark.head = rows.heads[i].head.head;
        mark.x = at, mark.low = low, mark.high = high, mark.n = tokens;
        data.add(std::move(mark));
      };
      add("5–95 %", "line", kNaN, found[i][0], found[i][4]);
      add("quartiles", "bar", kNaN, found[i][1], found[i][3]);
      add("medians", "point", found[i][2], kNaN, kNaN);
    }
  }

  std::string caption() const override { return sentence; }
};

class LambdaHistogramPanel final : public FigurePanel {
 public:
  HeadRef head;
  Histogram counts;
  PageAxis x, y;
  std::string of;  // the file, where there are others; above the bars
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), std::max(page.style.pt(3.0f), beyond_axis(x, inner.x, page)), 0.0f,
            below_axis(x, page)};
  }
  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    painter.begin_series({kLambdaRows, head_text(head), "histogram"});
    for (std::size_t i = 0; i < counts.bins(); ++i)
      if (counts.counts[i] > 0.0)
        painter.fill_rect({along.pixel(counts.edges[i]), up.pixel(counts.counts[i]),
                           along.pixel(counts.edges[i + 1]) - page.style.pt(0.15f), up.pixel(0.0)},
                          ink::kLambda.mark);
    painter.end_series();
    if (!of.empty()) {
      const std::string text =
          elide_end(of, inner.width() - page.style.pt(4.0f), page.measure, Face::Sans, page.style.size());
      painter.text_at(inner.centre_x(), inner.y0 + 0.6f * page.style.size(), text, page.style.text(ink::kNote),
                      Painter::Align::Centre);
    }
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }
  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < counts.bins(); ++i) {
      FigureMark mark;
      mark.panel = id, mark.series = "histogram", mark.kind = "bar";
      mark.layer = head.layer, mark.head = head.head;
      mark.low = counts.edges[i], mark.high = counts.edges[i + 1], mark.n = std::llround(counts.counts[i]);
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }
};

// Heads that have λ, in the order of layers; with values where the file keeps rows.
std::vector<LambdaHead> lambda_heads(const RunSnapshot& run, const DrawnHeads& drawn, bool by_layer) {
  std::vector<LambdaHead> heads;
  for (const std::int64_t index : drawn.layers) {
    const LayerSnapshot* layer = run.layer(index);
    if (layer == nullptr || std::isfinite(layer->lambda_init) != by_layer) continue;
    for (const std::int64_t head : drawn.heads) {
      if (!std::isfinite(run.at("lambda_mean", index, head))) continue;
      const std::span<const float> values = layer->row_values(kLambdaRows, head);
      heads.push_back({{index, head}, {values.begin(), values.end()}});
    }
  }
  return heads;
}

LambdaRange range_of(const std::vector<LambdaHead>& heads, const FigureChoice& choice) {
  LambdaRange range;
  for (const LambdaHead& one : heads)
    for (const double value : one.values)
      if (std::isfinite(value)) range.low = std::min(range.low, value), range.high = std::max(range.high, value);
  if (range.low < 0.0 || range.high > 1.0) {
    const Range nice = nice_range(range.low, range.high, false);
    range = {nice.low, nice.high};
  }
  return {choice.low.value_or(range.low), choice.high.value_or(range.high)};
}

PageAxis lambda_axis(const LambdaRange& range, std::string_view title) {
  PageAxis axis{range.low, range.high};
  axis.high_label = true, axis.title = rich(title);
  return axis;
}

std::unique_ptr<LambdaStripPanel> strip_panel(const RunSnapshot& run, const DrawnHeads& drawn,
                                              const std::vector<LambdaHead>& heads, const FigureChoice& choice) {
  auto panel = std::make_unique<LambdaStripPanel>();
  panel->kind = "lambda", panel->name = "tokens", panel->rows.heads = heads;
  panel->tokens = std::ssize(heads.front().values);
  panel->block = (panel->tokens + kMostCells - 1) / kMostCells;
  panel->range = range_of(heads, choice);
  if (run.prompt != nullptr) panel->texts = visible_tokens(run.prompt->texts);
  for (std::string& text : panel->texts)
    if (const std::string_view bare = text; bare.size() > std::string_view("␣").size() && bare.starts_with("␣"))
      text = text.substr(std::string_view("␣").size());
  panel->title = rich("*λ*_{*i*} of each token and head");
  if (panel->block > 1) panel->title = rich("*λ*_{*i*}, means of " + std::to_string(panel->block) + " tokens");
  panel->source = run_sentence(run);
  panel->sentence = "*λ*_{*i*}, with which a row’s second map is subtracted, of every token (across) and head (down)";
  if (panel->block > 1) panel->sentence += "; a cell is the mean of " + std::to_string(panel->block) + " tokens";
  panel->sentence += "." + drawn_share(run, drawn);
  return panel;
}

std::unique_ptr<LambdaQuantilePanel> quantile_panel(const RunSnapshot& run, const DrawnHeads& drawn,
                                                    const std::vector<LambdaHead>& heads, const FigureChoice& choice) {
  auto panel = std::make_unique<LambdaQuantilePanel>();
  panel->kind = "lambda", panel->name = "quantiles", panel->rows.heads = heads;
  panel->tokens = std::ssize(heads.front().values);
  for (const LambdaHead& one : heads) {
    const std::vector<double> q = quantiles(one.values, std::array{0.05, 0.25, 0.5, 0.75, 0.95});
    panel->found.push_back({q[0], q[1], q[2], q[3], q[4]});
  }
  panel->x = lambda_axis(range_of(heads, choice), "*λ*_{*i*}");
  panel->title = rich("median, quartiles, 5–95 % over " + grouped_text(panel->tokens) + " tokens");
  panel->weight = 2.0f;
  panel->source = run_sentence(run);
  panel->sentence = "The same for each head: median (ring), quartiles (bar) and 5–95 % (line) of *λ*_{*i*} over all " +
                    grouped_text(panel->tokens) + " tokens." + drawn_share(run, drawn);
  panel->sentence += beyond_sentence(
      std::ranges::count_if(panel->found,
                            [&](const auto& q) { return q.front() < panel->x.low || q.back() > panel->x.high; }),
      "line reaches", "lines reach");
  return panel;
}

std::unique_ptr<LambdaHistogramPanel> histogram_panel(const FigureRun& run, const LambdaHead& one,
                                                      const LambdaRange& range, bool named) {
  auto panel = std::make_unique<LambdaHistogramPanel>();
  panel->kind = "lambda", panel->name = "histogram", panel->head = one.head;
  panel->counts = histogram(one.values, range.low, range.high, kLambdaBins);
  panel->x = lambda_axis(range, "*λ*_{*i*}");
  panel->y = {0.0, std::max(1.0, 1.02 * panel->counts.largest())};
  panel->title = rich("tokens");
  if (named) panel->of = run.path.stem().string(), panel->y.high *= 1.25;
  panel->source = run_sentence(*run.run);
  panel->sentence = "How many of the " + grouped_text(std::ssize(one.values)) + " tokens of " + head_text(one.head) +
                    " have which *λ*_{*i*}, in " + std::to_string(kLambdaBins) + " bins.";
  const auto beyond = std::ranges::count_if(one.values, [&](double v) { return v < range.low || v > range.high; });
  if (beyond > 0) panel->sentence += " " + grouped_text(beyond) + " of them lie beyond the axis.";
  return panel;
}

// "Of by_diff_v2 (diff_v2): ", where a figure has several runs.
std::string of_run(const FigureRun& run) {
  const std::string file = run.path.stem().string(), model = model_of(*run.run);
  const std::string named = model.empty() || model == file ? "" : " (" + literal_markup(model) + ")";
  return "Of " + literal_markup(file) + named + ": ";
}

// The head whose λ differs most between tokens.
const LambdaHead& most_varied(const std::vector<LambdaHead>& heads) {
  const LambdaHead* best = &heads.front();
  double most = -1.0;
  for (const LambdaHead& one : heads) {
    double sum = 0.0, squares = 0.0;
    for (const double v : one.values) sum += v, squares += v * v;
    const auto n = static_cast<double>(one.values.size());
    const double variance = squares / n - sum / n * (sum / n);
    if (variance > most) most = variance, best = &one;
  }
  return *best;
}

}  // namespace

Result<void> check_lambda(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  const std::vector<LambdaHead> heads = lambda_heads(*run.run, drawn, false);
  if (heads.empty() && lambda_heads(*run.run, drawn, true).empty())
    return Error(ErrorCode::Unsupported, "lambda: no head of " + run.name() + " has λ (none has a second map)");
  if (!heads.empty() && heads.front().values.empty())
    return lacks(run, "lambda", "/rows/lambda", "written with --only summary",
                 "run analyze again without --only summary");
  HEADROOM_TRY_VOID(chosen_heads(run, choice, {}));
  return {};
}

Result<Figure> make_lambda(std::span<const FigureRun> runs, const FigureChoice& choice) {
  Figure figure;
  std::vector<std::unique_ptr<FigurePanel>> layers, histograms;
  float units = 0.0f;
  bool strips = false;
  std::size_t with_tokens = 0;
  for (const FigureRun& run : runs) {
    HEADROOM_TRY_VOID(check_lambda(run, choice));
    HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
    with_tokens += lambda_heads(*run.run, drawn, false).empty() ? 0 : 1;
  }
  for (const FigureRun& run : runs) {
    HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
    const std::vector<LambdaHead> heads = lambda_heads(*run.run, drawn, false),
                                  by_layer = lambda_heads(*run.run, drawn, true);
    const std::string said = runs.size() > 1 ? of_run(run) : std::string();
    if (!by_layer.empty()) {
      std::vector<HeadRef> of;
      for (const LambdaHead& one : by_layer) of.push_back(one.head);
      HEADROOM_TRY(std::unique_ptr<FigurePanel> panel,
                   lambda_layer_panel(*run.run, of, said, drawn_share(*run.run, drawn), choice));
      layers.push_back(std::move(panel));
    }
    if (heads.empty()) continue;
    const LambdaRange range = range_of(heads, choice);
    PageAxis axis{range.low, range.high};
    HEADROOM_TRY_VOID(set_range(axis, choice));
    const bool first = !strips;
    if (first) {
      auto strip = strip_panel(*run.run, drawn, heads, choice);
      auto each = quantile_panel(*run.run, drawn, heads, choice);
      units = strip->rows.units();
      strip->sentence.insert(0, said), each->sentence.insert(0, said);
      figure.panels.push_back(std::move(strip));
      figure.panels.push_back(std::move(each));
      strips = true;
    }
    // Of several runs the first shows all heads, the others one each.
    if (first && with_tokens > 1) continue;
    const LambdaHead* one = &most_varied(heads);
    if (!choice.heads.empty()) {
      const auto found = std::ranges::find(heads, choice.heads.front(), &LambdaHead::head);
      if (found == heads.end())
        return Error(ErrorCode::Unsupported, "lambda: " + head_text(choice.heads.front()) + " of " + run.name() +
                                                 " has no λ of its own for each token");
      one = &*found;
    } else {
      figure.notes.push_back(run.name() + ": λ of " + head_text(one->head) +
                             " differs most between tokens; --head chooses another");
    }
    auto histogram = histogram_panel(run, *one, range, with_tokens > 1);
    histogram->sentence.insert(0, said);
    histograms.push_back(std::move(histogram));
    name_head(*histograms.back(), *run.run, one->head, choice);
  }
  for (auto* part : {&layers, &histograms})
    for (auto& panel : *part) figure.panels.push_back(std::move(panel));
  if (!strips) {
    arrange(figure, choice, figure.panels.size() > 1 ? 174.0 : 84.0, 120.0, 58.0);
    return figure;
  }
  // Rows that can be read as long as the page allows it.
  const double row = std::clamp(2.9 * static_cast<double>(units) + 13.0, 36.0, 84.0);
  arrange(figure, choice, 174.0, 120.0, row);
  if (figure.rows.size() == 1) {
    std::vector<std::size_t> below(figure.rows.front().begin() + 1, figure.rows.front().end());
    figure.rows = {{0}, std::move(below)};
    figure.height_mm = choice.height_mm.value_or(2.0 * row);
  }
  return figure;
}

}  // namespace headroom
