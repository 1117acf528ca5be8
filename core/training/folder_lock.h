// Keeps a second training out of a folder; the lock is on the folder itself and ends with the process. Owned by one
// thread.
#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace headroom {

class FolderLock {
 public:
  // Makes the folder, with its parents, where it is missing. InvalidArgument where another training holds it.
  [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& folder);

  FolderLock() = default;
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_ = -1;
};

}  // namespace headroom
