// Whether a model finds a number in a long text, and which heads look at it: what heads give to the spans of the prompt
// over depth, recall, and the heads that copy. All intervals are the files' own, over samples.
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
#include <tuple>
#include <utility>
#include <vector>

#include "app/figures/caption_text.h"
#include "app/figures/figure_kinds.h"
#include "app/figures/kinds/interval_list.h"
#include "app/figures/kinds/lines_panel.h"
#include "app/figures/kinds/needle_numbers.h"
#include "app/figures/kinds/needle_words.h"
#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr double kLogFrom = 20.0;                                                        // times the smallest value
constexpr double kRowHeight = 54.0, kNeedlesTwoWide = 110.0, kNeedlesThreeWide = 150.0;  // millimetres
constexpr std::array<MarkColor, kMostNeedleLines> kFileColors = {ink::kNet, ink::kSecond, ink::kFirst, ink::kHead};
constexpr std::array<LineDash, kMostNeedleLines> kFileDashes = {kSolidLine, kSolidLine, kLongDash, kShortDash};
constexpr std::array<MarkColor, kMostNeedleLines> kLengthColors = {ink::kPale, ink::kMiddle, ink::kDeep,
                                                                   MarkColor{ink::kBlack, ink::kBlack}};

struct PartLook {
  NeedlePart part;
  MarkColor color;
  LineDash dash;
  float width;
};
// The answer is drawn last. In print without colours each two differ in lightness or dashes.
constexpr std::array<PartLook, 6> kPartLooks = {{{NeedlePart::First, {ink::kBlack, ink::kBlack}, kDots, 0.9f},
                                                 {NeedlePart::Question, ink::kNotCounted, kShortDash, 0.9f},
                                                 {NeedlePart::Haystack, ink::kOthers, kBoundDash, 0.9f},
                                                 {NeedlePart::Distractor, ink::kSecond, kShortDash, 1.0f},
                                                 {NeedlePart::Needle, ink::kKappa, kLongDash, 1.0f},
                                                 {NeedlePart::Answer, ink::kFirst, kSolidLine, 1.3f}}};

// `of_length(l)` is the line over depths.
template <typename OfLength>
NeedleLine line_along(const NeedleNumbers& numbers, const NeedleAlong& along, std::size_t group,
                      const OfLength& of_length) {
  if (!along.lengths) return of_length(group);
  NeedleLine line;
  for (std::size_t l = 0; l < numbers.lengths.size(); ++l) {
    const NeedleLine& one = of_length(l);
    line.y.push_back(one.y.front()), line.low.push_back(one.low.front()), line.high.push_back(one.high.front());
    line.n.push_back(one.n.front());
  }
  return line;
}

// Shares begin at 0, and no interval reaches beyond what the quantity can be.
void set_needle_range(LinesPanel& panel, bool to_one, bool log) {
  double low = to_one ? 0.0 : kInfinity, high = -kInfinity, least = kInfinity;
  bool beyond = false;
  for (const LinesPanel::Line& line : panel.lines)
    for (std::size_t i = 0; i < line.values.y.size(); ++i) {
      const double y = line.values.y[i];
      if (!std::isfinite(y)) continue;
      const double foot = line.band && std::isfinite(line.values.low[i]) ? line.values.low[i] : y,
                   top = line.band && std::isfinite(line.values.high[i]) ? line.values.high[i] : y;
      beyond = beyond || (to_one && (foot < 0.0 || top > 1.0));
      low = std::min(low, to_one ? std::max(foot, 0.0) : foot),
      high = std::max(high, to_one ? std::min(top, 1.0) : top);
      least = std::min(least, y);
    }
  for (const LinesPanel::Level& level : panel.levels)
    low = std::min(low, level.value), high = std::max(high, level.value);
  if (low > high || (to_one && !(high > 0.0))) low = 0.0, high = 1.0;
  if (log) {
    const Range range = nice_range(least, std::max(high, 2.0 * least), true);
    panel.y = {range.low, to_one ? std::min(1.0, range.high) : range.high, true};
    panel.sentence += " Logarithmic; bands are cut where the axis ends.";
    return;
  }
  const Range range = nice_range(low, high > low ? high : low + std::max(1e-6, 0.01 * std::abs(low)), false);
  panel.y = {range.low, to_one ? std::min(1.0, range.high) : range.high};
  if (beyond) panel.sentence += " Intervals are cut where the quantity ends, at 0 and 1.";
}

