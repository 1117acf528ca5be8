// Numbers of one trained model that several claims look at, and their spread over seeds and points of a sweep. Owned by
// the study's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/reproduce/study.h"

namespace headroom {

struct Measure {
  const char* column;  // of a table
  const char* what;    // in a sentence: "The validation loss"
  Result<double> (*of)(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed);
};

// Of the training: a spike is a step above the median of the 100 before by more than six median deviations.
[[nodiscard]] const Measure& validation_loss();  // of a training that diverged: that of guessing, ln of the vocabulary
[[nodiscard]] const Measure& loss_spikes();
[[nodiscard]] const Measure& gradient_spikes();
[[nodiscard]] const Measure& gradient_peak();  // the largest gradient norm over its median
[[nodiscard]] const Measure& clipped_steps();  // share of steps whose gradient was cut
[[nodiscard]] const Measure& gradient_median();
// Of the model, on 64 sequences that no training has seen; NaN where it diverged.
[[nodiscard]] const Measure& residual_kurtosis();  // mean over sequences and layers
[[nodiscard]] const Measure&
residual_outlier();                            // max |h| / median |h|: mean over sequences, of the layer with the most
[[nodiscard]] const Measure& largest_logit();  // of any map, row and sequence
[[nodiscard]] const Measure& largest_logit_of_map();  // a map's largest of all rows and sequences, mean over maps

// For every seed of the recipe.
[[nodiscard]] Result<Spread> measured(Study& study, const std::string& recipe, const std::string& variant,
                                      const Measure& measure);
// The points of the recipe's sweep at which a variant of this name was trained, in the recipe's order.
[[nodiscard]] std::vector<const Variant*> swept_variants(const Recipe& recipe, const std::string& base,
                                                         const std::function<bool(const Variant&)>& chosen);
// For every seed the mean over those points, of which there must be one; models that have no such number left out.
[[nodiscard]] Result<Spread> measured_over(Study& study, const Recipe& recipe,
                                           const std::vector<const Variant*>& points, const Measure& measure);

}  // namespace headroom
