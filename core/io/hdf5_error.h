// From HDF5's error stack to Error: the deepest description, and the system's errno where the stack carries it. One
// thread only, like HDF5.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace headroom {

// HDF5's own printing of errors off and its filter plugins off, for this thread. Cheap; call before using HDF5.
void prepare_hdf5();

// The error of the HDF5 call that has just failed; empties the stack. With an errno in it the code is Io, with a failed
// allocation OutOfMemory, otherwise `code`. `operation` reads like "cannot read the dataset".
[[nodiscard]] Error hdf5_error(ErrorCode code, std::string_view operation);

// Io for a write that failed with `error_number`. For a full disk, quota or file size limit the message says how many
// bytes the file behind `descriptor` needs (`needed_bytes`) and how many it can have.
[[nodiscard]] Error write_error(std::string_view operation, int error_number, int descriptor,
                                std::uint64_t needed_bytes);

}  // namespace headroom
