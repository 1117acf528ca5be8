// What each head is worth: the largest changes of the loss with their intervals, those of every head, and against the
// sink score or, of files of two ways, against the change by the second way.
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

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/head_places.h"
#include "app/figures/kinds/change_scatter.h"
#include "app/figures/kinds/head_changes.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_bar.h"
#include "app/figures/page_beyond.h"
#include "core/base/number_text.h"
#include "core/run/ablation_way.h"

namespace headroom {
namespace {

constexpr float kChangePitch = 3.0f;                      // millimetres, of the heads that are listed
constexpr std::size_t kManyLayers = 96;                   // whose cells take more of the row
constexpr double kAroundCells = 29.0, kLeastCell = 0.25;  // millimetres, of an atlas
constexpr double kMostBeyond = 3.0;  // times the largest change: what reaches farther ends in an arrow

// One head a line, the largest change first.
class ChangeListPanel final : public FigurePanel {
 public:
  AllChanges all;
  std::vector<HeadChange> listed;
  std::optional<HeadRef> chosen;
  PageAxis x;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2 inner) const override {
    float widest = 0.0f;
    for (const HeadChange& one : listed)
      widest = std::max(widest, page.measure.width(head_text(one.head), Face::Sans, page.style.size()));
    return {widest + page.style.pt(4.0f), std::max(page.style.pt(4.0f), most_beyond_axis(x, inner.x, page)), 0.0f,
            below_axis(x, page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(18.0f), rich_width(page.measure, x.title, page.style.title())),
            1.02f * page.style.size() * static_cast<float>(listed.size())};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect& inner = frame.inner;
    const PageAxis rows{-0.5, static_cast<double>(listed.size()) - 0.5};
    const Axis along = placed_axis(x, inner.x0, inner.x1), down = placed_axis(rows, inner.y0, inner.y1);
    painter.begin_plot({id, kind, along, down});
    const auto at = [&](std::size_t i) { return down.pixel(static_cast<double>(i)); };
    painter.line({along.pixel(0.0), inner.y0}, {along.pixel(0.0), inner.y1}, ink::kBlack, style.pt(0.5f));
    painter.begin_series({kLossChange, "", "intervals"});
    for (std::size_t i = 0; i < listed.size(); ++i)
      if (listed[i].has_interval())
        painter.line({along.pixel(std::max(listed[i].low, x.low)), at(i)},
                     {along.pixel(std::min(listed[i].high, x.high)), at(i)}, change_color(listed[i]), style.pt(0.8f));
    painter.end_series();
    for (std::size_t i = 0; i < listed.size(); ++i) {
      if (listed[i].low < x.low)
        draw_edge_arrow(painter, {inner.x0, at(i)}, {-1.0f, 0.0f}, change_color(listed[i]), page);
      if (listed[i].high > x.high)
        draw_edge_arrow(painter, {inner.x1, at(i)}, {1.0f, 0.0f}, change_color(listed[i]), page);
    }
    painter.begin_series({kLossChange, "", "changes"});
    for (std::size_t i = 0; i < listed.size(); ++i)
      painter.disc({along.pixel(listed[i].change), at(i)}, style.pt(1.5f),
                   chosen && *chosen == listed[i].head ? ink::kHead.mark : change_color(listed[i]));
    painter.end_series();
    for (std::size_t i = 0; i < listed.size(); ++i)
      painter.text_at(inner.x0 - style.pt(4.0f), at(i), head_text(listed[i].head),
                      style.text(chosen && *chosen == listed[i].head ? ink::kHead.text : ink::kBlack),
                      Painter::Align::Right);
    draw_x_axis(painter, inner, x, page);
    painter.end_plot();
  }

  void add_data(FigureData& data) const override {
    for (std::size_t i = 0; i < listed.size(); ++i) {
      FigureMark mark;
      mark.panel = id, mark.series = kLossChange, mark.kind = listed[i].has_interval() ? "interval" : "point";
      mark.layer = listed[i].head.layer, mark.head = listed[i].head.head;
      mark.x = listed[i].change, mark.y = static_cast<double>(i);
      mark.low = listed[i].low, mark.high = listed[i].high, mark.n = all->observations();
      data.add(std::move(mark));
    }
  }
  std::string caption() const override { return sentence; }
};

class ChangeAtlasPanel final : public FigurePanel {
 public:
  AllChanges all;
  HeadPlaces places;
  std::vector<double> values;  // [layers, heads]
  std::vector<bool> outlined;
  std::optional<HeadRef> chosen;
  PageBar bar;
  RichText bar_name;
  std::string sentence;

