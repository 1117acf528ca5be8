// What each head is worth: the largest changes of the loss with their intervals, those of every head, and against the
// sink score or, of files of two ways, against the change by the second way; and of several heads together: sets, and
// the pruning curve.
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
#include "app/figures/kinds/interval_list.h"
#include "app/figures/kinds/lines_panel.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_bar.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/run/ablation_way.h"

namespace headroom {
namespace {

constexpr std::size_t kNamedOfSet = 3, kNamedOfCurve = 24, kMostPoints = 40;
constexpr float kChangePitch = 3.0f;                                  // millimetres, of the heads that are listed
constexpr double kChangesThreeWide = 165.0, kChangesTwoWide = 110.0;  // millimetres
constexpr std::size_t kManyLayers = 96;                               // whose cells take more of the row
constexpr double kAroundCells = 29.0, kLeastCell = 0.25;              // millimetres, of an atlas
constexpr double kMostBeyond = 3.0;  // times the largest change: what reaches farther ends in an arrow

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
  if (all.of_sets > 0) text += ", of which " + grouped_text(all.of_sets) + " of several heads at once";
  return text + ". Black: the interval leaves out 0; grey: it holds 0.";
}

// What is measured, before what is drawn of it.
std::string change_sentence(const HeadChanges& all) {
  return "Change of the next-token loss where " + ablation_sentence(all.change, all.sequences > 0) + ": mean over " +
         grouped_text(all.predictions) + " predictions" +
         (all.texts > 1 ? " of " + grouped_text(all.texts) + " texts, each of which counts alike" : "") +
         (all.sequences > 0 ? " of " + grouped_text(all.sequences) + " sequences" : "") +
         ", positive where the head helps; the loss of the model as it is: " + fixed_text(all.loss, 4) + " nats. ";
}

IntervalListPanel::Row change_row(const HeadChanges& all, double change, double low, double high, bool apart) {
  IntervalListPanel::Row row;
  row.value = change, row.low = low, row.high = high, row.n = all.observations();
  row.line = row.point = change_color(apart);
  row.text = ink::kBlack;
  return row;
}

// Intervals that reach much farther than the largest change end in arrows.
void set_change_axis(IntervalListPanel& panel, double largest, ScaleKind scale) {
  const double limit = kMostBeyond * largest;
  double low = 0.0, high = 0.0;
  std::int64_t beyond = 0;
  for (const IntervalListPanel::Row& row : panel.rows) {
    low = std::min(low, row.value), high = std::max(high, row.value);
    if (std::isfinite(row.other)) low = std::min(low, row.other), high = std::max(high, row.other);
    if (!row.has_interval()) continue;
    low = std::min(low, std::max(row.low, -limit)), high = std::max(high, std::min(row.high, limit));
    beyond += row.low < -limit || row.high > limit ? 1 : 0;
  }
  panel.x = change_axis(low, high, scale);
  panel.x.title = rich("loss change, nats");
  panel.level = 0.0, panel.arrows = true;
  if (beyond > 0)
    panel.sentence += " Arrows: " + grouped_text(beyond) + (beyond == 1 ? " interval reaches" : " intervals reach") +
                      " beyond the axis.";
}

std::unique_ptr<IntervalListPanel> change_list(const AllChanges& all, const FigureChoice& choice) {
  auto panel = std::make_unique<IntervalListPanel>();
  panel->kind = "importance", panel->name = "heads", panel->weight = 38.0f;
  panel->quantity = kLossChange, panel->numbers = "changes";
  std::vector<HeadChange> order = all->heads, listed;
  std::ranges::stable_sort(
      order, [](const HeadChange& a, const HeadChange& b) { return std::abs(a.change) > std::abs(b.change); });
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, choice.top));
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i < most || std::ranges::find(choice.heads, order[i].head) != choice.heads.end()) listed.push_back(order[i]);
  const std::size_t largest = std::min(most, order.size());
  std::ranges::stable_sort(listed, [](const auto& a, const auto& b) { return a.change > b.change; });
  for (const HeadChange& one : listed) {
    IntervalListPanel::Row row = change_row(*all, one.change, one.low, one.high, one.apart());
    row.name = rich(head_text(one.head)), row.head = one.head;
    if (!choice.heads.empty() && choice.heads.front() == one.head)
      row.point = ink::kHead.mark, row.text = ink::kHead.text;
    panel->rows.push_back(std::move(row));
  }
  panel->title = rich(all->way + (largest > 1 ? ", " + std::to_string(largest) + " largest" : std::string()));
  panel->brief = rich(all->way);
  panel->right = rich(over_what(*all));
  panel->sentence = change_sentence(*all);
  panel->sentence += largest > 1
                         ? "The " + std::to_string(largest) + " largest of " + heads_word(std::ssize(all->heads))
                         : std::string("One head");
  if (listed.size() > largest) panel->sentence += ", and those that were asked for";
  panel->sentence += "." + interval_sentence(*all);
  if (all->other_sets) panel->sentence += " The files have different sets of heads, which are not drawn.";
  set_change_axis(*panel, std::abs(order.front().change), choice.scale.value_or(ScaleKind::Linear));
  return panel;
}

