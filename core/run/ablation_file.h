// The file of a sweep of ablations (core/io/RUN_FILE.md#ablation-files). One thread: HDF5.
#pragma once

#include <memory>

#include "core/base/result.h"
#include "core/io/run_file_writer.h"
#include "core/run/ablation.h"
#include "core/run/compute.h"

namespace headroom {

// Opened before anything is computed, so that a target that cannot be written is refused first; by request.run.output,
// force and inputs.
[[nodiscard]] Result<std::unique_ptr<RunFileWriter>> create_ablation_file(const AblationRequest& request);

// Everything that is done, with `complete` 0 where that is not all. `by_token`: the changes token by token too.
[[nodiscard]] Result<void> write_ablation(RunFileWriter& writer, const AblationRequest& request,
                                          const AblationOutcome& outcome, const BackendInfo& library, bool by_token,
                                          const kernels::StopRequested& stop);

}  // namespace headroom
