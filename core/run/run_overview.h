// What a run file holds at a glance: attributes, one number per head, what-ifs, the names of its datasets. Nothing that
// grows with the prompt is read. One thread: HDF5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/run_file.h"
#include "core/run/analysis.h"

namespace headroom {

struct RunOverview {
  std::map<std::string, std::string, std::less<>> attributes;  // those of the root that there are
  SummaryTable table;                                          // the root group's quantities of heads
  std::vector<std::string> kinds, masks, layer_names;          // by measured layer; names of captured calls, else empty
  std::int64_t length = 0, min_row = 1;
  double sink_null = 0.0;                             // NaN where there is none
  std::vector<std::string> what_ifs;                  // as they were given
  std::vector<std::string> first_tokens;              // their texts; empty where the prompt was given as ids
  std::vector<std::int64_t> expert_layers;            // of the model
  std::vector<std::vector<std::int64_t>> expert_use;  // by expert layer, by expert: tokens; −1 where the layer lacks it
  std::int64_t chosen_experts = 0;                    // of a token; 0: not known
  std::vector<DatasetInfo> datasets;

  [[nodiscard]] std::string attribute(std::string_view name) const;  // empty where it is absent
};

// The changes that the run was made with, as they were given; empty where the file does not say. `group`: whose
// attribute says it; "" is the root, in files of ablations.
[[nodiscard]] std::vector<std::string> stored_what_ifs(const RunFile& file, const char* group = "program");

// Corrupt where the file's datasets do not fit its axes.
[[nodiscard]] Result<RunOverview> read_overview(const RunFile& file);

}  // namespace headroom
