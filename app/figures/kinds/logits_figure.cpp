// Logits: the largest and smallest of every head by layer, and how those of all heads and of some are distributed.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/head_levels.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_beyond.h"
#include "app/figures/page_labels.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

constexpr std::size_t kWidestNamed = 4, kMostCurves = 3;

// Over the maps that the head has.
struct LogitEnds {
  HeadRef head;
  double low = kNaN, high = kNaN;
  [[nodiscard]] double width() const { return high - low; }
};

LogitEnds logit_ends(const RunSnapshot& run, HeadRef head) {
  LogitEnds ends{head};
  for (std::size_t map = 0; map < 2; ++map) {
    const double low = run.at("logit_min", head.layer, head.head, map);
    const double high = run.at("logit_max", head.layer, head.head, map);
    if (std::isfinite(low) && !(ends.low <= low)) ends.low = low;
    if (std::isfinite(high) && !(ends.high >= high)) ends.high = high;
  }
  return ends;
}

class LogitLayersPanel final : public FigurePanel {
 public:
  DrawnHeads drawn;
  std::vector<LogitEnds> heads;  // [layers, heads]; NaN where there is none
  std::vector<double> low_median, high_median;
  std::vector<HeadRef> chosen, widest;
  std::vector<double> caps;  // ±, of the heads that are drawn
  bool image = false;        // of its points
  PageAxis x, y;
  std::string sentence;

  [[nodiscard]] bool on_axis(double logit) const { return logit >= y.low && logit <= y.high; }

