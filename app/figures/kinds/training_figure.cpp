// Histories of trainings by step: validation loss and gradient norm as mean and range over seeds; largest logit and
// sink score of each seed, whose jumps do not average.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/figure_runs.h"
#include "app/figures/kinds/training_curves.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_labels.h"
#include "app/plot/label_layout.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::int64_t kNormBlock = 100;         // steps that a mean of the gradient norm is of
constexpr double kThousandsFrom = 2000.0;        // steps from which the axis counts thousands
constexpr float kApart = 1.5f, kFarAway = 4.0f;  // points between a line and the next: it can be led to; enough
constexpr float kMeanWidth = 1.2f, kSeedWidth = 0.6f, kRangeBand = 0.16f;

struct TrainingCurve {
  std::string series;  // "softmax mean", "DIFF V2 seed 1"
  TrainingLine line;
  MarkColor ink;
  LineDash dash;
  float width = kSeedWidth;
  bool diverged = false;
  std::size_t named = 0;  // which of the panel's names is its own
};

struct CurveName {
  RichText text;
  Color color;
  RichText brief = {};  // where that has no room; empty: there is no shorter one
};

class TrainingPanel final : public FigurePanel {
 public:
  std::string quantity;
  std::vector<TrainingCurve> curves;
  std::vector<CurveName> names;    // of curves; empty: other panels name them
  bool names_together = false;     // one under the other, with the notes below them
  std::vector<std::string> notes;  // "mean and range,", "3 seeds"
  PageAxis x, y;
  bool thousands = false;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    return {left_of_axis(y, inner.y, page), page.style.pt(3.0f), 0.0f, below_axis(x, page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const Axis along = placed_axis(x, inner.x0, inner.x1), up = placed_axis(y, inner.y1, inner.y0);
    painter.begin_plot({id, kind, along, up});
    LabelSpace space(inner.inset(style.pt(2.0f)), style.pt(1.5f));
    std::vector<std::vector<Vec2>> own(std::max<std::size_t>(1, names.size()));
    for (const TrainingCurve& curve : curves) {
      const std::vector<double> at = places(curve.line);
      if (std::ranges::any_of(curve.line.low, [](double v) { return std::isfinite(v); })) {
        painter.begin_series({quantity, "", curve.series + " range"});
        draw_page_band(painter, along, up, at, curve.line.low, curve.line.high, curve.ink.mark.faded(kRangeBand));
        painter.end_series();
        for (std::size_t i = 0; i + 1 < at.size(); ++i)
          if (std::isfinite(curve.line.low[i]) && std::isfinite(curve.line.low[i + 1]))
            space.block(Rect{along.pixel(at[i]), up.pixel(std::max(curve.line.high[i], curve.line.high[i + 1])),
                             along.pixel(at[i + 1]), up.pixel(std::min(curve.line.low[i], curve.line.low[i + 1]))});
      }
    }
    for (const TrainingCurve& curve : curves) {
      const std::vector<Vec2> points = placed_points(along, up, places(curve.line), curve.line.y);
      painter.begin_series({quantity, "", curve.series});
      draw_page_line(painter, points, curve.ink.mark, curve.width, curve.dash, page);
      painter.end_series();
      space.block_line(points, style.pt(curve.width + 0.6f));
      std::vector<Vec2>& mine = own[std::min(curve.named, own.size() - 1)];
      mine.insert(mine.end(), points.begin(), points.end());
      mine.push_back({kNowhere, kNowhere});
      if (curve.diverged && !points.empty()) draw_cross(painter, points.back(), curve, page);
    }
    draw_names(painter, page, space, own);
    draw_x_axis(painter, inner, x, page);
    draw_y_axis(painter, inner, y, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (const TrainingCurve& curve : curves)
      for (std::size_t i = 0; i < curve.line.step.size(); ++i) {
        FigureMark mark;
        mark.panel = id, mark.series = quantity + " " + curve.series, mark.kind = "line";
        mark.x = curve.line.step[i], mark.y = curve.line.y[i];
        mark.low = curve.line.low[i], mark.high = curve.line.high[i], mark.n = curve.line.seeds[i];
        data.add(std::move(mark));
      }
  }
  std::string caption() const override { return sentence; }

 private:
  static constexpr float kNowhere = std::numeric_limits<float>::quiet_NaN();

  // Steps as the axis counts them.
  [[nodiscard]] std::vector<double> places(const TrainingLine& line) const {
    std::vector<double> result = line.step;
    if (thousands)
      for (double& step : result) step /= 1000.0;
    return result;
  }

  void draw_cross(Painter& painter, Vec2 at, const TrainingCurve& curve, const Page& page) const {
    const float arm = page.style.pt(2.0f);
    painter.begin_series({quantity, "", curve.series + " diverged"});
    painter.line({at.x - arm, at.y - arm}, {at.x + arm, at.y + arm}, curve.ink.text, page.style.pt(0.9f));
    painter.line({at.x - arm, at.y + arm}, {at.x + arm, at.y - arm}, curve.ink.text, page.style.pt(0.9f));
    painter.end_series();
  }

  // One under the other, at the right from the top, else farther to the left; whether there is room.
  [[nodiscard]] bool draw_together(Painter& painter, const Page& page, LabelSpace& space,
                                   const std::vector<CurveName>& lines) const {
    const PageStyle& style = page.style;
    const float line = 1.25f * style.size(), height = line * static_cast<float>(lines.size());
    float words = 0.0f;
    for (const CurveName& one : lines) words = std::max(words, rich_width(page.measure, one.text, style.text()));
    // Several have a piece of their line before them: in print without colours that is all there is.
    const bool samples = lines.size() > 1 && names.size() > 1;
    const float sample = style.pt(samples ? 10.0f : 0.0f), gap = style.pt(samples ? 2.5f : 0.0f);
    const float width = sample + gap + words;
    const Rect free = space.frame();
    for (float x1 = free.x1; x1 - width >= free.x0; x1 -= style.pt(3.0f))
      for (float y0 = free.y0; y0 + height <= free.y1; y0 += style.pt(2.0f)) {
        if (!space.place(OrientedBox::of(Rect{x1 - width, y0, x1, y0 + height}))) continue;
        for (std::size_t i = 0; i < lines.size(); ++i) {
          const float at = y0 + 0.82f * style.size() + line * static_cast<float>(i);
          draw_rich(painter, {samples ? x1 - words : x1, at}, lines[i].text, style.text(lines[i].color),
                    samples ? Painter::Align::Left : Painter::Align::Right);
          const auto curve = std::ranges::find(curves, i, &TrainingCurve::named);
          if (!samples || i >= names.size() || curve == curves.end()) continue;
          const float middle = at - 0.3f * style.size();
          draw_page_line(painter, {{x1 - width, middle}, {x1 - words - gap, middle}}, curve->ink.mark, curve->width,
                         curve->dash, page);
        }
        return true;
      }
    return false;
  }

  void draw_names(Painter& painter, const Page& page, LabelSpace& space,
                  const std::vector<std::vector<Vec2>>& own) const {
    std::vector<CurveName> lines;
    if (names_together) lines = names;
    for (const std::string& note : notes) lines.push_back({rich(note), ink::kNote});
    if (!lines.empty() && !draw_together(painter, page, space, lines))
      for (const CurveName& one : lines) leave_out(page, one.text);
    if (names_together) return;
    // Beside the lines if all of them find room there, briefly if need be; else farther off on a thin line; else
    // together, where colours tell them apart.
    BesideLines beside = names_beside(page, space, own, false);
    if (beside.lacking() > 0)
      if (BesideLines shorter = names_beside(page, space, own, true); shorter.lacking() < beside.lacking())
        beside = std::move(shorter);
    std::vector<std::pair<std::size_t, ClearPoints>> led;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!beside.places[i]) led.emplace_back(i, clear_points(own, i));
    const bool apart =
        std::ranges::all_of(led, [&](const auto& one) { return one.second.away >= page.style.pt(kApart); });
    if (!apart && draw_together(painter, page, space, names)) return;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (beside.places[i]) draw_rich(painter, *beside.places[i], beside.texts[i], page.style.text(names[i].color));
    // Those that can be led to in the fewest places have the first choice.
    std::ranges::stable_sort(led, {}, [](const auto& one) { return one.second.at.size(); });
    for (const auto& [i, ends] : led)
      if (!lead_name(painter, page, beside.space, beside.texts[i], names[i].color, own, i, ends.at))
        leave_out(page, names[i].text);
  }

  // Each beside its own line.
  struct BesideLines {
    LabelSpace space;
    std::vector<RichText> texts;
    std::vector<std::optional<Vec2>> places;  // empty: there is no room
    [[nodiscard]] std::ptrdiff_t lacking() const {
      return std::ranges::count_if(places, [](const auto& at) { return !at; });
    }
  };
  [[nodiscard]] BesideLines names_beside(const Page& page, const LabelSpace& space,
                                         const std::vector<std::vector<Vec2>>& own, bool briefly) const {
    BesideLines beside{space, {}, {}};
    const float size = page.style.size();
    for (std::size_t i = 0; i < names.size(); ++i) {
      beside.texts.push_back(briefly && !names[i].brief.empty() ? names[i].brief : names[i].text);
      std::vector<std::vector<Vec2>> others;
      for (std::size_t k = 0; k < own.size(); ++k)
        if (k != i) others.push_back(own[k]);
      const float width = rich_width(page.measure, beside.texts.back(), page.style.text());
      beside.places.push_back(place_beside(beside.space, own[i], others, width, page));
      if (!beside.places.back()) continue;
      // No line to another name goes through it.
      const Vec2 from{beside.places.back()->x, beside.places.back()->y - 0.3f * size};
      beside.space.lead(from, {from.x + width, from.y}, size);
    }
    return beside;
  }

  // Anywhere in the plot, with a thin line to one of `ends` of its own line that crosses as few others as can be and is
  // short; false: there is no room.
  static bool lead_name(Painter& painter, const Page& page, LabelSpace& space, const RichText& text, Color color,
                        const std::vector<std::vector<Vec2>>& lines, std::size_t line, const std::vector<Vec2>& ends) {
    constexpr std::size_t kMostEnds = 16;
    constexpr float kCrossing = 30.0f;  // points of length that one more line in the way is worth
    const PageStyle& style = page.style;
    const float width = rich_width(page.measure, text, style.text()), size = style.size(), thick = style.pt(1.0f);
    const Rect frame = space.frame();
    std::optional<Vec2> best;
    Vec2 from, to;
    float least = std::numeric_limits<float>::infinity();
    for (float y = frame.y0; y + 1.02f * size <= frame.y1; y += 0.5f * size)
      for (float x = frame.x0; x + width <= frame.x1; x += 0.75f * size) {
        const Rect box = Rect::sized(x, y, width, 1.02f * size);
        if (!space.fits(OrientedBox::of(box))) continue;
        for (std::size_t k = 0; k < ends.size(); k += (ends.size() + kMostEnds - 1) / kMostEnds) {
          const Vec2 end = ends[k];
          const Vec2 edge{std::clamp(end.x, box.x0, box.x1), std::clamp(end.y, box.y0, box.y1)};
          const float length = std::hypot(end.x - edge.x, end.y - edge.y);
          if (length >= least || space.crosses_label(edge, end, thick)) continue;
          const float worth = length + style.pt(kCrossing) * static_cast<float>(crossings(edge, end, lines, line));
          if (worth < least) least = worth, best = Vec2{x, y + 0.78f * size}, from = edge, to = end;
        }
      }
    if (!best) return false;
    draw_rich(painter, *best, text, style.text(color));
    painter.line(from, to, color, style.pt(0.5f));
    space.lead({best->x, best->y - 0.3f * size}, {best->x + width, best->y - 0.3f * size}, size);
    space.lead(from, to, thick);
    return true;
  }

  // How many of the other lines the way from a to b crosses.
  static int crossings(Vec2 a, Vec2 b, const std::vector<std::vector<Vec2>>& lines, std::size_t line) {
    const auto side = [](Vec2 p, Vec2 q, Vec2 r) {
      return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x) > 0.0f;
    };
    int count = 0;
    for (std::size_t other = 0; other < lines.size(); ++other) {
      bool crosses = false;
      for (std::size_t i = 1; !crosses && other != line && i < lines[other].size(); ++i) {
        const Vec2 c = lines[other][i - 1], d = lines[other][i];
        if (!std::isfinite(c.y) || !std::isfinite(d.y) || std::max(c.x, d.x) < std::min(a.x, b.x) ||
            std::min(c.x, d.x) > std::max(a.x, b.x))
          continue;
        crosses = side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b);
      }
      count += crosses ? 1 : 0;
    }
    return count;
  }

  // Where a line is farthest from all others, so that what ends there is of it; at least so far from them.
  struct ClearPoints {
    std::vector<Vec2> at;
    float away = 0.0f;
  };
  static ClearPoints clear_points(const std::vector<std::vector<Vec2>>& lines, std::size_t line) {
    std::vector<float> away;
    for (const Vec2& at : lines[line]) {
      float nearest = std::isfinite(at.x) && std::isfinite(at.y) ? kFarAway : -1.0f;
      for (std::size_t other = 0; other < lines.size(); ++other)
        for (std::size_t i = 0; other != line && i < lines[other].size(); ++i) {
          const Vec2 way = lines[other][i] - at;
          if (std::isfinite(way.y)) nearest = std::min(nearest, std::max(std::abs(way.x), std::abs(way.y)));
        }
      away.push_back(nearest);
    }
    ClearPoints clear;
    if (away.empty()) return clear;
    clear.away = std::min(kFarAway, 0.7f * std::ranges::max(away));
    for (std::size_t i = 0; i < away.size(); ++i)
      if (away[i] >= 0.0f && away[i] >= clear.away) clear.at.push_back(lines[line][i]);
    return clear;
  }
};

