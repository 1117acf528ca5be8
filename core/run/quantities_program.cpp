// The group /program: the head program as it ran, what-ifs included, and the numbers of the layer that the formulas
// need. Described here, written by analysis.cpp and the recorder.
#include <vector>

#include "core/run/quantity.h"

namespace headroom {
namespace {

std::vector<Quantity> of_heads() {
  std::vector<Quantity> table = {
      {.name = "q1",
       .type = ElementType::Int32,
       .long_name = "query block of the first map",
       .formula = "block of head_dim rows of the query projection",
       .remark = "−1: no such map"},
      {.name = "k1",
       .type = ElementType::Int32,
       .long_name = "key block of the first map",
       .formula = "block of head_dim rows of the key projection",
       .remark = "−1: no such map"},
      {.name = "q2",
       .type = ElementType::Int32,
       .long_name = "query block of the second map",
       .formula = "block of head_dim rows of the query projection",
       .remark = "−1: no such map"},
      {.name = "k2",
       .type = ElementType::Int32,
       .long_name = "key block of the second map",
       .formula = "block of head_dim rows of the key projection",
       .remark = "−1: no such map"},
      {.name = "value_blocks1",
       .axes = {"value_slot"},
       .type = ElementType::Int32,
       .long_name = "values of the first map",
       .formula = "blocks of value_dim rows of the value projection, side by side",
       .remark = "−1: no such map, or fewer blocks than slots"},
      {.name = "value_blocks2",
       .axes = {"value_slot"},
       .type = ElementType::Int32,
       .long_name = "values of the second map",
       .formula = "blocks of value_dim rows of the value projection, side by side",
       .remark = "−1: no such map, or fewer blocks than slots"},
      {.name = "lambda_source",
       .type = ElementType::String,
       .long_name = "where λ comes from",
       .formula = "none, layer_scalar, projection, raw_projection or constant"},
      {.name = "sink",
       .type = ElementType::String,
       .long_name = "implicit key",
       .formula = "none, zero (off-by-one) or learned",
       .remark = "its logit is weights/sink_logit"},
      {.name = "normalizer",
       .type = ElementType::String,
       .long_name = "what makes weights of logits",
       .formula = "softmax or softpick",
       .remark = "softpick has no implicit key; files without this dataset are of softmax",
       .sources = {source::kLogits}},
      {.name = "hidden_keys",
       .type = ElementType::String,
       .long_name = "hidden keys",
       .formula = "positions that no row of the head sees, ascending, separated by commas",
       .sources = {source::kVisibleKeys}},
      {.name = "lambda_constant",
       .type = ElementType::Float64,
       .long_name = "constant λ",
       .formula = "λ of the source `constant`",
       .remark = "NaN with any other source",
       .range = "(−∞, ∞)"},
      {.name = "post_scale",
       .type = ElementType::Float64,
       .long_name = "factor of the head's output",
       .formula = "1, or 1 − λ_init for DIFF V1",
       .range = "[0.2, 1.01]"},
      {.name = "temperature",
       .type = ElementType::Float64,
       .long_name = "temperature of the logits",
       .formula = "T",
       .range = "(0, ∞)",
       .sources = {source::kLogits}},
      {.name = "alibi_slope",
       .type = ElementType::Float64,
       .long_name = "slope of ALiBi",
       .formula = "b_d = −alibi_slope·abs(d)",
       .remark = "NaN in layers without ALiBi; only in files of models that have it",
       .range = "(−∞, ∞)",
       .sources = {source::kLogits, source::kAlibi}},
      {.name = "distance_bias",
       .axes = {axis::kDistance},
       .type = ElementType::Float64,
       .long_name = "learned bias of the logits by distance",
       .formula = "b_d at d = p − j",
       .remark =
           "NaN in layers without one and at distances that they do not have; only in files of models that have it",
       .range = "(−∞, ∞)",
       .sources = {source::kLogits, source::kBuckets}},
      {.name = "norm_epsilon",
       .type = ElementType::Float64,
       .long_name = "ε of the head norm",
       .formula = "ε",
       .remark = "NaN without a head norm",
       .range = "[0, 1)"},
      {.name = "first_enabled",
       .type = ElementType::UInt8,
       .long_name = "whether the first map counts",
       .formula = "0: w = −λ a²",
       .range = "[0, 1]"},
      {.name = "post_norm",
       .type = ElementType::UInt8,
       .long_name = "whether there is a head norm",
       .formula = "1: RMSNorm of the head's context",
       .range = "[0, 1]"},
      {.name = "gated",
       .type = ElementType::UInt8,
       .long_name = "whether there is a gate",
       .formula = "1: the head's output is multiplied with σ(W_g x)",
       .range = "[0, 1]"},
      {.name = "enabled",
       .type = ElementType::UInt8,
       .long_name = "whether the head puts anything out",
       .formula = "0: its output is 0",
       .range = "[0, 1]"},
  };
  return table;
}

std::vector<Quantity> of_layers() {
  std::vector<Quantity> table = {
      {.name = "logit_scale",
       .type = ElementType::Float64,
       .long_name = "logit scale",
       .formula = "s",
       .remark = "1/√head_dim where the config says nothing else",
       .range = "(−∞, ∞)",
       .sources = {source::kLogits}},
      {.name = "softcap",
       .type = ElementType::Float64,
       .long_name = "soft-cap of the logits",
       .formula = "C",
       .remark = "NaN without one",
       .range = "(0, ∞)",
       .sources = {source::kLogits}},
      {.name = "causal",
       .type = ElementType::UInt8,
       .long_name = "whether rows see no later key",
       .formula = "1: causal",
       .range = "[0, 1]",
       .sources = {source::kVisibleKeys}},
      {.name = "window",
       .type = ElementType::Int32,
       .long_name = "sliding window",
       .formula = "W",
       .remark = "0: none",
       .range = "[0, ∞)",
       .sources = {source::kVisibleKeys}},
      {.name = "head_dim",
       .type = ElementType::Int32,
       .long_name = "channels of a query or key block",
       .formula = "d",
       .range = "[1, ∞)"},
      {.name = "value_dim",
       .type = ElementType::Int32,
       .long_name = "channels of a value block",
       .formula = "d_v",
       .range = "[1, ∞)"},
      {.name = "input_norm_epsilon",
       .type = ElementType::Float64,
       .long_name = "ε of the norm before attention",
       .formula = "ε of the norm that makes x_i of the residual stream",
       .remark = "NaN without one",
       .range = "[0, 1)"},
      {.name = "qk_norm_epsilon",
       .type = ElementType::Float64,
       .long_name = "ε of the norms of queries and keys",
       .formula = "ε of qk-norm",
       .remark = "NaN without one",
       .range = "[0, 1)"},
  };
  for (Quantity& quantity : table) {
    quantity.per = Per::Layer;
    quantity.may_be_absent = false;
  }
  return table;
}

}  // namespace

std::vector<Quantity> program_quantities() {
  std::vector<Quantity> table = of_heads();
  const std::vector<Quantity> layers = of_layers();
  table.insert(table.end(), layers.begin(), layers.end());
  for (Quantity& quantity : table) {
    quantity.group = "program";
    if (quantity.sources.empty()) quantity.sources = {source::kHeadPrograms};
  }
  return table;
}

}  // namespace headroom
