// What a pass without changes leaves of a sequence: its table, sums of contexts, what the self-check found wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/measure/self_check.h"
#include "core/run/compute.h"
#include "core/run/run_plan.h"
#include "core/run/summary_layer.h"

namespace headroom {

class PassObserver final : public ForwardObserver {
 public:
  PassObserver(const RunPlan& plan, const std::function<void(double)>& report, const kernels::StopRequested& stop)
      : plan_(plan), report_(report), stop_(stop) {
    table.layers = plan.request.layers, table.heads = plan.request.heads;
  }

  Result<void> on_layer(LayerRecord record) override {
    return add_summary_layer(table, record, plan_.shape, plan_.forward.request, check_);
  }
  Result<void> on_context_sums(std::int64_t layer, std::span<const double> values) override {
    sums[layer].assign(values.begin(), values.end());
    return {};
  }
  void on_progress(double fraction, const std::string& /*what*/) override { report_(fraction); }
  [[nodiscard]] bool stop_requested() const override { return stop_ && stop_(); }

  [[nodiscard]] const std::vector<std::string>& violations() const { return check_.violations; }

  SummaryTable table;
  HeadMeans sums;

 private:
  const RunPlan& plan_;
  const std::function<void(double)>& report_;
  const kernels::StopRequested& stop_;
  SelfCheck check_;
};

}  // namespace headroom
