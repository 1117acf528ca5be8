#include "core/run/summary_layer.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "core/run/measured_layer.h"

namespace headroom {

Result<void> add_summary_layer(SummaryTable& table, const LayerRecord& record, const RunShape& shape,
                               const kernels::StatisticsRequest& request, SelfCheck& check) {
  const auto found = std::ranges::lower_bound(table.layers, record.layer);
  const auto layer = static_cast<std::size_t>(found - table.layers.begin());
  const MeasuredLayer measured(record, shape, request, check);
  return measured.for_each_quantity([&](const Quantity& quantity, const std::vector<double>& values) -> Result<void> {
    if (!quantity.group.empty() || record.heads.empty()) return {};
    std::vector<double>& numbers = table.values[std::string(quantity.name)];
    const std::size_t layer_size = values.size() / record.heads.size() * table.heads.size();
    numbers.resize(table.layers.size() * layer_size, kNaN);
    std::ranges::copy(values, numbers.begin() + static_cast<std::ptrdiff_t>(layer * layer_size));
    return {};
  });
}

}  // namespace headroom
