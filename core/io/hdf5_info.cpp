#include "core/io/hdf5_info.h"

#include <hdf5.h>

namespace headroom {

Hdf5Info hdf5_info() {
  Hdf5Info info;
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) >= 0)
    info.version = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
  hbool_t thread_safe = 0;
  if (H5is_library_threadsafe(&thread_safe) >= 0) info.thread_safe = thread_safe != 0;
  return info;
}

}  // namespace headroom
