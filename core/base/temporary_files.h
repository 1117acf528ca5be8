// Temporary files that a signal removes where it ends the process at once, when no destructor runs.
#pragma once

#include <filesystem>

namespace headroom {

// While it lives, remove_temporary_files() removes the file. There is room for a few dozen; further ones, and paths
// longer than the system takes, stay behind as after a kill. Any thread.
class TemporaryFileEntry {
 public:
  TemporaryFileEntry() = default;
  // `descriptor` is open on the file: whatever else has its name then is left alone.
  TemporaryFileEntry(const std::filesystem::path& path, int descriptor);
  ~TemporaryFileEntry();
  TemporaryFileEntry(TemporaryFileEntry&& other) noexcept;
  TemporaryFileEntry& operator=(TemporaryFileEntry&& other) noexcept;

 private:
  int slot_ = -1;  // −1: none
};

// For a signal handler, just before it ends the process: nothing but system calls that may stand in one.
void remove_temporary_files() noexcept;

}  // namespace headroom
