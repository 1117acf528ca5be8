// A layer of a run into the table of its root group. Pure.
#pragma once

#include "core/base/result.h"
#include "core/measure/layer_record.h"
#include "core/measure/self_check.h"
#include "core/run/analysis.h"
#include "core/run/run_layout.h"

namespace headroom {

// Into the rows of the layer, which is one of table.layers; what the self-check finds goes into `check`.
[[nodiscard]] Result<void> add_summary_layer(SummaryTable& table, const LayerRecord& record, const RunShape& shape,
                                             const kernels::StatisticsRequest& request, SelfCheck& check);

}  // namespace headroom
