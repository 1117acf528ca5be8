// NumPy's .npz: a ZIP archive with an array in each entry NAME.npy (numpy.lib.format, versions 1.0 to 3.0). Objects are
// pickles and are never read. Arrays q, k and v are a capture of one call, whose keys stand beside them as numbers and
// texts (core/checkpoint/FORMATS.md#numpy-files). Safe from any thread.
#pragma once

#include "core/base/input_file.h"
#include "core/base/result.h"
#include "core/checkpoint/container.h"

namespace headroom {

// Arrays by their names, in either order of their axes; texts without axes are metadata. Corrupt for a header that is
// none, or whose shape disagrees with the entry; Unsupported for compressed entries.
[[nodiscard]] Result<ContainerContent> read_numpy_file(const InputFile& file);

}  // namespace headroom
