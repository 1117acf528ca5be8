#include "core/run/run_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/measure/predictions.h"
#include "core/run/run_plan.h"
#include "core/run/two_sequences.h"

namespace headroom {
namespace {

constexpr std::int64_t kDefaultMinRow = 64;

std::vector<double> to_doubles(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

std::vector<double> counting(std::int64_t size, std::int64_t step = 1) {
  std::vector<double> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(static_cast<std::int64_t>(i) * step);
  return values;
}

struct Histogram {
  const char* name;
  kernels::UniformBins bins;
  bool logarithmic;
  const char* long_name;
};

std::vector<Histogram> histograms() {
  return {{"context_rms_relative", log10_rho_bins(), true, "ρ"},
          {"lambda", lambda_bins(), false, "λ"},
          {"logit", logit_bins(), false, "logit z"},
          {"attention_weight", log10_weight_bins(), true, "attention weight a"}};
}

// Bin centres as the axis of counts, and the edges as the coordinate of an axis that is one longer.
Result<void> define_bins(RunFileWriter& writer, const Histogram& histogram) {
  const auto value = [&](double position) {
    const double v = histogram.bins.low + position * histogram.bins.width;
    return histogram.logarithmic ? std::pow(10.0, v) : v;
  };
  AxisDef axis;
  axis.group = "hist";
  axis.name = std::string(histogram.name) + "_bin";
  axis.type = ElementType::Float64;
  axis.units = "1";
  axis.long_name = std::string("centre of a bin of ") + histogram.long_name;
  AxisDef edges = axis;
  edges.name = std::string(histogram.name) + "_edges";
  edges.long_name = std::string("edges of the bins of ") + histogram.long_name;
  for (std::int64_t b = 0; b < histogram.bins.bins; ++b) axis.values.push_back(value(static_cast<double>(b) + 0.5));
  for (std::int64_t b = 0; b <= histogram.bins.bins; ++b) edges.values.push_back(value(static_cast<double>(b)));
  axis.size = histogram.bins.bins;
  edges.size = histogram.bins.bins + 1;
  HEADROOM_TRY_VOID(writer.add_axis(axis));
  return writer.add_axis(edges);
}

Result<void> define_quantities(RunFileWriter& writer, std::span<const Quantity> quantities, const RunShape& shape) {
  for (const Quantity& quantity : quantities)
    if (is_written(quantity, shape)) HEADROOM_TRY_VOID(define_quantity(writer, quantity, shape.real));
  return {};
}

}  // namespace

Result<void> define_histogram_axes(RunFileWriter& writer) {
  for (const Histogram& histogram : histograms()) HEADROOM_TRY_VOID(define_bins(writer, histogram));
  return {};
}

Result<void> define_axes(RunFileWriter& writer, const RunShape& shape) {
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("layer", to_doubles(shape.layers), "layer of the model, from 0")));
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("head", to_doubles(shape.heads), "output head, from 0")));
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("component", {0, 1}, "0: first map, 1: second map")));
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("position", counting(shape.length), "token position, from 0")));
  AxisDef points;
  points.name = "quantile";
  points.values = quantile_points();
  points.size = static_cast<std::int64_t>(points.values.size());
  points.units = "1";
  points.long_name = "probability of a quantile";
  HEADROOM_TRY_VOID(writer.add_axis(points));
  HEADROOM_TRY_VOID(writer.add_axis(
      label_axis("bound", {"softmax", "diff_v2", "variant"}, "interval: [1/√n, 1), (0, √2), the head's own")));
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("top_k", to_doubles(top_k_points()), "number of keys")));
  HEADROOM_TRY_VOID(writer.add_axis(index_axis("rank", counting(kRanks), "rank by attention received, from 0")));
  if (shape.premise) {
    const auto add = [&](std::string_view name, std::vector<std::string> labels, const char* long_name) {
      return writer.add_axis(label_axis(std::string(name), std::move(labels), long_name));
    };
    HEADROOM_TRY_VOID(add(axis::kCentring, {"raw", "centred"}, "values as they are, and less their common mean"));
    HEADROOM_TRY_VOID(add(axis::kTail, {"aligned", "cancelling"}, "coherence above and below that of random signs"));
    HEADROOM_TRY_VOID(add(axis::kEnd, {"low", "high"}, "end of an interval"));
  }
  if (!shape.summary_only)
    HEADROOM_TRY_VOID(writer.add_axis(
        index_axis("kv_head", counting(shape.kv_blocks), "block of head_dim rows of the key projection", "keys")));
  HEADROOM_TRY_VOID(
      writer.add_axis(index_axis("head_other", counting(shape.all_heads), "output head, from 0", "weights")));
  HEADROOM_TRY_VOID(writer.add_axis(label_axis("kind", parameter_kinds(), "part of the attention block", "weights")));
  HEADROOM_TRY_VOID(
      writer.add_axis(index_axis("value_slot", counting(shape.value_slots), "place among a head's values", "program")));
  if (!shape.summary_only) HEADROOM_TRY_VOID(define_histogram_axes(writer));
  if (shape.pool_blocks > 0)
    for (const char* name : {"query_block", "key_block"})
      HEADROOM_TRY_VOID(writer.add_axis(
          index_axis(name, counting(shape.pool_blocks, shape.pool_size), "first position of a block", "maps")));
  if (shape.bias_behind >= 0) {
    std::vector<double> distances = counting(shape.bias_ahead + 1 + shape.bias_behind);
    for (double& distance : distances) distance -= static_cast<double>(shape.bias_ahead);
    HEADROOM_TRY_VOID(writer.add_axis(
        index_axis("distance", std::move(distances), "p − j of a key from the row's position", "program")));
  }
  if (shape.exact) {
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("key", counting(shape.length), "key position, from 0", "exact")));
    const auto add = [&](const char* name, std::int64_t size, const char* long_name) {
      return writer.add_axis(index_axis(name, counting(size), long_name, "exact"));
    };
    HEADROOM_TRY_VOID(add("context_channel", shape.context_dim, "channel of a head's context"));
    HEADROOM_TRY_VOID(add("q_block", shape.query_blocks, "block of head_dim rows of the query projection"));
    HEADROOM_TRY_VOID(add("k_block", shape.kv_blocks, "block of head_dim rows of the key projection"));
    HEADROOM_TRY_VOID(add("v_block", shape.value_blocks, "block of value_dim rows of the value projection"));
    HEADROOM_TRY_VOID(add("channel", shape.head_dim, "channel of a query or key"));
    HEADROOM_TRY_VOID(add("value_channel", shape.value_dim, "channel of a value block"));
  }
  if (!shape.expert_layers.empty()) {
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("expert_layer", to_doubles(shape.expert_layers),
                                                 "layer of the model that has experts, from 0", "router")));
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("expert", counting(shape.experts), "expert, from 0", "router")));
    if (!shape.summary_only)
      HEADROOM_TRY_VOID(
          writer.add_axis(index_axis("choice", counting(shape.chosen_experts), "rank by weight, from 0", "router")));
  }
  if (shape.predictions && !shape.summary_only)
    HEADROOM_TRY_VOID(writer.add_axis(index_axis(std::string(axis::kLikely), counting(Predictions::kLikeliest),
                                                 "rank by logit, from 0", "predictions")));
  if (shape.hidden) {
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("layer_boundary", counting(shape.boundaries),
                                                 "0: input of block 0, k: output of block k − 1", "hidden")));
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("feature", counting(shape.hidden_size), "channel", "hidden")));
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("vocab", counting(shape.vocab_size), "token id", "hidden")));
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("top", counting(3), "rank by magnitude, from 0", "hidden")));
    HEADROOM_TRY_VOID(writer.add_axis(label_axis("field", {"position", "feature", "value", "ratio"},
                                                 "ratio: |value| / median of |h| at the boundary", "hidden")));
  }
  return {};
}

