#include "core/run/number_digits.h"

#include <algorithm>
#include <cmath>

#include "core/base/number_text.h"

namespace headroom {

int decimals_by(const QuantityInfo& info, double uncertainty) {
  constexpr int kMostMore = 5;
  const double shown = std::abs(shown_value(info, uncertainty));
  if (!(shown > 0.0) || !std::isfinite(shown)) return info.decimals;
  const int two = 1 - static_cast<int>(std::floor(std::log10(shown)));
  return std::clamp(two, info.decimals, info.decimals + kMostMore);
}

std::string number_text(const QuantityInfo& info, double value, int decimals) {
  if (info.linear_to > 0.0 && !std::isnan(value)) return signed_text(value, decimals);
  return fixed_text(shown_value(info, value), decimals);
}

}  // namespace headroom
