#include "core/io/chunk_check.h"

#include <cstddef>
#include <vector>

#include "core/io/chunk_codec.h"
#include "core/io/hdf5_handle.h"

namespace headroom {
namespace {

constexpr hsize_t kMostBytes = hsize_t{256} << 20;  // of a chunk; a damaged file may say any number

// The place of the checksum in the pipeline, where it is the last filter; −1 elsewhere.
int place_of_checksum(hid_t properties) {
  const int filters = H5Pget_nfilters(properties);
  unsigned flags = 0;
  std::size_t values = 0;
  if (filters < 1 || filters > 31 ||
      H5Pget_filter2(properties, static_cast<unsigned>(filters - 1), &flags, &values, nullptr, 0, nullptr, nullptr) !=
          H5Z_FILTER_FLETCHER32)
    return -1;
  return filters - 1;
}

bool has_its_checksum(std::span<const std::byte> stored) {
  constexpr std::size_t kSumBytes = 4;
  if (stored.size() < kSumBytes) return false;
  std::uint32_t sum = 0;
  for (std::size_t i = kSumBytes; i-- > 0;)
    sum = sum << 8 | static_cast<std::uint32_t>(stored[stored.size() - kSumBytes + i]);
  return sum == fletcher_sum(stored.first(stored.size() - kSumBytes));
}

bool check(hid_t dataset, std::span<const std::int64_t> shape) {
  const Hdf5Properties properties(H5Dget_create_plist(dataset));
  if (!properties || H5Pget_layout(properties.get()) != H5D_CHUNKED) return false;
  const int place = place_of_checksum(properties.get());
  std::vector<hsize_t> chunk(shape.size()), offset(shape.size(), 0);
  if (place < 0 || shape.empty() ||
      H5Pget_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()) != static_cast<int>(chunk.size()))
    return false;
  for (const std::int64_t size : shape)
    if (size == 0) return true;
  std::vector<std::byte> stored;
  for (;;) {
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &bytes) < 0 || bytes > kMostBytes) return false;
    if (bytes > 0) {  // else nothing was written there
      stored.resize(bytes);
      std::uint32_t skipped = 0;
      if (H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &skipped, stored.data()) < 0 ||
          (skipped >> static_cast<unsigned>(place) & 1u) != 0 || !has_its_checksum(stored))
        return false;
    }
    std::size_t axis = shape.size();
    for (; axis > 0; --axis) {
      offset[axis - 1] += chunk[axis - 1];
      if (offset[axis - 1] < static_cast<hsize_t>(shape[axis - 1])) break;
      offset[axis - 1] = 0;
    }
    if (axis == 0) return true;
  }
}

}  // namespace

bool chunks_have_their_checksums(hid_t dataset, std::span<const std::int64_t> shape) {
  const bool right = check(dataset, shape);
  if (!right) H5Eclear2(H5E_DEFAULT);
  return right;
}

}  // namespace headroom
