#include "core/measure/quantity.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

void append(std::vector<Quantity>& all, const std::vector<Quantity>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

}  // namespace

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

std::string path_of(const Quantity& quantity) {
  return quantity.group.empty() ? std::string(quantity.name)
                                : std::string(quantity.group) + "/" + std::string(quantity.name);
}

std::string definition_of(const Quantity& quantity) {
  const std::string formula(quantity.formula);
  return quantity.remark.empty() ? formula : formula + "; " + std::string(quantity.remark);
}

std::string source_of(const Quantity& quantity) {
  std::string text;
  for (const Reference& reference : quantity.sources) text += (text.empty() ? "" : "; ") + cited(reference);
  return text;
}

std::vector<std::string> axes_of(const Quantity& quantity) {
  std::vector<std::string> axes;
  if (quantity.per != Per::Run) axes.emplace_back(axis::kLayer);
  if (quantity.per == Per::Head) axes.emplace_back(axis::kHead);
  axes.insert(axes.end(), quantity.axes.begin(), quantity.axes.end());
  return axes;
}

std::span<const Quantity> head_quantities() {
  static const std::vector<Quantity> table = [] {
    std::vector<Quantity> all;
    append(all, summary_quantities());
    append(all, rounding_quantities());
    append(all, differential_quantities());
    append(all, row_quantities());
    append(all, distribution_quantities());
    append(all, premise_quantities());
    return all;
  }();
  return table;
}

std::span<const Quantity> other_quantities() {
  static const std::vector<Quantity> table = [] {
    std::vector<Quantity> all;
    append(all, model_quantities());
    append(all, prediction_quantities());
    append(all, router_quantities());
    append(all, program_quantities());
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
