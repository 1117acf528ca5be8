// A corpus as jobs of Slurm: scripts for an array of its shards, for the merge behind it, and for what puts both into
// the queue. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace headroom {

// All paths absolute.
struct SlurmJob {
  std::filesystem::path program, folder;
  std::string model;               // may name a place inside
  std::vector<std::string> words;  // further ones of `headroom corpus`, those of the shard and its file left out
  std::filesystem::path plan, merged;
  std::int64_t shards = 1;
  std::vector<std::string> directives;  // words for #SBATCH lines; the last of two that contradict each other counts
};

struct SlurmScripts {
  std::string shard, merge, submit;
};

// InvalidArgument where a directive, or the folder's name, cannot stand in a #SBATCH line.
[[nodiscard]] Result<SlurmScripts> slurm_scripts(const SlurmJob& job);

}  // namespace headroom
