#include "core/run/ablation_way.h"

#include <cstddef>

namespace headroom {
namespace {

constexpr std::array<AblationWayInfo, kAblationWays.size()> kWayInfos = {{
    {"off", "head off", "output 0", "zero", "head=off", "delta_loss_off"},
    {"mean", "mean of its rows", "one vector for all rows", "mean", "head=mean", "delta_loss_mean"},
    {"hide-key0", "key 0 hidden", "rows renormalise", "hide-key", "hide-key=0", "delta_loss_hide_key0"},
    {"second-off", "second map off", "first map alone", "second-map", "second-map=off", "delta_loss_second_off"},
}};

}  // namespace

const AblationWayInfo& way_info(AblationWay way) { return kWayInfos[static_cast<std::size_t>(way)]; }

std::optional<AblationWay> parse_way(std::string_view word) {
  for (const AblationWay way : kAblationWays)
    if (way_info(way).word == word) return way;
  return {};
}

std::optional<AblationWay> way_of_quantity(std::string_view name) {
  for (const AblationWay way : kAblationWays)
    if (way_info(way).quantity == name) return way;
  return {};
}

}  // namespace headroom
