#include "core/reproduce/measures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/numbers.h"
#include "core/training/training_file.h"

namespace headroom {
namespace {

using Array = std::vector<double>;

double median(Array values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

double largest(const Array& values) {
  double result = kNaN;
  for (const double value : values) result = std::fmax(result, value);
  return result;
}

// The gradient norms, without the one that was no number.
Result<Array> gradient_norms(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  HEADROOM_TRY(Array norms, study.history(recipe, variant, seed, "gradient_norm"));
  std::erase_if(norms, [](double norm) { return !std::isfinite(norm); });
  if (norms.empty()) norms.push_back(kNaN);
  return norms;
}

Result<double> last_validation_loss(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  if (study.diverged(recipe, variant, seed)) return std::log(static_cast<double>(recipe.task->vocab_size()));
  HEADROOM_TRY(const Array losses, study.history(recipe, variant, seed, "validation_loss"));
  return losses.back();
}

Result<double> count_loss_spikes(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  HEADROOM_TRY(const Array losses, study.history(recipe, variant, seed, "loss"));
  return static_cast<double>(count_spikes(losses));
}

Result<double> count_gradient_spikes(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  HEADROOM_TRY(const Array norms, study.history(recipe, variant, seed, "gradient_norm"));
  return static_cast<double>(count_spikes(norms));
}

Result<double> peak_over_median(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  HEADROOM_TRY(const Array norms, gradient_norms(study, recipe, variant, seed));
  return largest(norms) / median(norms);
}

Result<double> median_norm(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  HEADROOM_TRY(const Array norms, gradient_norms(study, recipe, variant, seed));
  return median(norms);
}

Result<double> share_clipped(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
  const double clip = variant.training.gradient_clip;
  if (clip <= 0.0) return 0.0;
  HEADROOM_TRY(const Array norms, gradient_norms(study, recipe, variant, seed));
  return static_cast<double>(std::ranges::count_if(norms, [&](double norm) { return norm > clip; })) /
         static_cast<double>(norms.size());
}

// value(evaluation) of the trained model; NaN where there is none.
template <typename Value>
Result<double> evaluated(Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed,
                         const Value& value) {
  if (study.diverged(recipe, variant, seed)) return kNaN;
  HEADROOM_TRY(const Evaluation* evaluation, study.evaluation(recipe, variant, seed, Moment::Trained));
  return value(*evaluation);
}

double logit_of_any_map(const Evaluation& e) { return std::fmax(e.largest("logit_max", 0), e.largest("logit_max", 1)); }

double logit_of_mean_map(const Evaluation& e) {
  double sum = 0.0, count = 0.0;
  for (std::int64_t l = 0; l < e.layers; ++l)
    for (std::int64_t h = 0; h < e.heads; ++h)
      for (const std::size_t component : {0, 1})
        if (const double value = e.at("logit_max", l, h, component); !std::isnan(value)) sum += value, count += 1.0;
  return sum / count;
}

double mean(const Array& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

const Measure& validation_loss() {
  static constexpr Measure measure = {"validation loss", "The validation loss", last_validation_loss};
  return measure;
}

const Measure& loss_spikes() {
  static constexpr Measure measure = {"loss spikes", "The number of loss spikes", count_loss_spikes};
  return measure;
}

const Measure& gradient_spikes() {
  static constexpr Measure measure = {"gradient spikes", "The number of gradient spikes", count_gradient_spikes};
  return measure;
}

const Measure& gradient_peak() {
  static constexpr Measure measure = {"largest gradient / median", "The largest gradient norm over its median",
                                      peak_over_median};
  return measure;
}

const Measure& clipped_steps() {
  static constexpr Measure measure = {"steps clipped", "The share of clipped steps", share_clipped};
  return measure;
}

const Measure& gradient_median() {
  static constexpr Measure measure = {"gradient norm, median", "The median gradient norm", median_norm};
  return measure;
}

const Measure& residual_kurtosis() {
  static constexpr Measure measure = {
      "kurtosis", "The kurtosis of the residual stream",
      [](Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
        return evaluated(study, recipe, variant, seed,
                         [](const Evaluation& e) { return mean(e.residual_kurtosis.mean); });
      }};
  return measure;
}

const Measure& residual_outlier() {
  static constexpr Measure measure = {
      "max / median of abs(h)", "The largest over the median activation of the residual stream",
      [](Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
        return evaluated(study, recipe, variant, seed,
                         [](const Evaluation& e) { return largest(e.residual_largest_over_median.mean); });
      }};
  return measure;
}

const Measure& largest_logit() {
  static constexpr Measure measure = {
      "largest logit", "The largest logit of any map",
      [](Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
        return evaluated(study, recipe, variant, seed, logit_of_any_map);
      }};
  return measure;
}

const Measure& largest_logit_of_map() {
  static constexpr Measure measure = {
      "largest logit of a map", "The largest logit of a map, mean over maps,",
      [](Study& study, const Recipe& recipe, const Variant& variant, std::uint64_t seed) {
        return evaluated(study, recipe, variant, seed, logit_of_mean_map);
      }};
  return measure;
}

Result<Spread> measured(Study& study, const std::string& recipe, const std::string& variant, const Measure& measure) {
  const Recipe& from = study.recipe(recipe);
  const Variant* found = find_variant(from, variant);
  HEADROOM_CHECK(found != nullptr, "no variant of this name");
  return measured_over(study, from, {found}, measure);
}

std::vector<const Variant*> swept_variants(const Recipe& recipe, const std::string& base,
                                           const std::function<bool(const Variant&)>& chosen) {
  std::vector<const Variant*> points;
  for (const Variant& variant : recipe.variants)
    if (variant.base == base && chosen(variant)) points.push_back(&variant);
  return points;
}

Result<Spread> measured_over(Study& study, const Recipe& recipe, const std::vector<const Variant*>& points,
                             const Measure& measure) {
  Spread result;
  for (const std::uint64_t seed : points.front()->seeds) {
    Spread of_seed;
    for (const Variant* point : points) {
      HEADROOM_TRY(const double value, measure.of(study, recipe, *point, seed));
      of_seed.values.push_back(value);
    }
    result.values.push_back(of_seed.mean());
  }
  return result;
}

}  // namespace headroom
