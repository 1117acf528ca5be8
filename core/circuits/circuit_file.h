// The circuits of a model, measured layer by layer, and their file (core/io/RUN_FILE.md#files-of-circuits). One thread:
// HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/circuits/circuits.h"
#include "core/circuits/composition.h"
#include "core/io/run_file_writer.h"
#include "core/run/analysis.h"
#include "core/run/open_model.h"

namespace headroom {

struct CircuitRequest {
  const OpenedModel* model = nullptr;
  std::vector<std::int64_t> layers, heads;  // empty: all with attention
  bool composition = false;
  std::filesystem::path output;
  bool force = false;
  std::vector<std::filesystem::path> inputs;
  std::string command_line, program, git_commit;
};

struct CircuitOutcome {
  std::vector<std::int64_t> layers, heads;
  std::vector<LayerCircuits> data;        // by layer
  std::vector<Composition> compositions;  // where they were asked for
  std::int64_t vocabulary = 0;            // tokens that paths go through; 0: none does
  double vocabulary_seconds = 0.0, layer_seconds = 0.0, composition_seconds = 0.0, seconds = 0.0;

  [[nodiscard]] const HeadCircuits* find(std::int64_t layer, std::int64_t head) const;
};

// What is refused of a layer is said there. Unsupported where nothing is left to measure; Cancelled by `stop`.
[[nodiscard]] Result<CircuitOutcome> measure_circuits(const CircuitRequest& request, const ProgressReport& progress,
                                                      const CircuitStop& stop);

// Before anything is computed, so that a target that cannot be written is refused first.
[[nodiscard]] Result<std::unique_ptr<RunFileWriter>> create_circuit_file(const CircuitRequest& request);
[[nodiscard]] Result<void> write_circuits(RunFileWriter& writer, const CircuitRequest& request,
                                          const CircuitOutcome& outcome, const CircuitStop& stop);

// One number of a head by the name of its dataset, as the file has it: NaN where there is none. `inner` counts along
// the last axis behind layer and head, `outer` along the one before it.
[[nodiscard]] double circuit_element(const LayerCircuits& layer, std::size_t head, std::string_view name,
                                     std::size_t outer = 0, std::size_t inner = 0);

}  // namespace headroom
