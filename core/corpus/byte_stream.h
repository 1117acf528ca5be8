// The bytes of a file of documents from its beginning: as they are, or unpacked where its first bytes say gzip or zstd.
// What lies on disk is hashed while it is read. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"

namespace headroom {

enum class Packing : std::uint8_t { None, Gzip, Zstd };

class ByteStream {
 public:
  // What text of any kind does not reach when packed; what unpacks to more is refused once it is long.
  static constexpr std::uint64_t kMostGrowth = 250;

  // NotFound, Io or Corrupt as InputFile::open.
  [[nodiscard]] static Result<std::unique_ptr<ByteStream>> open(const std::filesystem::path& path);
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  [[nodiscard]] Packing packing() const;
  [[nodiscard]] const std::filesystem::path& path() const;
  [[nodiscard]] std::uint64_t file_bytes() const;  // on disk
  [[nodiscard]] std::uint64_t offset() const;      // of the byte that read() gives next, unpacked

  // Fills `out` as far as the file goes: fewer bytes, or none, at its end. Corrupt with the offset on disk where what
  // is packed is damaged, cut off or grows more than kMostGrowth times.
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out);
  // The first bytes, as far as there are so many, which read() gives once more. Before the first read().
  [[nodiscard]] Result<std::string> peek(std::size_t count);

  // SHA-256 of the file on disk, 64 digits; reads what is left of it. Nothing is read afterwards.
  [[nodiscard]] Result<std::string> finish_hex();

 private:
  struct State;
  explicit ByteStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
