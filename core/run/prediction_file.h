// Predictions of the next token beside a run: kept with the names of their tokens, written into a run file, read back.
// HDF5: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/base/result.h"
#include "core/io/run_file.h"
#include "core/io/run_file_writer.h"
#include "core/measure/predictions.h"
#include "core/text/tokenizer.h"

namespace headroom {

// With the bytes of each token that is among the likeliest; null where nothing is predicted. Any thread.
[[nodiscard]] std::shared_ptr<const Predictions> keep_predictions(Predictions predictions, const Tokenizer* tokenizer);

// Into the group that the layout of the run has made; tokens have no names where `tokenizer` is null.
[[nodiscard]] Result<void> write_predictions(RunFileWriter& writer, const Predictions& predictions,
                                             const Tokenizer* tokenizer);

// Null where the file of a run of `length` tokens has none; Corrupt where datasets do not fit each other.
[[nodiscard]] Result<std::shared_ptr<const Predictions>> read_predictions(const RunFile& file, std::int64_t length,
                                                                          const std::filesystem::path& path);

}  // namespace headroom