bool wants_log(const LinesPanel& panel, const FigureChoice& choice) {
  double low = kInfinity, high = 0.0;
  for (const LinesPanel::Line& line : panel.lines)
    for (const double y : line.values.y)
      if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
  if (!(low > 0.0) || !(high > low)) return false;
  return choice.scale ? *choice.scale == ScaleKind::Log10 : high > kLogFrom * low;
}

std::unique_ptr<LinesPanel> lines_along(const NeedleFigure& of, std::string name, std::string quantity) {
  auto panel = std::make_unique<LinesPanel>();
  panel->kind = "needle", panel->name = std::move(name), panel->quantity = std::move(quantity);
  panel->places = of.along.places, panel->n = of.first().samples;
  panel->x = {of.along.places.front(), of.along.places.back()};
  panel->x.log = of.along.lengths, panel->x.high_label = true;
  panel->x.title = rich(of.along.lengths ? "tokens of the prompt" : "depth of the needle, %");
  return panel;
}

void add_line(LinesPanel& panel, const NeedleFigure& of, const std::string& name, NeedleLine values,
              const MarkColor& color, LineDash dash, float width, bool labelled) {
  if (!values.finite()) return;
  LinesPanel::Line line{name,  {},   values,         color,
                        width, dash, of.intervals(), labelled ? rich(literal_markup(name)) : RichText{}};
  line.points = true, line.n = std::move(values.n);
  panel.lines.push_back(std::move(line));
}

std::unique_ptr<IntervalListPanel> cell_list(const NeedleFigure& of, const char* name, std::string quantity,
                                             const char* title) {
  auto panel = std::make_unique<IntervalListPanel>();
  panel->kind = "needle", panel->name = name, panel->quantity = std::move(quantity), panel->numbers = "values";
  panel->title = rich(title), panel->right = rich(of.of_heads);
  return panel;
}

void add_row(IntervalListPanel& panel, const NeedleFigure& of, const std::string& name, const NeedleLine& values,
             const MarkColor& color) {
  if (!values.finite()) return;
  IntervalListPanel::Row row;
  row.name = rich(literal_markup(name)), row.value = values.y.front();
  row.line = row.point = color.mark, row.text = color.text;
  if (of.intervals()) row.low = values.low.front(), row.high = values.high.front();
  row.series = panel.quantity + " " + name, row.n = values.n.front();
  panel.rows.push_back(std::move(row));
}

void set_list_axis(IntervalListPanel& panel, bool to_one, const char* title) {
  double low = panel.level.value_or(0.0), high = low;
  bool beyond = false;
  for (const IntervalListPanel::Row& row : panel.rows) {
    low = std::min({low, row.value, row.has_interval() ? row.low : row.value});
    high = std::max({high, row.value, row.has_interval() ? row.high : row.value});
    if (std::isfinite(row.other)) low = std::min(low, row.other), high = std::max(high, row.other);
  }
  if (to_one) beyond = low < 0.0 || high > 1.0, low = 0.0, high = std::min(high, 1.0);
  const Range range = nice_range(std::min(low, 0.0), high > low ? high : low + 1.0, false);
  panel.x = {range.low, to_one ? std::min(1.0, range.high) : range.high};
  panel.x.title = rich(title);
  if (beyond) panel.sentence += " Intervals are cut where the number ends, at 0 and 1.";
}