AxisDef index_axis(std::string name, std::vector<double> values, std::string long_name, std::string group) {
  AxisDef axis;
  axis.group = std::move(group);
  axis.name = std::move(name);
  axis.size = static_cast<std::int64_t>(values.size());
  axis.values = std::move(values);
  axis.type = ElementType::Int32;
  axis.units = "1";
  axis.long_name = std::move(long_name);
  return axis;
}

AxisDef label_axis(std::string name, std::vector<std::string> labels, std::string long_name, std::string group) {
  AxisDef axis;
  axis.group = std::move(group);
  axis.name = std::move(name);
  axis.size = static_cast<std::int64_t>(labels.size());
  axis.labels = std::move(labels);
  axis.type = ElementType::String;
  axis.units = "1";
  axis.long_name = std::move(long_name);
  return axis;
}

DatasetDef dataset_of(const Quantity& quantity, ElementType real) {
  DatasetDef def;
  def.group = quantity.group;
  def.name = quantity.name;
  def.axes = axes_of(quantity);
  def.type = quantity.type == ElementType::Float32 ? real : quantity.type;
  def.units = quantity.units;
  def.long_name = quantity.long_name;
  def.definition = definition_of(quantity);
  def.attributes["source"] = source_of(quantity);
  if (!quantity.rows.empty()) def.attributes["rows"] = quantity.rows;
  if (!quantity.where.empty()) def.attributes["rows_where"] = quantity.where;
  if (!quantity.heads.empty()) def.attributes["heads"] = quantity.heads;
  if (!quantity.range.empty()) def.attributes["range"] = quantity.range;
  def.missing_values = quantity.may_be_absent;
  return def;
}

