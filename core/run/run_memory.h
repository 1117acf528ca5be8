// How much memory a run in memory takes beyond what the process holds already, bounded from above by the shapes of the
// model and the prompt alone; and how many layers' maps fit into a budget. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/run/live_run.h"

namespace headroom {

// One part of it: "LM head", "28 311 552 × 4 bytes".
struct MemoryItem {
  std::string what, formula;
  std::size_t bytes = 0;
};

// With n tokens, D = hidden size, e bytes of an activation (2, 4, 8) and r of what statistics read (4, 8): the sum of
//   weights    of two layers (one computes, the next is read) and, with the last layer, the LM head: V·D·e
//   residual   4·n·D·e
//   tensors    n·(q + k + v)·e + n·H·c·r: queries, keys, values, contexts; λ
//   attention  the most of: projecting 5·n·q·r; scratch per thread + statistics of rows; statistics + W_O in double
//   three
//              times; statistics + views of the rows and a quantity; contexts with norm and gate 4·n·H·c·r
//   mixer      in place of tensors and attention: R·numbers of a row + its state, R ≤ 512 (core/model/mixer_spec.h)
//   MLP        4·R·(I·e + D·r) with R ≤ 2048 rows of I inner channels
//   loss       4·128·V·r, with the last layer
//   kept       of all layers: numbers of heads and of the residual stream, pooled maps
//   the rest   LibTorch's own, freed blocks that are not given back (spare_bytes)
// for the layer where that is most. They are not there at the same moment, but blocks that one leaves seldom fit the
// next while kept ones lie between them. `items` are the parts, the largest first; working_bytes is their sum.
struct RunMemory {
  std::int64_t length = 0, layers = 0;  // tokens; measured layers
  std::vector<MemoryItem> items;
  std::size_t working_bytes = 0;
  std::size_t spare_bytes = 0;  // of them: what may lie in freed blocks; run_live() gives back what is more
  std::size_t layer_bytes = 0;  // maps and series that one layer keeps, at most
  std::size_t input_bytes = 0;  // the stream that one layer keeps; 0: none is kept
  std::int64_t inputs = 0;      // layers that keep one
  // Keys and values that layers use of earlier ones, where they are kept with the first stream.
  std::size_t shared_bytes = 0;

  [[nodiscard]] std::size_t all_bytes() const;  // with everything kept
  // With the maps of the latest layer alone, beside those of the one before until they are dropped.
  [[nodiscard]] std::size_t least_bytes() const;
};

// `threads` compute at once. The prompt's length is `length`, whatever the request's prompt. Of a run on a device only
// what the processor's memory holds.
[[nodiscard]] RunMemory estimate_run_memory(const LiveRunRequest& request, std::int64_t length, std::int64_t threads);

// What a budget leaves room for. keep_bytes is for LiveRunRequest, inputs included; a run then stays within the budget.
struct RunFit {
  bool fits = false;
  std::int64_t kept_layers = 0;  // whose maps and series are there at the end
  std::size_t keep_bytes = 0;
  std::size_t needed_bytes = 0;  // at the peak with these kept; where it does not fit, the least
};
// `inputs_share`: the part of keep_bytes that the inputs of layers may take.
[[nodiscard]] RunFit fit_run(const RunMemory& memory, std::size_t budget_bytes, double inputs_share);

// The most tokens, of `most`, whose least_bytes() fit; 0: not even one.
[[nodiscard]] std::int64_t longest_fitting(const LiveRunRequest& request, std::size_t budget_bytes, std::int64_t most,
                                           std::int64_t threads);

// The stream before a layer, as a StreamState holds it, without keys and values of earlier layers.
[[nodiscard]] std::size_t input_bytes(const ModelSpec& model, std::int64_t length);

// Maps and series that the largest layer keeps, and what is kept of the stream before it, without its input.
[[nodiscard]] std::size_t kept_layer_bytes(const LiveRunRequest& request, std::int64_t length);

}  // namespace headroom