// "L0.H0+L1.H1"; of many heads the first and how many more.
std::string set_text(const std::vector<HeadRef>& heads, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (i + 1 >= most && heads.size() > most) return text + " + " + std::to_string(heads.size() - i) + " more";
    text += (i > 0 ? "+" : "") + head_text(heads[i]);
  }
  return text;
}

// One set of heads a line, the largest change first.
std::unique_ptr<IntervalListPanel> set_list(const AllChanges& all, const FigureChoice& choice) {
  auto panel = std::make_unique<IntervalListPanel>();
  panel->kind = "importance", panel->name = "sets";
  panel->quantity = kLossChange, panel->numbers = "changes", panel->others = "sums";
  std::vector<SetChange> listed = all->sets;
  std::ranges::stable_sort(
      listed, [](const SetChange& a, const SetChange& b) { return std::abs(a.change) > std::abs(b.change); });
  const double largest = std::abs(listed.front().change);
  listed.resize(std::min(listed.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, choice.top))));
  std::ranges::stable_sort(listed, [](const auto& a, const auto& b) { return a.change > b.change; });
  std::string cut;
  bool sums = false;
  for (const SetChange& one : listed) {
    IntervalListPanel::Row row = change_row(*all, one.change, one.low, one.high, one.apart());
    const std::string name = set_text(one.heads, kNamedOfSet), whole = set_text(one.heads, one.heads.size());
    row.name = rich(name), row.series = kLossChange + (" " + whole), row.other = one.sum;
    sums = sums || std::isfinite(one.sum);
    if (name != whole) cut += (cut.empty() ? " " : "; ") + name + ": " + whole;
    panel->rows.push_back(std::move(row));
  }
  const auto sets = std::ssize(all->sets);
  const std::string of_sets = grouped_text(sets) + (sets == 1 ? " set" : " sets");
  panel->title = rich(all->heads.empty() ? all->way + ", heads together" : std::string("heads taken away together"));
  panel->brief = rich("together");
  panel->right = rich(std::ssize(panel->rows) < sets ? std::to_string(panel->rows.size()) + " of " + of_sets
                      : all->heads.empty()           ? over_what(*all)
                                                     : of_sets);
  if (all->heads.empty())
    panel->sentence =
        change_sentence(*all) + "Heads that are taken away together: " + of_sets + "." + interval_sentence(*all);
  else
    panel->sentence = "The same of heads that are taken away together: " + of_sets + ".";
  if (std::ssize(panel->rows) < sets)
    panel->sentence += " Drawn: the " + std::to_string(panel->rows.size()) + " largest.";
  if (sums) panel->sentence += " Rings: the sum of what each of its heads changes alone.";
  if (!cut.empty()) panel->sentence += cut + ".";
  set_change_axis(*panel, largest, choice.scale.value_or(ScaleKind::Linear));
  return panel;
}

