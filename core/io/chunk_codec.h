// A chunk of a dataset as HDF5's own filters would leave it, shuffle, deflate and Fletcher's checksum, in a third of
// their time: any HDF5 reads it. Bytes that look like chance, as the lower ones of a mantissa do, are stored as they
// are; of the others only runs and frequencies are coded (zlib's Z_RLE), since in shuffled numbers little else repeats.
// One thread at a time; equal chunks give equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headroom {

// The places of the filters in the pipeline of every dataset.
enum class ChunkFilter : std::uint8_t { Shuffle = 0, Deflate = 1, Checksum = 2 };

struct EncodedChunk {
  std::vector<std::byte> bytes;
  std::uint32_t skipped = 0;  // bit i: filter i was left out, as HDF5 leaves out deflate where it makes nothing smaller
};

// Fletcher's checksum as HDF5's filter has it: of words of 16 bits, the first byte the higher one.
[[nodiscard]] std::uint32_t fletcher_sum(std::span<const std::byte> bytes);

class ChunkEncoder {
 public:
  ChunkEncoder();
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  // `raw`: whole elements, at least one, in the byte order of the file.
  [[nodiscard]] EncodedChunk encode(std::span<const std::byte> raw, std::size_t element_bytes);

 private:
  struct Coder;
  std::unique_ptr<Coder> coder_;
};

}  // namespace headroom
