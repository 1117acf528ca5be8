// The datasets that a run file of schema 1 promises (core/io/RUN_FILE.md): path, axes and type. New ones are added
// here; one that goes or changes is another schema. Constants.
#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/io/run_file_writer.h"

namespace headroom::test {

struct ContractEntry {
  std::string path;
  std::vector<std::string> axes;
  ElementType type = ElementType::Float32;
};

// One dataset a line: path, axes ("-" for none), type where it is not float32.
inline constexpr const char* kContractDefault = R"(
  attention_kind layer string
  kv_head layer,head,component int32
  sink_score layer,head,component
  sink_score_net layer,head
  sink_score_absolute layer,head
  sink_null -
  implicit_sink_mass layer,head
  top_sink_position layer,head,component int32
  top_sink_score layer,head,component
  top_key_mass layer,head,component,top_k
  top_key_position layer,head,component,rank int32
  logit_max layer,head,component
  logit_min layer,head,component
  logit_abs_max layer,head,component
  logit_max_raw layer,head,component
  query_norm_max layer,head,component
  key_norm_max layer,head,component
  entropy_mean layer,head,component
  entropy_normalized_mean layer,head,component
  effective_keys_mean layer,head,component
  rounds_to_one_mean layer,head,component
  rounds_to_one_several layer,head,component
  weight_l2_mean layer,head
  weight_l1_mean layer,head
  negative_mass_mean layer,head
  weight_cancellation_mean layer,head
  energy_cancellation_mean layer,head
  output_cancellation_mean layer,head
  map_cosine_mean layer,head
  context_rms_mean layer,head
  context_rms_min layer,head
  context_rms_max layer,head
  context_rms_quantile layer,head,quantile
  context_rms_relative_mean layer,head
  rows_below_bound layer,head,bound
  rows_inside_bound layer,head,bound
  rows_above_bound layer,head,bound
  finite_rows layer,head int32
  coherence_mean layer,head
  lambda_mean layer,head
  lambda_std layer,head
  lambda_quantile layer,head,quantile
  norm_gain_median layer,head
  norm_gain_max layer,head
  gate_mean layer,head
  value_drain layer,head
  value_mean_share layer,head
  previous_token_score layer,head,component
  self_score layer,head,component
  mean_distance layer,head,component
  induction_score layer,head,component
  tokens/token_id position int32
  tokens/token_text position string
  tokens/visible_keys layer,position int32
  tokens/is_special position uint8
  weights/output_alignment layer,head,head_other
  weights/sink_logit layer,head
  weights/lambda_init layer
  weights/parameters layer,kind int64
)";

// Left out by --only summary.
inline constexpr const char* kContractLarge = R"(
  rows/lse layer,head,component,position
  rows/logit_max layer,head,component,position
  rows/logit_min layer,head,component,position
  rows/entropy layer,head,component,position
  rows/weight_max layer,head,component,position
  rows/weight_l2_component layer,head,component,position
  rows/first_key_weight layer,head,component,position
  rows/rounds_to_one layer,head,component,position int32
  rows/lambda layer,head,position
  rows/weight_sum layer,head,position
  rows/weight_l1 layer,head,position
  rows/weight_l2 layer,head,position
  rows/negative_mass layer,head,position
  rows/context_rms layer,head,position
  rows/context_rms_relative layer,head,position
  rows/value_rms_mean layer,head,position
  rows/uncorrelated_rms layer,head,position
  rows/implicit_sink_mass layer,head,position
  rows/gate_mean layer,head,position
  rows/norm_gain layer,head,position
  keys/attention_received layer,head,component,position
  keys/attention_received_net layer,head,position
  keys/key_norm layer,kv_head,position
  keys/value_norm layer,kv_head,position
  hist/context_rms_relative layer,head,context_rms_relative_bin int64
  hist/lambda layer,head,lambda_bin int64
  hist/logit layer,head,component,logit_bin int64
  hist/attention_weight layer,head,component,attention_weight_bin int64
)";

inline constexpr const char* kContractMaps = R"(
  maps/pooled_mean layer,head,query_block,key_block
  maps/pooled_max_abs layer,head,query_block,key_block
  maps/pooled_signed_extreme layer,head,query_block,key_block
  maps/pooled_positive layer,head,query_block,key_block
  maps/pooled_negative layer,head,query_block,key_block
)";

// --components.
inline constexpr const char* kContractComponents = R"(
  maps/pooled_mean_components layer,head,component,query_block,key_block
  maps/pooled_max_components layer,head,component,query_block,key_block
)";

// --rounding.
inline constexpr const char* kContractRounding = R"(
  rounding_bias layer,head,component
  rounding_noise layer,head,component
  rounding_bias_t layer,head,component
)";

