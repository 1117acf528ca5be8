#include "app/session/head_threshold.h"

namespace headroom {

std::optional<double> threshold_of(const QuantityInfo* info, const HeadsState& view) {
  if (info == nullptr) return {};
  if (info->threshold) return info->threshold;
  if (info->centred && info->group != QuantityGroup::Sinks) return {};
  return view.threshold;
}

}  // namespace headroom
