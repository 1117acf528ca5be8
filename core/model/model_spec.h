// A model as data: blocks, weights and the head program of every attention variant. A family translates config and
// tensor names into this; one forward runs it, with no branch per family or variant. Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/rope.h"

namespace headroom {

struct Capture;
struct CaptureCall;
struct MixerSpec;

// Where a weight is found and what the file must hold there. The forward sees a matrix [out, in] or a vector.
struct WeightRef {
  std::string tensor;                      // empty: absent
  std::vector<std::int64_t> stored_shape;  // as the file must have it
  bool transposed = false;                 // stored [in, out]
  std::int64_t row_begin = 0;              // rows of [out, in] (elements of a vector) that are used
  std::int64_t row_count = -1;             // −1: all
  std::int64_t row_group = 0;  // > 0: so many together, `row_stride` from the begin of one group to the next
  std::int64_t row_stride = 0;
  std::int64_t slice = -1;  // ≥ 0: which of the matrices or vectors that the tensor's first axis counts

  [[nodiscard]] bool present() const { return !tensor.empty(); }
  [[nodiscard]] std::int64_t rows() const;      // used rows
  [[nodiscard]] std::int64_t all_rows() const;  // of [out, in]
  [[nodiscard]] std::int64_t columns() const;   // 1 for a vector
  [[nodiscard]] bool is_vector() const { return stored_shape.size() == (slice >= 0 ? 2u : 1u); }
  // Of its slice, or of the whole tensor.
  [[nodiscard]] std::int64_t stored_elements() const { return all_rows() * columns(); }
  // Where used row `row` stands in [out, in].
  [[nodiscard]] std::int64_t place_of(std::int64_t row) const {
    return row_begin + (row_group > 0 ? row / row_group * row_stride + row % row_group : row);
  }
};

struct LinearSpec {
  WeightRef weight;  // [out, in]
  WeightRef bias;    // [out] or absent
};

enum class NormKind { None, Rms, Layer };

struct NormSpec {
  NormKind kind = NormKind::None;
  WeightRef weight;  // absent: no affine part
  WeightRef bias;
  double epsilon = 0.0;
  double weight_offset = 0.0;  // 1 for norms that multiply by 1 + w
};

enum class Activation { Silu, Gelu, GeluTanh, QuickGelu, Relu, ReluSquared, PolyNorm };

enum class MlpKind { None, Plain, Gated };

// Plain: down(act(up x)); Gated: down(act(gate x) ⊙ (up x + up_offset)).
struct MlpSpec {
  MlpKind kind = MlpKind::None;
  Activation activation = Activation::Silu;
  LinearSpec gate, up, down;
  double limit = 0.0;      // > 0: gate x is at most this, up x within ± this (gpt-oss)
  double up_offset = 0.0;  // 1 in gpt-oss
  // > 0: what the activation reads is max(g − m, 0) of a row g of gate x, with m its mean plus its deviation times the
  // quantile of this share of a normal distribution (Gemma 3n).
  double sparsity = 0.0;
  // PolyNorm alone: [3], of the cube, the square and x, and [1] (core/model/ARCHITECTURES.md#motif).
  WeightRef power_weight, power_bias;
};

enum class RouterScore {
  Softmax,        // over all experts, of which the best are chosen
  SoftmaxChosen,  // over the chosen ones
  Sigmoid,
  SparseMixer,  // the best, then the best of the rest: each softmax over the experts within 2·jitter of it (PhiMoE)
};

// Which experts a token is sent to, and how much each counts.
struct RouterSpec {
  NormSpec norm;              // of what the logits are a projection of (Gemma 4)
  LinearSpec logits;          // [experts, D]
  double logit_scale = 1.0;   // of them
  WeightRef expert_scales;    // [experts] or absent: of the weights, last (Gemma 4)
  bool scales_input = false;  // weights multiply what an expert is given, in place of what it gives (Llama 4)
  RouterScore score = RouterScore::Softmax;
  std::int64_t chosen = 0;
  WeightRef choice_bias;  // [experts] or absent: added to the scores for the choice alone (DeepSeek-V3, section 2.1.2)
  // > 1: experts come in so many groups, of which `chosen_groups` with the largest sum of their `group_best` best
  // scores are chosen from.
  std::int64_t groups = 1, chosen_groups = 1, group_best = 1;
  bool normalised = false;  // the chosen ones' weights are divided by their sum, plus epsilon
  double epsilon = 0.0;
  double scale = 1.0;  // of the weights
  double jitter = 0.0;
};

// Experts beside a block's MLP, which every token passes: out = σ(shared_gate x)·mlp(x) + Σ w_e expert_e(x).
struct ExpertsSpec {
  RouterSpec router;
  std::vector<MlpSpec> experts;  // empty: there are none
  LinearSpec shared_gate;        // [1, D] or absent: mlp(x) as it is
  // Beside the MLP with norms of their own (Gemma 4): experts read before(h), the router h, and the branch gives
  // mlp_after(mlp(x)) + after(Σ …). Absent: x for all of them, and no norm.
  NormSpec before, after, mlp_after;