// Of one file: every span.
std::unique_ptr<FigurePanel> spans_panel(const NeedleFigure& of, std::size_t group) {
  const NeedleNumbers& numbers = of.first();
  const auto values = [&](NeedlePart part) {
    return line_along(numbers, of.along, group,
                      [&](std::size_t l) -> const NeedleLine& { return numbers.of(l, part, of.quantity.map); });
  };
  const std::string sentence = spans_caption(of, group, "");
  if (of.along.single()) {
    auto panel = cell_list(of, "spans", of.quantity_name(), "what is looked at");
    for (std::size_t part = 0; part < kNeedleParts.size(); ++part) {
      const auto look = std::ranges::find(kPartLooks, static_cast<NeedlePart>(part), &PartLook::part);
      add_row(*panel, of, kNeedleParts[part], values(look->part), look->color);
    }
    panel->sentence = sentence;
    set_list_axis(*panel, of.quantity.measure->to_one, of.quantity_title().c_str());
    return panel;
  }
  auto panel = lines_along(of, of.with_length("spans", group), of.quantity_name());
  for (const PartLook& look : kPartLooks)
    add_line(*panel, of, kNeedleParts[static_cast<std::size_t>(look.part)], values(look.part), look.color, look.dash,
             look.width, true);
  panel->title = rich(of.quantity_title()), panel->brief = rich(of.quantity.measure->name);
  panel->right = rich(of.along.groups.size() > 1 ? of.length_of(group) : of.of_heads);
  panel->sentence = sentence;
  set_needle_range(*panel, of.quantity.measure->to_one, wants_log(*panel, of.choice));
  return panel;
}

// Of one file whose heads have two maps: the answer, by map.
std::unique_ptr<FigurePanel> maps_panel(const NeedleFigure& of, std::size_t group) {
  constexpr std::array kMapColors = {ink::kFirst, ink::kSecond, ink::kNet};
  constexpr std::array kMapDashes = {kSolidLine, kShortDash, kLongDash};
  const NeedleNumbers& numbers = of.first();
  const auto values = [&](std::size_t map) {
    return line_along(numbers, of.along, group, [&](std::size_t l) -> const NeedleLine& {
      return numbers.of(l, NeedlePart::Answer, static_cast<NeedleMap>(map));
    });
  };
  const std::string measure = of.quantity.measure->name;
  const std::string sentence = "The answer alone, of each map" +
                               (of.along.groups.size() > 1 ? ", in prompts of " + of.length_of(group) : std::string()) +
                               ".";
  if (of.along.single()) {
    auto panel = cell_list(of, "maps", measure, "answer, each map");
    for (std::size_t map = 0; map < kMapColors.size(); ++map)
      add_row(*panel, of, kNeedleMapNames[map], values(map), kMapColors[map]);
    panel->sentence = sentence;
    set_list_axis(*panel, of.quantity.measure->to_one, of.quantity.measure->title);
    return panel;
  }
  auto panel = lines_along(of, of.with_length("maps", group), measure);
  for (std::size_t map = 0; map < kMapColors.size(); ++map)
    add_line(*panel, of, kNeedleMapNames[map], values(map), kMapColors[map], kMapDashes[map], 1.1f, true);
  panel->title = rich("answer, each map"), panel->brief = rich("answer");
  panel->right = rich(of.length_of(group));
  panel->sentence = sentence;
  set_needle_range(*panel, of.quantity.measure->to_one, false);
  return panel;
}

// Of several files: the answer.
std::unique_ptr<FigurePanel> answer_panel(const NeedleFigure& of, std::size_t group) {
  const auto values = [&](const NeedleNumbers& numbers) {
    return line_along(numbers, of.along, group, [&](std::size_t l) -> const NeedleLine& {
      return numbers.of(l, NeedlePart::Answer, of.quantity.map);
    });
  };
  const std::string sentence = spans_caption(of, group, ", of the span answer, the number that is asked for");
  if (of.along.single()) {
    auto panel = cell_list(of, "answer", of.quantity_name(), "answer");
    for (std::size_t f = 0; f < of.files.size(); ++f)
      add_row(*panel, of, of.names[f], values(of.files[f]), kFileColors[f]);
    panel->sentence = sentence;
    set_list_axis(*panel, of.quantity.measure->to_one, of.quantity_title().c_str());
    return panel;
  }
  auto panel = lines_along(of, of.with_length("answer", group), of.quantity_name());
  for (std::size_t f = 0; f < of.files.size(); ++f)
    add_line(*panel, of, of.names[f], values(of.files[f]), kFileColors[f], kFileDashes[f], 1.1f, true);
  panel->title = rich("answer: " + of.quantity_title()),
  panel->brief = rich("answer: " + std::string(of.quantity.measure->name));
  panel->right = rich(of.length_of(group));
  panel->sentence = sentence;
  set_needle_range(*panel, of.quantity.measure->to_one,
                   of.choice.scale == ScaleKind::Log10 && wants_log(*panel, of.choice));
  return panel;
}

