// What running one layer's attention yields, before it is named and written: per-row and per-key arrays in double.
// Immutable once handed over; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "core/maps/head_masks.h"
#include "core/measure/premise_record.h"
#include "core/model/distance_bias.h"
#include "core/model/model_spec.h"
#include "kernels/attention.h"

namespace headroom {

// Of one map rounded to bfloat16 (core/compute/rounding_bias.h): RMS over channels of the mean error and RMS of the
// error, both in units of the context's RMS, and RMS over channels of the mean error in units of its standard error.
// NaN where they were not measured or are not defined.
struct RoundingErrors {
  double bias = kNaN, noise = kNaN, bias_t = kNaN;
};

struct HeadRecord {
  std::int64_t head = 0;
  HeadProgram program;
  kernels::HeadStatistics statistics;
  std::vector<double> lambda;             // per row; empty without a second map
  std::vector<double> context_rms;        // per row: RMS of c_i before norm, gate and W_O
  std::vector<double> value_mean_square;  // per key: r_j² (mean over both maps' values where they differ)
  std::vector<double> gate_mean;          // per row; empty without a gate
  double norm_epsilon = -1.0;             // of V1's norm; negative without it
  double value_drain = 0.0;               // ‖v_0‖ / mean ‖v‖
  double value_mean_share = 0.0;          // ‖mean v‖² / mean ‖v‖²
  std::array<double, 2> query_norm_max{}, key_norm_max{};
  std::array<std::int64_t, 2> kv_head{-1, -1};
  double sink_logit = 0.0;  // NaN where the head has none
  std::array<RoundingErrors, 2> rounding{};
  std::shared_ptr<const PremiseRecord> premise;  // null: not measured, or not defined
  // Of a captured call that has the model's own context: the largest |c − c of the model| in units of the largest |c of
  // the model|. NaN elsewhere.
  double context_difference = kNaN;

  // What a row and as many keys take, beside the statistics.
  static constexpr std::int64_t kRowBytes = 4 * sizeof(double);
};

struct LayerRecord {
  std::int64_t layer = 0;
  std::string name;  // of a call; empty: it is known by its number
  std::string kind;
  std::int64_t length = 0;       // rows
  std::int64_t key_length = -1;  // keys; −1: as many as rows
  std::int64_t first_query = 0;  // position of row 0 among the keys
  bool positional = true;        // rows and keys are places in one sequence
  std::int64_t window = 0;
  std::int64_t chunk = 0;
  std::int64_t always_visible = 0;  // keys
  bool causal = true;
  std::shared_ptr<const DistanceBias> bias;  // of every head of the layer; null: none
  std::shared_ptr<const HeadMasks> dense;    // null: none
  std::vector<std::int64_t> induction_key;   // per row: the key after the latest earlier occurrence of its token; −1
  std::int64_t context_dim = 0;              // channels of a head's context
  double lambda_init = 0.0;                  // NaN outside V1
  std::vector<HeadRecord> heads;             // the selected ones, ascending
  std::vector<std::vector<double>> key_norm, value_norm;  // per block, per position: L2 norm
  std::vector<double> output_alignment;                   // [heads, all heads]: cos_F of W_O blocks; NaN across groups

  // [heads, all heads], where ForwardOptions::output_cosines asks for it: the mean over rows of the cosine of what two
  // heads add to the residual stream, W_O^p c^p_i and W_O^q c^q_i. Rows where one adds nothing are left out.
  std::vector<double> output_cosine;

  // What the products are made of, where ForwardOptions::keep_projections asks for it: after norms, rotation and
  // rounding to the type in which they enter, [blocks, length, head_dim].
  std::vector<float> queries, keys;
  std::int64_t head_dim = 0, num_query_blocks = 0, num_key_blocks = 0;
  double scale = 1.0, softcap = 0.0;

  [[nodiscard]] kernels::Mask mask(const HeadRecord& head) const;
};

}  // namespace headroom
