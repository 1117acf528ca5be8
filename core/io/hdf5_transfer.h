// How H5Dread() and H5Dwrite() move values. One thread only, like HDF5.
#pragma once

#include <hdf5.h>

namespace headroom {

// Values whose type changes on the way go through a small buffer: HDF5's own has 1 MiB, cleared for each of the hundred
// short datasets of a run.
[[nodiscard]] hid_t by_pieces();

}  // namespace headroom
