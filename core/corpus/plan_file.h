// A plan in a file: beside its attributes the groups sequences, documents and files, which files of results have too.
// HDF5: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/plan.h"
#include "core/io/run_file.h"
#include "core/io/run_file_writer.h"

namespace headroom {

// Attributes of the root and the groups /sequences, /documents and /files of sequences [range.first, …) of a plan; with
// `with_ids` the ids of the sequences, along the axis `position` that the file has.
[[nodiscard]] Result<void> define_plan(RunFileWriter& writer, const CorpusPlan& plan, const ShardRange& range,
                                       bool with_ids);
[[nodiscard]] Result<void> write_plan_parts(RunFileWriter& writer, const CorpusPlan& plan, const ShardRange& range,
                                            bool with_ids);

struct PlanFileOptions {
  bool force = false;
  std::vector<std::filesystem::path> inputs;
  std::string command_line, program, git_commit, model_id;
};
[[nodiscard]] Result<void> write_plan_file(const CorpusPlan& plan, const std::filesystem::path& path,
                                           const PlanFileOptions& options);

// Corrupt where the file is none, or its hashes are not those of what it holds.
[[nodiscard]] Result<CorpusPlan> read_plan_file(const std::filesystem::path& path);
// Of a file that holds one, or a part of one: nothing is said of its hashes. Without ids where the file has none.
[[nodiscard]] Result<CorpusPlan> read_plan_part(const RunFile& file);

// The ids of sequence `number` of a plan, or of a corpus that holds them. NotFound, with those there are, for another.
[[nodiscard]] Result<std::vector<std::int32_t>> read_planned_sequence(const std::filesystem::path& path,
                                                                      std::int64_t number);

}  // namespace headroom
