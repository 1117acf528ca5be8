// A run in memory as the window reads it: quantities by the names of the run file, layer by layer, and what the maps
// are computed from. A snapshot is immutable and swapped whole; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/maps/map_source.h"
#include "core/measure/predictions.h"
#include "core/measure/quantity.h"
#include "core/measure/residual_record.h"
#include "core/measure/router_record.h"
#include "core/model/model_spec.h"
#include "core/run/analysis.h"
#include "core/run/capture_prompt.h"
#include "core/run/pooled_maps.h"

namespace headroom {

// One layer. Names are "sink_score" in the root and "rows/lse", "keys/attention_received", "hist/logit" in groups, as
// in the run file; values are those of the file before they are rounded to its type. What has one value a head stands
// in the summary whatever its group ("weights/sink_logit").
struct LayerSnapshot {
  std::int64_t layer = 0;
  std::string call_name;  // of a captured call; empty in layers of a model
  std::string kind;
  std::int64_t length = 0;          // of the run: what has a value for each position has as many
  std::int64_t rows = 0, keys = 0;  // of the layer: fewer in some calls of a capture; beyond them are no values
  std::int64_t first_query = 0;     // position of row 0 among the keys
  CallAxes axes{TokenAxis::Tokens, TokenAxis::Tokens};  // whose tokens rows and keys are
  std::int64_t context_dim = 0;
  double lambda_init = 0.0;           // NaN outside V1
  std::vector<std::int64_t> heads;    // ascending
  std::vector<HeadProgram> programs;  // of these heads
  std::vector<std::array<std::int64_t, 2>> kv_heads;
  std::vector<std::vector<std::int64_t>> visible;  // n_i per row; one entry if all heads agree, else one per head
  std::map<std::string, std::vector<double>, std::less<>> summary;  // [heads, extents…]
  std::map<std::string, std::vector<float>, std::less<>> series;    // groups; [heads, extents…]; empty where not kept
  std::vector<double> output_alignment;                             // [heads, all heads]
  std::vector<std::vector<float>> key_norms,
      value_norms;                           // per block of the layer, per position; kept as the series are
  std::shared_ptr<const MapSource> maps;     // null where not kept
  std::shared_ptr<const PooledMaps> pooled;  // stays where maps are dropped; null: the run made none

  [[nodiscard]] std::int64_t head_index(std::int64_t head) const;  // −1: not measured
  // All values of one head: one number, or [component], [component, position] … row-major. Empty where there are none.
  [[nodiscard]] std::span<const double> values(std::string_view name, std::int64_t head) const;
  [[nodiscard]] std::span<const float> row_values(std::string_view name, std::int64_t head) const;
  [[nodiscard]] std::size_t kept_bytes() const;  // of what a budget may drop: maps, series and norms
};

// A layer's router as it is kept: [length, chosen] each, as in RouterRecord.
struct RouterSnapshot {
  std::int64_t layer = 0, chosen = 0;
  std::vector<std::uint16_t> index;
  std::vector<float> weight;
  std::vector<std::int64_t> tokens;  // by expert: how many it was sent

  [[nodiscard]] std::int64_t length() const {
    return chosen > 0 ? static_cast<std::int64_t>(index.size()) / chosen : 0;
  }
  [[nodiscard]] std::size_t kept_bytes() const;
};
[[nodiscard]] std::shared_ptr<const RouterSnapshot> keep_router(const RouterRecord& record);

struct RunSnapshot {
  std::shared_ptr<const Prompt> prompt;
  std::int64_t length = 0, min_row = 0;
  double sink_null = 0.0;                                      // as in core/measure/QUANTITIES.md#sink_null
  std::vector<std::int64_t> layers, heads;                     // what is measured
  std::int64_t all_layers = 0;                                 // of the model
  std::vector<std::shared_ptr<const LayerSnapshot>> data;      // by position in `layers`; null: not computed (yet)
  std::vector<std::shared_ptr<const RouterSnapshot>> routers;  // of layers with experts, ascending; never null
  // The residual stream by boundary; empty: the run keeps none; null: that boundary is not there (yet).
  std::vector<std::shared_ptr<const ResidualBoundary>> residual;
  std::int64_t encoder_boundaries = 0;  // those that lead, of an encoder's stream
  std::optional<double> next_token_loss;
  std::shared_ptr<const Predictions> predictions;  // null: none, or not yet
  std::optional<AttentionChoice> attention;
  std::vector<std::string> notes;
  std::vector<std::string> non_finite_weights;  // a sentence for each tensor that holds NaN or infinities
  std::int64_t non_finite_layer = -1;           // the first whose output does
  double seconds = 0.0;
  bool complete = false;  // every layer is there
  std::string model_name, model_kind;
  std::vector<std::string> what_ifs;                           // that it was made with, as they were given
  std::map<std::string, std::string, std::less<>> attributes;  // of a run file that was opened
  // Numbers of heads that later runs of the model gave, such as its loss without each: [layers, heads], NaN where there
  // is none. Not in run files.
  std::map<std::string, std::vector<double>, std::less<>> beside;

  [[nodiscard]] const LayerSnapshot* layer(std::int64_t layer) const;           // null: not there (yet)
  [[nodiscard]] const RouterSnapshot* router(std::int64_t layer) const;         // null: it has none, or not yet
  [[nodiscard]] const ResidualBoundary* boundary(std::int64_t boundary) const;  // null: not there (yet)
  // The layer that reads a boundary, −1 behind the last one; the boundary that a layer reads.
  [[nodiscard]] std::int64_t layer_reading(std::int64_t boundary) const;
  [[nodiscard]] std::int64_t boundary_before(std::int64_t layer) const;
  // A root quantity of one head; NaN where there is no value.
  [[nodiscard]] double at(std::string_view name, std::int64_t layer, std::int64_t head, std::size_t index = 0) const;
  [[nodiscard]] std::size_t finished_layers() const;
};

// The text of place i along an axis of that sequence; null where there is none.
[[nodiscard]] const std::string* axis_text(const RunSnapshot& run, TokenAxis axis, std::int64_t i);

// "Layer 3", or the name of a captured call.
[[nodiscard]] std::string layer_title(const RunSnapshot& run, std::int64_t layer);

// Reads a run file whole, without maps unless it has pooled ones. One thread at a time: HDF5.
[[nodiscard]] Result<std::shared_ptr<const RunSnapshot>> read_run(const std::filesystem::path& path);

}  // namespace headroom