  PanelRoom room(const Page& page, Vec2 inner) const override {
    // For the last label of many layers; the panel may become narrower than it is thought to be.
    const float end = std::max(page.style.pt(2.0f), beyond_axis(x, 0.7f * inner.x, page));
    return {left_of_axis(y, inner.y, page), end, page.style.pt(1.0f), below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(22.0f), page.style.pt(1.6f) * static_cast<float>(drawn.layers.size())),
            page.style.mm(18.0f)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner, style.pt(1.0f));
    const float step = inner.width() / static_cast<float>(drawn.layers.size());
    const float half = std::min(0.16f * step, style.pt(2.0f));
    painter.begin_series({"", "", "medians"});
    for (std::size_t l = 0; l < drawn.layers.size(); ++l) {
      if (!std::isfinite(low_median[l]) || !std::isfinite(high_median[l])) continue;
      if (low_median[l] > y.high || high_median[l] < y.low) continue;
      const float at = along.pixel(static_cast<double>(l));
      const Rect bar{at - half, up.pixel(std::min(high_median[l], y.high)), at + half,
                     up.pixel(std::max(low_median[l], y.low))};
      painter.fill_rect(bar, ink::kSpan);
      space.block(bar);
    }
    painter.end_series();
    if (y.low < 0.0 && y.high > 0.0) {
      painter.line({inner.x0, up.pixel(0.0)}, {inner.x1, up.pixel(0.0)}, ink::kBlack, style.pt(0.5f));
      space.block(Rect{inner.x0, up.pixel(0.0) - 0.5f, inner.x1, up.pixel(0.0) + 0.5f});
    }
    draw_caps(painter, inner, up, page, space);
    const float radius = style.pt(step < style.pt(4.0f) ? 0.7f : heads.size() > 100 ? 0.95f : 1.2f);
    for (const bool largest : {true, false}) {
      painter.begin_series({largest ? "logit_max" : "logit_min", "", largest ? "largest" : "smallest"});
      const auto ends = [&](Painter& to) {
        for (std::size_t i = 0; i < heads.size(); ++i) {
          const double value = largest ? heads[i].high : heads[i].low;
          if (!on_axis(value) || is_chosen(heads[i].head)) continue;
          draw_end(to, point(i, value, along, up), radius, largest ? ink::kFirst.mark : ink::kSecond.mark,
                   !largest && at_one_place(heads[i], up, radius), page, space);
        }
      };
      draw_points(painter, image, along, up, radius, ends);
      painter.end_series();
    }
    draw_beyond_ends(painter, inner, along, up, page, space);
    draw_chosen(painter, along, up, page, space);
    name_heads(painter, along, up, page, space);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const bool largest : {true, false}) {
      for (std::size_t i = 0; i < heads.size(); ++i) {
        FigureMark mark;
        mark.panel = id, mark.series = largest ? "logit_max" : "logit_min", mark.kind = "point";
        mark.layer = heads[i].head.layer, mark.head = heads[i].head.head;
        mark.x = static_cast<double>(mark.layer), mark.y = largest ? heads[i].high : heads[i].low;
        data.add(std::move(mark));
      }
    }
    for (std::size_t l = 0; l < drawn.layers.size(); ++l) {
      FigureMark mark;
      mark.panel = id, mark.series = "medians", mark.kind = "bar", mark.layer = drawn.layers[l];
      mark.x = static_cast<double>(mark.layer), mark.low = low_median[l], mark.high = high_median[l];
      mark.n = static_cast<std::int64_t>(drawn.heads.size());
      data.add(std::move(mark));
    }
  }

  std::string caption() const override { return sentence; }

 private:
  [[nodiscard]] bool is_chosen(const HeadRef& head) const { return !chosen.empty() && chosen.front() == head; }
  [[nodiscard]] Vec2 point(std::size_t i, double value, const Axis& along, const Axis& up) const {
    const std::size_t layer = i / drawn.heads.size();
    return {along.pixel(static_cast<double>(layer)), up.pixel(value)};
  }

  // The smallest logit of one entry, or of equal ones, is the largest: a ring around its disc.
  static bool at_one_place(const LogitEnds& head, const Axis& up, float radius) {
    return std::abs(up.pixel(head.low) - up.pixel(head.high)) < radius;
  }
  static void draw_end(Painter& painter, Vec2 at, float radius, Color color, bool open, const Page& page,
                       LabelSpace& space) {
    if (open) {
      radius += page.style.pt(1.1f);
      painter.ring(at, radius, color, page.style.pt(0.7f));
    } else {
      painter.disc(at, radius, color);
    }
    space.block(Rect{at.x - radius, at.y - radius, at.x + radius, at.y + radius});
  }

  void draw_caps(Painter& painter, const Rect& inner, const Axis& up, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    for (const double cap : caps) {
      if (!on_axis(cap)) continue;
      const float at = up.pixel(cap);
      painter.begin_series({"program/softcap", "", "cap"});
      painter.dashed_line({inner.x0, at}, {inner.x1, at}, ink::kBlack, style.pt(0.7f), style.pt(5.0f), style.pt(3.0f));
      painter.end_series();
      space.block(Rect{inner.x0, at - 0.5f, inner.x1, at + 0.5f});
      if (cap < 0.0) continue;
      const RichText label = rich("soft-cap ±" + short_text(cap));
      put_label(painter, page, space, label, style.on_lines(ink::kBlack),
                places_along(inner, at, rich_width(page.measure, label, style.text()), false, page));
    }
  }

  void draw_chosen(Painter& painter, const Axis& along, const Axis& up, const Page& page, LabelSpace& space) const {
    for (const bool largest : {true, false})
      for (std::size_t i = 0; i < heads.size(); ++i) {
        const double value = largest ? heads[i].high : heads[i].low;
        if (!is_chosen(heads[i].head) || !on_axis(value)) continue;
        const float radius = page.style.pt(1.4f);
        painter.begin_series(
            {largest ? "logit_max" : "logit_min", head_text(chosen.front()), largest ? "largest" : "smallest"});
        draw_end(painter, point(i, value, along, up), radius, ink::kHead.mark,
                 !largest && at_one_place(heads[i], up, radius), page, space);
        painter.end_series();
      }
  }

  void draw_beyond_ends(Painter& painter, const Rect& inner, const Axis& along, const Axis& up, const Page& page,
                        LabelSpace& space) const {
    for (const bool largest : {true, false}) {
      std::vector<BeyondMark> beyond;
      for (std::size_t i = 0; i < heads.size(); ++i)
        if (const double value = largest ? heads[i].high : heads[i].low; std::isfinite(value) && !on_axis(value))
          beyond.push_back({point(i, value, along, up).x, value, value > y.high});
      painter.begin_series({largest ? "logit_max" : "logit_min", "", "beyond"});
      draw_all_beyond(painter, page, space, inner, beyond, largest ? ink::kFirst : ink::kSecond);
      painter.end_series();
    }
  }

  // Beside the end that lies farther from the median of its layer.
  void name_heads(Painter& painter, const Axis& along, const Axis& up, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    std::vector<HeadRef> all = widest;
    if (!chosen.empty() && std::ranges::find(all, chosen.front()) == all.end()) all.insert(all.begin(), chosen.front());
    for (const HeadRef& head : all) {
      const auto found = std::ranges::find(heads, head, &LogitEnds::head);
      if (found == heads.end() || !std::isfinite(found->low) || !std::isfinite(found->high)) continue;
      const auto i = static_cast<std::size_t>(found - heads.begin());
      const std::size_t l = i / drawn.heads.size();
      const bool low = low_median[l] - found->low > found->high - high_median[l];
      const RichText label = rich(head_text(head));
      const float width = rich_width(page.measure, label, style.text());
      const Color color = is_chosen(head) ? ink::kHead.text : ink::kOthers.text;
      bool there = false;
      for (const double value : {low ? found->low : found->high, low ? found->high : found->low})
        for (const float gap : {3.0f, 5.0f})
          there = there ||
                  (on_axis(value) && try_label(painter, page, space, label, style.text(color),
                                               places_beside(point(i, value, along, up), width, style.pt(gap), page)));
      if (!there) leave_out(page, label);
    }
  }
};