  PanelRoom room(const Page& page, Vec2) const override {
    // The bar ends with the cells, its last label half beyond.
    const RichText end = rich("≥ ") + rich_number(short_text(static_cast<double>(bar.scale.high)));
    return {places.left(page), 0.5f * rich_width(page.measure, end, page.style.text()), 0.0f,
            below_axis(places.across(), page)};
  }
  Vec2 least_inner(const Page& page) const override {
    return {std::max(page.style.mm(0.4f) * static_cast<float>(places.layers.size()), page.style.mm(26.0f)),
            page.style.mm(places.heads.size() > 1 ? 0.25f : 2.0f) * static_cast<float>(places.heads.size()) +
                bar_height(page)};
  }

  void draw(Painter& painter, const PanelFrame& frame, const Page& page) const override {
    const PageStyle& style = page.style;
    const Rect inner{frame.inner.x0, frame.inner.y0, frame.inner.x1, frame.inner.y1 - bar_height(page)};
    const Axis across = placed_axis(places.across(), inner.x0, inner.x1),
               down = placed_axis(places.down(), inner.y0, inner.y1);
    painter.begin_plot({id, kind, across, down});
    painter.begin_series({kLossChange, "", "cells"});
    places.draw_cells(painter, inner, values, bar.scale, page);
    painter.end_series();
    painter.begin_series({kLossChange, "", "interval without 0"});
    places.draw_contour(
        painter, inner, [&](std::size_t l, std::size_t h) { return outlined[l * places.heads.size() + h]; }, page);
    painter.end_series();
    if (chosen) places.draw_frame(painter, inner, *chosen, page);
    places.draw_numbers(painter, inner, page);
    painter.end_plot();
    const float top = inner.y1 + below_axis(places.across(), page) + style.mm(1.6f);
    const float beside = rich_width(page.measure, bar_name, style.text()) + style.mm(3.5f);
    const Rect area{inner.x0 + std::max(beside, 0.27f * inner.width()), top, inner.x1, top + page_bar_height(page)};
    draw_rich(painter, {inner.x0, area.y1 - page_bar_below(page) - style.mm(1.0f) + 0.36f * style.size()}, bar_name,
              style.text());
    draw_page_bar(painter, area, bar, page);
  }

  void add_data(FigureData& data) const override {
    for (std::size_t l = 0; l < places.layers.size(); ++l)
      for (std::size_t h = 0; h < places.heads.size(); ++h) {
        const std::size_t i = l * places.heads.size() + h;
        FigureMark mark;
        mark.panel = id, mark.series = outlined[i] ? "delta_loss, interval without 0" : kLossChange, mark.kind = "cell";
        mark.layer = places.layers[l], mark.head = places.heads[h], mark.y = values[i];
        mark.low = lows[i], mark.high = highs[i], mark.n = all->observations();
        data.add(std::move(mark));
      }
  }
  std::string caption() const override { return sentence; }

  std::vector<double> lows, highs;  // of the intervals, which the table has

