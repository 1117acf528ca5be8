#include "app/session/default_head.h"

#include <cmath>
#include <cstdint>
#include <string_view>

namespace headroom {
namespace {

constexpr double kSinkOnly = 0.9;

// The head with the largest value of a quantity with a value for each map, of those below `limit`.
std::optional<HeadRef> largest(const RunSnapshot& run, std::string_view quantity, double limit) {
  std::optional<HeadRef> best;
  double most = 0.0;
  for (const auto& layer : run.data) {
    if (!layer) continue;
    for (const std::int64_t head : layer->heads)
      for (const double value : layer->values(quantity, head)) {
        if (!std::isfinite(value) || value >= limit || (best && value <= most)) continue;
        best = HeadRef{layer->layer, head};
        most = value;
      }
  }
  return best;
}

}  // namespace

std::optional<HeadRef> default_head(const RunSnapshot& run) {
  if (const auto head = largest(run, "induction_score", 2.0)) return head;
  if (const auto head = largest(run, "sink_score", kSinkOnly)) return head;
  for (const auto& layer : run.data)
    if (layer && !layer->heads.empty()) return HeadRef{layer->layer, layer->heads.front()};
  return {};
}

}  // namespace headroom
