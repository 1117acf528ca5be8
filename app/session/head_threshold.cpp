#include "app/session/head_threshold.h"

#include "core/base/number_text.h"

namespace headroom {

std::optional<double> threshold_of(const QuantityInfo* info, const HeadsState& view) {
  if (info == nullptr) return {};
  if (info->threshold) return info->threshold;
  if (info->centred && info->group != QuantityGroup::Sinks) return {};
  return view.threshold;
}

std::string threshold_name(const QuantityInfo* info) {
  return info != nullptr && info->threshold ? short_text(*info->threshold) : "ε";
}

}  // namespace headroom
