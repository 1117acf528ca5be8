// A corpus over training steps: a quantity of every head with the mean over heads, the loss and the share of sinks; all
// intervals are the file's own, over documents.
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
#include "app/figures/kinds/lines_panel.h"
#include "app/figures/page_axes.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

constexpr std::size_t kMostNamedHeads = 3;  // that one plot can tell apart

// Places along the axis `statistic` of the file.
constexpr std::int64_t kMeanPlace = 0, kLowPlace = 3, kHighPlace = 4;

struct StepsFile {
  std::unique_ptr<RunFile> file;
  DrawnHeads drawn;
  QuantityRef quantity;
  std::vector<double> steps;
  std::vector<LineValues> heads;  // of the quantity, [layers, heads] that are drawn
  LineValues loss, sinks, net_sinks;
  double epsilon = 0.0;  // of the sinks
  std::int64_t sequences = 0;
};

Error wrong_series(const FigureRun& run, const std::string& path) {
  Error error(ErrorCode::Corrupt, "the series lacks a dataset, or it has another shape");
  return error.at_tensor(path).in_file(run.path.string());
}

// Of elements [step, statistic, …]: `place` of those behind the two.
Result<LineValues> read_line(const FigureRun& run, const RunFile& file, const std::string& path, std::size_t steps,
                             std::size_t place) {
  const DatasetInfo* info = file.find(path);
  if (info == nullptr || info->shape.size() < 2 || info->shape[0] != static_cast<std::int64_t>(steps) ||
      info->shape[1] <= kHighPlace)
    return wrong_series(run, path);
  LineValues line;
  std::vector<std::int64_t> start(info->shape.size(), 0), count(info->shape.size(), 1);
  count[0] = info->shape[0];
  for (std::size_t axis = info->shape.size(); axis-- > 2;) {
    const auto extent = static_cast<std::size_t>(info->shape[axis]);
    if (extent == 0) return wrong_series(run, path);
    start[axis] = static_cast<std::int64_t>(place % extent), place /= extent;
  }
  if (place != 0) return wrong_series(run, path);
  for (const auto& [statistic, values] :
       {std::pair(kMeanPlace, &line.y), std::pair(kLowPlace, &line.low), std::pair(kHighPlace, &line.high)}) {
    start[1] = statistic;
    HEADROOM_TRY(*values, file.read_part(path, start, count));
  }
  return line;
}

Result<void> read_heads(const FigureRun& run, StepsFile& series) {
  const QuantityInfo& info = *series.quantity.info;
  const RunSnapshot& all = *run.run;
  const std::size_t elements = info.elements();
  for (const std::int64_t layer : series.drawn.layers)
    for (const std::int64_t head : series.drawn.heads) {
      const auto l = static_cast<std::size_t>(std::ranges::find(all.layers, layer) - all.layers.begin());
      const auto h = static_cast<std::size_t>(std::ranges::find(all.heads, head) - all.heads.begin());
      HEADROOM_TRY(LineValues line, read_line(run, *series.file, info.name, series.steps.size(),
                                              (l * all.heads.size() + h) * elements + series.quantity.index));
      series.heads.push_back(std::move(line));
    }
  return {};
}

Result<StepsFile> read_steps_file(const FigureRun& run, const FigureChoice& choice) {
  StepsFile series;
  HEADROOM_TRY_VOID(chosen_heads(run, choice, {}));
  HEADROOM_TRY(series.drawn, drawn_heads(run, choice));
  if (choice.quantities.size() > 1)
    return Error(ErrorCode::InvalidArgument,
                 "series is drawn of one quantity; --quantity has " + std::to_string(choice.quantities.size()));
  if (choice.heads.size() > kMostNamedHeads)
    return Error(ErrorCode::InvalidArgument,
                 "series names at most three heads; --head names " + std::to_string(choice.heads.size()));
  for (const HeadRef& head : choice.heads)
    if (std::ranges::find(series.drawn.layers, head.layer) == series.drawn.layers.end() ||
        std::ranges::find(series.drawn.heads, head.head) == series.drawn.heads.end())
      return Error(ErrorCode::InvalidArgument,
                   "series: " + head_text(head) + " is named, and is not among the layers and heads that are drawn");
  series.quantity =
      choice.quantities.empty() ? QuantityRef{find_quantity_info("sink_score"), 0} : choice.quantities.front();
  HEADROOM_TRY(series.file, RunFile::open(run.path));
  const RunFile& file = *series.file;
  if (series.quantity.info->beside_runs() || file.find(series.quantity.info->name) == nullptr)
    return Error(ErrorCode::InvalidArgument,
                 "series: " + run.name() + " has no " + quantity_text(series.quantity) + " over its steps");
  HEADROOM_TRY(series.steps, file.read_axis("step"));
  if (series.steps.empty()) return wrong_series(run, "step");
  const std::size_t steps = series.steps.size();
  HEADROOM_TRY_VOID(read_heads(run, series));
  HEADROOM_TRY(series.loss, read_line(run, file, "next_token_loss", steps, 0));
  HEADROOM_TRY(const std::vector<double> epsilons, file.read_axis("epsilon"));
  std::size_t nearest = 0;
  for (std::size_t e = 1; e < epsilons.size(); ++e)
    if (std::abs(epsilons[e] - choice.epsilon) < std::abs(epsilons[nearest] - choice.epsilon)) nearest = e;
  if (!epsilons.empty()) {
    series.epsilon = epsilons[nearest];
    HEADROOM_TRY(series.sinks, read_line(run, file, "sink_rate", steps, 3 * nearest));
    HEADROOM_TRY(series.net_sinks, read_line(run, file, "sink_rate", steps, 3 * nearest + 2));
  }
  HEADROOM_TRY(const std::vector<double> sequences, file.read_axis("sequences/sequence"));
  series.sequences = std::ssize(sequences);
  if (std::ranges::none_of(series.heads, &LineValues::finite))
    return Error(ErrorCode::Unsupported,
                 "series: " + quantity_text(series.quantity) + ": no head of " + run.name() + " has a value");
  return series;
}

