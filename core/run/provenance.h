// Where the numbers of a file come from: the root attributes and the prompt that files of runs share. One thread: HDF5.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/run_file_writer.h"
#include "core/run/analysis.h"

namespace headroom {

// Valid UTF-8 without NUL: bytes that are neither become \xNN.
[[nodiscard]] std::string stored_text(std::string_view bytes);

// SHA-256 of each checkpoint file, one "name hash" a line; above 8 GiB the sizes stand in and say so.
[[nodiscard]] Result<std::string> checkpoint_hashes(const Checkpoint& checkpoint, const kernels::StopRequested& stop);

// SHA-256 in hexadecimal.
[[nodiscard]] std::string text_hash(std::string_view text);

// The what-ifs as the attribute `overrides` of /program has them: JSON.
[[nodiscard]] std::string overrides_text(const std::vector<WhatIf>& what_ifs);

// Root attributes: `what` begins the title ("Attention statistics of "), which goes on with the model and its what-ifs.
// Reads the whole checkpoint for its hashes; Cancelled by `stop`.
[[nodiscard]] Result<void> write_provenance(RunFileWriter& writer, const AnalysisRequest& request,
                                            const std::string& what, const BackendInfo& library,
                                            const AttentionChoice& attention, const kernels::StopRequested& stop);

// /tokens/token_id, token_text and is_special, which must have been defined.
[[nodiscard]] Result<void> write_tokens(RunFileWriter& writer, const Prompt& prompt);

}  // namespace headroom
