// What the self-check found wrong (core/measure/self_check.h), as files keep it: the root attribute self_check of a run
// or an ablation, datasets of that name of corpora and series (core/corpus/shard_origin.h). A sentence a line; empty:
// nothing. HDF5: one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/run_file.h"
#include "core/io/run_file_writer.h"

namespace headroom {

inline constexpr const char* kSelfCheckAttribute = "self_check";

[[nodiscard]] std::string stored_violations(const std::vector<std::string>& violations);
[[nodiscard]] std::vector<std::string> violations_in(std::string_view stored);

// The root attribute.
[[nodiscard]] Result<void> write_violations(RunFileWriter& writer, const std::vector<std::string>& violations);
// None of files that were written before it was kept.
[[nodiscard]] std::vector<std::string> root_violations(const RunFile& file);

}  // namespace headroom
