// Chunks of one dataset on their way into the file: what is written of them is put together here and goes to HDF5 whole
// and encoded (core/io/chunk_codec.h), so that no chunk is compressed twice. One thread only, like HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/io/chunk_codec.h"
#include "core/io/hdf5_handle.h"

namespace headroom {

class ChunkWriter {
 public:
  // `encoder` outlives it. `chunk`: extents of a chunk, one for each axis of `shape`. `fill`: one element, where
  // nothing is written.
  ChunkWriter(ChunkEncoder& encoder, std::vector<std::int64_t> shape, std::vector<std::int64_t> chunk,
              std::vector<std::byte> fill);

  // Whether no chunk of the region, which lies inside, has gone to the file.
  [[nodiscard]] bool is_free(std::span<const std::int64_t> start, std::span<const std::int64_t> count) const;
  // Takes the elements of such a region, row-major; chunks that are complete go to the file.
  [[nodiscard]] Result<void> write(const Hdf5Dataset& dataset, std::span<const std::int64_t> start,
                                   std::span<const std::int64_t> count, std::span<const std::byte> elements);
  // What waits goes to the file as it is.
  [[nodiscard]] Result<void> write_waiting(const Hdf5Dataset& dataset);
  // The chunks of a region that HDF5 itself writes are no longer free.
  void mark(std::span<const std::int64_t> start, std::span<const std::int64_t> count);

  [[nodiscard]] std::size_t waiting_bytes() const { return waiting_.size() * chunk_bytes_; }

 private:
  struct Waiting {
    std::vector<std::byte> bytes;
    std::int64_t missing = 0;  // elements
  };
  // The part of a region in one chunk, by axis.
  struct Part {
    std::vector<std::int64_t> chunk;         // its place among the chunks
    std::vector<std::int64_t> first, count;  // in the dataset
  };
  template <typename Visit>
  void for_each_chunk(std::span<const std::int64_t> start, std::span<const std::int64_t> count,
                      const Visit& visit) const;
  [[nodiscard]] std::size_t number_of(const std::vector<std::int64_t>& chunk) const;
  [[nodiscard]] Waiting begin(const std::vector<std::int64_t>& chunk) const;
  void copy(const Part& part, std::span<const std::int64_t> start, std::span<const std::int64_t> count,
            std::span<const std::byte> elements, Waiting& into) const;
  [[nodiscard]] Result<void> send(const Hdf5Dataset& dataset, std::size_t number, const Waiting& chunk);

  ChunkEncoder& encoder_;
  const std::vector<std::int64_t> shape_, chunk_;
  const std::vector<std::byte> fill_;
  std::vector<std::int64_t> grid_;  // chunks along each axis
  std::size_t chunk_bytes_ = 0;
  std::map<std::size_t, Waiting> waiting_;  // by number
  std::vector<bool> sent_;
};

}  // namespace headroom