double last_step(const std::vector<TrainingGroup>& groups) {
  std::int64_t last = 1;
  for (const TrainingGroup& group : groups)
    for (std::size_t s = 0; s < group.seeds.size(); ++s) last = std::max(last, group.curves(s).last_step());
  return static_cast<double>(last);
}

std::unique_ptr<TrainingPanel> panel_of(const char* quantity, const std::vector<TrainingGroup>& groups) {
  auto panel = std::make_unique<TrainingPanel>();
  panel->kind = "training", panel->name = quantity, panel->quantity = quantity;
  const double last = last_step(groups);
  panel->thousands = last >= kThousandsFrom;
  panel->x = {0.0, panel->thousands ? last / 1000.0 : last};
  panel->x.title = rich(panel->thousands ? "step, thousands" : "step");
  return panel;
}

// Of all that is drawn.
Range drawn_range(const TrainingPanel& panel) {
  Range range{kInfinity, -kInfinity};
  for (const TrainingCurve& curve : panel.curves)
    for (const std::vector<double>* part : {&curve.line.y, &curve.line.low, &curve.line.high})
      for (const double value : *part)
        if (std::isfinite(value)) range.low = std::min(range.low, value), range.high = std::max(range.high, value);
  return range;
}

std::string seeds_note(const std::vector<TrainingGroup>& groups) {
  std::size_t least = groups.front().seeds.size(), most = least;
  for (const TrainingGroup& group : groups)
    least = std::min(least, group.seeds.size()), most = std::max(most, group.seeds.size());
  if (most == 1) return "1 seed";
  return (least < most ? std::to_string(least) + "–" : "") + std::to_string(most) + " seeds";
}

