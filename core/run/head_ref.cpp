#include "core/run/head_ref.h"

#include <algorithm>

#include "core/base/format.h"

namespace headroom {

std::string head_text(const HeadRef& head) {
  return format("L%lld.H%lld", static_cast<long long>(head.layer), static_cast<long long>(head.head));
}

std::optional<std::size_t> place_of(std::span<const std::int64_t> layers, std::span<const std::int64_t> heads,
                                    const HeadRef& head) {
  const auto layer = std::ranges::lower_bound(layers, head.layer);
  const auto at = std::ranges::lower_bound(heads, head.head);
  if (layer == layers.end() || *layer != head.layer || at == heads.end() || *at != head.head) return {};
  return static_cast<std::size_t>(layer - layers.begin()) * heads.size() + static_cast<std::size_t>(at - heads.begin());
}

}  // namespace headroom