// Heads that are taken away one after another.
std::unique_ptr<LinesPanel> pruning_curve(const AllChanges& all, const FigureChoice& choice) {
  auto panel = std::make_unique<LinesPanel>();
  panel->kind = "importance", panel->name = "pruning", panel->quantity = "cumulative_delta_loss";
  panel->n = all->observations();
  LineValues together, sums;
  std::vector<HeadRef> heads;
  std::string order;
  double low = 0.0, high = 0.0;
  for (const SetChange& one : all->removed) {
    panel->places.push_back(static_cast<double>(one.heads.size()));
    together.y.push_back(one.change), together.low.push_back(one.low), together.high.push_back(one.high);
    sums.y.push_back(one.sum);
    for (const double value : {one.change, one.low, one.high, one.sum})
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    heads.push_back(one.heads.back());
    if (heads.size() <= kNamedOfCurve) order += (order.empty() ? "" : ", ") + head_text(heads.back());
  }
  sums.low = sums.high = std::vector<double>(sums.y.size(), kNaN);
  const bool intervals = all->observations() > 1, few = panel->places.size() <= kMostPoints;
  LinesPanel::Line line{"together", {},         std::move(together), {ink::kBlack, ink::kBlack},
                        1.2f,       kSolidLine, intervals,           rich("together")};
  line.points = few, line.heads = heads;
  if (sums.finite()) {
    LinesPanel::Line sum{"sum", {}, std::move(sums), ink::kSecond, 1.0f, kShortDash, false, rich("sum")};
    sum.points = few, sum.heads = std::move(heads);
    panel->lines.push_back(std::move(sum));
  } else {
    line.label = {};
  }
  panel->lines.push_back(std::move(line));
  panel->x = {0.5, panel->places.back() + 0.5};
  panel->x.whole = true, panel->x.title = rich("heads taken away");
  panel->y = change_axis(low, high, choice.scale.value_or(ScaleKind::Linear));
  panel->levels.push_back({0.0, "no change", {}});
  panel->title = rich("loss change, nats"), panel->brief = rich("nats");
  panel->right = rich("one after another");
  panel->sentence =
      "The same where heads are taken away one after another, by their mean change alone: " + order +
      (all->removed.size() > kNamedOfCurve ? " and " + std::to_string(all->removed.size() - kNamedOfCurve) + " more"
                                           : std::string()) +
      ".";
  if (intervals) panel->sentence += " Band: the same intervals. The heads were chosen by the same texts.";
  if (panel->lines.size() > 1) panel->sentence += " Blue, dotted: the sum of what these heads change alone.";
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
  return text + ". " + runs_sentence(runs);
}

double list_height(const IntervalListPanel& list) {
  return 17.0 + static_cast<double>(kChangePitch) * static_cast<double>(list.rows.size());
}

// Panels of single heads, then those of several together in a row of their own; millimetres.
void place_changes(Figure& figure, const FigureChoice& choice, std::size_t of_heads, double least, double least_more) {
  const std::size_t all = figure.panels.size();
  const double high = std::max(57.0, least), high_more = std::max(of_heads > 0 ? 50.0 : 30.0, least_more);
  arrange(figure, choice, of_heads > 0 ? 174.0 : 84.0, kInfinity, high);  // one below the other
  const bool wide = figure.width_mm >= kChangesThreeWide;
  double height = high * static_cast<double>(of_heads) + high_more * static_cast<double>(all - of_heads);
  if (wide || (of_heads == 3 && figure.width_mm >= kChangesTwoWide)) {
    figure.rows.clear();
    std::size_t next = 0;
    const auto add_row = [&](std::size_t count) {
      if (count == 0) return;
      figure.rows.emplace_back();
      for (; count > 0; --count) figure.rows.back().push_back(next++);
    };
    add_row(wide ? of_heads : 2), add_row(wide ? 0 : 1), add_row(all - of_heads);
    height = (wide ? (of_heads > 0 ? high : 0.0) : 2.0 * std::max(52.0, least)) + (all > of_heads ? high_more : 0.0);
  }
  figure.height_mm = choice.height_mm.value_or(height);
  if (all > of_heads)
    for (std::size_t row = 0; row < figure.rows.size(); ++row)
      figure.row_shares.push_back(static_cast<float>(figure.rows[row].front() >= of_heads ? high_more : high));
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
  double least = kAroundCells + kLeastCell * static_cast<double>(drawn.heads.size()), least_more = 0.0;
  if (!all->heads.empty()) {
    auto list = change_list(all, choice);
    least = std::max(least, list_height(*list));
    figure.panels.push_back(std::move(list));
    figure.panels.push_back(change_atlas(all, drawn, choice));
    if (drawn.layers.size() > kManyLayers) figure.panels.front()->weight = 34.0f;
    if (auto scatter = change_scatter(all, choice)) figure.panels.push_back(std::move(scatter));
  }
  const std::size_t of_heads = figure.panels.size();
  if (!all->sets.empty()) {
    auto list = set_list(all, choice);
    least_more = list_height(*list);
    figure.panels.push_back(std::move(list));
  }
  if (!all->removed.empty()) figure.panels.push_back(pruning_curve(all, choice));
  if (runs.size() > 1)
    for (const auto& panel : figure.panels) panel->source = ablated_source(runs, *all);
  place_changes(figure, choice, of_heads, least, least_more);
  return figure;
}

}  // namespace headroom
