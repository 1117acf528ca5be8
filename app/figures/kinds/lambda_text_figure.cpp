// What λ of differential heads goes with, over the tokens of one text or of several: their class, their position, how
// surprising they were.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/figures/figure_kinds.h"
#include "app/figures/kinds/compare_heads.h"
#include "app/figures/kinds/lambda_text_panels.h"
#include "app/figures/page_axes.h"
#include "app/figures/page_labels.h"
#include "app/figures/page_lines.h"
#include "app/figures/running_quantiles.h"
#include "app/plot/label_layout.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/io/run_file.h"
#include "core/run/lambda_relations.h"

namespace headroom {
namespace {

constexpr const char* kLambdaOfRows = "rows/lambda";
constexpr std::size_t kSurprisalBins = 10;
constexpr std::int64_t kLeastTokensOfBin = 8;
constexpr std::size_t kLeastTokensNear = 15;
constexpr int kPlaces = 48;

// The texts of a figure with what is known of their tokens.
struct LambdaTexts {
  std::vector<LambdaText> texts;
  std::vector<HeadRef> heads;  // that are drawn and have a λ for each token

  // λ of all tokens of a head less its mean over the text, one text after the other; NaN where there is none.
  [[nodiscard]] std::vector<double> centred(HeadRef head) const {
    std::vector<double> all;
    for (const LambdaText& text : texts) {
      const LayerSnapshot* layer = text.run->layer(head.layer);
      const std::span<const float> rows =
          layer != nullptr ? layer->row_values(kLambdaOfRows, head.head) : std::span<const float>();
      double sum = 0.0, count = 0.0;
      for (const float value : rows)
        if (std::isfinite(value)) sum += static_cast<double>(value), count += 1.0;
      for (std::int64_t i = 0; i < text.run->length; ++i)
        all.push_back(i < std::ssize(rows) ? static_cast<double>(rows[static_cast<std::size_t>(i)]) - sum / count
                                           : kNaN);
    }
    return all;
  }
  [[nodiscard]] std::vector<double> surprisals() const {
    std::vector<double> all;
    for (const LambdaText& text : texts)
      for (std::size_t i = 0; i < static_cast<std::size_t>(text.run->length); ++i)
        all.push_back(i < text.surprisal.size() ? text.surprisal[i] : kNaN);
    return all;
  }
  [[nodiscard]] std::vector<double> positions() const {  // from 1
    std::vector<double> all;
    for (const LambdaText& text : texts)
      for (std::int64_t i = 0; i < text.run->length; ++i) all.push_back(static_cast<double>(i + 1));
    return all;
  }
};

bool has_token_lambda(const RunSnapshot& run, HeadRef head) {
  const LayerSnapshot* layer = run.layer(head.layer);
  return layer != nullptr && !std::isfinite(layer->lambda_init) &&
         std::isfinite(run.at("lambda_mean", head.layer, head.head)) &&
         !layer->row_values(kLambdaOfRows, head.head).empty();
}

Result<LambdaTexts> read_texts(std::span<const FigureRun> runs, const FigureChoice& choice) {
  LambdaTexts all;
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(runs.front(), choice));
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads)
      if (has_token_lambda(*runs.front().run, {layer, head})) all.heads.push_back({layer, head});
  for (const FigureRun& run : runs) {
    LambdaText text;
    text.run = run.run.get();
    if (run.run->prompt != nullptr) text.classes = token_classes(*run.run->prompt);
    HEADROOM_TRY(const auto file, RunFile::open(run.path));
    if (file->find("predictions/token_loss") != nullptr) {
      HEADROOM_TRY(text.surprisal, file->read("predictions/token_loss"));
    }
    all.texts.push_back(std::move(text));
  }
  return all;
}

