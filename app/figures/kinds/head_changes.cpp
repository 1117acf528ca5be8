#include "app/figures/kinds/head_changes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "app/figures/figure_kinds.h"
#include "app/plot/quantiles.h"
#include "core/base/number_text.h"
#include "core/base/student.h"
#include "core/run/ablation_way.h"
#include "core/run/read_ablation.h"

namespace headroom {
namespace {

constexpr std::string_view kHideKeys = "hide-key=";

struct StoredChanges {
  const FigureRun* file = nullptr;
  OpenedAblation opened;

  [[nodiscard]] const std::string& change() const { return opened.table.mode.change; }
  [[nodiscard]] bool of_plan() const { return opened.table.sequences > 0; }
  // Of one text, or of the same sequences.
  [[nodiscard]] bool same_text(const StoredChanges& other) const {
    if (of_plan() || other.of_plan()) return ids_hash() == other.ids_hash();
    return opened.run->prompt->ids == other.opened.run->prompt->ids;
  }

 private:
  [[nodiscard]] std::string ids_hash() const {
    const auto found = opened.run->attributes.find("ids_sha256");
    return found == opened.run->attributes.end() ? std::string() : found->second;
  }
};

Error no_importance_of(const std::string& message) { return {ErrorCode::Unsupported, "importance: " + message}; }

Result<StoredChanges> read_changes(const FigureRun& run) {
  StoredChanges stored{&run, {}};
  HEADROOM_TRY(stored.opened, read_ablation(run.path));
  return stored;
}

// The files by their way: those of the first one, and those of another.
using ByWay = std::vector<std::vector<StoredChanges>>;

Result<ByWay> changes_by_way(std::span<const FigureRun> runs) {
  ByWay ways;
  for (const FigureRun& run : runs) {
    HEADROOM_TRY(StoredChanges stored, read_changes(run));
    const auto own =
        std::ranges::find_if(ways, [&](const auto& way) { return way.front().change() == stored.change(); });
    if (own != ways.end())
      own->push_back(std::move(stored));
    else
      ways.emplace_back().push_back(std::move(stored));
  }
  if (ways.size() <= 2) return ways;
  std::string all;
  for (const auto& way : ways) all += (all.empty() ? "" : ", ") + way.front().change();
  return Error(ErrorCode::InvalidArgument, "importance compares two ways of taking heads away; the files have " + all);
}

// One model, texts that differ, and the same ones by both ways.
Result<void> check_texts(const ByWay& ways) {
  const StoredChanges& first = ways.front().front();
  for (const auto& way : ways)
    for (std::size_t i = 0; i < way.size(); ++i) {
      const StoredChanges& one = way[i];
      const std::string name = one.file->name();
      for (const char* attribute : {"checkpoint_sha256", "dtype_compute"})
        if (one.file->attribute(attribute) != first.file->attribute(attribute))
          return no_importance_of(std::string(attribute) + " of " + name + " is not that of " + first.file->name());
      if (one.opened.run->what_ifs != first.opened.run->what_ifs)
        return no_importance_of("what-ifs of " + name + " are not those of " + first.file->name());
      if (one.opened.run->layers != first.opened.run->layers || one.opened.run->heads != first.opened.run->heads)
        return no_importance_of(name + " has other layers or heads than " + first.file->name());
      if (i > 0 && (one.of_plan() || way.front().of_plan()))
        return no_importance_of(name + " and " + way.front().file->name() +
                                " are of plans or texts: intervals are over the documents of one plan");
      for (std::size_t k = 0; k < i; ++k)
        if (way[k].same_text(one))
          return no_importance_of(way[k].file->name() + " and " + name + " are of one text: intervals are over texts");
      const auto& others = ways.front();
      if (std::ranges::none_of(others, [&](const StoredChanges& other) { return other.same_text(one); }))
        return no_importance_of("the text of " + name + " (" + one.change() + ") is in no file of " + first.change());
    }
  if (ways.size() > 1 && ways[0].size() != ways[1].size())
    return no_importance_of(first.change() + " has " + std::to_string(ways[0].size()) + " texts, " +
                            ways[1].front().change() + " has " + std::to_string(ways[1].size()));
  return {};
}

std::string way_title(const std::string& change) {
  for (const AblationWay way : kAblationWays)
    if (change == way_info(way).change) return way_info(way).title;
  if (change.starts_with(kHideKeys)) return "keys " + change.substr(kHideKeys.size()) + " hidden";
  return change;
}

// Mean over the files; not finite where one of them is not.
template <typename Number>
double mean_over(const std::vector<StoredChanges>& texts, Number number) {
  double sum = 0.0;
  for (const StoredChanges& text : texts) sum += number(text);
  return sum / static_cast<double>(texts.size());
}

// The mean of a change over texts, and its standard error: of one text the file's own.
struct ChangeOverTexts {
  double mean = kNaN, error = kNaN;
};
template <typename Number>
ChangeOverTexts over_texts(const std::vector<StoredChanges>& texts, double own_error, Number number) {
  ChangeOverTexts over{mean_over(texts, number), own_error};
  if (texts.size() < 2) return over;
  double squares = 0.0;
  for (const StoredChanges& text : texts) squares += std::pow(number(text) - over.mean, 2.0);
  const auto n = static_cast<double>(texts.size());
  over.error = std::sqrt(squares / (n - 1.0) / n);
  return over;
}

using Together = std::vector<ChangedTogether> OpenedAblation::*;

constexpr std::array<Together, 2> kTogether = {&OpenedAblation::sets, &OpenedAblation::removed};

// Whether every text has the same ones.
bool same_together(const std::vector<StoredChanges>& texts, Together which) {
  const std::vector<ChangedTogether>& first = texts.front().opened.*which;
  return std::ranges::all_of(texts, [&](const StoredChanges& text) {
    return std::ranges::equal(text.opened.*which, first,
                              [](const ChangedTogether& a, const ChangedTogether& b) { return a.heads == b.heads; });
  });
}

double stored_sink(const StoredChanges& text, HeadRef head) {
  const double first = text.opened.run->at("sink_score", head.layer, head.head);
  return std::isnan(first) ? text.opened.run->at("sink_score", head.layer, head.head, 1) : first;
}

}  // namespace

std::int64_t HeadChanges::apart() const { return std::ranges::count_if(heads, &HeadChange::apart); }

std::string ablation_sentence(const std::string& change, bool of_plan) {
  if (change == "head=off") return "the head puts out 0";
  if (change == "head=mean")
    return std::string("the head puts out, for every token, its mean over ") + (of_plan ? "all sequences" : "the text");
  if (change == "second-map=off") return "the head has no second map";
  if (change.starts_with(kHideKeys))
    return "key " + change.substr(kHideKeys.size()) + " is hidden from the head, whose rows are normalised again";
  return change;
}

Result<HeadChanges> head_changes(std::span<const FigureRun> runs, const FigureChoice& choice) {
  HEADROOM_TRY_VOID(chosen_heads(runs.front(), choice, {}));
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(runs.front(), choice));
  HEADROOM_TRY(const ByWay ways, changes_by_way(runs));
  HEADROOM_TRY_VOID(check_texts(ways));
  const std::vector<StoredChanges>& texts = ways.front();
  const LossTable& first = texts.front().opened.table;
  HeadChanges all;
  all.change = texts.front().change(), all.way = way_title(all.change);
  if (ways.size() > 1) all.other_change = ways[1].front().change(), all.other_way = way_title(all.other_change);
  all.texts = std::ssize(texts), all.blocks = static_cast<std::int64_t>(first.blocks);
  all.sequences = static_cast<std::int64_t>(first.sequences);
  all.loss = mean_over(texts, [](const StoredChanges& text) { return text.opened.table.loss; });
  for (const StoredChanges& text : texts) all.predictions += static_cast<std::int64_t>(text.opened.table.predictions);
  all.done = static_cast<std::int64_t>(first.done), all.asked = static_cast<std::int64_t>(first.asked);
  // Every change of the files counts, whether or not it is drawn.
  std::vector<ChangeOverTexts> single;
  for (std::size_t i = 0; i < first.delta.size(); ++i)
    single.push_back(
        over_texts(texts, first.error[i], [&](const StoredChanges& text) { return text.opened.table.delta[i]; }));
  std::array<std::vector<ChangeOverTexts>, 2> together;
  for (std::size_t k = 0; k < kTogether.size(); ++k) {
    const Together which = kTogether[k];
    if (!same_together(texts, which)) {
      all.other_sets = true;
      continue;
    }
    const std::vector<ChangedTogether>& own = texts.front().opened.*which;
    for (std::size_t i = 0; i < own.size(); ++i)
      together[k].push_back(
          over_texts(texts, own[i].error, [&](const StoredChanges& text) { return (text.opened.*which)[i].delta; }));
  }
  std::vector<double> errors;
  for (const std::vector<ChangeOverTexts>* some : {&single, &together[0], &together[1]})
    for (const ChangeOverTexts& one : *some)
      if (std::isfinite(one.error)) errors.push_back(one.error), all.of_sets += some == &single ? 0 : 1;
  // Of one text as the file's table has them; of several their spread over texts.
  all.tested = all.texts == 1 ? static_cast<std::int64_t>(first.tested()) : std::ssize(errors);
  double half_width = all.texts == 1 ? first.half_width() : kNaN;
  if (all.texts == 1) {
    all.detectable = first.detectable();
  } else if (all.tested > 0) {
    const double degrees = static_cast<double>(all.observations()) - 1.0,
                 level = kIntervalLevel / static_cast<double>(all.tested);
    half_width = student_point(level, degrees);
    all.detectable = student_detectable(degrees, level, kSeenShare) * quantile(errors, 0.5);
  }
  const auto alone = [&](HeadRef head) {
    const std::optional<std::size_t> place = first.place(head);
    return place ? single[*place].mean : kNaN;
  };
  for (std::size_t k = 0; k < kTogether.size(); ++k)
    for (std::size_t i = 0; i < together[k].size(); ++i) {
      const ChangeOverTexts& one = together[k][i];
      if (!std::isfinite(one.mean)) continue;
      SetChange set{(texts.front().opened.*kTogether[k])[i].heads, one.mean, one.mean - half_width * one.error,
                    one.mean + half_width * one.error, 0.0};
      for (const HeadRef head : set.heads) set.sum += alone(head);
      (k == 0 ? all.sets : all.removed).push_back(std::move(set));
    }
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads) {
      const std::optional<std::size_t> place = first.place({layer, head});
      HeadChange one{{layer, head}};
      one.change = place ? single[*place].mean : kNaN;
      if (!std::isfinite(one.change)) {
        ++all.lacking;
        continue;
      }
      one.low = one.change - half_width * single[*place].error;
      one.high = one.change + half_width * single[*place].error;
      all.two_maps = all.two_maps || std::isfinite(texts.front().opened.run->at("sink_score", layer, head, 1));
      one.sink = mean_over(texts, [&](const StoredChanges& text) { return stored_sink(text, one.head); });
      if (ways.size() > 1)
        one.other = mean_over(ways[1], [&](const StoredChanges& text) { return text.opened.table.delta[*place]; });
      all.heads.push_back(one);
    }
  if (all.heads.empty() && all.sets.empty())
    return no_importance_of("neither a head that is drawn nor a set has a change of the loss in " +
                            runs.front().name());
  return all;
}

}  // namespace headroom