// Mean and range over the seeds of each group.
template <typename MakeLine>
void add_means(TrainingPanel& panel, const std::vector<TrainingGroup>& groups, MakeLine make_line) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const TrainingGroup& group = groups[g];
    std::vector<TrainingLine> lines;
    bool diverged = false;
    for (std::size_t s = 0; s < group.seeds.size(); ++s) {
      TrainingLine line = make_line(group.curves(s));
      diverged = diverged || group.curves(s).diverged_step.has_value();
      if (!line.step.empty()) lines.push_back(std::move(line));
    }
    if (lines.empty()) continue;
    TrainingCurve curve{group.name + (lines.size() > 1 ? " mean" : ""),
                        mean_line(lines),
                        group.ink,
                        group.dash,
                        kMeanWidth,
                        diverged && lines.size() == 1,
                        g};
    panel.curves.push_back(std::move(curve));
  }
}

template <typename Series>
void add_seeds(TrainingPanel& panel, const std::vector<TrainingGroup>& groups, bool net, Series series) {
  for (const TrainingGroup& group : groups) {
    bool any = false;
    for (std::size_t s = 0; s < group.seeds.size(); ++s) {
      const StoredHistory& curves = group.curves(s);
      if (net && !curves.second_maps) continue;
      TrainingLine line = seed_line(series(curves), -1);
      if (line.step.empty()) continue;
      any = true;
      const std::string seed = curves.seed ? std::to_string(*curves.seed) : std::to_string(s + 1);
      panel.curves.push_back({group.name + (net ? " net" : "") + " seed " + seed, std::move(line),
                              net ? group.net_ink : group.ink, net ? group.net_dash : group.dash, kSeedWidth,
                              curves.diverged_step.has_value(), panel.names.size()});
    }
    if (!any) continue;
    const bool maps = group.curves(0).second_maps;
    const auto name = [&](const char* of_first) {
      const std::string map = net ? " net" : maps ? of_first : "";
      return RichText{{TextRun::Form::Upright, (maps ? group.short_name : group.name) + map}};
    };
    panel.names.push_back({name(" first map"), net ? group.net_ink.text : group.ink.text, name(" first")});
  }
}