std::string many(std::int64_t count, std::string_view one) {
  return grouped_text(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string test_sentence(HeadRef head, std::int64_t texts, std::int64_t tests, double detectable) {
  const std::string green = " Green: " + head_text(head);
  if (texts < 2)
    return green + ". One text: no intervals, since the tokens of one text are no independent observations.";
  if (tests == 0) return green + ". No test could be made.";
  return green + ", with the 95 % interval over texts. Violet: apart from 0 over the " + grouped_text(texts) +
         " texts (Student’s *t*, *q* ≤ 0.05 among the " + many(tests, "test") +
         " of this panel, Benjamini and Hochberg), with their numbers above; grey: not told from 0. Half of the tests "
         "would have seen " +
         short_text(detectable) + " in 80 of 100 cases, before that correction.";
}

Range columns_range(const std::vector<LambdaColumn>& columns, std::ptrdiff_t chosen) {
  double low = 0.0, high = 0.0;
  for (const LambdaColumn& column : columns)
    for (std::size_t h = 0; h < column.heads.size(); ++h) {
      const OverTexts& one = column.heads[h];
      if (!std::isfinite(one.mean)) continue;
      low = std::min(low, one.mean), high = std::max(high, one.mean);
      if (static_cast<std::ptrdiff_t>(h) != chosen || !std::isfinite(one.low)) continue;
      low = std::min(low, one.low), high = std::max(high, one.high);
    }
  return low < high ? roomy_range(low, high, false) : Range{-0.01, 0.01};
}

std::unique_ptr<LambdaColumnsPanel> columns_panel(const AllLambdaRelations& found, std::ptrdiff_t chosen, bool tested) {
  auto panel = std::make_unique<LambdaColumnsPanel>();
  panel->kind = "lambda-text", panel->chosen = chosen, panel->tested = tested;
  for (const LambdaRelations& one : found.heads) panel->heads.push_back(one.head);
  return panel;
}

std::unique_ptr<LambdaColumnsPanel> class_panel(const AllLambdaRelations& found, std::ptrdiff_t chosen,
                                                std::int64_t texts) {
  auto panel = columns_panel(found, chosen, texts > 1);
  panel->name = "classes";
  // Shorter on the axis than in words.
  constexpr std::array<const char*, kTokenClasses> kBrief = {"special", "word",  "rest", "number",
                                                             "punct.",  "blank", "other"};
  std::string meanings;
  for (std::size_t c = 0; c < kTokenClasses; ++c) {
    if (found.tokens[c] == 0) continue;
    LambdaColumn column;
    column.name = kBrief[c], column.below = grouped_text(found.tokens[c]);
    for (const LambdaRelations& one : found.heads) column.heads.push_back(one.by_class[c]);
    panel->columns.push_back(std::move(column));
    meanings += (meanings.empty() ? "" : "; ") + std::string(kBrief[c]) + ": " +
                token_class_meaning(static_cast<TokenClass>(c));
  }
  const Range range = columns_range(panel->columns, chosen);
  panel->y = {range.low, range.high};
  panel->title = rich("*λ* by class of token, less the head’s mean"), panel->brief = rich("*λ* by class of token");
  panel->weight = 1.6f;
  panel->sentence =
      "Mean *λ*_{*i*} of the tokens of a class less that of all tokens of the text, a dot for each of " +
      many(std::ssize(found.heads), "head") + ", line: their median; below: how many tokens (" + meanings + ")." +
      test_sentence(panel->heads[static_cast<std::size_t>(chosen)], texts, found.class_tests, found.class_detectable);
  return panel;
}

std::unique_ptr<LambdaColumnsPanel> rank_panel(const AllLambdaRelations& found, std::ptrdiff_t chosen,
                                               std::int64_t texts, bool surprisal) {
  auto panel = columns_panel(found, chosen, texts > 1);
  panel->name = "ranks";
  constexpr std::array<std::array<const char*, 2>, kLambdaRanks> kNames = {
      {{"position", "of token"}, {"surprisal", "its own"}, {"surprisal", "of the next"}}};
  for (std::size_t r = 0; r < (surprisal ? kLambdaRanks : 1); ++r) {
    LambdaColumn column;
    column.name = kNames[r][0], column.below = kNames[r][1];
    for (const LambdaRelations& one : found.heads) column.heads.push_back(one.ranks[r]);
    panel->columns.push_back(std::move(column));
  }
  const Range range = columns_range(panel->columns, chosen);
  panel->y = {std::max(-1.0, range.low), std::min(1.0, range.high)};
  panel->title = rich("rank correlation of *λ* with"), panel->brief = rich("rank correlation");
  panel->sentence =
      "Spearman’s rank correlation of *λ*_{*i*} with the position of the token" +
      std::string(surprisal ? ", with its own surprisal (−log of the probability that the model gave it, "
                              "known one row before) and with that of the token after it"
                            : "") +
      ", within each text; a dot for each head, line: their median." +
      test_sentence(panel->heads[static_cast<std::size_t>(chosen)], texts, found.rank_tests, found.rank_detectable);
  return panel;
}

// Median and quartiles over heads at each place.
void set_quartiles(LambdaCoursePanel& panel, std::size_t place, const std::vector<double>& of_heads) {
  const std::vector<double> q = quantiles(of_heads, std::array{0.25, 0.5, 0.75});
  LambdaCoursePanel::Point& point = panel.points[place];
  point.lower = q[0], point.median = q[1], point.upper = q[2];
}

void frame_course(LambdaCoursePanel& panel) {
  double low = 0.0, high = 0.0;
  for (const LambdaCoursePanel::Point& point : panel.points)
    for (const double value : {point.lower, point.upper, point.head})
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  const Range range = low < high ? roomy_range(low, high, false) : Range{-0.01, 0.01};
  panel.y = {range.low, range.high};
}

// Means over the tokens whose position lies within a factor of kRunningWindow, at places evenly spaced in its
// logarithm.
std::unique_ptr<LambdaCoursePanel> position_panel(const LambdaTexts& all, HeadRef head) {
  auto panel = std::make_unique<LambdaCoursePanel>();
  panel->kind = "lambda-text", panel->name = "position", panel->series = "position", panel->head = head;
  panel->heads = all.heads.size();
  const std::vector<double> at = all.positions();
  const double last = std::ranges::max(at);
  std::vector<std::vector<double>> values;
  for (const HeadRef& one : all.heads) values.push_back(all.centred(one));
  for (int i = 0; i <= kPlaces; ++i) {
    LambdaCoursePanel::Point point;
    point.x = std::pow(last, i / static_cast<double>(kPlaces));
    std::vector<std::size_t> near;
    for (std::size_t t = 0; t < at.size(); ++t)
      if (at[t] >= point.x / kRunningWindow && at[t] <= point.x * kRunningWindow) near.push_back(t);
    if (near.size() < kLeastTokensNear) continue;
    std::vector<double> means;
    for (std::size_t h = 0; h < all.heads.size(); ++h) {
      double sum = 0.0;
      std::int64_t count = 0;
      for (const std::size_t t : near)
        if (std::isfinite(values[h][t])) sum += values[h][t], ++count;
      means.push_back(count > 0 ? sum / static_cast<double>(count) : kNaN);
      if (all.heads[h] == head) point.head = means.back(), point.tokens = count;
    }
    panel->points.push_back(point);
    set_quartiles(*panel, panel->points.size() - 1, means);
  }
  if (panel->points.empty()) return panel;
  frame_course(*panel);
  panel->x = {panel->points.front().x, std::max(2.0, last), true};
  panel->x.high_label = true, panel->x.title = rich("position of the token, from 1");
  panel->title = rich("*λ* less the head’s mean");
  panel->sentence =
      "Running mean of *λ*_{*i*} less the head’s mean over the position of the token (within a factor of " +
      short_text(kRunningWindow) + "): " + head_text(head) +
      " (solid), and median (dashed) and quartiles (band) over " + many(std::ssize(all.heads), "head") + ".";
  return panel;
}

// Bins of as many tokens each, at their median surprisal.
std::unique_ptr<LambdaCoursePanel> surprisal_panel(const LambdaTexts& all, HeadRef head) {
  auto panel = std::make_unique<LambdaCoursePanel>();
  panel->kind = "lambda-text", panel->name = "surprisal", panel->series = "surprisal", panel->head = head;
  panel->heads = all.heads.size();
  const std::vector<double> at = all.surprisals();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < at.size(); ++i)
    if (std::isfinite(at[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return at[i]; });
  const std::size_t bins = std::min(kSurprisalBins, order.size() / static_cast<std::size_t>(kLeastTokensOfBin));
  if (bins < 2) return nullptr;
  std::vector<std::vector<double>> means(bins);
  for (const HeadRef& one : all.heads) {
    const std::vector<double> values = all.centred(one);
    for (std::size_t b = 0; b < bins; ++b) {
      const std::size_t from = b * order.size() / bins, to = (b + 1) * order.size() / bins;
      double sum = 0.0;
      std::int64_t count = 0;
      for (std::size_t i = from; i < to; ++i)
        if (std::isfinite(values[order[i]])) sum += values[order[i]], ++count;
      const double mean = count > 0 ? sum / static_cast<double>(count) : kNaN;
      means[b].push_back(mean);
      if (one != head) continue;
      LambdaCoursePanel::Point point;
      const std::size_t middle = (from + to) / 2;
      point.x = (to - from) % 2 == 1 ? at[order[middle]] : 0.5 * (at[order[middle - 1]] + at[order[middle]]);
      point.head = mean, point.tokens = count;
      panel->points.push_back(point);
    }
  }
  for (std::size_t b = 0; b < bins; ++b) set_quartiles(*panel, b, means[b]);
  frame_course(*panel);
  const Range range = roomy_range(std::min(0.0, panel->points.front().x), panel->points.back().x, false);
  panel->x = {std::max(0.0, range.low), range.high}, panel->x.title = rich("surprisal of the token, nats");
  panel->title = rich("*λ* less the head’s mean");
  panel->sentence =
      "The same over the surprisal of the token itself: means of " + std::to_string(bins) +
      " bins of as many tokens each (" + grouped_text(std::ssize(order)) +
      " tokens), at the bin’s median. Class, position and surprisal go together: each is shown as it is, not at equal "
      "others.";
  return panel;
}

// The head whose λ goes with the classes or ranks most: the largest correlation, else the largest difference.
HeadRef most_related(const AllLambdaRelations& found) {
  HeadRef best = found.heads.front().head;
  double most = -1.0;
  for (const LambdaRelations& one : found.heads)
    for (const OverTexts& rank : one.ranks)
      if (std::abs(rank.mean) > most) most = std::abs(rank.mean), best = one.head;
  return best;
}

}  // namespace

Result<void> check_lambda_text(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(run, choice));
  HEADROOM_TRY_VOID(chosen_heads(run, choice, {}));
  bool lambdas = false, per_token = false;
  for (const std::int64_t index : drawn.layers)
    for (const std::int64_t head : drawn.heads) {
      if (has_token_lambda(*run.run, {index, head})) return {};
      const LayerSnapshot* layer = run.run->layer(index);
      const bool has = std::isfinite(run.run->at("lambda_mean", index, head));
      lambdas = lambdas || has;
      per_token = per_token || (has && layer != nullptr && !std::isfinite(layer->lambda_init));
    }
  if (!lambdas)
    return Error(ErrorCode::Unsupported, "lambda-text: no head of " + run.name() + " has λ (none has a second map)");
  if (!per_token)
    return Error(ErrorCode::Unsupported,
                 "lambda-text: λ of " + run.name() + " is one number a layer (DIFF V1), the same for all tokens");
  return lacks(run, "lambda-text", "/rows/lambda", "written with --only summary",
               "run analyze again without --only summary");
}

