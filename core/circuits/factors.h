// The weights of a layer as factors of its circuits: what a head reads and writes is L Rᵀ with two thin matrices, and
// nothing of D × D is made of it (Elhage et al. 2021). Plain values; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

// Row-major.
struct Thin {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;

  Thin() = default;
  Thin(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), columns(column_count), values(static_cast<std::size_t>(row_count * column_count), 0.0) {}
  [[nodiscard]] double* row(std::int64_t r) { return values.data() + r * columns; }
  [[nodiscard]] const double* row(std::int64_t r) const { return values.data() + r * columns; }
  [[nodiscard]] bool empty() const { return values.empty(); }
};

// Σ over the rows of both: aᵀ b, [a.columns, b.columns].
[[nodiscard]] Thin product(const Thin& a, const Thin& b);

// Of a layer, gains of its norms folded in: W_Q G and W_K G with the gains of norms of queries and keys, W_V G, and the
// columns of G_after W_O by head, with gain and factor of a head norm. G: the gain of the norm before the attention,
// which a LayerNorm centres first. Everything is [D, channels].
struct LayerFactors {
  std::vector<Thin> query, key, value;  // by block
  std::vector<Thin> output;             // by head
  std::string qk_refused, ov_refused;   // why there are none of them; empty: there are

  // The value blocks of a head beside each other, [D, context channels].
  [[nodiscard]] Thin values_of(const HeadProgram& head) const;
};

// Why a layer has no QK or OV circuit, from its description alone: each one sentence, or empty.
[[nodiscard]] std::string qk_refusal(const ModelSpec& model, std::int64_t layer);
[[nodiscard]] std::string ov_refusal(const ModelSpec& model, std::int64_t layer);
// Why the direct path through this layer, from the embedding to the unembedding, is not defined.
[[nodiscard]] std::string path_refusal(const ModelSpec& model, std::int64_t layer);

// What is refused is not read. Errors of reading name the tensor.
[[nodiscard]] Result<LayerFactors> read_factors(const ModelSource& source, const ModelSpec& model, std::int64_t layer);

// The gain of a norm, [width]: ones where it has none.
[[nodiscard]] Result<std::vector<double>> read_gain(const ModelSource& source, const NormSpec& norm,
                                                    std::int64_t width);
// What reads norm(x), as what reads x: its rows times the gain, then, of a LayerNorm, less the mean of their column.
void fold_into_reader(const NormSpec& norm, const std::vector<double>& gain, Thin& factor);
// The norm of what is written: of a LayerNorm less the mean of the column, then times the gain.
void fold_into_writer(const NormSpec& norm, const std::vector<double>& gain, Thin& factor);

}  // namespace headroom
