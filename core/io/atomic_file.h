// A file that appears under its name only when it is complete: written under a temporary name beside the target,
// fsynced, renamed, folder fsynced. Only one writer per target at a time. Main or I/O thread; one object, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "core/base/temporary_files.h"

namespace headroom {

class AtomicFile {
 public:
  // Checks before any work. InvalidArgument: the target is one of `inputs` (also through links), or exists without
  // `force`. Io: its folder is missing or not writable, it is not a regular file or read-only, or another process is
  // writing it. What an earlier process left unfinished under the same target is removed. A symbolic link to a regular
  // file is followed: the file it names is replaced and the link stays.
  [[nodiscard]] static Result<AtomicFile> create(const std::filesystem::path& target, bool force,
                                                 std::span<const std::filesystem::path> inputs);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Without commit() the temporary file is removed and an existing target stays as it was; so too where a signal ends
  // the process (core/base/temporary_files.h).
  ~AtomicFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const std::filesystem::path& temporary_path() const { return temporary_; }
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  // Fails without touching the target where the target has become something else than a regular file or, without
  // force, has appeared meanwhile.
  [[nodiscard]] Result<void> commit();

 private:
  AtomicFile() = default;
  void discard() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  TemporaryFileEntry entry_;  // as long as the descriptor is open
  bool force_ = false;
};

// A file of this name, made where there is none, open for reading and writing and locked for this process: nobody else
// has removed or replaced it since. A name that the file shares with another one goes, and the file is made anew. Io
// where it is no regular file, or another process has it. The caller closes it.
struct LockedFile {
  int descriptor = -1;
  bool locked = false;  // not on a file system without locks, as some network ones are
};
[[nodiscard]] Result<LockedFile> open_locked(const std::filesystem::path& path);

// All of `bytes`; Io names `path`, which is what the user knows the file by.
[[nodiscard]] Result<void> write_all(int descriptor, std::span<const std::byte> bytes,
                                     const std::filesystem::path& path);

// A whole file of these bytes, as create() and commit() say.
[[nodiscard]] Result<void> write_whole_file(const std::filesystem::path& target, std::string_view bytes, bool force,
                                            std::span<const std::filesystem::path> inputs = {});

// The temporary name for a target: in the same folder, hidden, the same for every process.
[[nodiscard]] std::filesystem::path temporary_name(const std::filesystem::path& target);

}  // namespace headroom
