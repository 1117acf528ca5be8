// What torch.save writes: a ZIP archive with a pickle and a file for each storage, or the older form of pickles that
// follow each other. The pickle is read and nothing in it is called (pickle.h); tensors stay where they are in the
// file. Safe from any thread.
#pragma once

#include "core/base/input_file.h"
#include "core/base/result.h"
#include "core/checkpoint/container.h"

namespace headroom {

// Tensors by the path of keys that leads to them: the state dict alone where the file holds one among other things (an
// optimizer, arguments), without the prefixes that wrappers of modules add (`module.`, `_orig_mod.`). What is taken and
// what is left is said in the warnings. Metadata: numbers and texts beside it.
// Tensors that are views have strides. Corrupt for what is damaged or names a function that no model needs; Unsupported
// for TorchScript, other byte orders, tar files; OutOfMemory above the limits of pickle.h and zip_directory.h.
[[nodiscard]] Result<ContainerContent> read_torch_file(const InputFile& file);

}  // namespace headroom
