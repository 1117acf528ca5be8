// The file of `headroom blocks` (core/io/RUN_FILE.md#files-of-blocks). HDF5: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/statistics.h"
#include "core/io/run_file_writer.h"
#include "core/sparse/block_run.h"

namespace headroom {

struct BlockContent {
  const BlockRequest* request = nullptr;
  const ChoiceLayout* layout = nullptr;
  std::vector<std::int64_t> layers;
  std::vector<std::string> kinds;          // of attention, by layer
  std::vector<double> groups;              // [layers, heads], −1: there is no such head
  std::vector<double> rows;                // [layers, tops]
  std::vector<std::vector<float>> values;  // by sequence, as ChoiceLayout has them
  std::vector<double> non_finite_layers;   // by sequence, −1: all is finite
};

// Everything but the provenance and the commit; the means over heads go to the outcome too. Cancelled by `stop`.
[[nodiscard]] Result<void> write_blocks(RunFileWriter& writer, const BlockContent& content, BlockOutcome& outcome,
                                        const std::function<bool()>& stop);

}  // namespace headroom