// Of one file a line for each length, of several one for each file.
std::unique_ptr<FigurePanel> answer_recall_panel(const NeedleFigure& of, std::optional<std::size_t> only) {
  const bool again = only && *only != of.along.groups.front();
  const std::string sentence = again ? same_caption(of, *only) : recall_caption(of);
  const auto values = [&](const NeedleNumbers& numbers, std::size_t group) {
    return line_along(numbers, of.along, group,
                      [&](std::size_t l) -> const NeedleLine& { return numbers.recalled[l]; });
  };
  if (of.along.single()) {
    auto panel = cell_list(of, "recall", "recalled", "recall");
    panel->right = rich(length_text(of.first().lengths.front()));
    for (std::size_t f = 0; f < of.files.size(); ++f)
      add_row(*panel, of, of.several() ? of.names[f] : std::string("recalled"), values(of.files[f], 0), kFileColors[f]);
    panel->sentence = sentence;
    set_list_axis(*panel, true, "share of answer’s tokens");
    return panel;
  }
  auto panel = lines_along(of, only ? of.with_length("recall", *only) : "recall", "recalled");
  if (of.several()) {
    for (std::size_t f = 0; f < of.files.size(); ++f)
      add_line(*panel, of, of.names[f], values(of.files[f], only.value_or(0)), kFileColors[f], kFileDashes[f], 1.1f,
               true);
    panel->right = rich(of.length_of(only.value_or(0)));
  } else {
    const std::size_t lengths = of.along.groups.size();
    for (std::size_t i = 0; i < lengths; ++i) {
      const std::size_t color = lengths == 1 ? kLengthColors.size() - 1 : lengths == 4 ? i : i * 2 / (lengths - 1);
      add_line(*panel, of, length_text(of.first().lengths[of.along.groups[i]]), values(of.first(), of.along.groups[i]),
               kLengthColors[color], kSolidLine, 1.1f, lengths > 1);
    }
  }
  panel->title = rich("recall of the answer"), panel->brief = rich("recall");
  panel->sentence = sentence;
  set_needle_range(*panel, true, false);
  return panel;
}

std::unique_ptr<FigurePanel> retrieval_list(const NeedleFigure& of) {
  const NeedleNumbers& numbers = of.first();
  auto panel = std::make_unique<IntervalListPanel>();
  panel->kind = "needle", panel->name = "heads", panel->quantity = "retrieval_score", panel->numbers = "scores";
  panel->level = kRetrievalHead, panel->level_name = "threshold";
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, of.choice.top));
  // A second map that copies is subtracted: the net map says nothing of it.
  std::vector<RetrievalScore> scores = numbers.scores;
  const bool pairs = std::ranges::any_of(scores, [](const auto& one) { return std::isfinite(one.second); });
  std::ranges::stable_sort(scores, std::ranges::greater(), [](const RetrievalScore& one) {
    return std::isfinite(one.second) ? std::max(one.mean, one.second) : one.mean;
  });
  if (pairs) panel->others = "second map";
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const RetrievalScore& one = scores[i];
    const bool named = std::ranges::find(of.choice.heads, one.head) != of.choice.heads.end();
    if (i >= most && !named) continue;
    const Color color = named ? ink::kHead.mark : one.low > kRetrievalHead ? ink::kBlack : ink::kNotCounted.text;
    IntervalListPanel::Row row;
    row.name = rich(head_text(one.head)), row.head = one.head, row.n = one.n;
    row.value = one.mean, row.low = one.low, row.high = one.high, row.other = one.second;
    row.line = row.point = color, row.text = named ? ink::kHead.text : ink::kBlack;
    panel->rows.push_back(std::move(row));
  }
  const std::size_t largest = std::min(most, numbers.scores.size());
  panel->title = rich("heads that copy the answer"), panel->brief = rich("copying heads");
  panel->right = rich(grouped_text(std::ssize(panel->rows)) + " of " + grouped_text(std::ssize(numbers.scores)));
  panel->sentence = retrieval_caption(of) + " Drawn: the " + grouped_text(std::ssize(panel->rows)) +
                    (panel->rows.size() > largest ? " largest and named" : " largest") + " of " +
                    grouped_text(std::ssize(numbers.scores)) + (numbers.scores.size() == 1 ? " head." : " heads.") +
                    (numbers.samples > 1 ? " Black: the interval lies above 0.1." : "") +
                    (pairs ? " Rings: the same by the largest weight of the second map alone, which is subtracted; "
                             "the order is by the larger of the two."
                           : "");
  if (numbers.without > 0)
    panel->sentence += " Not drawn: " + grouped_text(numbers.without) + " heads without a score.";
  set_list_axis(*panel, true, pairs ? "score; rings: second map" : "retrieval score");
  return panel;
}

