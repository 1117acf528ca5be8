// One number of each head of a run, for whatever shows or lists them: panels, filters, tables. Pure functions; safe
// from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/quantity_info.h"
#include "core/run/run_snapshot.h"

namespace headroom {

// NaN where there is no value: not measured, not computed yet, absent map.
[[nodiscard]] double head_value(const RunSnapshot& run, const QuantityRef& ref, std::int64_t layer, std::int64_t head);
// [layers, heads] of the run, row-major.
[[nodiscard]] std::vector<double> head_values(const RunSnapshot& run, const QuantityRef& ref);
// A statistic over the sequences of a corpus ("ci_low"), likewise; NaN of a run that is of none.
[[nodiscard]] std::vector<double> head_statistics(const RunSnapshot& run, const QuantityRef& ref,
                                                  std::string_view statistic);
// The level of uniform attention, NaN where the quantity has none.
[[nodiscard]] double null_level(const RunSnapshot& run, const QuantityRef& ref);

// Those of circuits, for the list beside them.
[[nodiscard]] std::vector<std::string> circuit_columns(const RunSnapshot& run);

// The columns of the table where none are chosen: those that have a value in this run.
[[nodiscard]] std::vector<std::string> usual_columns(const RunSnapshot& run);
// Numbers that the head panel begins with.
[[nodiscard]] std::vector<std::string> usual_numbers(const RunSnapshot& run);

}  // namespace headroom
