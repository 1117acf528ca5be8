// Products of plain matrices, for what is computed from weights alone: C += Aᵀ B with the instructions of
// kernels/cpu/target.h, on the calling thread. Safe from any thread.
#pragma once

#include <cstdint>

namespace headroom::kernels {

// A [depth, rows], B [depth, columns] and C [rows, columns], all row-major; a stride is the distance of two rows in
// numbers. Sums of 256 products are made in registers and added to C one after the other. C overlaps neither.
void add_product(const double* a, std::int64_t a_stride, const double* b, std::int64_t b_stride, std::int64_t depth,
                 std::int64_t rows, std::int64_t columns, double* c, std::int64_t c_stride);
void add_product(const float* a, std::int64_t a_stride, const float* b, std::int64_t b_stride, std::int64_t depth,
                 std::int64_t rows, std::int64_t columns, float* c, std::int64_t c_stride);

}  // namespace headroom::kernels
