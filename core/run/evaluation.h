// Head quantities of a model over several sequences, each run alone: the mean over sequences and its standard error;
// rows of different sequences are never pooled: they are no independent samples. No file is written. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/measure/head_view.h"
#include "core/run/compute.h"

namespace headroom {

struct EvaluationRequest {
  const ModelSource* source = nullptr;
  const ModelSpec* model = nullptr;                  // what-ifs applied
  std::vector<std::vector<std::int32_t>> sequences;  // of the same length
  std::string device = "cpu";
  std::string backend = "auto";
  bool residual = false;        // the residual stream is looked at, too
  bool output_cosines = false;  // records have LayerRecord::output_cosine
  // Called for every head of every sequence, layers in order; may be empty.
  std::function<void(const HeadView& head, std::size_t sequence)> visit;
};

// [layers, heads, …] like the dataset of that name. For names that end in _max or _min: the extreme over the sequences.
struct EvaluatedQuantity {
  std::vector<double> mean;
  std::vector<double> standard_error;  // of the mean, over sequences; NaN for extremes and a single sequence
};

struct Evaluation {
  std::int64_t sequences = 0, length = 0, layers = 0, heads = 0;
  // The root group of a run file and context_rms_relative_quantile (ρ at the same probabilities). Rows with n_i ≥ 1 are
  // eligible: sequences may be short.
  std::map<std::string, EvaluatedQuantity, std::less<>> quantities;
  EvaluatedQuantity next_token_loss;  // one number; NaN without lm_head
  // [layers], where it was asked for: of the residual stream after each block, all tokens and channels of a sequence
  // together (core/measure/activation.h).
  EvaluatedQuantity residual_kurtosis, residual_largest_over_median;

  // Element `index` of head h of layer l.
  [[nodiscard]] double at(std::string_view name, std::int64_t l, std::int64_t h, std::size_t index = 0) const;
  // Mean over layers and heads of element `index`, heads without it left out.
  [[nodiscard]] double over_heads(std::string_view name, std::size_t index = 0) const;
  // Largest over layers and heads.
  [[nodiscard]] double largest(std::string_view name, std::size_t index = 0) const;
};

[[nodiscard]] Result<Evaluation> evaluate(ComputeBackend& backend, const EvaluationRequest& request,
                                          const kernels::StopRequested& stop);

}  // namespace headroom
