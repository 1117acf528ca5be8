// A run whose results stay in memory and are published layer by layer: what the window runs. Compute thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/run/compute.h"
#include "core/run/run_snapshot.h"
#include "core/run/stream_state.h"

namespace headroom {

// Inputs of layers that a run kept, by layer; null where not kept. Filled by the run that owns it, read by later ones
// of the same model, prompt, what-ifs and type. Layer 0 needs none, and float64 runs keep none, since float32 would not
// hold them. Safe from any thread.
class LayerInputs;

struct LiveRunRequest {
  std::shared_ptr<const OpenedModel> model;
  std::vector<WhatIf> what_ifs;
  std::shared_ptr<const Prompt> prompt;
  std::shared_ptr<const Tokenizer> tokenizer;  // names the tokens that are predicted; null: they have no names
  std::vector<std::int64_t> layers, heads;     // measured ones; empty: all
  ComputeDtype dtype = ComputeDtype::Float32;
  std::string device = "cpu", backend = "auto";
  // Where maps, series and layer inputs exceed it, maps and series of the layers measured first are dropped.
  std::size_t keep_bytes = std::size_t{4} << 30;
  bool keep_maps = true;          // false: no layer keeps queries and keys, and no inputs are kept
  std::int64_t pool_blocks = -1;  // of every head's pooled map, along a side; −1: by their number; 0: none
  bool keep_residual = false;     // the whole residual stream, beside what is measured of it
  ExtraMeasures extra;
  std::shared_ptr<LayerInputs> inputs;  // kept here; null: none are kept
  // A run that begins at a layer with another run's input: a what-if, or one layer measured again. The layers before it
  // are taken from `base`.
  std::int64_t first_layer = 0;
  std::int64_t last_layer = -1;  // the last one that runs, without its MLP where it is given; −1: to the loss
  std::shared_ptr<const StreamState> start;  // of first_layer; needed where that is not 0
  std::shared_ptr<const RunSnapshot> base;
};

// Called on the compute thread with every finished layer.
using PublishRun = std::function<void(std::shared_ptr<const RunSnapshot>)>;

// The snapshot of the end. Cancelled keeps what was published. InvalidArgument for a prompt or a what-if that does not
// fit, before anything is computed.
[[nodiscard]] Result<std::shared_ptr<const RunSnapshot>> run_live(ComputeBackend& backend,
                                                                  const LiveRunRequest& request,
                                                                  const PublishRun& publish,
                                                                  const ProgressReport& progress,
                                                                  const kernels::StopRequested& stop);

// Blocks along a side of the pooled maps that the run keeps; 0: none.
[[nodiscard]] std::int64_t pool_blocks_of(const LiveRunRequest& request);

// Bytes that keeping one layer takes, and all of the run; core/run/run_memory.h adds what computing takes.
struct LiveRunEstimate {
  std::size_t layer_bytes = 0, total_bytes = 0, kept_layers = 0;
};
[[nodiscard]] LiveRunEstimate estimate_live_run(const LiveRunRequest& request);

class LayerInputs {
 public:
  explicit LayerInputs(std::size_t budget_bytes);
  ~LayerInputs();
  [[nodiscard]] std::shared_ptr<const StreamState> find(std::int64_t layer) const;
  // The latest kept input at or before `layer`.
  [[nodiscard]] std::shared_ptr<const StreamState> nearest(std::int64_t layer) const;
  // Beyond the budget those go without which a later run has the fewest layers more to compute.
  void add(std::shared_ptr<const StreamState> input);
  [[nodiscard]] std::size_t size_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headroom
