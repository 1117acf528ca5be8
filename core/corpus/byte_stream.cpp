#include "core/corpus/byte_stream.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/checkpoint/sha256.h"

namespace headroom {
namespace {

constexpr std::size_t kPackedWindow = std::size_t{256} << 10;
constexpr std::uint64_t kUncheckedGrowth = std::uint64_t{4} << 20;  // bytes that may come from next to nothing
constexpr unsigned kMostZstdWindow = 27;                            // 128 MiB, what zstd itself takes by default

struct FreeZstd {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

constexpr std::size_t kGzipHead = 10;

// Whether what follows the magic number of gzip is its header: the one method there is, no flag that has no meaning,
// one of the three values for effort, an operating system (RFC 1952). Token ids may begin with the magic number.
bool is_gzip_header(std::span<const std::byte> head) {
  if (head.size() < kGzipHead) return false;
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(head[i]); };
  constexpr unsigned kDeflate = 8, kReservedFlags = 0xE0, kLastSystem = 13, kUnknownSystem = 255;
  return byte(2) == kDeflate && (byte(3) & kReservedFlags) == 0 && (byte(8) == 0 || byte(8) == 2 || byte(8) == 4) &&
         (byte(9) <= kLastSystem || byte(9) == kUnknownSystem);
}

Packing packing_of(std::span<const std::byte> head, bool may_be_ids) {
  constexpr std::array<unsigned char, 2> gzip = {0x1F, 0x8B};
  constexpr std::array<unsigned char, 4> zstd = {0x28, 0xB5, 0x2F, 0xFD};
  if (head.size() >= gzip.size() && std::memcmp(head.data(), gzip.data(), gzip.size()) == 0)
    return may_be_ids && !is_gzip_header(head) ? Packing::None : Packing::Gzip;
  if (head.size() >= zstd.size() && std::memcmp(head.data(), zstd.data(), zstd.size()) == 0) return Packing::Zstd;
  return Packing::None;
}

}  // namespace

struct ByteStream::State {
  explicit State(InputFile opened) : file(std::move(opened)) {}
  ~State() {
    if (inflating) inflateEnd(&gzip);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  InputFile file;
  Sha256 hash;
  Packing packing = Packing::None;
  std::uint64_t hashed = 0;       // bytes of the file that are
  std::vector<std::byte> window;  // packed bytes that were read
  std::size_t used = 0;           // of them
  std::uint64_t unpacked = 0;     // bytes that came out
  std::uint64_t given = 0;        // of them
  std::string ahead;              // came out, but are not given yet
  z_stream gzip{};
  bool inflating = false;
  bool inside = false;  // a member or frame has begun and not ended
  std::unique_ptr<ZSTD_DStream, FreeZstd> zstd;

  [[nodiscard]] Error damaged(const std::string& message) const {
    Error error(ErrorCode::Corrupt, message);
    return error.in_file(file.path().string()).at_offset(hashed - (window.size() - used));
  }

  // The next bytes on disk; an empty window at the end.
  Result<void> refill() {
    window.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPackedWindow, file.size_bytes() - hashed)));
    used = 0;
    HEADROOM_TRY_VOID(file.read_at(hashed, window));
    hash.update(window);
    hashed += window.size();
    return {};
  }

  Result<std::size_t> read_plain(std::span<std::byte> out) {
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), file.size_bytes() - hashed));
    HEADROOM_TRY_VOID(file.read_at(hashed, out.first(size)));
    hash.update(out.first(size));
    hashed += size;
    return size;
  }

  Result<std::size_t> inflate_some(std::span<std::byte> out) {
    if (!inside) {
      gzip = {};
      if (inflateInit2(&gzip, 15 + 16) != Z_OK) return Error(ErrorCode::OutOfMemory, "zlib cannot begin");
      inflating = inside = true;
    }
    gzip.next_in = reinterpret_cast<Bytef*>(window.data() + used);
    gzip.avail_in = static_cast<uInt>(window.size() - used);
    gzip.next_out = reinterpret_cast<Bytef*>(out.data());
    gzip.avail_out = static_cast<uInt>(out.size());
    const int code = inflate(&gzip, Z_NO_FLUSH);
    used = window.size() - gzip.avail_in;
    const std::size_t made = out.size() - gzip.avail_out;
    if (code == Z_STREAM_END) {
      inflateEnd(&gzip);
      inflating = inside = false;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      return damaged(std::string("what gzip has packed is damaged: ") + (gzip.msg ? gzip.msg : "no such data"));
    }
    return made;
  }

  Result<std::size_t> unzstd_some(std::span<std::byte> out) {
    if (!zstd) {
      zstd.reset(ZSTD_createDStream());
      if (!zstd || ZSTD_isError(ZSTD_DCtx_setParameter(zstd.get(), ZSTD_d_windowLogMax, kMostZstdWindow)) != 0)
        return Error(ErrorCode::OutOfMemory, "zstd cannot begin");
    }
    ZSTD_inBuffer in{window.data(), window.size(), used};
    ZSTD_outBuffer made{out.data(), out.size(), 0};
    const std::size_t code = ZSTD_decompressStream(zstd.get(), &made, &in);
    if (ZSTD_isError(code) != 0)
      return damaged(std::string("what zstd has packed is damaged: ") + ZSTD_getErrorName(code));
    used = in.pos;
    inside = code != 0;
    return made.pos;
  }

  Result<std::size_t> read_packed(std::span<std::byte> out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
      if (used == window.size()) HEADROOM_TRY_VOID(refill());
      if (window.empty() && !inside) break;
      const std::size_t before = used;
      HEADROOM_TRY(const std::size_t made,
                   packing == Packing::Gzip ? inflate_some(out.subspan(filled)) : unzstd_some(out.subspan(filled)));
      filled += made;
      unpacked += made;
      if (unpacked > kUncheckedGrowth && unpacked / kMostGrowth > hashed - (window.size() - used))
        return damaged(format("the file unpacks to more than %llu times its size",
                              static_cast<unsigned long long>(kMostGrowth)))
            .wanted(format("at most %llu times", static_cast<unsigned long long>(kMostGrowth)),
                    format("%llu bytes of %llu", static_cast<unsigned long long>(unpacked),
                           static_cast<unsigned long long>(hashed - (window.size() - used))));
      if (made == 0 && used == before && window.empty()) return damaged("the packed file is cut off");
    }
    return filled;
  }

  Result<std::size_t> read(std::span<std::byte> out) {
    const std::size_t kept = std::min(out.size(), ahead.size());
    std::memcpy(out.data(), ahead.data(), kept);
    ahead.erase(0, kept);
    out = out.subspan(kept);
    HEADROOM_TRY(const std::size_t size, packing == Packing::None ? read_plain(out) : read_packed(out));
    given += kept + size;
    return kept + size;
  }
};