// The steps with 0 at the left, logarithmic from the first that is more.
std::unique_ptr<LinesPanel> steps_panel(const StepsFile& series, const char* name, std::string quantity) {
  auto panel = std::make_unique<LinesPanel>();
  panel->kind = "series", panel->name = name, panel->quantity = std::move(quantity);
  panel->places = series.steps, panel->n = series.sequences;
  const double last = std::max(1.0, series.steps.back());
  const auto first = std::ranges::find_if(series.steps, [](double step) { return step > 0.0; });
  panel->x = {std::min(series.steps.front(), last), series.steps.size() > 1 ? last : last + 1.0};
  if (first != series.steps.end() && *first * 10.0 <= last) {
    panel->x.linear = series.steps.front() > 0.0 ? 0.0 : *first;
    panel->x.log = series.steps.front() > 0.0;
  }
  panel->x.title = rich("training step");
  return panel;
}

LineValues mean_over_heads(const StepsFile& series) {
  LineValues mean;
  for (std::size_t i = 0; i < series.steps.size(); ++i) {
    double sum = 0.0, count = 0.0;
    for (const LineValues& head : series.heads)
      if (std::isfinite(head.y[i])) sum += head.y[i], count += 1.0;
    mean.y.push_back(count > 0.0 ? sum / count : kNaN);
  }
  return mean;
}

// Where nobody names a head: the one that changes most.
std::size_t changes_most(const StepsFile& series) {
  std::size_t most = 0;
  double change = -1.0;
  for (std::size_t i = 0; i < series.heads.size(); ++i) {
    double low = kInfinity, high = -kInfinity;
    for (const double v : series.heads[i].y)
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    if (high - low > change) change = high - low, most = i;
  }
  return most;
}

std::string sequences_word(std::int64_t count) {
  return grouped_text(count) + (count == 1 ? " sequence" : " sequences");
}

std::unique_ptr<LinesPanel> heads_panel(const RunSnapshot& run, const StepsFile& series,
                                        const std::vector<HeadRef>& chosen) {
  constexpr std::array<MarkColor, kMostNamedHeads> kColors = {ink::kHead, MarkColor{ink::kBlack, ink::kBlack},
                                                              ink::kFirst};
  constexpr std::array<LineDash, kMostNamedHeads> kDashes = {kSolidLine, kLongDash, kShortDash};
  const QuantityInfo& info = *series.quantity.info;
  auto panel = steps_panel(series, "heads", quantity_text(series.quantity));
  std::vector<LinesPanel::Line> named(chosen.size());
  for (std::size_t i = 0; i < series.heads.size(); ++i) {
    const HeadRef head{series.drawn.layers[i / series.drawn.heads.size()],
                       series.drawn.heads[i % series.drawn.heads.size()]};
    const auto place = static_cast<std::size_t>(std::ranges::find(chosen, head) - chosen.begin());
    LinesPanel::Line line{"head", head, series.heads[i], ink::kOthers, 0.4f, kSolidLine, false, {}};
    if (place == chosen.size()) {
      line.color.mark = line.color.mark.faded(0.6f);
      panel->lines.push_back(std::move(line));
      continue;
    }
    line.color = kColors[place], line.dash = kDashes[place], line.width = 1.1f, line.band = true;
    line.label = rich(head_text(head));
    named[place] = std::move(line);
  }
  const bool pooled = series.heads.size() > 1;
  if (pooled)
    panel->lines.push_back(
        {"mean over heads", {}, mean_over_heads(series), ink::kDeep, 1.6f, kSolidLine, false, rich("mean")});
  for (LinesPanel::Line& line : named)
    if (line.head) panel->lines.push_back(std::move(line));
  panel->title = rich_title(quantity_title(series.quantity)), panel->brief = rich_title(info.column);
  panel->right = rich(grouped_text(std::ssize(series.heads)) + (series.heads.size() == 1 ? " head" : " heads"));
  panel->sentence = plain_text(rich_title(quantity_heading(series.quantity))) +
                    (series.heads.size() == 1 ? " of the head" : " of each head") + " by training step, mean over " +
                    sequences_word(series.sequences);
  if (!info.definition.empty()) panel->sentence += ": " + definition_markup(info.definition);
  if (!panel->sentence.ends_with('.')) panel->sentence += ".";
  panel->sentence += drawn_share(run, series.drawn);
  if (pooled) panel->sentence += " Blue: mean over the heads that are drawn.";
  panel->sentence += " Bands: 95 % intervals, documents as clusters.";
  set_line_range(*panel, info.log, info.natural);
  return panel;
}