 private:
  [[nodiscard]] static float bar_height(const Page& page) { return page.style.mm(1.6f) + page_bar_height(page); }
};

std::string over_what(const HeadChanges& all) {
  if (all.texts > 1) return grouped_text(all.texts) + " texts";
  if (all.sequences > 0 && all.blocks > 1) return grouped_text(all.blocks) + " documents";
  return all.blocks > 1 ? grouped_text(all.blocks) + " blocks" : "no intervals";
}

// What the intervals are, and what they say.
std::string interval_sentence(const HeadChanges& all) {
  if (all.observations() < 2)
    return all.sequences > 0 ? " No intervals: all sequences are of one document."
                             : " No intervals: the text has too few tokens.";
  std::string text = " Lines: 95 % intervals by Student’s *t* over ";
  if (all.texts > 1)
    text += grouped_text(all.texts) + " texts (what other texts of this kind would give)";
  else if (all.sequences > 0)
    text += grouped_text(all.blocks) + " documents (what other documents of this kind would give)";
  else
    text += grouped_text(all.blocks) +
            " blocks of consecutive tokens of this text (what other stretches of such a text would give, not other "
            "texts)";
  text += ", at a level divided by the " + grouped_text(all.tested) + " changes that were measured (Bonferroni)";
  if (all.sets > 0) text += ", of which " + grouped_text(all.sets) + " of several heads at once are not drawn";
  return text + ". Black: the interval leaves out 0; grey: it holds 0.";
}

std::unique_ptr<ChangeListPanel> change_list(const AllChanges& all, const FigureChoice& choice) {
  auto panel = std::make_unique<ChangeListPanel>();
  panel->kind = "importance", panel->name = "heads", panel->all = all, panel->weight = 38.0f;
  if (!choice.heads.empty()) panel->chosen = choice.heads.front();
  std::vector<HeadChange> order = all->heads;
  std::ranges::stable_sort(
      order, [](const HeadChange& a, const HeadChange& b) { return std::abs(a.change) > std::abs(b.change); });
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, choice.top));
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i < most || std::ranges::find(choice.heads, order[i].head) != choice.heads.end())
      panel->listed.push_back(order[i]);
  const std::size_t largest = std::min(most, order.size());
  std::ranges::stable_sort(panel->listed, [](const auto& a, const auto& b) { return a.change > b.change; });
  const double limit = kMostBeyond * std::abs(order.front().change);
  double low = 0.0, high = 0.0;
  std::int64_t beyond = 0;
  for (const HeadChange& one : panel->listed) {
    low = std::min(low, one.change), high = std::max(high, one.change);
    if (!one.has_interval()) continue;
    low = std::min(low, std::max(one.low, -limit)), high = std::max(high, std::min(one.high, limit));
    beyond += one.low < -limit || one.high > limit ? 1 : 0;
  }
  panel->x = change_axis(low, high, choice.scale.value_or(ScaleKind::Linear));
  panel->x.title = rich("loss change, nats");
  panel->title = rich(all->way + (largest > 1 ? ", " + std::to_string(largest) + " largest" : std::string()));
  panel->brief = rich(all->way);
  panel->right = rich(over_what(*all));
  panel->sentence = "Change of the next-token loss where " + ablation_sentence(all->change, all->sequences > 0) +
                    ": mean over " + grouped_text(all->predictions) + " predictions" +
                    (all->texts > 1 ? " of " + grouped_text(all->texts) + " texts, each of which counts alike" : "") +
                    (all->sequences > 0 ? " of " + grouped_text(all->sequences) + " sequences" : "") +
                    ", positive where the head helps; the loss of the model as it is: " + fixed_text(all->loss, 4) +
                    " nats. ";
  panel->sentence += largest > 1
                         ? "The " + std::to_string(largest) + " largest of " + heads_word(std::ssize(all->heads))
                         : std::string("One head");
  if (panel->listed.size() > largest) panel->sentence += ", and those that were asked for";
  panel->sentence += "." + interval_sentence(*all);
  if (beyond > 0)
    panel->sentence += " Arrows: " + grouped_text(beyond) + (beyond == 1 ? " interval reaches" : " intervals reach") +
                       " beyond the axis.";
  return panel;
}

