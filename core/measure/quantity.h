// The table of quantities: every dataset of a run file with its axes, unit, formula, range, rows and source, and for
// what is measured per head the function that computes it from a head's record. Files, panels, text and the document
// QUANTITIES.md are driven by it; a new quantity is one new entry. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/run_file_writer.h"
#include "core/measure/head_view.h"
#include "core/measure/quantity_sources.h"

namespace headroom {

// What quantities need to know beyond the head.
struct QuantityContext {
  const HeadView& head;
  const kernels::StatisticsRequest& request;
};

// What there is one of: the axes that lead those of the entry.
enum class Per : std::uint8_t { Head, Layer, Run };  // layer, head; layer; none

struct Quantity {
  std::string_view group = {};  // "" is the root
  std::string_view name = {};
  Per per = Per::Head;
  std::vector<std::string_view> axes = {};  // after those of `per`
  ElementType type = ElementType::Float32;  // Float32: float64 in float64 runs
  std::string_view units = "1";
  std::string_view long_name = {};
  std::string_view formula = {};  // of one element, in the symbols of notions()
  std::string_view remark = {};   // what the formula leaves open
  std::string_view range = {};    // "[0, 1]"; in n, λ and ε where it depends on them; empty for text
  std::string_view rows = {};     // the rows i that it is over: "all", "eligible" or "" where there are none
  std::string_view where = {};    // which of these: "that see key 0"
  std::string_view heads = {};    // which heads have it; empty: every one
  std::string_view option = {};   // of the run, without which it is not written: "rounding", "premise"; empty: always
  std::vector<Reference> sources = {};
  bool may_be_absent = true;  // −1 stands in integers for what a head does not have
  // Row-major over `axes`, for entries per head; null for what is written elsewhere.
  void (*compute)(const QuantityContext& context, std::span<double> out) = nullptr;
};

// "rows/lse"; the name alone in the root.
[[nodiscard]] std::string path_of(const Quantity& quantity);
// Formula and remark as one sentence: the attribute `definition` of a dataset.
[[nodiscard]] std::string definition_of(const Quantity& quantity);
// The sources, separated by semicolons: the attribute `source`.
[[nodiscard]] std::string source_of(const Quantity& quantity);
// With the axes of `per` before its own.
[[nodiscard]] std::vector<std::string> axes_of(const Quantity& quantity);

// Names of axes and what they hold, for sequences of a given length.
namespace axis {
inline constexpr std::string_view kLayer = "layer", kHead = "head", kComponent = "component", kPosition = "position",
                                  kQuantile = "quantile", kBound = "bound", kTopK = "top_k", kRank = "rank",
                                  kQueryBlock = "query_block", kKeyBlock = "key_block", kDistance = "distance",
                                  kValueSlot = "value_slot", kLikely = "likely", kCentring = "centring", kTail = "tail",
                                  kEnd = "end";
}

[[nodiscard]] const std::vector<double>& quantile_points();     // 0, .01, … 1
[[nodiscard]] const std::vector<std::int64_t>& top_k_points();  // 1, 2, 4, 8, 16
inline constexpr std::int64_t kRanks = 16;

// Bins of the histograms: log₁₀ ρ, λ, z, log₁₀ a.
[[nodiscard]] kernels::UniformBins log10_rho_bins();
[[nodiscard]] kernels::UniformBins lambda_bins();
[[nodiscard]] kernels::UniformBins logit_bins();
[[nodiscard]] kernels::UniformBins log10_weight_bins();

// What is computed from a head's record, in the order of the file: root, rows, keys, hist, maps, weights, and
// what only --premise asks for.
[[nodiscard]] std::span<const Quantity> head_quantities();
[[nodiscard]] const Quantity* find_quantity(std::string_view group, std::string_view name);

// The other datasets of a run file, which come from the prompt, the weights, the head program and the forward pass.
[[nodiscard]] std::span<const Quantity> other_quantities();

// Parts of the table, by group.
[[nodiscard]] std::vector<Quantity> summary_quantities();
[[nodiscard]] std::vector<Quantity> rounding_quantities();
[[nodiscard]] std::vector<Quantity> premise_quantities();  // root and rows
[[nodiscard]] std::vector<Quantity> differential_quantities();
[[nodiscard]] std::vector<Quantity> row_quantities();
[[nodiscard]] std::vector<Quantity> distribution_quantities();  // keys, hist, maps, weights
[[nodiscard]] std::vector<Quantity> model_quantities();         // attention_kind, tokens, keys, weights, hidden, exact
[[nodiscard]] std::vector<Quantity> prediction_quantities();
[[nodiscard]] std::vector<Quantity> router_quantities();
[[nodiscard]] std::vector<Quantity> program_quantities();

}  // namespace headroom
