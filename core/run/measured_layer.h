// A layer of a run as everything that collects results reads it, a file, a snapshot or an evaluation: views of its
// heads, checked, and the values of every quantity of the table that the run has. Refers to the record, which outlives
// it; immutable.
#pragma once

#include <functional>
#include <vector>

#include "core/base/result.h"
#include "core/measure/head_view.h"
#include "core/measure/quantity.h"
#include "core/measure/self_check.h"
#include "core/run/run_layout.h"

namespace headroom {

// Of the self-check, by the run's dtype.
[[nodiscard]] double self_check_tolerance(const RunShape& shape);

class MeasuredLayer {
 public:
  // What the self-check finds goes into `check`.
  MeasuredLayer(const LayerRecord& record, const RunShape& shape, const kernels::StatisticsRequest& request,
                SelfCheck& check);

  [[nodiscard]] const std::vector<HeadView>& heads() const { return heads_; }

  // take(quantity, values) for each quantity; values [heads, extents…], row-major, −1 in integers and NaN elsewhere
  // where there is no value. The first error ends it.
  using Take = std::function<Result<void>(const Quantity& quantity, std::vector<double> values)>;
  [[nodiscard]] Result<void> for_each_quantity(const Take& take) const;

 private:
  const RunShape& shape_;
  const kernels::StatisticsRequest& request_;
  std::vector<HeadView> heads_;
};

}  // namespace headroom