  [[nodiscard]] bool present() const { return !experts.empty(); }
};

enum class LambdaSource {
  None,           // no second map
  LayerScalar,    // V1: exp(λq1·λk1) − exp(λq2·λk2) + λ_init
  Projection,     // V2: σ(W_λ x), per token and head
  RawProjection,  // what-if: W_λ x
  Constant,
  Recorded,  // a number for each row, as a capture has it
};

enum class SinkSource {
  None,
  Zero,     // softmax-off-by-one: an implicit key with logit 0 and value 0
  Learned,  // one logit per output head
};

// What makes weights of logits.
enum class Normalizer {
  Softmax,
  Softpick,  // max(e^z − 1, 0) / (Σ |e^z − 1| + ε): rows that need not sum to 1, and exact zeros (arXiv 2504.20966)
};

// One output head. Blocks are head_dim-row slices of the projections' outputs; map m is
// softmax(mask(scale · q_m k_mᵀ)) over the key block; the head's context is A¹V¹ − λ A²V² with V the concatenated value
// blocks of each map, the same ones unless a what-if pairs heads of different groups
// (core/model/ARCHITECTURES.md#head-programs).
struct HeadProgram {
  struct Map {
    std::int64_t query_block = -1;  // −1: the head has no such map
    std::int64_t key_block = -1;
    std::vector<std::int64_t> value_blocks;
    friend bool operator==(const Map&, const Map&) = default;
  };
  Map first, second;
  bool first_enabled = true;  // false: w = −λ a² (what-if first-map=off)
  LambdaSource lambda = LambdaSource::None;
  double lambda_constant = 0.0;
  SinkSource sink = SinkSource::None;
  Normalizer normalizer = Normalizer::Softmax;  // softpick has no sink
  bool post_norm = false;
  double post_scale = 1.0;
  bool gated = false;
  bool enabled = true;    // false: the head's output is 0
  bool averaged = false;  // the head's output is its mean over the sequence (what-if head=mean)
  double temperature = 1.0;
  std::vector<std::int64_t> hidden_keys;  // ascending

  [[nodiscard]] bool has_first() const { return first.query_block >= 0 && first_enabled; }
  [[nodiscard]] bool has_second() const { return second.query_block >= 0; }
  // The weights of a row of each map do.
  [[nodiscard]] bool sums_to_one() const { return sink == SinkSource::None && normalizer == Normalizer::Softmax; }
  friend bool operator==(const HeadProgram&, const HeadProgram&) = default;
};

enum class QkNormScope { None, PerHead, Whole };

enum class GateLayout { None, PerHead, Elementwise };

// norm(down x), of which projections are made in place of x; absent: x.
struct LatentSpec {
  LinearSpec down;
  NormSpec norm;

  [[nodiscard]] bool present() const { return down.weight.present(); }
};

// Terms of the logits that depend on a row's or a key's content and on their distance (DeBERTa, He et al. 2021, arXiv
// 2006.03654, eq. 4): e_b is row b of norm(embedding), b the bucket of the distance, and z gains scale·q_i·(key e_b)
// and scale·k_j·(query e_b).
struct DisentangledSpec {
  WeightRef embedding;  // [2·span, D]; absent: there are no such terms
  NormSpec norm;
  LinearSpec key, query;      // absent: that term is not there
  std::int64_t span = 0;      // distances from −span to span − 1 have a row
  std::int64_t buckets = 0;   // > 0: distances beyond buckets/2 share rows by their logarithm, up to `furthest`
  std::int64_t furthest = 0;  // the distance from which on all share one row

