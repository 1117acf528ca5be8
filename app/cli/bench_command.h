// `headroom bench`: how fast attention and its statistics are on this machine, beside LibTorch's attention; with
// --model, where the time of a real analysis goes. Main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "app/cli/prompt_input.h"
#include "core/run/compute.h"

namespace headroom {

struct BenchArguments {
  std::string shapes;  // "32x8x128@4096,diff_v2:8x8x64"; empty: the table
  std::int64_t repeats = 0, threads = 0;
  double budget_seconds = 0.0;
  std::string target, device = "cpu", dtype = "float32";
  bool quick = false, outliers = false, no_window = false, json = false;
  std::string model;  // empty: no model
  CheckpointOptions options;
  PromptArguments prompt;
  std::filesystem::path folder;  // of the run file that --model writes and removes; empty: memory, where there is some
  std::string command_line;
};

[[nodiscard]] int run_bench(const BenchArguments& arguments);

}  // namespace headroom
