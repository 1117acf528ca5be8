#include "core/io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/io/file_size_signal.h"
#include "core/io/hdf5_error.h"
#include "core/io/target_check.h"

namespace headroom {
namespace {

constexpr mode_t kNewFileMode = 0666;  // less the umask
constexpr int kMaxAttempts = 100;      // each lost to a writer that ended in that instant

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

bool names(const std::filesystem::path& path, int descriptor) {
  struct stat by_name{};
  struct stat by_descriptor{};
  return lstat(path.c_str(), &by_name) == 0 && fstat(descriptor, &by_descriptor) == 0 &&
         by_name.st_dev == by_descriptor.st_dev && by_name.st_ino == by_descriptor.st_ino;
}

Error temporary_error(const std::filesystem::path& path, int error_number) {
  return Error(ErrorCode::Io,
               std::string("cannot make a temporary file beside the target: ") + std::strerror(error_number))
      .in_file(path.string());
}

// A living writer holds the lock on its temporary file, so that one without a lock is left over.
void remove_left_over(const std::filesystem::path& temporary) {
  const int descriptor = open(temporary.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status{};
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
      names(temporary, descriptor)) {
    unlink(temporary.c_str());
  }
  close(descriptor);
}

// Without file locks (some network file systems) the name carries the process, and one whose process has ended is left
// over.
Result<int> open_unlocked(std::filesystem::path& temporary) {
  const std::string prefix = temporary.filename().string() + "-";
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(temporary), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const long process = std::strtol(name.c_str() + prefix.size(), nullptr, 10);
    const bool ended = process > 0 && kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
    if (ended || process == getpid()) unlink(entry.path().c_str());
  }
  temporary += format("-%ld", static_cast<long>(getpid()));
  const int descriptor = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kNewFileMode);
  if (descriptor < 0) return temporary_error(temporary, errno);
  return descriptor;
}

Result<int> open_temporary(std::filesystem::path& temporary) {
  HEADROOM_TRY(const LockedFile file, open_locked(temporary));
  if (!file.locked) {
    close(file.descriptor);
    unlink(temporary.c_str());
    return open_unlocked(temporary);
  }
  if (ftruncate(file.descriptor, 0) == 0) return file.descriptor;
  const int error_number = errno;
  close(file.descriptor);
  return temporary_error(temporary, error_number);
}

// The new file is to be as readable as the one that it replaces.
void keep_mode(const std::filesystem::path& target, int descriptor) {
  constexpr mode_t kPermissions = 0777;
  struct stat status{};
  if (stat(target.c_str(), &status) == 0) static_cast<void>(fchmod(descriptor, status.st_mode & kPermissions));
}

int rename_onto(const std::filesystem::path& from, const std::filesystem::path& to, bool force) {
  if (force) return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
  // Not every file system can refuse to replace; looking first must do there.
  struct stat status{};
  if (lstat(to.c_str(), &status) == 0) return EEXIST;
  return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

Result<void> sync_folder(const std::filesystem::path& target) {
  const int folder = open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error_number = folder >= 0 && fsync(folder) == 0 ? 0 : errno;
  if (folder >= 0) close(folder);
  // Some file systems cannot sync a folder, and one may be writable but not readable.
  if (error_number == 0 || error_number == EINVAL || error_number == ENOTSUP || error_number == EACCES) return {};
  return Error(ErrorCode::Io,
               std::string("the file is written, but its folder cannot be synced: ") + std::strerror(error_number))
      .in_file(target.string());
}

}  // namespace

Result<LockedFile> open_locked(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kNewFileMode);
    if (descriptor < 0) return temporary_error(path, errno);
    struct stat status{};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      close(descriptor);
      return Error(ErrorCode::Io, "something that is not a regular file has the temporary name").in_file(path.string());
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int error_number = errno;
      if (error_number != EINTR && error_number != EWOULDBLOCK) return LockedFile{descriptor, false};
      close(descriptor);
      if (error_number == EINTR) continue;
      return Error(ErrorCode::Io, "another process is writing this file")
          .in_file(path.string())
          .advise("wait for it to end, or choose another name");
    }
    // Between open and lock the former owner may have renamed or removed the file; and one with a second name is not
    // a temporary file of ours, so that only this name of it goes.
    if (names(path, descriptor) && status.st_nlink == 1) return LockedFile{descriptor, true};
    if (status.st_nlink > 1) unlink(path.c_str());
    close(descriptor);
  }
  return temporary_error(path, EBUSY);
}

std::filesystem::path temporary_name(const std::filesystem::path& target) {
  // FNV-1a over the whole name keeps two long names with one beginning apart.
  const std::string name = target.filename().string();
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return folder_of(target) /
         format(".%.120s.%016llx.headroom-tmp", name.c_str(), static_cast<unsigned long long>(hash));
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& target, bool force,
                                      std::span<const std::filesystem::path> inputs) {
  if (target.has_filename()) remove_left_over(temporary_name(target));
  HEADROOM_TRY(std::filesystem::path resolved, check_target(target, force, inputs));
  AtomicFile file;
  file.force_ = force;
  file.target_ = std::move(resolved);
  std::filesystem::path temporary = temporary_name(file.target_);
  const TemporaryFileCreation creation;
  HEADROOM_TRY(file.descriptor_, open_temporary(temporary));
  file.temporary_ = std::move(temporary);
  file.entry_ = TemporaryFileEntry(file.temporary_, file.descriptor_);
  keep_mode(file.target_, file.descriptor_);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      entry_(std::move(other.entry_)),
      force_(other.force_) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    target_ = std::move(other.target_);
    temporary_ = std::move(other.temporary_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    entry_ = std::move(other.entry_);
    force_ = other.force_;
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ < 0) return;
  // Removed while the lock is held: nobody else can have taken the name over.
  if (names(temporary_, descriptor_)) unlink(temporary_.c_str());
  entry_ = {};
  close(std::exchange(descriptor_, -1));
}

Result<void> AtomicFile::commit() {
  struct stat status{};
  if (fsync(descriptor_) != 0) {
    const int error_number = errno;
    const std::uint64_t size_bytes = fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
    return write_error("cannot write the output", error_number, descriptor_, size_bytes).in_file(target_.string());
  }
  HEADROOM_TRY_VOID(check_regular_or_absent(target_));
  if (!names(temporary_, descriptor_)) {
    return Error(ErrorCode::Io, "the temporary file was removed or replaced while it was written")
        .in_file(temporary_.string());
  }
  const int error_number = rename_onto(temporary_, target_, force_);
  if (error_number == EEXIST) {
    return Error(ErrorCode::InvalidArgument, "cannot write the output: the target has appeared meanwhile")
        .in_file(target_.string())
        .advise("choose another name, or replace it with --force");
  }
  if (error_number != 0) {
    return Error(ErrorCode::Io,
                 std::string("cannot rename the finished file onto the target: ") + std::strerror(error_number))
        .in_file(target_.string());
  }
  entry_ = {};
  close(std::exchange(descriptor_, -1));
  return sync_folder(target_);
}

Result<void> write_all(int descriptor, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  const FileSizeSignalBlock no_signal;
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error_number = errno;
      struct stat status{};
      const std::uint64_t before =
          fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size)) : 0;
      return write_error("cannot write", error_number, descriptor, before + bytes.size()).in_file(path.string());
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> write_whole_file(const std::filesystem::path& target, std::string_view bytes, bool force,
                              std::span<const std::filesystem::path> inputs) {
  HEADROOM_TRY(AtomicFile file, AtomicFile::create(target, force, inputs));
  HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(bytes)), target));
  return file.commit();
}

}  // namespace headroom