std::unique_ptr<ChangeAtlasPanel> change_atlas(const AllChanges& all, const DrawnHeads& drawn,
                                               const FigureChoice& choice) {
  auto panel = std::make_unique<ChangeAtlasPanel>();
  panel->kind = "importance", panel->name = "atlas", panel->all = all;
  panel->weight = drawn.layers.size() > kManyLayers ? 68.0f : 64.0f;
  panel->places = {drawn.layers, drawn.heads, drawn.all_layers};
  if (!choice.heads.empty()) panel->chosen = choice.heads.front();
  const std::size_t count = drawn.layers.size() * drawn.heads.size();
  panel->values.assign(count, kNaN), panel->lows = panel->highs = panel->values;
  panel->outlined.assign(count, false);
  for (const HeadChange& one : all->heads) {
    const auto l = std::ranges::find(drawn.layers, one.head.layer) - drawn.layers.begin(),
               h = std::ranges::find(drawn.heads, one.head.head) - drawn.heads.begin();
    const std::size_t i = static_cast<std::size_t>(l) * drawn.heads.size() + static_cast<std::size_t>(h);
    panel->values[i] = one.change, panel->lows[i] = one.low, panel->highs[i] = one.high;
    panel->outlined[i] = one.apart();
  }
  FigureChoice of_bar = choice;
  of_bar.scale = change_scale(*all, choice);
  const QuantityRef quantity{find_quantity_info(way_info(AblationWay::Off).quantity), 0};
  panel->bar = quantity_bar(quantity, panel->values, of_bar);
  panel->bar_name = rich("loss change, nats");
  const std::int64_t apart = all->apart(), heads = std::ssize(all->heads);
  const bool intervals = all->observations() > 1;
  panel->title = rich(intervals ? "outlined: 95 % interval without 0" : "every head");
  panel->brief = rich(intervals ? "outlined: interval without 0" : "every head");
  panel->right = rich(intervals ? std::to_string(apart) + " of " + heads_word(heads) : heads_word(heads));
  panel->sentence = "The same of every head, layers across, heads down";
  if (intervals)
    panel->sentence += "; outlined: the interval leaves out 0, " + std::to_string(apart) + " of " + heads_word(heads) +
                       " (by chance alone, any head in at most 1 of 20 such figures)";
  panel->sentence += ". Colours are linear";
  if (panel->bar.scale.kind == ScaleKind::Symlog)
    panel->sentence +=
        " within ±" + short_text(static_cast<double>(panel->bar.scale.threshold)) + " and logarithmic beyond";
  panel->sentence += "; in grey print both signs look alike.";
  if (all->lacking > 0) panel->sentence += " Hatched: " + heads_word(all->lacking) + " without a value.";
  panel->sentence += " Changes of single heads do not add up.";
  return panel;
}

std::string ablated_source(std::span<const FigureRun> runs, const HeadChanges& all) {
  std::string text =
      literal_markup(model_of(*runs.front().run)) + ", " +
      (all.sequences > 0 ? grouped_text(all.sequences) + " sequences of " : grouped_text(all.texts) + " texts of ") +
      grouped_text(all.predictions) + " predictions";
  if (const std::string dtype = runs.front().attribute("dtype_compute"); !dtype.empty())
    text += ", computed in " + dtype;
  return text + ". " + runs.front().attribute("source") + ".";
}

}  // namespace

Result<void> check_importance(const FigureRun& run, const FigureChoice& choice) {
  if (choice.scale == ScaleKind::Log10)
    return Error(ErrorCode::InvalidArgument, "importance: changes of the loss have both signs")
        .wanted("--scale linear or symlog", "log");
  HEADROOM_TRY(const HeadChanges changes, head_changes(std::span(&run, 1), choice));
  return {};
}

Result<Figure> make_importance(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& one = runs.front();
  HEADROOM_TRY_VOID(check_importance(one, choice));
  HEADROOM_TRY(HeadChanges changes, head_changes(runs, choice));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(one, choice));
  const auto all = std::make_shared<const HeadChanges>(std::move(changes));
  Figure figure;
  if (all->done < all->asked)
    figure.notes.push_back(one.name() + " was stopped: " + grouped_text(all->done) + " of " + heads_word(all->asked) +
                           " have a change");
  auto list = change_list(all, choice);
  const double least = std::max(17.0 + static_cast<double>(kChangePitch) * static_cast<double>(list->listed.size()),
                                kAroundCells + kLeastCell * static_cast<double>(drawn.heads.size()));
  figure.panels.push_back(std::move(list));
  figure.panels.push_back(change_atlas(all, drawn, choice));
  if (drawn.layers.size() > kManyLayers) figure.panels.front()->weight = 34.0f;
  if (auto scatter = change_scatter(all, choice)) figure.panels.push_back(std::move(scatter));
  if (runs.size() > 1)
    for (const auto& panel : figure.panels) panel->source = ablated_source(runs, *all);
  arrange(figure, choice, 174.0, 165.0, std::max(57.0, least));
  if (figure.rows.size() == 3 && figure.width_mm >= 110.0) {
    figure.rows = {{0, 1}, {2}};
    if (!choice.height_mm) figure.height_mm = 2.0 * std::max(52.0, least);
  }
  return figure;
}

}  // namespace headroom
