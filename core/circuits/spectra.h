// Singular values, norms and eigenvalues of L Rᵀ with thin L, R [D, r], by matrices of r × r alone: QR of both factors,
// then the small product. Pure functions; safe from any thread.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "core/circuits/factors.h"

namespace headroom {

// The triangle of a QR, [r, r]: factor = Q R with orthonormal columns of Q. Needs D ≥ r; else the factor as it is
// turned, which serves the same.
[[nodiscard]] Thin triangle(const Thin& factor);

// Of left rightᵀ, given the triangles of both: descending, as many as there are columns.
[[nodiscard]] std::vector<double> singular_values(const Thin& left_triangle, const Thin& right_triangle);

// a bᵀ of small matrices, and a b.
[[nodiscard]] Thin times_turned(const Thin& a, const Thin& b);

[[nodiscard]] double frobenius(const Thin& matrix);

// (Σσ²)²/Σσ⁴: 1 where one value is all there is, r where all are equal. NaN where all are 0.
[[nodiscard]] double effective_rank(std::span<const double> singular);

// Of a square matrix, by descending |μ|; empty where it holds what is not finite.
[[nodiscard]] std::vector<std::complex<double>> eigenvalues(const Thin& matrix);

// Σ Re μ / Σ |μ|, in [−1, 1]; NaN without eigenvalues.
[[nodiscard]] double real_share(std::span<const std::complex<double>> values);

// ⟨A, B⟩_F / (‖A‖_F ‖B‖_F) of matrices of one shape.
[[nodiscard]] double cosine(const Thin& a, const Thin& b);
// The same of L₁R₁ᵀ and L₂R₂ᵀ: tr((L₁ᵀL₂)(R₂ᵀR₁)) over norms, which are given.
[[nodiscard]] double product_cosine(const Thin& left1, const Thin& right1, double norm1, const Thin& left2,
                                    const Thin& right2, double norm2);

}  // namespace headroom
