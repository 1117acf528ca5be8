// How far a few activations stand out of the rest. Pure functions; safe from any thread.
#pragma once

#include <span>

namespace headroom {

// mean((x − μ)⁴) / (σ⁴ + 1e-6) with the sample's σ (n − 1): Pearson's, 3 for a normal distribution (Bondarenko et al.,
// arXiv 2306.12929). NaN for fewer than two numbers.
[[nodiscard]] double kurtosis(std::span<const double> values);

// max |x| / median |x|, the median of an even number being the mean of its two middle ones (the ratio of massive
// activations, Sun et al., arXiv 2402.17762). NaN without numbers.
[[nodiscard]] double largest_over_median(std::span<const double> values);

}  // namespace headroom
