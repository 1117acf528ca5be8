// What the heads of a layer can read and write, from weights alone (Elhage et al. 2021): spectra of OV and QK, how far
// a head copies, what heads of a layer share. Definitions: core/measure/circuit_quantities.h. Safe from any thread.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/result.h"
#include "core/circuits/factors.h"
#include "core/circuits/vocabulary.h"

namespace headroom {

struct HeadCircuits {
  std::vector<double> ov;                         // singular values of OV, descending
  std::array<std::vector<double>, 2> qk;          // of W_Qᵀ W_K of the first and the second map; empty: no such map
  std::vector<std::complex<double>> eigenvalues;  // through the vocabulary, by descending |μ|
  std::vector<std::vector<double>> block_ov;      // by value block, where a head has several
  std::vector<double> block_copying;              // likewise
  double copying = kNaN;                          // Σ Re μ / Σ |μ|
  double query_alignment = kNaN, qk_alignment = kNaN;  // of the two maps
};

struct LayerCircuits {
  std::int64_t layer = 0;
  std::string name, kind;
  std::string qk_refused, ov_refused, path_refused;  // why numbers are missing; empty: they are there
  std::int64_t context_dim = 0, head_dim = 0, hidden = 0;
  std::vector<HeadProgram> programs;
  std::vector<HeadCircuits> heads;
  std::vector<double> output_alignment;  // [heads, heads]; NaN for heads that share no values
  std::vector<double> ov_alignment;      // [heads, heads]
  double output_alignment_null = kNaN;   // standard deviation of random matrices: 1/√(D·d)
  double ov_alignment_null = kNaN;       // 1/D

  // The mean over the other heads that share its values; NaN where there is none.
  [[nodiscard]] double mean_alignment(std::size_t head) const;
  // Heads with which it shares its values, itself among them.
  [[nodiscard]] std::vector<std::size_t> group_of(std::size_t head) const;
};

// `vocabulary`: embedding_times_unembedding(); null leaves out what goes through the vocabulary, and `path_refused`
// says nothing of it. Cancelled by `stop`.
[[nodiscard]] Result<LayerCircuits> measure_layer_circuits(const ModelSource& source, const ModelSpec& model,
                                                           std::int64_t layer, const Thin* vocabulary,
                                                           const CircuitStop& stop);

}  // namespace headroom
