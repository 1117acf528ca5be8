#include "core/run/quantity.h"

namespace headroom {

const std::vector<double>& quantile_points() {
  static const std::vector<double> points = {0, .01, .05, .1, .25, .5, .75, .9, .95, .99, 1};
  return points;
}

const std::vector<std::int64_t>& top_k_points() {
  static const std::vector<std::int64_t> points = {1, 2, 4, 8, 16};
  return points;
}

kernels::UniformBins log10_rho_bins() { return {-4.0, 0.0625, 80}; }     // ρ from 10⁻⁴ to 10
kernels::UniformBins lambda_bins() { return {-1.0, 0.03125, 96}; }       // λ from −1 to 2
kernels::UniformBins logit_bins() { return {-64.0, 0.5, 256}; }          // z from −64 to 64
kernels::UniformBins log10_weight_bins() { return {-12.0, 0.125, 96}; }  // a from 10⁻¹² to 1

std::span<const Quantity> head_quantities() {
  static const std::vector<Quantity> table = [] {
    std::vector<Quantity> all = summary_quantities();
    for (const auto& part : {differential_quantities(), row_quantities(), distribution_quantities()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

const Quantity* find_quantity(std::string_view group, std::string_view name) {
  for (const Quantity& quantity : head_quantities())
    if (quantity.group == group && quantity.name == name) return &quantity;
  return nullptr;
}

}  // namespace headroom
