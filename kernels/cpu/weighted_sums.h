// Sums of rows, each so many times: what a bootstrap adds up. Safe from any thread.
#pragma once

#include <cstdint>

namespace headroom::kernels {

// sums[c] = Σ_r times[r] · values[r · stride + c] for c = 0 … columns − 1, the rows one after the other and every
// product rounded before it is added: the same bits with all instructions.
void weighted_sums(const double* times, std::int64_t rows, const double* values, std::int64_t stride,
                   std::int64_t columns, double* sums);

}  // namespace headroom::kernels