// Counts of one head's logits, or of all, by bins. The outer bins count what lies beyond them too, so they are bars
// only where nothing does.
struct LogitCurve {
  std::string label;
  std::optional<HeadRef> head;  // empty: of all
  std::vector<double> counts;
  double total = 0.0;
  bool beyond_low = false, beyond_high = false;

  [[nodiscard]] bool shown(std::size_t bin) const {
    return is_whole_bin(bin, counts.size(), beyond_low, beyond_high) && counts[bin] > 0.0;
  }
};

class LogitHistogramPanel final : public FigurePanel {
 public:
  std::vector<double> edges;
  std::vector<LogitCurve> curves;  // all heads first
  PageAxis x, y;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), page.style.pt(3.0f), page.style.pt(1.0f), below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override { return {page.style.mm(24.0f), page.style.mm(18.0f)}; }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner.inset(style.pt(2.0f), 0.0f), style.pt(1.0f));
    std::vector<std::vector<Vec2>> lines(curves.size());
    for (std::size_t c = 0; c < curves.size(); ++c) {
      painter.begin_series({"hist/logit", curves[c].head ? head_text(*curves[c].head) : "", curves[c].label});
      for (std::vector<Vec2>& piece : pieces(curves[c], along, up)) {
        lines[c].insert(lines[c].end(), piece.begin(), piece.end());
        if (c == 0) {
          piece.push_back({piece.back().x, inner.y1});
          piece.push_back({piece.front().x, inner.y1});
          painter.fill_polygon(piece, ink::kBandOfBounds);
        } else {
          draw_curve(painter, piece, c, style);
          space.block_line(piece, style.pt(1.2f));
        }
      }
      painter.end_series();
    }
    draw_names(painter, inner, lines, page, space);
    draw_beyond(painter, inner, page, space);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const LogitCurve& curve : curves)
      for (std::size_t b = 0; b < curve.counts.size(); ++b) {
        if (!(curve.counts[b] > 0.0)) continue;
        FigureMark mark;
        mark.panel = id, mark.series = curve.label, mark.kind = curve.shown(b) ? "bar" : "beyond";
        if (curve.head) mark.layer = curve.head->layer, mark.head = curve.head->head;
        mark.n = std::llround(curve.counts[b]);
        mark.low = edges[b], mark.high = edges[b + 1];
        if (curve.shown(b)) mark.y = density(curve, b);
        data.add(std::move(mark));
      }
  }

  std::string caption() const override { return sentence; }

  [[nodiscard]] double density(const LogitCurve& curve, std::size_t bin) const {
    return curve.counts[bin] / curve.total / (edges[bin + 1] - edges[bin]);
  }

 private:
  static MarkColor color_of(std::size_t curve) {
    constexpr std::array<MarkColor, 4> kColors = {MarkColor{ink::kBars, ink::kNote}, ink::kHead, ink::kFirst,
                                                  ink::kSecond};
    return kColors[std::min<std::size_t>(curve, 3)];
  }

  // Steps over the bins that hold something; a gap where one is empty.
  [[nodiscard]] std::vector<std::vector<Vec2>> pieces(const LogitCurve& curve, const Axis& along,
                                                      const Axis& up) const {
    std::vector<std::vector<Vec2>> all;
    for (std::size_t b = 0; b < curve.counts.size(); ++b) {
      if (!curve.shown(b)) continue;
      if (b == 0 || !curve.shown(b - 1)) all.emplace_back();
      const float at = up.pixel(density(curve, b));
      all.back().push_back({along.pixel(edges[b]), at});
      all.back().push_back({along.pixel(edges[b + 1]), at});
    }
    return all;
  }

  static void draw_curve(Painter& painter, const std::vector<Vec2>& piece, std::size_t curve, const PageStyle& style) {
    const float width = style.pt(1.0f);
    // In print without colours dashes tell them apart.
    if (curve == 1)
      painter.polyline(piece, color_of(curve).mark, width);
    else
      painter.dashed_polyline(piece, color_of(curve).mark, width, style.pt(curve == 2 ? 5.0f : 2.4f), style.pt(1.3f));
  }

  void draw_names(Painter& painter, const Rect& inner, const std::vector<std::vector<Vec2>>& lines, const Page& page,
                  LabelSpace& space) const {
    const PageStyle& style = page.style;
    for (std::size_t c = 1; c < curves.size(); ++c) {
      const RichText label = rich(curves[c].label);
      const float width = rich_width(page.measure, label, style.text());
      std::vector<Vec2> places = places_at_line(std::span(lines).subspan(1), c - 1, width, inner, page);
      // On white where that is possible.
      std::stable_partition(places.begin(), places.end(), [&](const Vec2& at) {
        return std::ranges::none_of(lines.front(), [&](const Vec2& top) {
          return top.x > at.x - style.pt(1.0f) && top.x < at.x + width + style.pt(1.0f) && top.y < at.y + 2.0f;
        });
      });
      put_label(painter, page, space, label, style.text(color_of(c).text), places);
    }
    // Within the grey or beside it.
    const RichText label = rich(curves.front().label);
    const float width = rich_width(page.measure, label, style.text());
    std::vector<Vec2> places;
    for (int down = 14; down >= 1; --down)
      for (const int aside : {0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5})
        if (!lines.front().empty()) {
          const float middle = 0.5f * (lines.front().front().x + lines.front().back().x);
          places.push_back({middle - 0.5f * width + static_cast<float>(aside) * 0.08f * inner.width(),
                            inner.y0 + static_cast<float>(down) / 15.0f * inner.height()});
        }
    put_label(painter, page, space, label, style.text(color_of(0).text), places);
  }

  void draw_beyond(Painter& painter, const Rect& inner, const Page& page, LabelSpace& space) const {
    const PageStyle& style = page.style;
    for (std::size_t c = 0; c < curves.size(); ++c)
      for (const bool high : {false, true}) {
        const LogitCurve& curve = curves[c];
        if (!(high ? curve.beyond_high : curve.beyond_low)) continue;
        const auto count = std::llround(high ? curve.counts.back() : curve.counts.front());
        const double edge = high ? edges[edges.size() - 2] : edges[1];
        const RichText label = rich(grouped_text(count) + (high ? " ≥ " : " < ") + short_text(edge));
        const float width = rich_width(page.measure, label, style.text());
        std::vector<Vec2> places;
        for (int line = 0; line < 12; ++line)
          places.push_back({high ? inner.x1 - width - style.pt(2.0f) : inner.x0 + style.pt(3.0f),
                            inner.y0 + (1.0f + 1.2f * static_cast<float>(line)) * style.size()});
        put_label(painter, page, space, label, style.text(color_of(c).text), places);
      }
  }
};

