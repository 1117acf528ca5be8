// `headroom analyze PATH …`: runs a checkpoint on a prompt and writes the run file. Main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/prompt_input.h"
#include "core/run/compute.h"

namespace headroom {

struct AnalyzeArguments {
  std::string path;  // may address inside: model/::L3.H5
  CheckpointOptions options;
  PromptArguments prompt;
  std::filesystem::path output;
  std::string layers, heads;  // lists; empty: all
  std::string device = "auto";
  std::string backend = "auto";
  std::string dtype = "float32";
  std::vector<std::string> what_ifs;
  std::int64_t pool_blocks = 0;
  ExtraMeasures extra;
  bool components = false, exact_maps = false, hidden = false, force = false, json = false;
  double exact_budget_gib = 4.0;
  double memory_gb = 0.0;  // that the run may take; 0: all that is free
  std::string only;        // "summary" or empty
  std::string command_line;
};

[[nodiscard]] int run_analyze(const AnalyzeArguments& arguments);

}  // namespace headroom