std::unique_ptr<LinesPanel> loss_steps_panel(const StepsFile& series) {
  if (!series.loss.finite()) return nullptr;
  auto panel = steps_panel(series, "loss", "next_token_loss");
  panel->lines.push_back(
      {"loss", {}, series.loss, MarkColor{ink::kBlack, ink::kBlack}, 1.1f, kSolidLine, true, RichText{}});
  panel->title = rich("next-token loss, nat"), panel->brief = rich("loss, nat");
  panel->sentence = "Next-token loss of the same sequences with its interval.";
  set_line_range(*panel, false, std::nullopt);
  return panel;
}

std::unique_ptr<LinesPanel> sinks_steps_panel(const RunSnapshot& run, const StepsFile& series) {
  if (!series.sinks.finite()) return nullptr;
  auto panel = steps_panel(series, "sinks", "sink_rate");
  const bool two = series.net_sinks.finite() && series.net_sinks.y != series.sinks.y;
  panel->lines.push_back(
      {"first", {}, series.sinks, ink::kFirst, 1.1f, kSolidLine, true, two ? rich("first") : RichText{}});
  if (two) panel->lines.push_back({"net", {}, series.net_sinks, ink::kNet, 1.1f, kLongDash, true, rich("net")});
  panel->title = rich("share of heads that are sinks"), panel->brief = rich("sinks");
  panel->right = rich("*α*_{0} > " + short_text(series.epsilon));
  const std::int64_t heads = std::ssize(run.layers) * std::ssize(run.heads);
  panel->sentence = "Share of the " + grouped_text(heads) + (heads == 1 ? " head" : " heads") +
                    " of the file whose sink score is above " + short_text(series.epsilon) + ", with its interval" +
                    (two ? ": of first maps, and of net maps (dashed)." : ".");
  set_line_range(*panel, false, Range{0.0, 1.0});
  return panel;
}

}  // namespace

Result<void> check_series(const FigureRun& run, const FigureChoice& choice) {
  HEADROOM_TRY(const StepsFile series, read_steps_file(run, choice));
  return {};
}

Result<Figure> make_series(std::span<const FigureRun> runs, const FigureChoice& choice) {
  const FigureRun& run = runs.front();
  HEADROOM_TRY(const StepsFile series, read_steps_file(run, choice));
  Figure figure;
  std::vector<HeadRef> heads = choice.heads;
  if (heads.empty()) {
    const std::size_t most = changes_most(series), across = series.drawn.heads.size();
    heads = {{series.drawn.layers[most / across], series.drawn.heads[most % across]}};
    if (series.heads.size() > 1)
      figure.notes.push_back(run.name() + ": " + head_text(heads.front()) + " is named, which changes most");
  }
  figure.panels.push_back(heads_panel(*run.run, series, heads));
  if (auto panel = sinks_steps_panel(*run.run, series)) figure.panels.push_back(std::move(panel));
  if (auto panel = loss_steps_panel(series)) figure.panels.push_back(std::move(panel));
  if (series.sinks.finite() && series.epsilon != choice.epsilon)
    figure.notes.push_back(run.name() + " counts sinks above " + short_text(series.epsilon) + ", not above " +
                           short_text(choice.epsilon));
  arrange(figure, choice, 174.0, 130.0, 55.0);
  return figure;
}

}  // namespace headroom