// Of several files: the largest scores of each, the first one first.
std::unique_ptr<FigurePanel> retrieval_ranks(const NeedleFigure& of) {
  std::size_t most = 0;
  for (const NeedleNumbers& numbers : of.files) most = std::max(most, numbers.scores.size());
  most = std::min(most, static_cast<std::size_t>(std::max<std::int64_t>(2, of.choice.top)));
  auto panel = std::make_unique<LinesPanel>();
  panel->kind = "needle", panel->name = "heads", panel->quantity = "retrieval_score";
  for (std::size_t i = 0; i < std::max<std::size_t>(most, 2); ++i) panel->places.push_back(static_cast<double>(i + 1));
  panel->x = {0.5, panel->places.back() + 0.5};
  panel->x.whole = true, panel->x.title = rich("heads of each model, by score");
  panel->levels.push_back({kRetrievalHead, "threshold", rich("0.1")});
  panel->sentence = retrieval_caption(of);
  for (std::size_t f = 0; f < of.files.size(); ++f) {
    const NeedleNumbers& numbers = of.files[f];
    NeedleLine values;
    std::vector<HeadRef> heads;
    for (std::size_t i = 0; i < panel->places.size(); ++i) {
      const bool there = i < numbers.scores.size();
      const RetrievalScore one = there ? numbers.scores[i] : RetrievalScore{};
      values.y.push_back(one.mean), values.low.push_back(one.low), values.high.push_back(one.high);
      values.n.push_back(one.n);
      if (there) heads.push_back(one.head);
    }
    add_line(*panel, of, of.names[f], std::move(values), kFileColors[f], kFileDashes[f], 1.1f, true);
    if (!panel->lines.empty() && panel->lines.back().series == of.names[f])
      panel->lines.back().heads = std::move(heads);
  }
  panel->title = rich("retrieval score"), panel->brief = rich("retrieval");
  set_needle_range(*panel, true, false);
  return panel;
}

// Stems, with their folders where two are alike.
std::vector<std::string> file_names(std::span<const FigureRun> runs) {
  std::vector<std::string> names;
  for (const FigureRun& run : runs) {
    const std::string stem = run.path.stem().string();
    const bool alike =
        std::ranges::count_if(runs, [&](const FigureRun& other) { return other.path.stem() == run.path.stem(); }) > 1;
    names.push_back(alike ? run.path.parent_path().filename().string() + "/" + stem : stem);
  }
  return names;
}

// Files whose lines one plot can have.
Result<void> check_alike(const std::vector<NeedleNumbers>& files) {
  if (files.size() > kMostNeedleLines)
    return Error(ErrorCode::InvalidArgument,
                 "needle: " + std::to_string(files.size()) + " files; one plot tells four apart");
  for (const NeedleNumbers& one : files)
    for (const auto& [axis, own, others] : {std::tuple("lengths", &one.lengths, &files.front().lengths),
                                            std::tuple("depths", &one.depths, &files.front().depths)})
      if (*own != *others)
        return Error(ErrorCode::InvalidArgument,
                     std::string("needle: ") + axis + " of " + one.name + " are not those of " + files.front().name);
  return {};
}

