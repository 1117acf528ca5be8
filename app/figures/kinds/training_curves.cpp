#include "app/figures/kinds/training_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "core/base/numbers.h"

namespace headroom {
namespace {

struct VariantInk {
  const char *variant, *name, *short_name;
  MarkColor ink;
};
// Okabe and Ito 2008; the text of each reads on white.
constexpr std::array<VariantInk, 6> kVariantInks = {
    {{"softmax", "softmax", "softmax", ink::kNet},
     {"diff_v2", "DIFF V2", "V2", ink::kSecond},
     {"diff_v1", "DIFF V1", "V1", ink::kFirst},
     {"gated", "gated", "gated", ink::kHead},
     {"softmax_one", "off-by-one", "off-by-one", {Color::hex(0xe69f00), Color::hex(0x8f6200)}},
     {"softmax_sink", "sink logit", "sink logit", ink::kKappa}}};
constexpr MarkColor kNetInk{Color::hex(0x56b4e9), Color::hex(0x1c7db5)};
constexpr std::size_t kMostGroups = 4;

}  // namespace

Result<std::vector<TrainingGroup>> training_groups(std::span<const FigureRun> runs) {
  std::vector<TrainingGroup> groups;
  for (const FigureRun& run : runs) {
    const std::string recipe = run.attribute("recipe_sha256");
    const std::string& variant = run.history->curves.kind;
    const auto found = std::ranges::find_if(
        groups, [&](const TrainingGroup& group) { return group.recipe_sha256 == recipe && group.variant == variant; });
    if (found != groups.end()) {
      found->seeds.push_back(&run);
      continue;
    }
    TrainingGroup group;
    group.recipe_sha256 = recipe, group.recipe = run.history->curves.recipe, group.variant = variant;
    group.seeds.push_back(&run);
    groups.push_back(std::move(group));
  }
  if (groups.size() > kMostGroups)
    return Error(ErrorCode::InvalidArgument, "training: " + std::to_string(groups.size()) +
                                                 " pairs of recipe and variant; one plot tells four apart");
  const bool one_recipe = std::ranges::all_of(
      groups, [&](const TrainingGroup& group) { return group.recipe_sha256 == groups.front().recipe_sha256; });
  for (std::size_t i = 0; i < groups.size(); ++i) {
    TrainingGroup& group = groups[i];
    const auto known =
        std::ranges::find_if(kVariantInks, [&](const VariantInk& one) { return group.variant == one.variant; });
    // A variant without a colour of its own, or one whose colour is taken: the first that is free.
    const auto taken = [&](const MarkColor& ink) {
      return std::any_of(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(i),
                         [&](const TrainingGroup& other) { return other.ink.mark == ink.mark; });
    };
    const auto free = std::ranges::find_if(kVariantInks, [&](const VariantInk& one) { return !taken(one.ink); });
    group.ink = known != kVariantInks.end() && !taken(known->ink) ? known->ink : free->ink;
    group.name = known != kVariantInks.end() ? known->name : group.variant;
    group.short_name = known != kVariantInks.end() ? known->short_name : group.variant;
    if (!one_recipe) group.name += ", " + group.recipe;
    group.dash = i == 2 ? kLongDash : i == 3 ? kShortDash : kSolidLine;
    group.net_ink = group.ink.mark == ink::kSecond.mark ? kNetInk : group.ink;
    group.net_dash = group.ink.mark == ink::kSecond.mark ? kSolidLine : kShortDash;
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
