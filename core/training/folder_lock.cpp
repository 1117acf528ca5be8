#include "core/training/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/input_file.h"

namespace headroom {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error(ErrorCode::Io, "cannot make the folder: " + failed.message()).in_file(folder.string());
  FolderLock lock;
  lock.descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.descriptor_ < 0) return path_error(folder, errno);
  if (flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error(ErrorCode::InvalidArgument, "another process is training in this folder").in_file(folder.string());
  return lock;  // a file system without locks goes without
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace headroom