  [[nodiscard]] bool present() const { return embedding.present(); }
};

// What is added to the scaled logits of a head, before the cap, by the distance p − j of a key from the row's position
// alone (core/model/ARCHITECTURES.md#biases-by-distance). One of the two, or none.
struct DistanceBiasSpec {
  std::vector<double> slopes;  // ALiBi: −slope·|p − j|, a slope for each output head
  WeightRef table;             // learned: [buckets, heads]
  bool bidirectional = false;  // half of the buckets are for keys behind the row
  std::int64_t max_distance = 128;

  [[nodiscard]] bool present() const { return !slopes.empty() || table.present(); }
};

// Queries of position p count 1 + amount · ln(1 + ⌊(p + offset) / length⌋) times, after norms and rotation (Nakanishi
// 2025, arXiv 2501.19399, as Llama 4 and Ministral 3 have it).
struct QueryScale {
  double amount = 0.0;  // 0: none
  double length = 1.0;
  double offset = 0.0;

  [[nodiscard]] bool present() const { return amount != 0.0; }
};

struct AttentionSpec {
  std::string kind;            // "softmax", "softmax_one", "softmax_sink", "softpick", "gated", "diff_v1", "diff_v2"
  std::int64_t head_dim = 0;   // channels of a query or key block
  std::int64_t value_dim = 0;  // channels of a value block
  std::int64_t num_query_blocks = 0;
  std::int64_t num_key_blocks = 0;
  std::int64_t num_value_blocks = 0;
  LinearSpec q, k, v, o;
  // Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): queries of q_latent, keys and values of
  // kv_latent, and behind the channels of every key block those of shared_key, a projection of x.
  LatentSpec q_latent, kv_latent;
  LinearSpec shared_key;
  // ≥ 0: keys and values are those that this earlier block made, after its norms and rotation, and the block has no k
  // and v of its own (YOCO, arXiv 2405.05254; the later layers of Gemma 3n).
  std::int64_t keys_of_layer = -1;
  QkNormScope qk_norm = QkNormScope::None;
  bool qk_norm_after_rope = false;  // norms of queries and keys stand behind the rotation (Llama 4)
  NormSpec q_norm, k_norm;
  NormSpec v_norm;  // of every value block
  QueryScale query_scale;
  RopeSpec rope;
  double scale = 1.0;
  double softcap = 0.0;  // 0: none; z ← c·tanh(z/c)
  DistanceBiasSpec bias;
  double clip_qkv = 0.0;    // > 0: queries, keys and values are cut to ± this before norms of heads and rotation
  std::int64_t window = 0;  // 0: none; key j is seen by query i only where |i − j| < window
  std::int64_t chunk = 0;   // 0: none; key j is seen by query i only where ⌊i / chunk⌋ = ⌊j / chunk⌋
  // Keys that the window and chunks leave visible to every row behind them, the first of the sequence; 0: none.
  std::int64_t always_visible = 0;
  bool causal = true;
  bool cross = false;  // keys and values are of what the encoder gives, not of x; not causal then
  DisentangledSpec disentangled;
  std::vector<HeadProgram> heads;

  LinearSpec lambda_projection;                          // V2: [h, D]
  WeightRef lambda_q1, lambda_k1, lambda_q2, lambda_k2;  // V1: [head_dim]
  double lambda_init = 0.0;                              // V1
  WeightRef stored_lambda_init;                          // where the file holds it instead: a tensor of one number
  NormSpec head_norm;                                    // V1's norm over a head's channels
  WeightRef sink_logits;                                 // [h]
  // Of a capture: stands for projections, λ and gates. Of an encoder-decoder whose prompt is known: name and lengths.
  std::shared_ptr<const CaptureCall> call;
  GateLayout gate = GateLayout::None;
  LinearSpec gate_projection;  // [h, D] or [h·value channels, D]

