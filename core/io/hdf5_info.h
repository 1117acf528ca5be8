// Facts about the HDF5 library in use. One thread only.
#pragma once

#include <string>

namespace headroom {

struct Hdf5Info {
  std::string version;       // "1.10.8"
  bool thread_safe = false;  // whether this build locks itself
};

[[nodiscard]] Hdf5Info hdf5_info();

}  // namespace headroom