// What was trained, by whom, from which seeds.
std::string training_sentence(const std::vector<TrainingGroup>& groups, std::span<const FigureRun> runs) {
  std::string text, recipes;
  std::vector<std::string> known;
  for (const TrainingGroup& group : groups) {
    text += (text.empty() ? "" : "; ") + literal_markup(group.name) + ": " + seeds_text(group);
    for (std::size_t s = 0; s < group.seeds.size(); ++s)
      if (const auto step = group.curves(s).diverged_step)
        text += " (seed " + std::to_string(group.curves(s).seed.value_or(static_cast<std::int64_t>(s) + 1)) +
                " diverged at step " + grouped_text(*step) + ", ×)";
    if (std::ranges::find(known, group.recipe_sha256) != known.end()) continue;
    known.push_back(group.recipe_sha256);
    recipes +=
        (recipes.empty() ? " Recipe " : ", ") + literal_markup(group.recipe) + " " + group.recipe_sha256.substr(0, 12);
  }
  return text + "." + recipes + ". " + runs_sentence(runs);
}

// "median over 2 layers of 4 heads"; the quantity of the one head where there is one.
std::string over_heads(const std::vector<TrainingGroup>& groups, const char* word) {
  const StoredHistory& first = groups.front().curves(0);
  if (first.layers * first.heads <= 1) return " of the one head";
  return ", " + std::string(word) + " over " + std::to_string(first.layers) +
         (first.layers == 1 ? " layer of " : " layers of ") + std::to_string(first.heads) + " heads";
}