  [[nodiscard]] std::int64_t context_dim() const;  // channels of one output head
  [[nodiscard]] bool differential() const;         // any head has a second map
  [[nodiscard]] bool shares_projection() const;    // keys are of the queries' projection
  [[nodiscard]] bool values_are_keys() const;      // values are of the keys' projection, before its norm and rotation
};

// A branch of the residual stream: h ← sum(h + scale · after(branch(before(h)))).
struct BranchSpec {
  NormSpec before;  // pre-norm, as most decoders
  NormSpec after;   // of what the branch gives, as Gemma 2 and OLMo 2
  NormSpec sum;     // post-norm, of the stream itself, as BERT
  double scale = 1.0;
};

// Beside the attention, on the same x = before(h): the branch gives (attention + x + norm(right(left x))), and the sum
// with h is divided by √2 (Menghani et al. 2024, arXiv 2411.07501, low rank, as Gemma 3n has it).
struct LaurelSpec {
  LinearSpec left, right;
  NormSpec norm;

  [[nodiscard]] bool present() const { return left.weight.present(); }
};

// Around a block that works on one of several streams (Baykal et al. 2023, arXiv 2301.13310, as Gemma 3n has it). With
// r(h) = tanh(router(norm(h) / D)), H the streams, h the active one and y what the block makes of its prediction:
//   P_i = H_i + Σ_j (prediction r(h))_ij H_j,   H_i ← P_i + (1 + (correction r(y))_i) (y − P_active).
struct AltUpSpec {
  NormSpec norm;
  LinearSpec router;      // [streams, D]
  LinearSpec prediction;  // [streams², streams]
  LinearSpec correction;  // [streams, streams]
  WeightRef scale;        // [D] or absent: of the active stream, as the embedding of a layer reads it

  [[nodiscard]] bool present() const { return router.weight.present(); }
};

// What a block adds last, from the embedding e that the token has for this layer: norm(up(act(gate h) ⊙ e)). To the
// stream, or with AltUp to all streams but the first.
struct TokenBranchSpec {
  LinearSpec gate, up;
  NormSpec norm;
  Activation activation = Activation::GeluTanh;

  [[nodiscard]] bool present() const { return gate.weight.present(); }
};

// Attention, then the MLP. Parallel: both read the same h, and the MLP is added to what the attention left.
struct BlockSpec {
  BranchSpec attention_branch, mlp_branch;
  AttentionSpec attention;                 // without heads where a mixer stands in its place
  std::shared_ptr<const MixerSpec> mixer;  // null: attention
  MlpSpec mlp;
  ExpertsSpec experts;
  bool parallel = false;
  LaurelSpec laurel;
  AltUpSpec altup;
  TokenBranchSpec token_branch;
  WeightRef scale;  // [1] or absent: of the stream behind the block

  [[nodiscard]] bool feeds_forward() const { return mlp.kind != MlpKind::None || experts.present(); }
  [[nodiscard]] bool attends() const { return mixer == nullptr; }
  [[nodiscard]] std::string_view kind() const;  // of its attention, or the mixer's name
};

// Between the final norm and lm_head of masked language models: norm(act(dense h)). Absent: h.
struct HeadTransform {
  LinearSpec dense;
  Activation activation = Activation::Gelu;
  NormSpec norm;
};

// The embedding of a token for each layer: (norm(projection(E)_l · projection_scale) + table[t]_l · table_scale)/√2,
// E the scaled embedding, l its `width` channels of the layer (Gemma 3n).
struct LayerEmbeddingSpec {
  std::int64_t width = 0;
  WeightRef table;  // [vocab, layers · width]; tokens beyond it read row 0
  double table_scale = 1.0;
  LinearSpec projection;  // [layers · width, D]
  double projection_scale = 1.0;
  NormSpec norm;

  [[nodiscard]] bool present() const { return table.present(); }
};

// Several streams (AltUp): the embedding and its projections in `in`, each with the RMS of the embedding; behind the
// blocks the mean of stream 0 and the projections of the others in `out`, each with the RMS of stream 0.
struct StreamsSpec {
  std::vector<LinearSpec> in, out;
  std::int64_t active = 0;

  [[nodiscard]] bool present() const { return !in.empty(); }
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(in.size()) + 1; }
};

