// An HDF5 file driver that writes through a descriptor of ours: the system's errno survives, a file size limit is an
// error and not a signal, and after a failure HDF5 can still close in order. One thread only.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/io/hdf5_handle.h"

namespace headroom {

// Where the driver's bytes go and what became of them. Outlives the HDF5 file.
struct FileChannel {
  int descriptor = -1;
  int error_number = 0;            // of the first write that failed
  std::uint64_t needed_bytes = 0;  // size the file needs for that write
  // From the start of closing on, a failure is recorded here but not reported to HDF5, which otherwise keeps half of
  // its state and tries again at the end of the process.
  bool closing = false;
  bool discard = false;  // drop every write: the file is given up
};

using Hdf5Driver = Hdf5Handle<H5FDunregister>;

[[nodiscard]] Result<Hdf5Driver> register_file_driver();

// File access properties for H5Fcreate through `driver`.
[[nodiscard]] Result<Hdf5Properties> access_through(const Hdf5Driver& driver, FileChannel& channel);

}  // namespace headroom
