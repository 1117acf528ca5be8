// Parts of a corpus, run apart, as the one file that a single run would have written. HDF5: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace headroom {

// Merges parts of one plan: any order, every sequence once. Corrupt, with the parts listed, where one is there twice or
// of other settings, and without `partial` where one is missing; the indices that are missing are in Error::hint.
struct MergeRequest {
  std::vector<std::filesystem::path> parts;
  std::filesystem::path output;
  bool force = false;
  bool partial = false;  // what is there is written, marked with what is missing
  std::string command_line, program, git_commit;
};
struct MergeOutcome {
  std::int64_t parts = 0, sequences = 0;
  std::int64_t non_finite = 0;          // sequences
  std::string missing, advice;          // numbers of sequences, "3-5, 9"; the shards that would make them
  std::vector<std::string> violations;  // of the self-check, that parts have on record
  std::vector<std::string> notes;
  std::size_t size_bytes = 0;
};
[[nodiscard]] Result<MergeOutcome> merge_corpus(const MergeRequest& request, const std::function<bool()>& stop);

}  // namespace headroom
