// `headroom corpus … --slurm FOLDER`: a corpus run by Slurm, as an array of shards and a merge behind it. Main thread
// only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headroom {

struct SlurmArguments {
  std::filesystem::path folder;  // empty: run here
  std::int64_t shards = 0;
  std::vector<std::string> directives;
  bool submit = false;
  std::function<std::vector<std::string>()> carried;  // the words of the command line that every shard gets
};

// The options of `command`, whose others are there already. `plan` is excluded by all that says what the plan says, and
// by nothing else; none of that is carried.
void add_slurm_options(CLI::App& command, CLI::Option& plan, SlurmArguments& arguments);

// The folder of the scripts, absolute, made where it was not there; Io where it cannot be.
[[nodiscard]] Result<std::filesystem::path> make_slurm_folder(const SlurmArguments& arguments);

struct SlurmRequest {
  std::string model;                   // may name a place inside
  std::filesystem::path plan, merged;  // the latter empty: all.h5 in the folder
  std::int64_t sequences = 0;          // of the plan
  bool force = false, json = false;
};
// Writes the scripts and says what to type; with `submit` puts the jobs into the queue and says their numbers. Returns
// the exit code.
[[nodiscard]] int run_slurm(const SlurmArguments& arguments, const SlurmRequest& request);

}  // namespace headroom
