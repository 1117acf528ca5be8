// A regular file opened for reading with pread; nothing is mapped, so a truncated file is an error and not a signal.
// Move-only; reads are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/base/result.h"

namespace headroom {

class InputFile {
 public:
  // NotFound with the nearest existing parent, Io with the missing permission, Corrupt for what is not a regular file
  // (refused before anything is read).
  [[nodiscard]] static Result<InputFile> open(const std::filesystem::path& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }

  // All of out, from byte `offset`. Io on a read error; Corrupt "changed on disk" where the file has become shorter
  // or its inode, size or modification time differ from those at open().
  [[nodiscard]] Result<void> read_at(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  InputFile() = default;
  std::filesystem::path path_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t device_ = 0;
  std::int64_t modified_ns_ = 0;
  int descriptor_ = -1;
};

// A whole file as text; OutOfMemory above `limit_bytes`.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t limit_bytes);

}  // namespace headroom
