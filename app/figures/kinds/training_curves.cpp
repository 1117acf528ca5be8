#include "app/figures/kinds/training_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "app/figures/history_kinds.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

// By the variants of history_kinds.h: Okabe and Ito 2008; the text of each reads on white.
constexpr std::array<MarkColor, kVariantInks> kInks = {
    {ink::kNet, ink::kSecond, ink::kFirst, ink::kHead, {Color::hex(0xe69f00), Color::hex(0x8f6200)}, ink::kKappa}};
constexpr std::size_t kRecipeShown = 12;  // digits
constexpr MarkColor kNetInk{Color::hex(0x56b4e9), Color::hex(0x1c7db5)};
constexpr std::size_t kMostGroups = 4;

// A training that is counted twice would be two seeds.
Result<void> no_training_twice(std::span<const FigureRun> runs) {
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const FigureRun &a = runs[earlier], &b = runs[i];
      const StoredHistory &one = a.history->curves, &other = b.history->curves;
      const bool alike = a.name() == b.name();
      const std::string names =
          "training: " + (alike ? a.path.string() : a.name()) + " and " + (alike ? b.path.string() : b.name());
      if (const std::string hash = a.attribute(kFileHash); !hash.empty() && hash == b.attribute(kFileHash))
        return Error(ErrorCode::Unsupported, names + " are the same file: seeds are different trainings");
      if (!one.recipe_sha256.empty() && one.recipe_sha256 == other.recipe_sha256 && one.kind == other.kind &&
          one.seed && one.seed == other.seed)
        return Error(ErrorCode::Unsupported, names + " are the same training, " + one.kind + " of recipe " +
                                                 one.recipe_sha256.substr(0, kRecipeShown) + " with seed " +
                                                 std::to_string(*one.seed) + ": seeds are different trainings");
    }
  return {};
}

}  // namespace

Result<std::vector<TrainingGroup>> training_groups(std::span<const FigureRun> runs) {
  HEADROOM_TRY_VOID(no_training_twice(runs));
  std::vector<const StoredHistory*> histories;
  for (const FigureRun& run : runs) histories.push_back(&run.history->curves);
  const std::vector<HistoryKind> kinds = history_kinds(histories);
  if (kinds.size() > kMostGroups)
    return Error(ErrorCode::InvalidArgument, "training: " + std::to_string(kinds.size()) +
                                                 " pairs of recipe and variant; one plot tells four apart");
  std::vector<TrainingGroup> groups;
  GreyDashes dashes;
  for (const HistoryKind& kind : kinds) {
    TrainingGroup group;
    group.recipe_sha256 = kind.recipe_sha256, group.recipe = kind.recipe;
    group.name = kind.name, group.short_name = kind.short_name, group.ink = kInks[kind.ink];
    for (const std::size_t member : kind.members) group.seeds.push_back(&runs[member]);
    group.dash = dashes.of(group.ink.mark);
    groups.push_back(std::move(group));
  }
  for (TrainingGroup& group : groups) {
    group.net_ink = group.ink.mark == ink::kSecond.mark ? kNetInk : group.ink;
    group.net_dash = group.seeds.front()->history->curves.second_maps ? dashes.of(group.net_ink.mark) : kSolidLine;
  }
  return groups;
}

TrainingLine seed_line(const StepSeries& series, std::int64_t after) {
  TrainingLine line;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const auto value = static_cast<double>(series.values()[i]);
    if (series.step(i) <= after || !std::isfinite(value)) continue;
    line.step.push_back(static_cast<double>(series.step(i))), line.y.push_back(value);
    line.low.push_back(kNaN), line.high.push_back(kNaN), line.seeds.push_back(1);
  }
  return line;
}

TrainingLine block_means(const StepSeries& series, std::int64_t width) {
  TrainingLine line;
  for (std::size_t from = 0; from < series.size();) {
    const std::int64_t block = series.step(from) / width;
    double sum = 0.0;
    std::int64_t count = 0;
    std::size_t end = from;
    for (; end < series.size() && series.step(end) / width == block; ++end) {
      const auto value = static_cast<double>(series.values()[end]);
      if (std::isfinite(value)) sum += value, ++count;
    }
    from = end;
    if (count == 0) continue;
    line.step.push_back((static_cast<double>(block) + 0.5) * static_cast<double>(width));
    line.y.push_back(sum / static_cast<double>(count));
    line.low.push_back(kNaN), line.high.push_back(kNaN), line.seeds.push_back(1);
  }
  return line;
}

TrainingLine mean_line(const std::vector<TrainingLine>& lines) {
  struct At {
    double sum = 0.0, low = kInfinity, high = -kInfinity;
    std::int64_t count = 0;
  };
  std::map<double, At> steps;
  for (const TrainingLine& line : lines)
    for (std::size_t i = 0; i < line.step.size(); ++i) {
      At& at = steps[line.step[i]];
      at.sum += line.y[i], at.low = std::min(at.low, line.y[i]), at.high = std::max(at.high, line.y[i]);
      ++at.count;
    }
  TrainingLine mean;
  for (const auto& [step, at] : steps) {
    const bool whole = at.count == std::ssize(lines) && lines.size() > 1;
    mean.step.push_back(step), mean.y.push_back(at.sum / static_cast<double>(at.count));
    mean.low.push_back(whole ? at.low : kNaN), mean.high.push_back(whole ? at.high : kNaN);
    mean.seeds.push_back(at.count);
  }
  return mean;
}

std::string seeds_text(const TrainingGroup& group) {
  std::vector<std::int64_t> seeds;
  for (std::size_t i = 0; i < group.seeds.size(); ++i)
    if (group.curves(i).seed) seeds.push_back(*group.curves(i).seed);
  if (seeds.size() != group.seeds.size())
    return std::to_string(group.seeds.size()) + (group.seeds.size() == 1 ? " seed" : " seeds");
  std::ranges::sort(seeds);
  std::string text = seeds.size() == 1 ? "seed " : "seeds ";
  if (seeds.size() > 2 && seeds.back() - seeds.front() == std::ssize(seeds) - 1)
    return text + std::to_string(seeds.front()) + "–" + std::to_string(seeds.back());
  for (std::size_t i = 0; i < seeds.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(seeds[i]);
  return text;
}

}  // namespace headroom