// --premise.
inline constexpr const char* kContractPremiseSummary = R"(
  value_correlation layer,head
  value_independent_count layer,head
  value_effective_rank layer,head
  value_size_spread layer,head
  common_mean_share layer,head
  sign_coherence layer,head,centring
  sign_coherence_interval layer,head,centring,end
  sign_p layer,head,centring,tail
  sign_rows_below_bound layer,head,bound
  sign_rows_above_bound layer,head,bound
  centred_rows_below_bound layer,head,bound
  centred_rows_above_bound layer,head,bound
  hull_distance_median layer,head
  output_cosine_mean layer,head
  gated_rms_relative_mean layer,head
  gated_rows_above_bound layer,head
)";

// Beside these where rows are written.
inline constexpr const char* kContractPremiseRows = R"(
  rows/uniform_rms_relative layer,head,position
  rows/sign_rms_relative layer,head,end,position
  rows/centred_rms_relative layer,head,position
  rows/hull_distance layer,head,position
  rows/output_cosine layer,head,position
  rows/gated_rms_relative layer,head,position
)";

inline constexpr const char* kContractExact = R"(
  exact/weights layer,head,component,position,key
  exact/net_weights layer,head,position,key
  exact/contexts layer,head,position,context_channel
  exact/queries layer,q_block,position,channel
  exact/keys layer,k_block,position,channel
  exact/values layer,v_block,position,value_channel
)";

// Of a model that predicts the next token, in a run that reaches its logits; left out by --only summary.
inline constexpr const char* kContractPredictions = R"(
  predictions/next_token position,likely int32
  predictions/next_text position,likely string
  predictions/next_log_probability position,likely
  predictions/log_sum_exp position
  predictions/entropy position
  predictions/token_loss position
  predictions/token_rank position int32
)";

inline constexpr const char* kContractHidden = R"(
  hidden/residual layer_boundary,position,feature
  hidden/logits position,vocab
  hidden/residual_top layer_boundary,top,field
  hidden/residual_rms layer_boundary,position
  hidden/residual_kurtosis layer_boundary,position
)";

// Of a run of a capture.
inline constexpr const char* kContractCalls = R"(
  calls/name layer string
  calls/queries layer int32
  calls/keys layer int32
  calls/first_query layer int32
  calls/dense_mask layer int32
  calls/heads layer int32
  calls/row_tokens layer string
  calls/key_tokens layer string
  calls/context_difference layer,head
  calls/key_token_id position int32
  calls/key_token_text position string
)";

// Of models with biases by distance.
inline constexpr const char* kContractBiases = R"(
  program/alibi_slope layer,head float64
  program/distance_bias layer,head,distance float64
)";

// Of a model with experts; --only summary keeps the counts.
inline constexpr const char* kContractRouted = R"(
  router/chosen_expert expert_layer,position,choice int32
  router/chosen_weight expert_layer,position,choice
)";
inline constexpr const char* kContractRouter = R"(
  router/tokens_per_expert expert_layer,expert int32
)";

// The head program, and what the formulas need of a layer.
inline constexpr const char* kContractProgram = R"(
  program/q1 layer,head int32
  program/k1 layer,head int32
  program/q2 layer,head int32
  program/k2 layer,head int32
  program/value_blocks1 layer,head,value_slot int32
  program/value_blocks2 layer,head,value_slot int32
  program/lambda_source layer,head string
  program/lambda_constant layer,head float64
  program/post_norm layer,head uint8
  program/post_scale layer,head float64
  program/sink layer,head string
  program/normalizer layer,head string
  program/gated layer,head uint8
  program/first_enabled layer,head uint8
  program/enabled layer,head uint8
  program/averaged layer,head uint8
  program/temperature layer,head float64
  program/hidden_keys layer,head string
  program/norm_epsilon layer,head float64
  program/logit_scale layer float64
  program/softcap layer float64
  program/causal layer uint8
  program/window layer int32
  program/chunk layer int32
  program/always_visible layer int32
  program/head_dim layer int32
  program/value_dim layer int32
  program/input_norm_epsilon layer float64
  program/qk_norm_epsilon layer float64
)";

[[nodiscard]] inline std::vector<ContractEntry> contract(std::initializer_list<const char*> parts) {
  std::vector<ContractEntry> entries;
  for (const char* part : parts) {
    std::istringstream lines{part};
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      ContractEntry entry;
      std::string axes, type;
      if (!(words >> entry.path >> axes)) continue;
      words >> type;
      std::istringstream names(axes == "-" ? "" : axes);
      for (std::string name; std::getline(names, name, ',');) entry.axes.push_back(name);
      entry.type = type == "int32"     ? ElementType::Int32
                   : type == "int64"   ? ElementType::Int64
                   : type == "uint8"   ? ElementType::UInt8
                   : type == "string"  ? ElementType::String
                   : type == "float64" ? ElementType::Float64
                                       : ElementType::Float32;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace headroom::test
