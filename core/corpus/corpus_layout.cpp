#include "core/corpus/corpus_layout.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::array<std::string_view, 8> kCore = {
    "sink_score*", "implicit_sink_mass", "context_rms_relative_mean", "weight_l2_mean", "entropy_mean",
    "logit_max",   "lambda_mean",        "energy_cancellation_mean"};

bool matches(std::string_view name, std::string_view pattern) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

// Whether the choice `keep` names the quantity; words that were used are noted.
bool is_kept(std::string_view keep, std::string_view name, std::set<std::string_view>& used) {
  if (keep == "all") return true;
  if (keep == "none") return false;
  if (keep == "core")
    return std::ranges::any_of(kCore, [&](std::string_view pattern) { return matches(name, pattern); });
  bool kept = false;
  for (std::string_view rest = keep; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    if (!word.empty() && matches(name, word)) kept = true, used.insert(word);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return kept;
}

Result<void> check_words(std::string_view keep, const std::set<std::string_view>& used) {
  if (keep == "all" || keep == "none" || keep == "core") return {};
  for (std::string_view rest = keep;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (!used.contains(rest.substr(0, comma))) {
      Error error(ErrorCode::InvalidArgument, "a run has no quantity of this name in its root");
      return error.at_tensor("--keep").wanted("all, core, none, or names such as sink_score,logit_max",
                                              rest.substr(0, comma));
    }
    if (comma == rest.size()) return {};
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

const std::vector<std::string>& sink_maps() {
  static const std::vector<std::string> maps = {"first", "second", "net"};
  return maps;
}

Result<CorpusLayout> CorpusLayout::create(RunShape shape, std::string_view keep, std::vector<double> epsilons,
                                          bool curves) {
  CorpusLayout layout;
  layout.shape_ = std::move(shape);
  layout.epsilons_ = std::move(epsilons);
  RunShape& own = layout.shape_;
  // Of a run file these are the root, weights and program; histograms have axes of their own here.
  own.summary_only = true;
  own.predictions = own.hidden = own.exact = false;
  own.pool_blocks = 0;
  own.expert_layers.clear();
  for (std::size_t e = 0; e < layout.epsilons_.size(); ++e) {
    const double epsilon = layout.epsilons_[e];
    if (epsilon > 0.0 && epsilon < 1.0 && (e == 0 || epsilon > layout.epsilons_[e - 1])) continue;
    Error error(ErrorCode::InvalidArgument, "a head counts as a sink above a share of its attention");
    return error.at_tensor("--epsilon").wanted("ascending numbers between 0 and 1", format("%g", epsilon));
  }
  std::set<std::string_view> used;
  for (const Quantity& quantity : head_quantities()) {
    if (!quantity.group.empty() || !is_written(quantity, own)) continue;
    CorpusDataset dataset;
    dataset.quantity = &quantity;
    dataset.name = quantity.name;
    dataset.axes = axes_of(quantity);
    dataset.extents = {static_cast<std::int64_t>(own.layers.size()), static_cast<std::int64_t>(own.heads.size())};
    for (const std::int64_t extent : extents(quantity, own)) dataset.extents.push_back(extent);
    dataset.size = 1;
    for (const std::int64_t extent : dataset.extents) dataset.size *= static_cast<std::size_t>(extent);
    if (quantity.name == "kv_head") continue;  // of the model, not of a sequence
    const bool integer = quantity.type != ElementType::Float32;
    std::size_t& columns = integer ? layout.integer_columns_ : layout.float_columns_;
    dataset.first = columns;
    columns += dataset.size;
    dataset.kept = is_kept(keep, dataset.name, used);
    (integer ? layout.integers_ : layout.floats_).push_back(std::move(dataset));
  }
  HEADROOM_TRY_VOID(check_words(keep, used));
  CorpusDataset sinks;
  sinks.name = "sink_frequency";
  sinks.axes = {"epsilon", "map", "layer", "head"};
  sinks.extents = {static_cast<std::int64_t>(layout.epsilons_.size()), 3, static_cast<std::int64_t>(own.layers.size()),
                   static_cast<std::int64_t>(own.heads.size())};
  sinks.first = layout.float_columns_;
  sinks.size = layout.rates() * layout.heads();
  // Where what it follows from is kept, statistics of it are as of what is kept.
  sinks.kept = layout.find("sink_score")->kept && layout.find("sink_score_net")->kept;
  layout.float_columns_ += sinks.size;
  layout.sinks_ = layout.floats_.size();
  layout.floats_.push_back(std::move(sinks));
  if (curves) layout.add_curves();

  RunShape with_bins = own;
  with_bins.summary_only = false;
  for (const Quantity& quantity : head_quantities()) {
    if (quantity.group != "hist") continue;
    CorpusBins bins;
    bins.histogram = &quantity;
    bins.first = layout.count_bins_;
    bins.per_head = 1;
    for (const std::int64_t extent : extents(quantity, with_bins)) bins.per_head *= static_cast<std::size_t>(extent);
    layout.count_bins_ += bins.per_head * layout.heads();
    layout.bins_.push_back(bins);
  }
  for (const SketchedQuantity& sketch : sketched_quantities()) {
    CorpusBins bins;
    bins.sketch = &sketch;
    bins.first = layout.count_bins_;
    const std::size_t components = sketch.by_component ? 2 : 1;
    bins.per_head = components * static_cast<std::size_t>(sketch.bins.bins);
    bins.first_extreme = layout.extremes_;
    layout.count_bins_ += bins.per_head * layout.heads();
    layout.extremes_ += components * layout.heads();
    layout.bins_.push_back(bins);
  }
  return layout;
}

void CorpusLayout::add_curves() {
  curve_bins_ = headroom::curve_bins(shape_.length);
  for (const CurveQuantity& curve : curve_quantities()) {
    CorpusDataset dataset;
    dataset.curve = &curve;
    dataset.name = "curve_" + std::string(curve.name);
    dataset.axes = {"layer", "head"};
    dataset.extents = {static_cast<std::int64_t>(shape_.layers.size()), static_cast<std::int64_t>(shape_.heads.size())};
    if (curve.by_component) dataset.axes.emplace_back("component"), dataset.extents.push_back(2);
    dataset.axes.emplace_back("visible_keys"), dataset.extents.push_back(curve_bins_);
    dataset.first = float_columns_;
    dataset.size = heads() * (curve.by_component ? 2U : 1U) * static_cast<std::size_t>(curve_bins_);
    dataset.kept = false;
    float_columns_ += dataset.size;
    floats_.push_back(std::move(dataset));
  }
}

const CorpusDataset* CorpusLayout::find(std::string_view name) const {
  const auto found = std::ranges::find(floats_, name, &CorpusDataset::name);
  return found == floats_.end() ? nullptr : &*found;
}

std::size_t CorpusLayout::kept_bytes() const {
  std::size_t columns = 2 + 2 * rates();
  for (const auto* datasets : {&floats_, &integers_})
    for (const CorpusDataset& dataset : *datasets)
      if (dataset.kept && dataset.quantity != nullptr) columns += dataset.size;
  return columns * sizeof(float);
}

}  // namespace headroom
