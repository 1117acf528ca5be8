// The check every run makes of its own numbers: row sums, the bounds that ‖w‖₂ has for any values. A violation is a bug
// of this program, never a finding; NaN is one where queries, keys, λ and the sink are finite and far from overflow.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/measure/head_view.h"

namespace headroom {

inline constexpr double kFloat32Tolerance = 1e-5, kFloat64Tolerance = 1e-10;

struct SelfCheck {
  std::int64_t rows = 0;                // rows looked at
  std::int64_t rows_not_finite = 0;     // rows left out, since what they are made of is not finite
  double worst_row_sum = 0.0;           // largest |Σ_j w_ij − (1 − λ_i)| (softmax heads without sink)
  double worst_bound = 0.0;             // largest relative excess of ‖w_i‖₂ over its bounds
  std::vector<std::string> violations;  // sentences; at most a few
};

// Adds a sentence, unless there are enough of them.
void add_violation(SelfCheck& check, std::int64_t layer, std::int64_t head, std::int64_t row, const char* what,
                   double found, double wanted);

// Adds one head; `tolerance` is the one of the run's dtype.
void check_head(const HeadView& head, double tolerance, SelfCheck& check);

}  // namespace headroom
