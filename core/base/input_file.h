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

  // All of out, from byte `offset`. Io on a read error, and Io "changed on disk" where the open file's size or
  // modification time differ from those at open(). A file that another one has replaced under the same name, or that
  // has been deleted, goes on being read.
  [[nodiscard]] Result<void> read_at(std::uint64_t offset, std::span<std::byte> out) const;

  // Whether the path leads to another file than the one that is open, or to none.
  [[nodiscard]] bool replaced_on_disk() const;

  // Nanoseconds since the epoch, at open().
  [[nodiscard]] std::int64_t modified_ns() const { return modified_ns_; }

 private:
  InputFile() = default;
  std::filesystem::path path_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t inode_ = 0;
  std::uint64_t device_ = 0;
  std::int64_t modified_ns_ = 0;
  int descriptor_ = -1;
};

// What a failed system call on `path` means to the user: NotFound with the nearest existing parent, or Io with the
// permission that is missing.
[[nodiscard]] Error path_error(const std::filesystem::path& path, int error_number);

// A whole file as text; OutOfMemory above `limit_bytes`.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t limit_bytes);

}  // namespace headroom