// The first of two streams, whose final state the cross-attention of the second one reads. Of the model's blocks it has
// the first; behind them each layer of the decoder is two blocks: self-attention without MLP, then cross-attention.
struct EncoderSpec {
  std::int64_t blocks = 0;
  WeightRef embedding;  // [vocab, hidden]; the decoder's where they share it
  WeightRef position_embedding;
  NormSpec embedding_norm;
  NormSpec final_norm;
  // What a target that is made of other tokens begins with; absent: their last one (MBart).
  std::optional<std::int64_t> start_token_id;
};

struct ModelSpec {
  std::string model_type;
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t max_positions = 0;  // 0: unknown
  std::int64_t num_heads = 0;      // output heads of a layer
  std::int64_t num_kv_heads = 0;   // as the config counts them
  WeightRef embedding;             // [vocab, hidden]
  double embedding_scale = 1.0;
  WeightRef position_embedding;  // [positions, hidden] or absent
  // Positions count the tokens that are not this one, from it + 1 on; it has position `padding_id` (RoBERTa).
  std::optional<std::int64_t> padding_id;
  WeightRef type_embedding;         // [types, hidden] or absent: every token has type 0
  NormSpec embedding_norm;          // of their sum
  LinearSpec embedding_projection;  // of that into the stream, or absent (ELECTRA)
  LayerEmbeddingSpec layer_embedding;
  StreamsSpec streams;
  std::optional<EncoderSpec> encoder;  // the embedding above and what is below are the decoder's
  std::vector<BlockSpec> blocks;
  NormSpec final_norm;
  HeadTransform head_transform;
  LinearSpec lm_head;  // weight may be absent: no logits
  bool tied = false;   // lm_head.weight is the embedding
  double logit_scale = 1.0;
  double logit_softcap = 0.0;  // 0: none; after the scale
  std::optional<std::int64_t> bos_token_id;
  std::vector<std::string> set_aside;  // how names of tensors begin that stand for what is not run: a pooler
  std::vector<std::string> warnings;
  std::shared_ptr<const Capture> capture;  // the blocks are its calls, without any weight; null: a model

  // Another block uses the keys and values of this one.
  [[nodiscard]] bool keys_are_kept(std::int64_t layer) const;
  // Another block's mixer reads what this one's scan made.
  [[nodiscard]] bool memory_is_kept(std::int64_t layer) const;
  // Those that are measured, ascending: layers are numbered by block, whatever mixes their tokens.
  [[nodiscard]] std::vector<std::int64_t> attention_layers() const;
  // Of the first of them, which every model that opens has.
  [[nodiscard]] const AttentionSpec& first_attention() const;
  [[nodiscard]] std::string kinds_text() const;  // of its blocks: "short_conv, softmax"
  // InvalidArgument where one of these layers has no attention.
  [[nodiscard]] Result<void> check_attends(std::span<const std::int64_t> layers) const;
  // Every layer of the stream that logits are made of, cross-attention aside, is: rows do not see what they predict.
  [[nodiscard]] bool causal() const;
  // "encoder 3", "decoder 2 self", "decoder 2 cross"; empty where a number says all.
  [[nodiscard]] std::string layer_name(std::int64_t layer) const;
  // Tokens that the table of learned positions is long enough for; 0 without one.
  [[nodiscard]] std::int64_t learned_positions() const;
  // No head has another normalizer: what the fused kernels compute.
  [[nodiscard]] bool softmax_only() const;
};

// "0-4, 6-10, 12".
[[nodiscard]] std::string layers_text(std::span<const std::int64_t> layers);

// Visits every present weight with the account it belongs to: "q", "k", "v", "o", "lambda", "sink", "gate", "qk_norm",
// "head_norm", "bias", "mixer", "norm", "mlp", "router", "expert" (all of them, chosen or not), "stream" (what turns
// and mixes it elsewhere), "embedding", "lm_head"; layer −1 outside the blocks.
using WeightVisitor = std::function<void(const WeightRef& weight, std::string_view account, std::int64_t layer)>;
void for_each_weight(const ModelSpec& model, const WeightVisitor& visit);
void for_each_weight(const BlockSpec& block, std::int64_t layer, const WeightVisitor& visit);

}  // namespace headroom
