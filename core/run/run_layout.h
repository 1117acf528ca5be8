// Lays a run file out before anything is computed: root attributes, axes and every dataset. One thread: HDF5.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/io/run_file_writer.h"
#include "core/measure/quantity.h"
#include "core/run/analysis.h"

namespace headroom {

// The sizes and choices that the file's shape follows from.
struct RunShape {
  std::int64_t length = 0;
  std::vector<std::int64_t> layers, heads;
  std::int64_t all_heads = 0;
  std::int64_t query_blocks = 0, kv_blocks = 0, value_blocks = 0;  // the most of a layer
  std::int64_t head_dim = 0, value_dim = 0, context_dim = 0;       // the largest of a layer
  std::int64_t value_slots = 0;                                    // the most value blocks of a head
  std::int64_t pool_size = 0, pool_blocks = 0;
  std::int64_t hidden_size = 0, vocab_size = 0, boundaries = 0;
  std::vector<std::int64_t> expert_layers;       // layers of the model whose router runs
  std::int64_t experts = 0, chosen_experts = 0;  // the most of a layer
  std::int64_t min_row = 0;
  ElementType real = ElementType::Float32;  // Float64 in float64 runs
  bool components = false, rounding = false, premise = false, exact = false, hidden = false, summary_only = false;
  bool predictions = false;  // the run reaches logits of the next token
  bool calls = false;        // the layers are calls with names, rows and keys: of a capture, or of an encoder-decoder
  bool alibi = false;        // a layer has ALiBi
  std::int64_t bias_ahead = 0,
               bias_behind = -1;  // distances −ahead … behind of learned biases; none: no layer has them
  // Of an encoder-decoder: boundaries of the encoder's stream, and lengths of the two.
  std::int64_t encoder_boundaries = 0, source_length = 0, target_length = 0;

  [[nodiscard]] std::int64_t rows_at(std::int64_t boundary) const;
};

[[nodiscard]] RunShape make_shape(const ModelSpec& model, const AnalysisRequest& request);

// Whether the run writes an entry of the quantity table.
[[nodiscard]] bool is_written(const Quantity& quantity, const RunShape& shape);
// Extents of an entry's axes after layer and head.
[[nodiscard]] std::vector<std::int64_t> extents(const Quantity& quantity, const RunShape& shape);

// An axis of numbers, and one of names.
[[nodiscard]] AxisDef index_axis(std::string name, std::vector<double> values, std::string long_name,
                                 std::string group = "");
[[nodiscard]] AxisDef label_axis(std::string name, std::vector<std::string> labels, std::string long_name,
                                 std::string group = "");
// The axes that the datasets of a run have, those of the histograms' bins among them where it writes these.
[[nodiscard]] Result<void> define_axes(RunFileWriter& writer, const RunShape& shape);
[[nodiscard]] Result<void> define_histogram_axes(RunFileWriter& writer);
// The dataset of an entry; floats of type `real`. The file has its axes before it is added.
[[nodiscard]] DatasetDef dataset_of(const Quantity& quantity, ElementType real);
[[nodiscard]] Result<void> define_quantity(RunFileWriter& writer, const Quantity& quantity, ElementType real);

[[nodiscard]] Result<void> define_run(RunFileWriter& writer, const RunShape& shape);

// Number of weights and biases by account of the attention block, without embedding, MLP and block norms; and the
// names along the axis `kind` of /weights/parameters.
[[nodiscard]] std::map<std::string, std::int64_t, std::less<>> attention_parameters(const BlockSpec& block);
[[nodiscard]] const std::vector<std::string>& parameter_kinds();

}  // namespace headroom