std::unique_ptr<TrainingPanel> loss_panel(const std::vector<TrainingGroup>& groups) {
  auto panel = panel_of("validation_loss", groups);
  add_means(*panel, groups, [](const StoredHistory& curves) { return seed_line(curves.validation_loss, 0); });
  std::string unit = groups.front().curves(0).loss_unit;
  if (unit == "nat" || unit == "bit") unit += "s";
  panel->title = {{TextRun::Form::Upright, "validation loss" + (unit.empty() || unit == "1" ? "" : ", " + unit)}};
  double low = kInfinity, high = -kInfinity;
  for (const TrainingGroup& group : groups)
    for (std::size_t s = 0; s < group.seeds.size(); ++s) {
      const StepSeries& series = group.curves(s).validation_loss;
      if (series.empty() || series.step(0) != 0) continue;
      low = std::min(low, static_cast<double>(series.values()[0]));
      high = std::max(high, static_cast<double>(series.values()[0]));
    }
  panel->sentence = "Loss on the validation sequences; ";
  panel->sentence += seeds_note(groups) == "1 seed" ? "one seed" : "mean and range (bands) over seeds";
  if (low <= high)
    panel->sentence += "; step 0 is left out, at " +
                       (high - low < 0.005 ? fixed_text(low, 2) : fixed_text(low, 2) + "–" + fixed_text(high, 2));
  panel->sentence += ".";
  return panel;
}

std::unique_ptr<TrainingPanel> norm_panel(const std::vector<TrainingGroup>& groups) {
  auto panel = panel_of("gradient_norm", groups);
  const auto last = static_cast<std::int64_t>(last_step(groups));
  const std::int64_t block = last >= 10 * kNormBlock ? kNormBlock : std::max<std::int64_t>(1, last / 10);
  add_means(*panel, groups, [&](const StoredHistory& curves) { return block_means(curves.gradient_norm, block); });
  panel->title = rich("gradient norm");
  panel->sentence = "Norm of the gradient before clipping, means of " + std::to_string(block) + " steps; " +
                    (seeds_note(groups) == "1 seed" ? "one seed" : "mean and range over seeds") + ".";
  return panel;
}