Result<void> define_quantity(RunFileWriter& writer, const Quantity& quantity, ElementType real) {
  return writer.add_dataset(dataset_of(quantity, real));
}

const std::vector<std::string>& parameter_kinds() {
  static const std::vector<std::string> kinds = {"q", "k", "v", "o", "lambda", "sink", "gate", "qk_norm", "head_norm"};
  return kinds;
}

std::map<std::string, std::int64_t, std::less<>> attention_parameters(const BlockSpec& block) {
  std::map<std::string, std::int64_t, std::less<>> counts;
  for (const std::string& kind : parameter_kinds()) counts[kind] = 0;
  for_each_weight(block, 0, [&](const WeightRef& weight, std::string_view account, std::int64_t) {
    if (const auto found = counts.find(account); found != counts.end())
      found->second += weight.rows() * weight.columns();
  });
  return counts;
}

RunShape make_shape(const ModelSpec& model, const AnalysisRequest& request) {
  RunShape shape;
  shape.length = static_cast<std::int64_t>(request.prompt.ids.size());
  shape.layers = request.layers;
  shape.heads = request.heads;
  shape.all_heads = model.num_heads;
  for (const BlockSpec& block : model.blocks) {
    const AttentionSpec& attention = block.attention;
    shape.query_blocks = std::max(shape.query_blocks, attention.num_query_blocks);
    shape.kv_blocks = std::max(shape.kv_blocks, attention.num_key_blocks);
    shape.value_blocks = std::max(shape.value_blocks, attention.num_value_blocks);
    shape.head_dim = std::max(shape.head_dim, attention.head_dim);
    shape.value_dim = std::max(shape.value_dim, attention.value_dim);
    shape.context_dim = std::max(shape.context_dim, attention.context_dim());
    for (const HeadProgram& head : block.attention.heads)
      shape.value_slots = std::max(shape.value_slots, static_cast<std::int64_t>(head.first.value_blocks.size()));
    shape.alibi = shape.alibi || !attention.bias.slopes.empty();
    if (!attention.bias.table.present()) continue;
    shape.bias_behind = shape.length - 1;
    if (!attention.causal) shape.bias_ahead = shape.length - 1;
  }
  const std::int64_t last = last_layer_to_run(model, request);
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    const ExpertsSpec& experts = model.blocks[layer].experts;
    // A run that ends with the measurements of a layer does not reach its router.
    if (!experts.present() || (last >= 0 && static_cast<std::int64_t>(layer) >= last)) continue;
    shape.expert_layers.push_back(static_cast<std::int64_t>(layer));
    shape.experts = std::max(shape.experts, static_cast<std::int64_t>(experts.experts.size()));
    shape.chosen_experts = std::max(shape.chosen_experts, experts.router.chosen);
  }
  if (request.pool_blocks > 0) {
    shape.pool_size = (shape.length + request.pool_blocks - 1) / request.pool_blocks;
    shape.pool_blocks = (shape.length + shape.pool_size - 1) / shape.pool_size;
  }
  shape.hidden_size = model.hidden_size;
  shape.vocab_size = model.vocab_size;
  shape.boundaries = static_cast<std::int64_t>(model.blocks.size()) + 1;
  shape.min_row = shape.length < 2 * kDefaultMinRow ? 1 : kDefaultMinRow;
  shape.real = request.dtype == ComputeDtype::Float64 ? ElementType::Float64 : ElementType::Float32;
  shape.components = request.components;
  shape.rounding = request.extra.rounding;
  shape.premise = request.extra.premise;
  shape.exact = request.exact_maps;
  shape.hidden = request.hidden;
  shape.predictions = last < 0 && !model.capture && model.causal() && model.lm_head.weight.present();
  shape.summary_only = request.summary_only;
  shape.calls = model.capture != nullptr || model.encoder;
  if (model.encoder) {
    const SequencePair pair = sequences_of(*model.encoder, request.prompt);
    shape.source_length = static_cast<std::int64_t>(pair.source.size());
    shape.target_length = static_cast<std::int64_t>(pair.target.size());
    shape.encoder_boundaries = model.encoder->blocks + 1;
    shape.boundaries += 1;
  }
  return shape;
}