Result<std::unique_ptr<ByteStream>> ByteStream::open(const std::filesystem::path& path) {
  HEADROOM_TRY(InputFile file, InputFile::open(path));
  std::array<std::byte, kGzipHead> head{};
  const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), file.size_bytes()));
  HEADROOM_TRY_VOID(file.read_at(0, std::span(head).first(size)));
  auto state = std::make_unique<State>(std::move(file));
  state->packing = packing_of(std::span(head).first(size), path.extension() == ".bin");
  return std::unique_ptr<ByteStream>(new ByteStream(std::move(state)));
}

ByteStream::ByteStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
ByteStream::~ByteStream() = default;

Packing ByteStream::packing() const { return state_->packing; }
const std::filesystem::path& ByteStream::path() const { return state_->file.path(); }
std::uint64_t ByteStream::file_bytes() const { return state_->file.size_bytes(); }
std::uint64_t ByteStream::offset() const { return state_->given; }

Result<std::size_t> ByteStream::read(std::span<std::byte> out) { return state_->read(out); }

Result<std::string> ByteStream::peek(std::size_t count) {
  std::string head(count, '\0');
  HEADROOM_TRY(const std::size_t size, state_->read(std::as_writable_bytes(std::span(head))));
  head.resize(size);
  state_->ahead.insert(0, head);
  state_->given -= size;
  return head;
}

Result<std::string> ByteStream::finish_hex() {
  while (state_->hashed < state_->file.size_bytes()) HEADROOM_TRY_VOID(state_->refill());
  return state_->hash.finish_hex();
}

}  // namespace headroom