bool has_logit_counts(const RunSnapshot& run) {
  return std::ranges::any_of(
      run.data, [](const auto& layer) { return layer != nullptr && layer->series.contains("hist/logit"); });
}

std::vector<LogitEnds> all_ends(const RunSnapshot& run, const DrawnHeads& drawn) {
  std::vector<LogitEnds> ends;
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads) ends.push_back(logit_ends(run, {layer, head}));
  return ends;
}

std::vector<LogitEnds> by_width(std::vector<LogitEnds> ends) {
  std::erase_if(ends, [](const LogitEnds& one) { return !std::isfinite(one.width()); });
  std::ranges::stable_sort(ends, [](const auto& a, const auto& b) { return a.width() > b.width(); });
  return ends;
}

// The widest heads, of different layers, where none are asked for.
std::vector<HeadRef> widest_of_layers(const std::vector<LogitEnds>& ends) {
  std::vector<HeadRef> heads;
  for (const LogitEnds& one : by_width(ends))
    if (heads.size() < kMostCurves && std::ranges::find(heads, one.head.layer, &HeadRef::layer) == heads.end())
      heads.push_back(one.head);
  return heads;
}

// ±C of every soft-cap that the heads that are drawn have.
Result<std::vector<double>> soft_caps(const RunFile& file, const RunSnapshot& run, const DrawnHeads& drawn) {
  std::vector<double> caps;
  const DatasetInfo* info = file.find("program/softcap");
  if (info == nullptr) return caps;
  HEADROOM_TRY(const std::vector<double> all, file.read("program/softcap"));
  const std::size_t a_layer = all.size() / run.layers.size();
  for (std::size_t l = 0; l < run.layers.size(); ++l) {
    if (std::ranges::find(drawn.layers, run.layers[l]) == drawn.layers.end()) continue;
    for (std::size_t i = 0; i < a_layer; ++i)
      if (const double cap = all[l * a_layer + i]; cap > 0.0 && std::ranges::find(caps, cap) == caps.end())
        caps.push_back(cap), caps.push_back(-cap);
  }
  return caps;
}