Result<Figure> make_lambda_text(std::span<const FigureRun> runs, const FigureChoice& choice) {
  for (const FigureRun& run : runs) {
    HEADROOM_TRY_VOID(check_lambda_text(run, choice));
  }
  HEADROOM_TRY_VOID(one_model_many_texts("lambda-text", runs));
  HEADROOM_TRY(const LambdaTexts all, read_texts(runs, choice));
  const AllLambdaRelations found = lambda_relations(all.texts, all.heads);
  const std::int64_t texts = std::ssize(runs);
  Figure figure;
  HeadRef head = most_related(found);
  if (!choice.heads.empty()) {
    head = choice.heads.front();
    if (std::ranges::find(all.heads, head) == all.heads.end())
      return Error(ErrorCode::Unsupported, "lambda-text: " + head_text(head) + " of " + runs.front().name() +
                                               " has no λ of its own for each token");
  } else {
    figure.notes.push_back(runs.front().name() + ": " + head_text(head) +
                           " is drawn, whose λ goes most with a rank; --head chooses another");
  }
  const std::ptrdiff_t chosen = std::ranges::find(found.heads, head, &LambdaRelations::head) - found.heads.begin();
  const bool surprisal =
      std::ranges::any_of(found.heads, [](const LambdaRelations& one) { return std::isfinite(one.ranks[1].mean); });
  if (!surprisal)
    figure.notes.push_back(runs.front().name() + ": no surprisal (the file has no predictions of these tokens)");

  if (std::ranges::any_of(found.tokens, [](std::int64_t count) { return count > 0; }))
    figure.panels.push_back(class_panel(found, chosen, texts));
  else
    figure.notes.push_back(runs.front().name() + ": no classes (the texts of the tokens are not known)");
  figure.panels.push_back(rank_panel(found, chosen, texts, surprisal));
  name_head(*figure.panels.back(), *runs.front().run, head, choice);
  const std::size_t above = figure.panels.size();
  if (auto panel = position_panel(all, head); !panel->points.empty()) figure.panels.push_back(std::move(panel));
  if (surprisal)
    if (auto panel = surprisal_panel(all, head)) figure.panels.push_back(std::move(panel));
  const std::string source = texts == 1 ? run_sentence(*runs.front().run)
                                        : grouped_text(texts) + " texts, the first: " + run_sentence(*runs.front().run);
  for (const auto& panel : figure.panels) panel->source = source;
  arrange(figure, choice, 174.0, 140.0, 57.0);
  if (figure.rows.size() == 1 && figure.panels.size() > above) {
    std::vector<std::size_t> first, second;
    for (std::size_t i = 0; i < figure.panels.size(); ++i) (i < above ? first : second).push_back(i);
    figure.rows = {std::move(first), std::move(second)};
    figure.height_mm = choice.height_mm.value_or(2.0 * 52.0);
  }
  return figure;
}

}  // namespace headroom
