// What a run file holds beside the statistics of heads: the prompt, the weights, the hidden states, and what exact maps
// are made of. Described here, written by analysis.cpp and the recorder.
#include <string_view>
#include <vector>

#include "core/measure/call_fields.h"
#include "core/measure/quantity.h"

namespace headroom {
namespace {

constexpr std::string_view kUnitless = "(−∞, ∞)";

std::vector<Quantity> token_quantities() {
  return {
      {.group = "tokens",
       .name = "token_id",
       .per = Per::Run,
       .axes = {axis::kPosition},
       .type = ElementType::Int32,
       .long_name = "token id",
       .formula = "index into the vocabulary",
       .remark = "−1 where a capture has none",
       .range = "[−1, ∞)",
       .sources = {source::kSymbols},
       .may_be_absent = false},
      {.group = "tokens",
       .name = "token_text",
       .per = Per::Run,
       .axes = {axis::kPosition},
       .type = ElementType::String,
       .long_name = "text of the token",
       .formula = "the bytes of the prompt that the token covers",
       .remark = "bytes that are no UTF-8 and NUL as \\xNN; empty where the prompt was given as ids",
       .sources = {source::kSymbols}},
      {.group = "tokens",
       .name = "visible_keys",
       .per = Per::Layer,
       .axes = {axis::kPosition},
       .type = ElementType::Int32,
       .long_name = "keys a row can see",
       .formula = "max of n_i over the measured heads",
       .remark = "they differ only where a what-if hides keys from some heads",
       .range = "[1, n]",
       .sources = {source::kVisibleKeys},
       .may_be_absent = false},
      {.group = "tokens",
       .name = "is_special",
       .per = Per::Run,
       .axes = {axis::kPosition},
       .type = ElementType::UInt8,
       .long_name = "control token",
       .formula = "1 for control tokens such as BOS, else 0",
       .range = "[0, 1]",
       .sources = {source::kSymbols}},
  };
}

// Of a run of a capture, whose layers are calls.
std::vector<Quantity> call_quantities() {
  std::vector<Quantity> quantities = {
      {.group = "calls",
       .name = "name",
       .per = Per::Layer,
       .type = ElementType::String,
       .long_name = "name of the call",
       .formula = "path of the module that called attention",
       .sources = {source::kCaptures}},
  };
  for (const CallField& field : call_fields()) quantities.push_back(field.quantity);
  const std::vector<Quantity> others = {
      {.group = "calls",
       .name = "row_tokens",
       .per = Per::Layer,
       .type = ElementType::String,
       .long_name = "sequence of the rows",
       .formula = "tokens, key_tokens or none",
       .remark = "tokens/token_text or calls/key_token_text, by their lengths",
       .sources = {source::kCaptures}},
      {.group = "calls",
       .name = "key_tokens",
       .per = Per::Layer,
       .type = ElementType::String,
       .long_name = "sequence of the keys",
       .formula = "tokens, key_tokens or none",
       .remark = "tokens/token_text or calls/key_token_text, by their lengths",
       .sources = {source::kCaptures}},
      {.group = "calls",
       .name = "context_difference",
       .axes = {},
       .long_name = "difference from the model's own context",
       .formula = "max_ic |c_ic − c'_ic| / max_ic |c'_ic|",
       .remark = "c' is the context that the capture holds; NaN where it holds none",
       .range = "[0, ∞)",
       .sources = {source::kCaptures}},
      {.group = "calls",
       .name = "key_token_id",
       .per = Per::Run,
       .axes = {axis::kPosition},
       .type = ElementType::Int32,
       .long_name = "token id of a key of another sequence",
       .formula = "index into the vocabulary",
       .remark = "−1 where the capture has none",
       .range = "[−1, ∞)",
       .sources = {source::kCaptures},
       .may_be_absent = false},
      {.group = "calls",
       .name = "key_token_text",
       .per = Per::Run,
       .axes = {axis::kPosition},
       .type = ElementType::String,
       .long_name = "text of a key of another sequence",
       .formula = "key_token_texts of the capture",
       .remark = "empty where the capture has none",
       .sources = {source::kCaptures}},
  };
  quantities.insert(quantities.end(), others.begin(), others.end());
  return quantities;
}

std::vector<Quantity> weight_quantities() {
  return {
      {.group = "weights",
       .name = "output_alignment",
       .axes = {"head_other"},
       .long_name = "alignment of output blocks",
       .formula = "cos_F = Σ W_O^p ⊙ W_O^q / (‖W_O^p‖_F ‖W_O^q‖_F)",
       .remark =
           "W_O^p: the columns of W_O that head p's context is multiplied with; −1: a difference that W_O makes of "
           "two heads; NaN for heads that do not share their values",
       .range = "[−1, 1]",
       .sources = {source::kDiffV2}},
      {.group = "weights",
       .name = "lambda_init",
       .per = Per::Layer,
       .long_name = "λ_init of DIFF V1",
       .formula = "0.8 − 0.6·exp(−0.3·layer)",
       .remark = "NaN in layers of other kinds",
       .range = "[0.2, 0.8]",
       .sources = {source::kDiffV1, source::kHeadPrograms}},
      {.group = "weights",
       .name = "parameters",
       .per = Per::Layer,
       .axes = {"kind"},
       .type = ElementType::Int64,
       .long_name = "parameters of the attention block",
       .formula = "number of weights and biases of each part",
       .range = "[0, ∞)",
       .sources = {source::kFamilies},
       .may_be_absent = false},
  };
}

std::vector<Quantity> hidden_quantities() {
  return {
      {.group = "hidden",
       .name = "residual",
       .per = Per::Run,
       .axes = {"layer_boundary", axis::kPosition, "feature"},
       .long_name = "residual stream",
       .formula = "h at the input of block 0, then at the output of every block",
       .remark = "after embedding and learned positions; before the final norm",
       .range = kUnitless,
       .sources = {source::kFamilies}},
      {.group = "hidden",
       .name = "logits",
       .per = Per::Run,
       .axes = {axis::kPosition, "vocab"},
       .long_name = "logits of the next token",
       .formula = "lm_head(final norm(h))",
       .remark = "soft-capped where the model does; NaN where it has no lm_head",
       .range = kUnitless,
       .sources = {source::kFamilies}},
      {.group = "hidden",
       .name = "residual_top",
       .per = Per::Run,
       .axes = {"layer_boundary", "top", "field"},
       .long_name = "largest values of the residual stream",
       .formula = "position, feature, value h and |h| / median |h| of the three largest |h| at a boundary",
       .remark = "the first of equal ones; the median is of float32 magnitudes, the upper middle one of an even number",
       .range = kUnitless,
       .sources = {source::kSun}},
      {.group = "hidden",
       .name = "residual_rms",
       .per = Per::Run,
       .axes = {"layer_boundary", axis::kPosition},
       .long_name = "RMS of the residual stream",
       .formula = "sqrt(mean over channels of h²)",
       .remark = "of each token",
       .range = "[0, ∞)",
       .sources = {source::kFamilies}},
      {.group = "hidden",
       .name = "residual_kurtosis",
       .per = Per::Run,
       .axes = {"layer_boundary", axis::kPosition},
       .long_name = "kurtosis of the channels of the residual stream",
       .formula = "m₄ / m₂² with m_p = mean over channels of (h − μ)^p",
       .remark =
           "of each token; Pearson's: 3 for a normal distribution, at most (D² − 3 D + 3) / (D − 1) of D channels, NaN "
           "where all are equal",
       .range = "[1, ∞)",
       .sources = {source::kBondarenko}},
  };
}

std::vector<Quantity> exact_quantities() {
  return {
      {.group = "exact",
       .name = "weights",
       .axes = {axis::kComponent, axis::kPosition, "key"},
       .long_name = "attention weights",
       .formula = "a_ij = e^{z_ij − LSE_i}",
       .remark = "0 where masked",
       .range = "[0, 1]",
       .sources = {source::kLogits}},
      {.group = "exact",
       .name = "net_weights",
       .axes = {axis::kPosition, "key"},
       .long_name = "net weights",
       .formula = "w_ij = a¹_ij − λ_i a²_ij",
       .remark = "0 where masked",
       .range = "[−|λ|, 1 + |λ|]",
       .sources = {source::kLogits}},
      {.group = "exact",
       .name = "contexts",
       .axes = {axis::kPosition, "context_channel"},
       .long_name = "context vectors",
       .formula = "c_i = Σ_j (a¹_ij v¹_j − λ_i a²_ij v²_j)",
       .remark = "before head norm, gate and W_O",
       .range = kUnitless,
       .sources = {source::kContexts}},
      {.group = "exact",
       .name = "queries",
       .per = Per::Layer,
       .axes = {"q_block", axis::kPosition, "channel"},
       .long_name = "queries",
       .formula = "q_i",
       .remark = "after qk-norm and rotation, block by block of the query projection",
       .range = kUnitless,
       .sources = {source::kLogits}},
      {.group = "exact",
       .name = "keys",
       .per = Per::Layer,
       .axes = {"k_block", axis::kPosition, "channel"},
       .long_name = "keys",
       .formula = "k_j",
       .remark = "after qk-norm and rotation, block by block of the key projection",
       .range = kUnitless,
       .sources = {source::kLogits}},
      {.group = "exact",
       .name = "values",
       .per = Per::Layer,
       .axes = {"v_block", axis::kPosition, "value_channel"},
       .long_name = "values",
       .formula = "v_j",
       .remark = "block by block of the value projection",
       .range = kUnitless,
       .sources = {source::kContexts}},
  };
}

}  // namespace

std::vector<Quantity> model_quantities() {
  std::vector<Quantity> table = {
      {.name = "attention_kind",
       .per = Per::Layer,
       .type = ElementType::String,
       .long_name = "kind of attention",
       .formula = "softmax, softmax_one, softmax_sink, softpick, gated, diff_v1 or diff_v2",
       .remark = "of the checkpoint; a what-if does not change it",
       .sources = {source::kHeadPrograms}},
      {.name = "sink_null",
       .per = Per::Run,
       .long_name = "sink score of uniform attention",
       .formula = "H_n / n, H_n = Σ_{k=1..n} 1/k",
       .remark = "1 / n in a model that is not causal",
       .range = "(0, 1]",
       .sources = {source::kSinks}},
  };
  const auto add = [&](const std::vector<Quantity>& part) { table.insert(table.end(), part.begin(), part.end()); };
  add(token_quantities());
  add({{.group = "keys",
        .name = "key_norm",
        .per = Per::Layer,
        .axes = {"kv_head", axis::kPosition},
        .long_name = "norm of a key",
        .formula = "‖k_j‖₂",
        .remark = "after qk-norm and rotation",
        .range = "[0, ∞)",
        .sources = {source::kLogits}},
       {.group = "keys",
        .name = "value_norm",
        .per = Per::Layer,
        .axes = {"kv_head", axis::kPosition},
        .long_name = "norm of a value",
        .formula = "‖v_j‖₂",
        .remark = "of one value block; NaN for blocks beyond them where there are more keys than values",
        .range = "[0, ∞)",
        .sources = {source::kContexts}}});
  add(call_quantities());
  add(weight_quantities());
  add(exact_quantities());
  add(hidden_quantities());
  return table;
}

}  // namespace headroom
