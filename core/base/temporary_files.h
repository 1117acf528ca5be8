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

// While one lives, its thread is making a file that no entry knows yet: an end of the process waits for it.
class TemporaryFileCreation {
 public:
  TemporaryFileCreation() noexcept;
  ~TemporaryFileCreation();
  TemporaryFileCreation(const TemporaryFileCreation&) = delete;
  TemporaryFileCreation& operator=(const TemporaryFileCreation&) = delete;
};

// For a signal handler, just before it ends the process: nothing but system calls that may stand in one.
void remove_temporary_files() noexcept;

// For a signal handler that runs with the other ending signals blocked: removes the files and ends the process with
// `code`. Returns where a file is being made: the end comes as soon as its entry is there, or with the next call.
void end_without_temporary_files(int code) noexcept;

}  // namespace headroom
