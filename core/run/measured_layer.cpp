#include "core/run/measured_layer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/base/numbers.h"

namespace headroom {

double self_check_tolerance(const RunShape& shape) {
  return shape.real == ElementType::Float64 ? kFloat64Tolerance : kFloat32Tolerance;
}

MeasuredLayer::MeasuredLayer(const LayerRecord& record, const RunShape& shape,
                             const kernels::StatisticsRequest& request, SelfCheck& check)
    : shape_(shape), request_(request) {
  heads_.reserve(record.heads.size());
  for (const HeadRecord& head : record.heads) {
    heads_.emplace_back(record, head, shape.min_row);
    check_head(heads_.back(), self_check_tolerance(shape), check);
  }
}

Result<void> MeasuredLayer::for_each_quantity(const Take& take) const {
  for (const Quantity& quantity : head_quantities()) {
    if (!is_written(quantity, shape_)) continue;
    std::size_t size = 1;
    for (const std::int64_t extent : extents(quantity, shape_)) size *= static_cast<std::size_t>(extent);
    const bool integer = quantity.type == ElementType::Int32 || quantity.type == ElementType::Int64;
    std::vector<double> values(size * heads_.size(), integer ? -1.0 : kNaN);
    for (std::size_t h = 0; h < heads_.size(); ++h)
      quantity.compute({heads_[h], request_}, std::span<double>(values).subspan(h * size, size));
    HEADROOM_TRY_VOID(take(quantity, std::move(values)));
  }
  return {};
}

}  // namespace headroom
