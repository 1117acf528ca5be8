// One quantity of the heads of two sides: head against head, the difference of each with its interval over texts, and
// how the heads of either side are distributed. A side is a run, several runs of many texts, or a corpus.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/head_levels.h"
#include "app/figures/kinds/compare_heads.h"
#include "app/figures/kinds/compare_panels.h"
#include "app/figures/kinds/sink_intervals.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_bar.h"
#include "app/figures/page_beyond.h"
#include "core/base/number_text.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr std::size_t kLongSymbol = 8, kLongTitle = 25;  // bytes of a quantity on an axis, and with a side's name

QuantityRef compared(const FigureChoice& choice) {
  if (!choice.quantities.empty()) return choice.quantities.front();
  const QuantityInfo* info = find_quantity_info("sink_score");
  return {info, info->default_index};
}

Result<PageAxis> axis_of_values(const Comparison& all, const FigureChoice& choice) {
  std::vector<double> values = all.sides.only_a;
  values.insert(values.end(), all.sides.only_b.begin(), all.sides.only_b.end());
  const auto [least, most] = std::ranges::minmax(values);
  const PageBar bar = quantity_bar(all.quantity, values, choice);
  const bool log = bar.scale.kind == ScaleKind::Log10 && least > 0.0 && choice.low.value_or(least) > 0.0;
  Range range{least, most};
  if (all.quantity.info->natural && !log && all.quantity.info->natural->low <= least &&
      all.quantity.info->natural->high >= most)
    range = *all.quantity.info->natural;
  else
    range = nice_range(least, most, log);
  PageAxis axis{range.low, range.high, log};
  HEADROOM_TRY_VOID(set_range(axis, choice));
  if (bar.scale.kind == ScaleKind::Symlog) axis.linear = static_cast<double>(bar.scale.threshold);
  return axis;
}

std::string expected_text(double count) { return fixed_text(count, count < 10.0 ? 1 : 0); }

std::string against_sentence(const FigureRun& a, const FigureRun& b) {
  return "First: " + run_sentence(*a.run) + " Second: " + run_sentence(*b.run);
}

std::string valueless_sentence(const TwoSides& sides) {
  if (sides.left_out == 0) return {};
  return " " + grouped_text(sides.left_out) + (sides.left_out == 1 ? " head" : " heads") +
         " without a value on one side left out.";
}

std::string pairs_sentence(const Comparison& all) {
  const TwoSides& sides = all.sides;
  return plain_text(rich_title(quantity_heading(all.quantity))) + " of each of " +
         grouped_text(std::ssize(sides.heads)) + " heads, second side (" + literal_markup(sides.name_b) +
         ", up) against first (" + literal_markup(sides.name_a) + ", across), means over " + sides.of_a + "." +
         valueless_sentence(sides) + beyond_sentence(all.heads_beyond(), "head lies", "heads lie");
}

std::string differences_sentence(const TwoSides& sides) {
  std::string text = "Second less first side of each head, in the order of layers";
  if (sides.intervals() == 0)
    return text + (sides.corpora ? "; one document has no interval." : "; one text has no interval.");
  const std::string counts = std::to_string(sides.apart()) + " of " + std::to_string(sides.intervals());
  text += ": mean of the differences of " + sides.of_a + ", 95 % interval of Student’s *t* ";
  if (!sides.corpora)
    return text + "over texts (what other texts of this kind would give); black: " + counts +
           " without 0, where chance alone would give " +
           expected_text(kCompareLevel * static_cast<double>(sides.intervals())) + ".";
  text += "with documents as clusters (what other documents of this kind would give); black: " + counts +
          " heads change at *q* ≤ 0.05, of which one in twenty may be chance (Benjamini and Hochberg, over " +
          "the heads of the files).";
  if (std::isfinite(sides.detectable))
    text += " A change of " + short_text(sides.detectable) +
            " (median over heads) is found in four of five such corpora at *p* ≤ 0.05 of one head; of smaller ones "
            "this figure says little.";
  return text + sides.over_all;
}

std::string shares_sentence(const Comparison& all) {
  const TwoSides& sides = all.sides;
  std::string text = "Share of heads whose " + plain_text(rich_title(quantity_title(all.quantity))) +
                     " is at most that; grey: " + literal_markup(sides.name_a) + ", " +
                     grouped_text(std::ssize(sides.only_a)) + " heads, means over " + sides.of_a +
                     "; green: " + literal_markup(sides.name_b) + ", " + grouped_text(std::ssize(sides.only_b)) +
                     " heads, " + sides.of_b + "." + valueless_sentence(sides);
  std::int64_t beyond = 0;
  for (const auto* values : {&sides.only_a, &sides.only_b})
    beyond += std::ranges::count_if(*values, [&](double v) { return all.beyond(v); });
  if (beyond > 0) text += " " + grouped_text(beyond) + " of them beyond the axis.";
  return text + (sides.paired ? std::string() : sides.over_all);
}

