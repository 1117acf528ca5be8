// Whether chunks of a file are what was written, without taking them apart. HDF5: one thread at a time.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <span>

namespace headroom {

// True where every chunk of the dataset that there is has the checksum that HDF5's Fletcher filter left behind it, the
// last of the dataset's filters. False where one has another, or where that cannot be said: no chunks, another last
// filter, or one that a chunk left out; HDF5's own reading tells then.
[[nodiscard]] bool chunks_have_their_checksums(hid_t dataset, std::span<const std::int64_t> shape);

}  // namespace headroom
