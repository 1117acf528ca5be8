// The header of a safetensors file, with every rule of the format enforced: the rules are the security boundary.
// Reads the header only. Safe from any thread.
#pragma once

#include "core/base/input_file.h"
#include "core/base/result.h"
#include "core/checkpoint/container.h"

namespace headroom {

// `lenient` accepts unused bytes between and after the tensors, with a warning each. Overlaps are always refused.
[[nodiscard]] Result<ContainerContent> read_safetensors(const InputFile& file, bool lenient);

}  // namespace headroom
