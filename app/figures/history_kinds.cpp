#include "app/figures/history_kinds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

struct VariantName {
  const char *variant, *name, *short_name;
};
constexpr std::array<VariantName, kVariantInks> kVariantNames = {{{"softmax", "softmax", "softmax"},
                                                                  {"diff_v2", "DIFF V2", "V2"},
                                                                  {"diff_v1", "DIFF V1", "V1"},
                                                                  {"gated", "gated", "gated"},
                                                                  {"softmax_one", "off-by-one", "off-by-one"},
                                                                  {"softmax_sink", "sink logit", "sink logit"}}};
constexpr std::size_t kHashShown = 6;
constexpr std::size_t kMostPlaces = 4096;  // as many as a wide screen has pixels

// Its own unless an earlier kind has it; else the first that is free.
std::size_t ink_of(std::span<const HistoryKind> earlier, std::size_t own, std::size_t inks) {
  const auto taken = [&](std::size_t ink) {
    return std::ranges::find(earlier, ink, &HistoryKind::ink) != earlier.end();
  };
  if (own < kVariantNames.size() && !taken(own)) return own;
  for (std::size_t ink = 0; ink < inks; ++ink)
    if (!taken(ink)) return ink;
  return earlier.size() % inks;
}

}  // namespace

std::vector<HistoryKind> history_kinds(std::span<const StoredHistory* const> histories, std::size_t inks) {
  std::vector<HistoryKind> kinds;
  const auto first_of = [&](const HistoryKind& kind) -> const StoredHistory& {
    return *histories[kind.members.front()];
  };
  // Those without a hash, which are of any recipe of their name, come to the kinds that the others make.
  std::vector<std::size_t> order(histories.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(order, [&](std::size_t i) { return !histories[i]->recipe_sha256.empty(); });
  for (const std::size_t i : order) {
    const StoredHistory& history = *histories[i];
    auto kind = std::ranges::find_if(kinds, [&](const HistoryKind& one) { return same_kind(first_of(one), history); });
    if (kind == kinds.end()) {
      HistoryKind made{history.recipe_sha256, history.recipe, history.kind, {}, {}, 0, {}};
      const auto known = std::ranges::find(kVariantNames, made.variant, &VariantName::variant);
      const bool named = known != kVariantNames.end();
      made.name = named ? known->name : made.variant, made.short_name = named ? known->short_name : made.variant;
      made.ink = ink_of(kinds, static_cast<std::size_t>(known - kVariantNames.begin()), inks);
      kinds.push_back(std::move(made));
      kind = kinds.end() - 1;
    }
    kind->members.push_back(i);
  }
  const bool several = std::ranges::any_of(
      kinds, [&](const HistoryKind& kind) { return !same_recipe(first_of(kind), first_of(kinds.front())); });
  std::vector<std::string> names;
  for (const HistoryKind& kind : kinds) {
    const bool alike = std::ranges::any_of(kinds, [&](const HistoryKind& other) {
      return other.recipe == kind.recipe && !same_recipe(first_of(other), first_of(kind));
    });
    names.push_back(!several ? "" : ", " + kind.recipe + (alike ? " " + kind.recipe_sha256.substr(0, kHashShown) : ""));
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i].name += names[i];
  return kinds;
}

std::pair<StepSeries, StepSeries> seed_range(std::span<const StepSeries* const> seeds) {
  const StepSeries* longest = nullptr;
  for (const StepSeries* one : seeds)
    if (one != nullptr && (longest == nullptr || one->last_step() > longest->last_step())) longest = one;
  if (longest == nullptr) return {};
  std::vector<std::int64_t> steps;
  std::vector<float> low, high;
  const std::size_t places = std::min(longest->size(), kMostPlaces);
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t begin = i * longest->size() / places, end = (i + 1) * longest->size() / places;
    const std::int64_t from = longest->step(begin);
    const std::int64_t to = end < longest->size() ? longest->step(end) : longest->last_step() + 1;
    LowHigh range;
    for (const StepSeries* one : seeds)
      if (one != nullptr) range.add(one->range(one->index_of(from), one->index_of(to)));
    const auto goes_on = [&](const StepSeries* one) {
      return one == nullptr || one->empty() || one->last_step() >= from;
    };
    if (range.empty() || !std::ranges::all_of(seeds, goes_on)) continue;
    steps.push_back(from);
    low.push_back(range.low);
    high.push_back(range.high);
  }
  return {StepSeries(steps, std::move(low)), StepSeries(steps, std::move(high))};
}

}  // namespace headroom
