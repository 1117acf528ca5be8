#include "core/io/chunk_codec.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <new>

#include "core/base/check.h"

namespace headroom {
namespace {

constexpr std::size_t kSegment = 1024;   // whose bytes are judged together
constexpr std::size_t kFewest = 256;     // less says too little about chance
constexpr std::size_t kStored = 0xffff;  // of a block of deflate that is stored

using Bytes = std::span<const std::byte>;

void append(std::vector<std::byte>& out, std::initializer_list<unsigned> bytes) {
  for (const unsigned byte : bytes) out.push_back(static_cast<std::byte>(byte & 0xffu));
}

// The first bytes of all elements, then the second ones …
std::vector<std::byte> shuffled(Bytes raw, std::size_t element_bytes) {
  const std::size_t elements = raw.size() / element_bytes;
  std::vector<std::byte> out(raw.size());
  std::byte* to = out.data();
  for (std::size_t byte = 0; byte < element_bytes; ++byte) {
    const std::byte* from = raw.data() + byte;
    for (std::size_t i = 0; i < elements; ++i, from += element_bytes) *to++ = *from;
  }
  return out;
}

// Whether two of its bytes are hardly more often the same than two of 256 by chance: once in more than 180 times, which
// leaves no code more than 7 % to save.
bool looks_like_chance(Bytes segment) {
  if (segment.size() < kFewest) return false;
  std::array<std::uint32_t, 256> counts{};
  for (const std::byte byte : segment) ++counts[static_cast<std::size_t>(byte)];
  std::uint64_t pairs = 0;
  for (const std::uint32_t count : counts) pairs += std::uint64_t{count} * (count - (count > 0 ? 1u : 0u));
  return 180 * pairs < segment.size() * (segment.size() - 1);
}

Bytes segment_of(Bytes plane, std::size_t begin) {
  return plane.subspan(begin, std::min(kSegment, plane.size() - begin));
}

void store(Bytes run, std::vector<std::byte>& out) {
  for (; !run.empty(); run = run.subspan(std::min(run.size(), kStored))) {
    const Bytes block = run.first(std::min(run.size(), kStored));
    const auto size = static_cast<unsigned>(block.size());
    append(out, {0x00, size, size >> 8, ~size, ~size >> 8});
    out.insert(out.end(), block.begin(), block.end());
  }
}

}  // namespace

std::uint32_t fletcher_sum(Bytes bytes) {
  constexpr std::size_t kWordsAtOnce = 360;  // that no sum overflows
  std::uint32_t first = 0, second = 0;
  const auto fold = [&] {
    first = (first & 0xffffu) + (first >> 16);
    second = (second & 0xffffu) + (second >> 16);
  };
  std::size_t at = 0;
  while (at + 1 < bytes.size()) {
    const std::size_t words = std::min(kWordsAtOnce, (bytes.size() - at) / 2);
    for (std::size_t i = 0; i < words; ++i, at += 2) {
      first += static_cast<std::uint32_t>(bytes[at]) << 8 | static_cast<std::uint32_t>(bytes[at + 1]);
      second += first;
    }
    fold();
  }
  if (at < bytes.size()) {
    first += static_cast<std::uint32_t>(bytes[at]) << 8;
    second += first;
    fold();
  }
  fold();
  return second << 16 | first;
}

// zlib's own: its buffers are made once for all chunks.
struct ChunkEncoder::Coder {
  // Blocks of 4,096 symbols, each with a code of its own; raw, since what is stored goes in between.
  Coder() {
    constexpr int kLevel = 1, kRawWindow = -15, kBlockMemory = 6;
    if (deflateInit2(&stream, kLevel, Z_DEFLATED, kRawWindow, kBlockMemory, Z_RLE) != Z_OK) throw std::bad_alloc();
  }
  ~Coder() { deflateEnd(&stream); }
  Coder(const Coder&) = delete;
  Coder& operator=(const Coder&) = delete;

  // A full flush ends at a byte and forgets what came before, which the reader may have from a stored run.
  void code(Bytes run, std::vector<std::byte>& out) {
    const std::size_t begin = out.size(), room = deflateBound(&stream, run.size()) + 16;
    out.resize(begin + room);
    // zlib reads through a pointer that is not const.
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(run.data()));
    stream.avail_in = static_cast<uInt>(run.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + begin);
    stream.avail_out = static_cast<uInt>(room);
    const int state = deflate(&stream, Z_FULL_FLUSH);
    HEADROOM_CHECK(state == Z_OK && stream.avail_in == 0 && stream.avail_out > 0, "zlib codes a run at once");
    out.resize(begin + room - stream.avail_out);
  }

  // In zlib's format, put together from runs that are stored and runs that are coded, each from a byte on.
  void deflate_planes(Bytes planes, std::size_t plane_bytes, std::vector<std::byte>& out) {
    append(out, {0x78, 0x01});
    for (Bytes rest = planes; !rest.empty(); rest = rest.subspan(plane_bytes)) {
      const Bytes plane = rest.first(plane_bytes);
      for (std::size_t begin = 0, end = 0; begin < plane.size(); begin = end) {
        const bool chance = looks_like_chance(segment_of(plane, begin));
        do {
          end += segment_of(plane, end).size();
        } while (end < plane.size() && looks_like_chance(segment_of(plane, end)) == chance);
        const Bytes run = plane.subspan(begin, end - begin);
        chance ? store(run, out) : code(run, out);
      }
    }
    append(out, {0x01, 0x00, 0x00, 0xff, 0xff});
    const uLong sum = adler32_z(adler32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(planes.data()), planes.size());
    append(out, {static_cast<unsigned>(sum >> 24), static_cast<unsigned>(sum >> 16), static_cast<unsigned>(sum >> 8),
                 static_cast<unsigned>(sum)});
  }

  z_stream stream{};
};

ChunkEncoder::ChunkEncoder() : coder_(std::make_unique<Coder>()) {}
ChunkEncoder::~ChunkEncoder() = default;

EncodedChunk ChunkEncoder::encode(std::span<const std::byte> raw, std::size_t element_bytes) {
  HEADROOM_CHECK(element_bytes > 0 && raw.size() % element_bytes == 0 && !raw.empty(), "a chunk has whole elements");
  EncodedChunk chunk;
  const std::vector<std::byte> planes = shuffled(raw, element_bytes);
  chunk.bytes.reserve(raw.size() + raw.size() / 8 + 64);
  coder_->deflate_planes(planes, raw.size() / element_bytes, chunk.bytes);
  if (chunk.bytes.size() >= planes.size()) {
    chunk.bytes = planes;
    chunk.skipped = 1u << static_cast<unsigned>(ChunkFilter::Deflate);
  }
  const std::uint32_t sum = fletcher_sum(chunk.bytes);
  append(chunk.bytes, {sum, sum >> 8, sum >> 16, sum >> 24});
  return chunk;
}

}  // namespace headroom
