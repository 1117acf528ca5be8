// Whether the values of a head are what the interval of its context RMS supposes: uncorrelated, of one size, around no
// common vector (core/measure/QUANTITIES.md#the-premise). Compute thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "core/measure/premise_record.h"
#include "kernels/attention.h"

namespace headroom {

// Of the heads of one layer, one after the other: what they share is computed once.
template <typename Real>
class PremiseMeasure {
 public:
  // `min_row`: rows with fewer visible keys are not sampled, unless all have fewer.
  PremiseMeasure(std::int64_t min_row, at::Device device) : min_row_(min_row), device_(device) {}

  // What leads from a head's context to the stream; undefined where there is none.
  struct After {
    at::Tensor output;  // [hidden, value_dim]: the head's columns of W_O
    at::Tensor norm;    // [value_dim]: weights of the head norm
    at::Tensor gate;    // [rows, value_dim or 1]
  };

  // Null for a head whose two maps multiply different values, and where a value, a weight or λ is not finite. False
  // when stopped.
  [[nodiscard]] bool measure(const kernels::HeadProblem<Real>& problem, const After& after,
                             const kernels::StopRequested& stop, std::shared_ptr<const PremiseRecord>& record);

 private:
  struct Pass;  // one head

  std::int64_t min_row_;
  at::Device device_;
  at::Tensor signs_;                                              // [keys, draws], Real
  std::map<std::pair<const Real*, std::int64_t>, double> hulls_;  // by values and row, of heads that see alike
};

}  // namespace headroom