std::int64_t RunShape::rows_at(std::int64_t boundary) const {
  if (encoder_boundaries == 0) return length;
  return boundary < encoder_boundaries ? source_length : target_length;
}

bool is_written(const Quantity& quantity, const RunShape& shape) {
  if (quantity.group == "maps")
    return shape.pool_blocks > 0 && (shape.components || quantity.axes.front() != axis::kComponent);
  if (quantity.option == "rounding") return shape.rounding;
  if (quantity.option == "premise") return shape.premise && (quantity.group.empty() || !shape.summary_only);
  if (quantity.group == "exact") return shape.exact;
  if (quantity.group == "hidden") return shape.hidden;
  if (quantity.group == "predictions") return shape.predictions && !shape.summary_only;
  if (quantity.group == "calls") return shape.calls;
  if (path_of(quantity) == "program/alibi_slope") return shape.alibi;
  if (path_of(quantity) == "program/distance_bias") return shape.bias_behind >= 0;
  if (quantity.group == "router")
    return !shape.expert_layers.empty() && (!shape.summary_only || quantity.name == "tokens_per_expert");
  const bool large = quantity.group == "rows" || quantity.group == "keys" || quantity.group == "hist";
  return !large || !shape.summary_only;
}

std::vector<std::int64_t> extents(const Quantity& quantity, const RunShape& shape) {
  std::vector<std::int64_t> result;
  for (const std::string_view name : quantity.axes) {
    std::int64_t extent = -1;
    if (name == axis::kComponent) extent = 2;
    if (name == axis::kPosition) extent = shape.length;
    if (name == axis::kQuantile) extent = static_cast<std::int64_t>(quantile_points().size());
    if (name == axis::kBound) extent = 3;
    if (name == axis::kCentring || name == axis::kTail || name == axis::kEnd) extent = 2;
    if (name == axis::kTopK) extent = static_cast<std::int64_t>(top_k_points().size());
    if (name == axis::kRank) extent = kRanks;
    if (name == axis::kQueryBlock || name == axis::kKeyBlock) extent = shape.pool_blocks;
    if (name == axis::kValueSlot) extent = shape.value_slots;
    if (name == axis::kDistance) extent = shape.bias_ahead + 1 + shape.bias_behind;
    for (const Histogram& histogram : histograms())
      if (name == std::string(histogram.name) + "_bin") extent = histogram.bins.bins;
    HEADROOM_CHECK(extent >= 0, "unknown axis " + std::string(name));
    result.push_back(extent);
  }
  return result;
}

Result<void> define_run(RunFileWriter& writer, const RunShape& shape) {
  HEADROOM_TRY_VOID(define_axes(writer, shape));
  HEADROOM_TRY_VOID(define_quantities(writer, other_quantities(), shape));
  return define_quantities(writer, head_quantities(), shape);
}

}  // namespace headroom
