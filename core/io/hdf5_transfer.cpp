#include "core/io/hdf5_transfer.h"

#include <cstddef>

#include "core/io/hdf5_handle.h"

namespace headroom {

hid_t by_pieces() {
  static const Hdf5Properties kProperties = [] {
    constexpr std::size_t kPieceBytes = 64 * 1024;
    Hdf5Properties made(H5Pcreate(H5P_DATASET_XFER));
    H5Pset_buffer(made.get(), kPieceBytes, nullptr, nullptr);
    return made;
  }();
  return kProperties ? kProperties.get() : H5P_DEFAULT;
}

}  // namespace headroom