Result<std::unique_ptr<LogitLayersPanel>> logit_layers(const RunSnapshot& run, const DrawnHeads& drawn,
                                                       const FigureChoice& choice, std::vector<double> caps) {
  auto panel = std::make_unique<LogitLayersPanel>();
  panel->kind = "logits", panel->name = "layers", panel->weight = 1.0f;
  panel->drawn = drawn, panel->heads = all_ends(run, drawn), panel->chosen = choice.heads;
  panel->image = as_image(choice, 2 * panel->heads.size());
  std::size_t lacking = 0;
  double low = 0.0, high = 0.0;
  const bool pairs = std::ranges::any_of(panel->heads, [&](const LogitEnds& one) {
    return std::isfinite(run.at("logit_max", one.head.layer, one.head.head, 1));
  });
  for (std::size_t l = 0; l < drawn.layers.size(); ++l) {
    std::vector<double> lows, highs;
    for (std::size_t h = 0; h < drawn.heads.size(); ++h) {
      const LogitEnds& one = panel->heads[l * drawn.heads.size() + h];
      lows.push_back(one.low), highs.push_back(one.high);
      lacking += std::isfinite(one.width()) ? 0 : 1;
      if (std::isfinite(one.low)) low = std::min(low, one.low);
      if (std::isfinite(one.high)) high = std::max(high, one.high);
    }
    panel->low_median.push_back(quantile(lows, 0.5)), panel->high_median.push_back(quantile(highs, 0.5));
  }
  // A cap far from every logit would leave them no room.
  std::erase_if(caps, [&](double cap) { return cap > 0.0 ? cap > 3.0 * high : cap < 3.0 * low; });
  for (const double cap : caps) low = std::min(low, cap), high = std::max(high, cap);
  panel->caps = std::move(caps);
  for (const LogitEnds& one : by_width(panel->heads))
    if (panel->widest.size() < kWidestNamed && drawn.layers.size() * drawn.heads.size() > 1)
      panel->widest.push_back(one.head);
  const Range range = roomy_range(low, high, false);
  panel->y = {range.low - 0.02 * (range.high - range.low), range.high + 0.02 * (range.high - range.low)};
  HEADROOM_TRY_VOID(set_range(panel->y, choice));
  panel->x = layer_axis(drawn.layers, drawn.all_layers);
  panel->title = rich("extreme logits of each head");
  panel->series_names = {{rich("bars: medians"), ink::kOthers.mark},
                         {rich("largest"), ink::kFirst.text},
                         {rich("smallest"), ink::kSecond.text}};
  panel->series_names.front().color = ink::kFaintNote;
  std::string& text = panel->sentence;
  text = "Largest and smallest logit *z*_{*ij*} of each of " + std::to_string(panel->heads.size() - lacking) +
         " heads by layer, over all visible entries" + (pairs ? ", over both maps of differential heads" : "") +
         "; grey: from the median over the " + std::to_string(drawn.heads.size()) +
         " heads of a layer of the smallest to that of the largest.";
  if (!panel->widest.empty())
    text +=
        " Named: the " + std::to_string(panel->widest.size()) + " heads with the widest range, where there is room.";
  if (!panel->caps.empty()) text += " Dashed: the soft-cap.";
  std::int64_t beyond = 0;
  for (const LogitEnds& one : panel->heads)
    for (const double value : {one.low, one.high}) beyond += std::isfinite(value) && !panel->on_axis(value) ? 1 : 0;
  text += beyond_sentence(beyond, "logit lies", "logits lie");
  if (lacking > 0) text += " Not drawn: " + std::to_string(lacking) + " heads without finite logits.";
  return panel;
}

