// The header of a GGUF file, versions 2 and 3, little-endian: metadata and tensor list, everything checked against the
// size of the file. Reads no tensor data. Safe from any thread.
#pragma once

#include "core/base/input_file.h"
#include "core/base/result.h"
#include "core/checkpoint/container.h"

namespace headroom {

// Shapes are in torch order, the reverse of the file's.
[[nodiscard]] Result<ContainerContent> read_gguf(const InputFile& file);

}  // namespace headroom
