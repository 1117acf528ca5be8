// The table of quantities: every per-head dataset of a run file with its axes, unit, definition and source, and the
// function that computes it from a head's record. Files, tables and panels are driven by it; a new quantity is one new
// entry. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/io/run_file_writer.h"
#include "core/run/head_view.h"

namespace headroom {

// What quantities need to know beyond the head.
struct QuantityContext {
  const HeadView& head;
  const kernels::StatisticsRequest& request;
};

struct Quantity {
  std::string_view group;  // "" is the root
  std::string_view name;
  std::vector<std::string_view> axes;  // after layer and head
  ElementType type;
  std::string_view units;
  std::string_view long_name;
  std::string_view definition;
  std::string_view source;  // metrics.md
  std::string_view rows;    // "eligible", "all" or "" where it does not apply
  void (*compute)(const QuantityContext& context, std::span<double> out);  // row-major over `axes`
};

// Names of axes and what they hold, for sequences of a given length.
namespace axis {
inline constexpr std::string_view kLayer = "layer", kHead = "head", kComponent = "component", kPosition = "position",
                                  kQuantile = "quantile", kBound = "bound", kTopK = "top_k", kRank = "rank",
                                  kQueryBlock = "query_block", kKeyBlock = "key_block";
}

[[nodiscard]] const std::vector<double>& quantile_points();     // 0, .01, … 1
[[nodiscard]] const std::vector<std::int64_t>& top_k_points();  // 1, 2, 4, 8, 16
inline constexpr std::int64_t kRanks = 16;

// Bins of the histograms: log₁₀ ρ, λ, z, log₁₀ a.
[[nodiscard]] kernels::UniformBins log10_rho_bins();
[[nodiscard]] kernels::UniformBins lambda_bins();
[[nodiscard]] kernels::UniformBins logit_bins();
[[nodiscard]] kernels::UniformBins log10_weight_bins();

// In the order of the file: root, rows, keys, hist, maps, weights.
[[nodiscard]] std::span<const Quantity> head_quantities();
[[nodiscard]] const Quantity* find_quantity(std::string_view group, std::string_view name);

// Parts of the table, by group.
[[nodiscard]] std::vector<Quantity> summary_quantities();
[[nodiscard]] std::vector<Quantity> differential_quantities();
[[nodiscard]] std::vector<Quantity> row_quantities();
[[nodiscard]] std::vector<Quantity> distribution_quantities();  // keys, hist, maps, weights

}  // namespace headroom