void say_notes(Figure& figure, const NeedleFigure& of) {
  for (const NeedleNumbers& numbers : of.files)
    if (numbers.cells_done < numbers.cells_asked)
      figure.notes.push_back(numbers.name + " was stopped: " + grouped_text(numbers.cells_done) + " of " +
                             grouped_text(numbers.cells_asked) + " cells have numbers");
  if (!of.along.lengths && of.along.groups.size() < of.first().lengths.size())
    figure.notes.push_back("of " + std::to_string(of.first().lengths.size()) + " lengths " +
                           std::to_string(of.along.groups.size()) + " are drawn");
}

void place_panels(Figure& figure, const FigureChoice& choice) {
  arrange(figure, choice, 174.0, kInfinity, kRowHeight);
  if (figure.width_mm < kNeedlesTwoWide) return;
  const std::size_t across = figure.width_mm < kNeedlesThreeWide ? 2 : 3, count = figure.panels.size();
  const std::size_t rows = (count + across - 1) / across;
  figure.rows.assign(rows, {});
  for (std::size_t i = 0; i < count; ++i) figure.rows[i * rows / count].push_back(i);
  figure.height_mm = choice.height_mm.value_or(kRowHeight * static_cast<double>(rows));
}

}  // namespace

Result<void> check_needle(const FigureRun& run, const FigureChoice& choice) {
  if (choice.scale == ScaleKind::Symlog)
    return Error(ErrorCode::InvalidArgument, "needle: the axis of the spans is linear or logarithmic")
        .wanted("--scale linear or log", "symlog");
  HEADROOM_TRY(const NeedleQuantityRef quantity, needle_quantity(choice));
  HEADROOM_TRY(const NeedleNumbers numbers, read_needle_numbers(run, choice));
  for (std::size_t l = 0; l < numbers.lengths.size(); ++l)
    for (std::size_t part = 0; part < kNeedleParts.size(); ++part)
      if (numbers.of(l, static_cast<NeedlePart>(part), quantity.map).finite()) return {};
  const std::string map = kNeedleMapNames[static_cast<std::size_t>(quantity.map)];
  return Error(ErrorCode::Unsupported,
               "needle: " + (choice.heads.empty() ? "no head" : head_text(choice.heads.front())) + " of " + run.name() +
                   " has " + (choice.heads.empty() ? "a " : "no ") + map + " map with a value");
}

Result<Figure> make_needle(std::span<const FigureRun> runs, const FigureChoice& choice) {
  NeedleFigure of;
  of.choice = choice, of.names = file_names(runs);
  HEADROOM_TRY(of.quantity, needle_quantity(choice));
  for (const FigureRun& run : runs) {
    HEADROOM_TRY(NeedleNumbers numbers, read_needle_numbers(run, choice));
    of.files.push_back(std::move(numbers));
  }
  HEADROOM_TRY_VOID(check_alike(of.files));
  of.along = needle_along(of.first());
  const RunSnapshot& run = *runs.front().run;
  of.of_heads = !choice.heads.empty() ? head_text(choice.heads.front())
                : of.several() ? "mean over heads"
                               : "mean of " + grouped_text(std::ssize(run.layers) * std::ssize(run.heads)) + " heads";
  Figure figure;
  say_notes(figure, of);
  for (const std::size_t group : of.along.groups)
    figure.panels.push_back(of.several() ? answer_panel(of, group) : spans_panel(of, group));
  if (!of.several() && of.first().two_maps())
    for (const std::size_t group : of.along.groups) figure.panels.push_back(maps_panel(of, group));
  if (of.several())
    for (const std::size_t group : of.along.groups) figure.panels.push_back(answer_recall_panel(of, group));
  else if (!of.along.single())
    figure.panels.push_back(answer_recall_panel(of, std::nullopt));
  std::size_t scored = 0;
  for (const NeedleNumbers& numbers : of.files) scored += numbers.scores.empty() ? 0 : 1;
  if (scored > 0) figure.panels.push_back(of.several() ? retrieval_ranks(of) : retrieval_list(of));
  if (of.several()) {
    std::string source;
    for (std::size_t f = 0; f < of.files.size(); ++f)
      source += (f > 0 ? " " : "") + literal_markup(of.names[f]) + ": " + run_sentence(*runs[f].run);
    for (const auto& panel : figure.panels) panel->source = source;
  }
  place_panels(figure, choice);
  return figure;
}

}  // namespace headroom