Result<std::unique_ptr<LogitHistogramPanel>> logit_histogram(const RunFile& file, const RunSnapshot& run,
                                                             const DrawnHeads& drawn,
                                                             const std::vector<HeadRef>& heads) {
  auto panel = std::make_unique<LogitHistogramPanel>();
  panel->kind = "logits", panel->name = "histogram", panel->weight = 1.0f;
  const DatasetInfo* info = file.find("hist/logit");
  HEADROOM_TRY(panel->edges, file.read_axis("hist/logit_edges"));
  if (info == nullptr || info->shape.size() != 4 ||
      info->shape[3] + 1 != static_cast<std::int64_t>(panel->edges.size()))
    return Error(ErrorCode::Corrupt, "hist/logit does not fit its edges");
  const auto bins = static_cast<std::size_t>(info->shape[3]);
  panel->curves.push_back({"all", std::nullopt, std::vector<double>(bins, 0.0)});
  for (const HeadRef& head : heads) panel->curves.push_back({head_text(head), head, std::vector<double>(bins, 0.0)});
  std::int64_t counted = 0;
  HeadRef last;
  for (std::size_t l = 0; l < run.layers.size(); ++l) {
    if (std::ranges::find(drawn.layers, run.layers[l]) == drawn.layers.end() &&
        std::ranges::find(heads, run.layers[l], &HeadRef::layer) == heads.end())
      continue;
    const std::array<std::int64_t, 4> start = {static_cast<std::int64_t>(l), 0, 0, 0},
                                      count = {1, info->shape[1], info->shape[2], info->shape[3]};
    HEADROOM_TRY(const std::vector<double> layer, file.read_part("hist/logit", start, count));
    for (std::size_t h = 0; h < run.heads.size(); ++h) {
      const HeadRef head{run.layers[l], run.heads[h]};
      const LogitEnds ends = logit_ends(run, head);
      const bool in_all = std::ranges::find(drawn.layers, head.layer) != drawn.layers.end() &&
                          std::ranges::find(drawn.heads, head.head) != drawn.heads.end();
      bool some = false;
      for (LogitCurve& curve : panel->curves) {
        if (curve.head ? *curve.head != head : !in_all) continue;
        const std::size_t maps = static_cast<std::size_t>(info->shape[2]);
        for (std::size_t i = 0; i < maps * bins; ++i) {
          const double value = layer[h * maps * bins + i];
          if (value > 0.0) curve.counts[i % bins] += value, curve.total += value, some = true;
        }
        curve.beyond_low = curve.beyond_low || ends.low < panel->edges.front();
        curve.beyond_high = curve.beyond_high || ends.high >= panel->edges.back();
      }
      if (in_all && some) ++counted, last = head;
    }
  }
  std::erase_if(panel->curves, [](const LogitCurve& curve) { return curve.head && !(curve.total > 0.0); });
  // One head is all there is: no line over itself.
  if (counted == 1) std::erase_if(panel->curves, [&](const LogitCurve& curve) { return curve.head == last; });
  LogitCurve& all = panel->curves.front();
  all.label = counted == 1 ? head_text(last) : "all " + std::to_string(counted) + " heads";
  double low = kInfinity, high = -kInfinity, least = kInfinity, most = 0.0;
  for (const LogitCurve& curve : panel->curves)
    for (std::size_t b = 0; b < bins; ++b) {
      if (!curve.shown(b)) continue;
      low = std::min(low, panel->edges[b]), high = std::max(high, panel->edges[b + 1]);
      least = std::min(least, panel->density(curve, b)), most = std::max(most, panel->density(curve, b));
    }
  if (!(most > 0.0)) return std::unique_ptr<LogitHistogramPanel>();
  const Range range = roomy_range(low, high, false);
  panel->x = {range.low, range.high};
  panel->x.title = rich("logit *z*_{*ij*}");
  // Room for names above the curves.
  panel->y = {least / 1.6, most * std::pow(most / least, 0.10) * 1.6, true};
  panel->title = rich("share of entries per unit of *z*");
  panel->right = rich(grouped_text(std::llround(all.total)) + " entries");
  std::string& text = panel->sentence;
  text =
      "How the logits of all visible entries are distributed, as a share of the entries per unit of *z*, in bins of " +
      short_text(panel->edges[1] - panel->edges[0]) + "; grey: " + all.label;
  if (panel->curves.size() > 1) {
    text += "; lines:";
    for (std::size_t c = 1; c < panel->curves.size(); ++c)
      text += (c > 1 ? ", " : " ") + panel->curves[c].label + " (" +
              grouped_text(std::llround(panel->curves[c].total)) + " entries)";
  }
  text += ". Empty bins are gaps.";
  if (std::ranges::any_of(panel->curves, [](const auto& c) { return c.beyond_low || c.beyond_high; }))
    text += " Entries in and beyond the outer bins are written as numbers, in the colour of what they are of.";
  return panel;
}

}  // namespace

