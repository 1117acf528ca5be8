#include "core/run/head_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/numbers.h"
#include "core/model/head_address.h"

namespace headroom {
namespace {

// [layers, heads, elements]; null where none were measured.
const std::vector<double>* measured_beside(const RunSnapshot& run, const QuantityInfo& info) {
  const auto found = run.beside.find(info.name);
  const std::size_t size = run.layers.size() * run.heads.size() * info.elements();
  return found != run.beside.end() && found->second.size() == size ? &found->second : nullptr;
}

// Of a number of the run file: indices below 0 say that there is none.
double read(const QuantityInfo& info, double value) { return info.whole && value < 0.0 ? kNaN : value; }

}  // namespace

double head_value(const RunSnapshot& run, const QuantityRef& ref, std::int64_t layer, std::int64_t head) {
  if (ref.info == nullptr) return kNaN;
  if (ref.info->beside_runs()) {
    const std::vector<double>* const values = measured_beside(run, *ref.info);
    const std::optional<std::size_t> place = place_of(run.layers, run.heads, {layer, head});
    return values && place ? (*values)[*place * ref.info->elements() + ref.index] : kNaN;
  }
  const LayerSnapshot* const snapshot = run.layer(layer);
  const std::span<const double> values = snapshot ? snapshot->values(ref.info->name, head) : std::span<const double>();
  return ref.index < values.size() ? read(*ref.info, values[ref.index]) : kNaN;
}

// By column: a layer's values are looked up once, not once a head.
std::vector<double> head_values(const RunSnapshot& run, const QuantityRef& ref) {
  std::vector<double> values(run.layers.size() * run.heads.size(), kNaN);
  if (ref.info == nullptr) return values;
  if (ref.info->beside_runs()) {
    const std::vector<double>* const found = measured_beside(run, *ref.info);
    for (std::size_t row = 0; found != nullptr && row < values.size(); ++row)
      values[row] = (*found)[row * ref.info->elements() + ref.index];
    return values;
  }
  for (std::size_t l = 0; l < run.layers.size() && l < run.data.size(); ++l) {
    const LayerSnapshot* layer = run.data[l].get();
    if (layer == nullptr || layer->heads.empty()) continue;
    const auto found = layer->summary.find(ref.info->name);
    if (found == layer->summary.end()) continue;
    const std::size_t stride = found->second.size() / layer->heads.size();
    if (ref.index >= stride) continue;
    for (std::size_t h = 0; h < run.heads.size(); ++h) {
      const std::int64_t at = h < layer->heads.size() && layer->heads[h] == run.heads[h]
                                  ? static_cast<std::int64_t>(h)
                                  : layer->head_index(run.heads[h]);
      if (at < 0) continue;
      values[l * run.heads.size() + h] =
          read(*ref.info, found->second[static_cast<std::size_t>(at) * stride + ref.index]);
    }
  }
  return values;
}

std::vector<double> head_statistics(const RunSnapshot& run, const QuantityRef& ref, std::string_view statistic) {
  std::vector<double> values(run.layers.size() * run.heads.size(), kNaN);
  if (ref.info == nullptr) return values;
  const auto found = run.beside.find(ref.info->name + "." + std::string(statistic));
  if (found == run.beside.end() || found->second.size() != values.size() * ref.info->elements()) return values;
  for (std::size_t row = 0; row < values.size(); ++row)
    values[row] = found->second[row * ref.info->elements() + ref.index];
  return values;
}

double null_level(const RunSnapshot& run, const QuantityRef& ref) {
  return ref.info != nullptr && ref.info->sink_null ? run.sink_null : kNaN;
}

namespace {

std::vector<std::string> with_values(const RunSnapshot& run, std::span<const std::string_view> names) {
  std::vector<std::string> result;
  for (const std::string_view name : names) {
    const QuantityInfo* info = find_quantity_info(name);
    if (info == nullptr) continue;
    const std::vector<double> values = head_values(run, {info, info->default_index});
    // Nothing but zeros (the negative mass of softmax heads) is no news.
    if (std::ranges::any_of(values, [](double v) { return !std::isnan(v) && v != 0.0; })) result.emplace_back(name);
  }
  return result;
}

}  // namespace

std::vector<std::string> circuit_columns(const RunSnapshot& run) {
  static constexpr std::string_view kNames[] = {
      "copying_score",        "ov_largest_singular_value", "ov_effective_rank", "qk_largest_singular_value",
      "previous_token_score", "induction_score",           "sink_score",        "output_alignment_mean"};
  return with_values(run, kNames);
}

std::vector<std::string> usual_columns(const RunSnapshot& run) {
  static constexpr std::string_view kNames[] = {"sink_score",
                                                "context_rms_relative_mean",
                                                "weight_l2_mean",
                                                "coherence_mean",
                                                "value_drain",
                                                "entropy_normalized_mean",
                                                "effective_keys_mean",
                                                "logit_max",
                                                "induction_score",
                                                "rows_inside_bound",
                                                "lambda_mean",
                                                "negative_mass_mean",
                                                "map_cosine_mean",
                                                "norm_gain_median",
                                                "gate_mean"};
  std::vector<std::string> columns = with_values(run, kNames);
  return columns.empty() ? circuit_columns(run) : columns;  // beside circuits, before anything ran
}

std::vector<std::string> usual_numbers(const RunSnapshot& run) {
  static constexpr std::string_view kNames[] = {
      "sink_score",      "context_rms_relative_mean", "weight_l2_mean",      "coherence_mean",
      "value_drain",     "entropy_normalized_mean",   "effective_keys_mean", "logit_max",
      "induction_score", "previous_token_score",      "implicit_sink_mass",  "gate_mean"};
  return with_values(run, kNames);
}

}  // namespace headroom
