// Where the sequences of a corpus were run, as the group /shards of its file says. HDF5: one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/io/run_file.h"

namespace headroom {

// Of a range of sequences.
struct ShardOrigin {
  std::int64_t first = 0, count = 0;
  std::string file, sha256, host, device, kernel_target;
  std::int64_t threads = 0;
  double seconds = 0.0;
  std::vector<std::string> violations;  // of the self-check
};

// Corrupt where the file does not say it of every range.
[[nodiscard]] Result<std::vector<ShardOrigin>> read_origins(const RunFile& file);
// "cpu AVX2 with 2 threads, …" of all kinds of machines among them; empty: there is one.
[[nodiscard]] std::string different_kinds(std::span<const ShardOrigin> origins);
// What the self-check found wrong in all of them.
[[nodiscard]] std::vector<std::string> violations_of(std::span<const ShardOrigin> origins);
// What the self-check found wrong in a run, an ablation, a corpus, part by part, or in a series, each sentence with the
// checkpoint before it. Files that were written before it was kept say nothing.
[[nodiscard]] Result<std::vector<std::string>> read_violations(const RunFile& file);

}  // namespace headroom