Result<TwoSides> sides_of(std::span<const FigureRun> runs, const QuantityRef& quantity, const FigureChoice& choice) {
  const bool corpora = is_corpus(runs.front());
  for (const std::span<const FigureRun> side : {runs, std::span<const FigureRun>(choice.against)})
    for (const FigureRun& run : side) {
      const std::string sort = file_sort(run);
      if (is_corpus(run) == corpora && (corpora || sort == "a run file")) continue;
      if (corpora || is_corpus(run))
        return Error(ErrorCode::Unsupported, "compare: " + runs.front().name() + " is " + file_sort(runs.front()) +
                                                 ", " + run.name() + " is " + sort);
      return Error(ErrorCode::Unsupported, "compare is drawn of run files; " + run.name() + " is " + sort);
    }
  for (const FigureRun& run : choice.against) HEADROOM_TRY_VOID(check_compare(run, choice));
  if (!corpora) return compare_sides(runs, choice.against, quantity, choice);
  if (runs.size() > 1 || choice.against.size() > 1)
    return Error(ErrorCode::InvalidArgument, "compare of corpora takes one file a side; there are " +
                                                 std::to_string(runs.size()) + " and " +
                                                 std::to_string(choice.against.size()))
        .advise("headroom merge makes one file of the parts of a corpus");
  return compare_corpus_sides(runs.front(), choice.against.front(), quantity, choice);
}

}  // namespace

Result<void> check_compare(const FigureRun& run, const FigureChoice& choice) {
  const QuantityRef quantity = compared(choice);
  if (is_corpus(run)) {
    HEADROOM_TRY_VOID(check_kept(run, quantity));
  } else if (std::ranges::none_of(head_values(*run.run, quantity), [](double v) { return std::isfinite(v); })) {
    return Error(ErrorCode::Unsupported,
                 "compare: " + quantity_text(quantity) + ": no head of " + run.name() + " has a value");
  }
  HEADROOM_TRY_VOID(drawn_heads(run, choice));
  return {};
}

Result<Figure> make_compare(std::span<const FigureRun> runs, const FigureChoice& choice) {
  if (choice.against.empty()) {
    Error error(ErrorCode::InvalidArgument, "compare has two sides; only one is named");
    return error.advise("--against RUN.h5… names the runs of the second side");
  }
  if (choice.quantities.size() > 1)
    return Error(ErrorCode::InvalidArgument,
                 "compare is drawn of one quantity; --quantity has " + std::to_string(choice.quantities.size()));
  auto all = std::make_shared<Comparison>();
  all->quantity = compared(choice);
  HEADROOM_TRY(all->sides, sides_of(runs, all->quantity, choice));
  const TwoSides& sides = all->sides;
  HEADROOM_TRY(all->value, axis_of_values(*all, choice));
  all->symbol = rich_title(quantity_bar(all->quantity, sides.only_a, choice).title);
  if (const HeadLevels levels = head_levels(*runs.front().run, all->quantity, choice.epsilon); levels.threshold) {
    all->threshold = levels.threshold;
    all->threshold_name = rich("*ε* = " + short_text(*all->threshold));
  }
  Figure figure;
  all->sentences["ecdf"] = shares_sentence(*all);
  if (sides.paired) {
    all->sentences["pairs"] = pairs_sentence(*all);
    all->sentences["differences"] = differences_sentence(sides);
    figure.panels.push_back(compare_pairs_panel(all));
    figure.panels.push_back(compare_differences_panel(all));
  } else {
    figure.notes.emplace_back(
        "the sides are of two checkpoints, whose heads are no pairs: their distributions are drawn alone; --paired "
        "pairs them all the same");
  }
  figure.panels.push_back(compare_shares_panel(all));
  const std::string source = against_sentence(runs.front(), choice.against.front());
  for (const auto& panel : figure.panels) panel->source = source;
  arrange(figure, choice, figure.panels.size() > 1 ? 174.0 : 84.0, 150.0, 57.0);
  // A quantity without a symbol is written out on three axes, for which one row has no room.
  const std::size_t symbol = plain_text(all->symbol).size();
  const std::size_t title =
      symbol + std::min(kLongestSide, std::max(all->sides.name_a.size(), all->sides.name_b.size()));
  if (figure.rows.size() == 1 && figure.panels.size() == 3 && (symbol > kLongSymbol || title > kLongTitle)) {
    figure.rows = {{0, 1}, {2}};
    figure.panels[1]->weight = 1.35f;  // the names of both sides stand at the first
    if (!choice.height_mm) figure.height_mm *= 2.0;
  }
  return figure;
}

}  // namespace headroom
