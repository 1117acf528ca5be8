// What attention loses where its unnormalised weights and their product with the values are rounded to bfloat16, and
// whether the errors of a head have a sign: Qiu and Yao 2025, arXiv 2510.04212. Compute thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>

#include "core/measure/layer_record.h"
#include "kernels/attention.h"

namespace headroom {

// Per map, NaN where there is none, where its normaliser is no softmax, and where a value or a row is not finite:
//   e_i = (b(Σ_j b(p̄_ij) v_j) − Σ_j p̄_ij v_j) / l_i, p̄_ij = exp(z_ij − max_k z_ik), l_i = Σ_j p̄_ij and the sink's term,
// with b the nearest bfloat16 and everything else in Real; over the rows i that see a key. Nothing else is rounded: not
// queries, keys, logits, values, nor what is kept from block to block of a long row, which is one block here.
// False when stopped.
template <typename Real>
[[nodiscard]] bool measure_rounding(const kernels::HeadProblem<Real>& problem, at::Device device,
                                    const kernels::StopRequested& stop, std::array<RoundingErrors, 2>& errors);

}  // namespace headroom
