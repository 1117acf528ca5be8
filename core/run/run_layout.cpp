#include "core/run/run_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"

namespace headroom {
namespace {

constexpr std::int64_t kDefaultMinRow = 64;

std::vector<double> to_doubles(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

std::vector<double> counting(std::int64_t size, std::int64_t step = 1) {
  std::vector<double> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(static_cast<std::int64_t>(i) * step);
  return values;
}

AxisDef index_axis(std::string name, std::vector<double> values, std::string long_name, std::string group = "") {
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

AxisDef label_axis(std::string name, std::vector<std::string> labels, std::string long_name, std::string group = "") {
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

DatasetDef dataset(std::string group, std::string name, std::vector<std::string> axes, ElementType type,
                   std::string units, std::string long_name, std::string definition) {
  return {std::move(group), std::move(name),      std::move(axes),       type,
          std::move(units), std::move(long_name), std::move(definition), {}};
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
  if (!shape.summary_only)
    HEADROOM_TRY_VOID(writer.add_axis(
        index_axis("kv_head", counting(shape.kv_blocks), "block of head_dim rows of the key projection", "keys")));
  HEADROOM_TRY_VOID(
      writer.add_axis(index_axis("head_other", counting(shape.all_heads), "output head, from 0", "weights")));
  HEADROOM_TRY_VOID(writer.add_axis(label_axis("kind", parameter_kinds(), "part of the attention block", "weights")));
  HEADROOM_TRY_VOID(
      writer.add_axis(index_axis("value_slot", counting(shape.value_slots), "place among a head's values", "program")));
  if (!shape.summary_only)
    for (const Histogram& histogram : histograms()) HEADROOM_TRY_VOID(define_bins(writer, histogram));
  if (shape.pool_blocks > 0)
    for (const char* name : {"query_block", "key_block"})
      HEADROOM_TRY_VOID(writer.add_axis(
          index_axis(name, counting(shape.pool_blocks, shape.pool_size), "first position of a block", "maps")));
  if (shape.exact)
    HEADROOM_TRY_VOID(writer.add_axis(index_axis("key", counting(shape.length), "key position, from 0", "exact")));
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

Result<void> define_quantities(RunFileWriter& writer, const RunShape& shape) {
  for (const Quantity& quantity : head_quantities()) {
    if (!is_written(quantity, shape)) continue;
    std::vector<std::string> axes = {"layer", "head"};
    axes.insert(axes.end(), quantity.axes.begin(), quantity.axes.end());
    DatasetDef def =
        dataset(std::string(quantity.group), std::string(quantity.name), std::move(axes),
                quantity.type == ElementType::Float32 ? shape.real : quantity.type, std::string(quantity.units),
                std::string(quantity.long_name), std::string(quantity.definition));
    def.attributes["source"] = quantity.source;
    if (!quantity.rows.empty()) def.attributes["rows"] = quantity.rows;
    def.missing_values = true;  // an integer of an absent map
    HEADROOM_TRY_VOID(writer.add_dataset(def));
  }
  return {};
}

Result<void> define_fixed(RunFileWriter& writer, const RunShape& shape) {
  const ElementType real = shape.real;
  std::vector<DatasetDef> defs = {
      dataset("", "attention_kind", {"layer"}, ElementType::String, "1", "kind of attention",
              "softmax, softmax_one, softmax_sink, gated, diff_v1, diff_v2"),
      dataset("", "sink_null", {}, real, "1", "sink score of uniform causal attention", "H_n/n, H_n = Σ_{k=1..n} 1/k"),
      dataset("tokens", "token_id", {"position"}, ElementType::Int32, "1", "token id", "index into the vocabulary"),
      dataset("tokens", "token_text", {"position"}, ElementType::String, "1", "text of the token",
              "the bytes of the prompt that the token covers; bytes that are no UTF-8 and NUL as \\xNN"),
      dataset("tokens", "visible_keys", {"layer", "position"}, ElementType::Int32, "1", "keys a row can see",
              "n_i under the layer's mask and the keys hidden from all of its heads"),
      dataset("tokens", "is_special", {"position"}, ElementType::UInt8, "1", "control token",
              "1 for control tokens such as BOS, else 0"),
      dataset("weights", "output_alignment", {"layer", "head", "head_other"}, real, "1", "alignment of output blocks",
              "cos_F of two heads' blocks of W_O; NaN for heads that do not share their values (M16)"),
      dataset("weights", "lambda_init", {"layer"}, real, "1", "λ_init of DIFF V1", "0.8 − 0.6·exp(−0.3·layer)"),
      dataset("weights", "parameters", {"layer", "kind"}, ElementType::Int64, "1", "parameters of the attention block",
              "number of weights and biases of each part"),
  };
  if (!shape.summary_only) {
    defs.push_back(dataset("keys", "key_norm", {"layer", "kv_head", "position"}, real, "1", "norm of a key",
                           "‖k_j‖₂ after rotation and qk-norm"));
    defs.push_back(
        dataset("keys", "value_norm", {"layer", "kv_head", "position"}, real, "1", "norm of a value", "‖v_j‖₂"));
  }
  for (const char* name : {"q1", "k1", "q2", "k2"})
    defs.push_back(dataset("program", name, {"layer", "head"}, ElementType::Int32, "1", "block that the map reads",
                           "block of head_dim rows of the projection; −1: no such map"));
  for (const char* name : {"value_blocks1", "value_blocks2"})
    defs.push_back(dataset("program", name, {"layer", "head", "value_slot"}, ElementType::Int32, "1",
                           "value blocks that the map multiplies",
                           "blocks of rows of the value projection, concatenated; −1: no such map"));
  for (DatasetDef& def : defs) def.missing_values = def.group == "program";
  for (const char* name : {"lambda_source", "sink", "hidden_keys"})
    defs.push_back(dataset("program", name, {"layer", "head"}, ElementType::String, "1", name,
                           "part of the head program as it ran"));
  for (const char* name : {"lambda_constant", "post_scale", "temperature"})
    defs.push_back(dataset("program", name, {"layer", "head"}, ElementType::Float64, "1", name,
                           "part of the head program as it ran"));
  for (const char* name : {"first_enabled", "post_norm", "gated", "enabled"})
    defs.push_back(dataset("program", name, {"layer", "head"}, ElementType::UInt8, "1", name,
                           "1 where the head program has it, else 0"));
  if (shape.exact) {
    defs.push_back(dataset("exact", "weights", {"layer", "head", "component", "position", "key"}, real, "1",
                           "attention weights", "a_ij; 0 where masked, NaN for an absent map"));
    defs.push_back(dataset("exact", "net_weights", {"layer", "head", "position", "key"}, real, "1", "net weights",
                           "w_ij = a¹_ij − λ_i a²_ij; 0 where masked"));
  }
  if (shape.hidden) {
    defs.push_back(dataset("hidden", "residual", {"layer_boundary", "position", "feature"}, real, "1",
                           "residual stream",
                           "input of block 0, then the output of every block; before the final norm"));
    defs.push_back(dataset("hidden", "logits", {"position", "vocab"}, real, "1", "logits of the next token",
                           "lm_head(final norm(h)), soft-capped where the model does"));
    defs.push_back(dataset("hidden", "residual_top", {"layer_boundary", "top", "field"}, real, "1",
                           "largest values of the residual stream",
                           "position, feature, value and |value| / median |h| of the three largest |h| (M3)"));
  }
  for (const DatasetDef& def : defs) HEADROOM_TRY_VOID(writer.add_dataset(def));
  return {};
}

}  // namespace

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
    shape.kv_blocks = std::max(shape.kv_blocks, block.attention.num_key_blocks);
    for (const HeadProgram& head : block.attention.heads)
      shape.value_slots = std::max(shape.value_slots, static_cast<std::int64_t>(head.first.value_blocks.size()));
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
  shape.exact = request.exact_maps;
  shape.hidden = request.hidden;
  shape.summary_only = request.summary_only;
  return shape;
}

bool is_written(const Quantity& quantity, const RunShape& shape) {
  if (quantity.group == "maps")
    return shape.pool_blocks > 0 && (shape.components || quantity.axes.front() != axis::kComponent);
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
    if (name == axis::kTopK) extent = static_cast<std::int64_t>(top_k_points().size());
    if (name == axis::kRank) extent = kRanks;
    if (name == axis::kQueryBlock || name == axis::kKeyBlock) extent = shape.pool_blocks;
    for (const Histogram& histogram : histograms())
      if (name == std::string(histogram.name) + "_bin") extent = histogram.bins.bins;
    HEADROOM_CHECK(extent >= 0, "unknown axis " + std::string(name));
    result.push_back(extent);
  }
  return result;
}

Result<void> define_run(RunFileWriter& writer, const RunShape& shape) {
  HEADROOM_TRY_VOID(define_axes(writer, shape));
  HEADROOM_TRY_VOID(define_fixed(writer, shape));
  return define_quantities(writer, shape);
}

}  // namespace headroom