Result<void> check_logits(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(run, choice, {}));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  if (heads.size() > kMostCurves)
    return Error(ErrorCode::InvalidArgument,
                 "logits draws at most three heads beside all; --head names " + std::to_string(heads.size()));
  if (by_width(all_ends(*run.run, drawn)).empty())
    return Error(ErrorCode::Unsupported, "logits: no head of " + run.name() + " has finite logits");
  return {};
}

Result<Figure> make_logits(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  const RunSnapshot& run = *one.run;
  HEADROOM_TRY_VOID(check_logits(one, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  HEADROOM_TRY(const auto file, RunFile::open(one.path));
  HEADROOM_TRY(std::vector<double> caps, soft_caps(*file, run, drawn));
  Figure figure;
  HEADROOM_TRY(std::unique_ptr<LogitLayersPanel> layers, logit_layers(run, drawn, choice, std::move(caps)));
  std::unique_ptr<LogitHistogramPanel> counts;
  if (has_logit_counts(run)) {
    HEADROOM_TRY(const std::vector<HeadRef> heads, chosen_heads(one, choice, widest_of_layers(all_ends(run, drawn))));
    if (choice.heads.empty()) {
      std::string named;
      for (const HeadRef& head : heads) named += (named.empty() ? "" : ", ") + head_text(head);
      figure.notes.push_back(one.name() + ": " + named +
                             (heads.size() > 1 ? " have the widest logits of their layers" : " has the widest logits") +
                             "; --head chooses others");
    }
    HEADROOM_TRY(counts, logit_histogram(*file, run, drawn, heads));
  } else {
    figure.notes.push_back(one.name() +
                           " has no /hist/logit (written with --only summary): the distribution is left out");
  }
  figure.panels.push_back(std::move(layers));
  if (counts) figure.panels.push_back(std::move(counts));
  const bool both = figure.panels.size() > 1;
  arrange(figure, choice, both ? 174.0 : 84.0, 150.0, 57.0);
  return figure;
}

}  // namespace headroom