std::unique_ptr<TrainingPanel> logit_panel(const std::vector<TrainingGroup>& groups) {
  auto panel = panel_of("logit_max", groups);
  add_seeds(*panel, groups, false,
            [](const StoredHistory& curves) -> const StepSeries& { return curves.logit_max.high; });
  panel->names.clear();  // the first panel names the colours
  panel->title = rich("largest logit");
  panel->sentence =
      "Largest attention logit of the step’s batch" + over_heads(groups, "largest") + " and maps; each seed a line.";
  return panel;
}

std::unique_ptr<TrainingPanel> sink_panel(const std::vector<TrainingGroup>& groups) {
  auto panel = panel_of("sink_score", groups);
  add_seeds(*panel, groups, false,
            [](const StoredHistory& curves) -> const StepSeries& { return curves.sink_score.median; });
  add_seeds(*panel, groups, true,
            [](const StoredHistory& curves) -> const StepSeries& { return curves.sink_score_net.median; });
  panel->title = rich("sink score *α*_{0}");
  const bool second = std::ranges::any_of(groups, [](const TrainingGroup& g) { return g.curves(0).second_maps; });
  panel->sentence = "Sink score *α*₀" + over_heads(groups, "median") + "; each seed a line" +
                    (second ? "; of differential heads the first map’s, and that of the net map" : "") + ".";
  return panel;
}

}  // namespace

Result<void> check_training(const FigureRun& run, const FigureChoice&) {
  const StoredHistory& curves = run.history->curves;
  if (curves.validation_loss.empty() && curves.gradient_norm.empty() && curves.logit_max.high.empty() &&
      curves.sink_score.median.empty())
    return Error(ErrorCode::Unsupported, "training: " + run.name() + " has no step");
  return {};
}

Result<Figure> make_training(std::span<const FigureRun> runs, const FigureChoice& choice) {
  HEADROOM_TRY(const std::vector<TrainingGroup> groups, training_groups(runs));
  std::vector<std::unique_ptr<TrainingPanel>> panels;
  for (auto* make : {loss_panel, norm_panel, logit_panel, sink_panel}) {
    std::unique_ptr<TrainingPanel> panel = make(groups);
    panel->source = training_sentence(groups, runs);
    if (!panel->curves.empty()) panels.push_back(std::move(panel));
  }
  if (panels.empty())
    return Error(ErrorCode::Unsupported, "training: nothing after step 0 of " + runs.front().name() + " is finite");
  // The first panel says which colour is which and what the bands are, the first of single seeds that they are single.
  TrainingPanel& first = *panels.front();
  if (first.names.empty()) {
    for (const TrainingGroup& group : groups)
      first.names.push_back({{{TextRun::Form::Upright, group.name}}, group.ink.text});
    first.names_together = true;
  }
  const std::string note = seeds_note(groups);
  const bool means = first.quantity == "validation_loss" || first.quantity == "gradient_norm";
  if (note == "1 seed" || !means)
    first.notes = {note};
  else
    first.notes = {"mean and range,", note};
  for (auto& panel : panels)
    if (means && note != "1 seed" && (panel->quantity == "logit_max" || panel->quantity == "sink_score")) {
      panel->notes = {"each seed"};
      break;
    }
  Figure figure;
  for (auto& panel : panels) {
    const Range range = drawn_range(*panel);
    if (panel->quantity == "sink_score") {
      // Room below a net map without a sink for its name.
      const bool net = std::ranges::any_of(groups, [](const TrainingGroup& g) { return g.curves(0).second_maps; });
      panel->y = {net ? std::min(-0.16, range.low - 0.12) : std::min(0.0, range.low), std::max(1.0, range.high)};
    } else {
      const bool log = panel->quantity == "gradient_norm" && range.low > 0.0;
      const Range nice =
          nice_range(panel->quantity == "logit_max" ? std::min(0.0, range.low) : range.low, range.high, log);
      panel->y = {nice.low, nice.high, log};
    }
    figure.panels.push_back(std::move(panel));
  }
  figure.width_mm = choice.width_mm.value_or(174.0);
  const std::size_t beside = figure.width_mm >= 150.0 ? 4 : figure.width_mm >= 100.0 ? 2 : 1;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    if (i % beside == 0) figure.rows.emplace_back();
    figure.rows.back().push_back(i);
  }
  figure.height_mm = choice.height_mm.value_or((beside == 4 ? 55.0 : 48.0) * static_cast<double>(figure.rows.size()));
  return figure;
}

}  // namespace headroom
