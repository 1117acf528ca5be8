#include "core/io/target_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace headroom {
namespace {

const char* kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISLNK(mode)) return "a symbolic link";
  return "something else";
}

Error target_error(ErrorCode code, const std::string& text, const std::filesystem::path& target) {
  return Error(code, "cannot write the output: " + text).in_file(target.string());
}

Error not_regular(mode_t mode, const std::filesystem::path& target) {
  return target_error(ErrorCode::Io, "the target is not a regular file", target)
      .wanted("a regular file or a new name", kind_name(mode));
}

Result<void> check_folder(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  struct stat status{};
  if (stat(folder.c_str(), &status) != 0) {
    return target_error(ErrorCode::Io, "the folder " + folder.string() + ": " + std::strerror(errno), target)
        .advise("create the folder first");
  }
  if (!S_ISDIR(status.st_mode)) return target_error(ErrorCode::Io, folder.string() + " is not a folder", target);
  if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return target_error(ErrorCode::Io, "the folder " + folder.string() + " is not writable: " + std::strerror(errno),
                        target);
  }
  return {};
}

bool is_one_of(const struct stat& file, std::span<const std::filesystem::path> inputs) {
  for (const std::filesystem::path& input : inputs) {
    struct stat status{};
    if (stat(input.c_str(), &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino) return true;
  }
  return false;
}

}  // namespace

Result<std::filesystem::path> check_target(const std::filesystem::path& target, bool force,
                                           std::span<const std::filesystem::path> inputs) {
  if (target.empty()) return Error(ErrorCode::InvalidArgument, "no name for the output file");
  struct stat link{};
  if (lstat(target.c_str(), &link) != 0) {
    if (errno != ENOENT) return target_error(ErrorCode::Io, std::strerror(errno), target);
    if (!target.has_filename()) return target_error(ErrorCode::Io, "the folder does not exist", target);
    HEADROOM_TRY_VOID(check_folder(target));
    return target;
  }
  struct stat file{};
  if (stat(target.c_str(), &file) != 0) {
    return target_error(ErrorCode::Io,
                        std::string("the target is a symbolic link that leads nowhere: ") + std::strerror(errno),
                        target);
  }
  if (!S_ISREG(file.st_mode)) return not_regular(file.st_mode, target);
  if (is_one_of(file, inputs)) {
    return target_error(ErrorCode::InvalidArgument, "the target is an input of this command", target)
        .advise("choose another name with -o");
  }
  if (!force) {
    return target_error(ErrorCode::InvalidArgument, "the target exists", target)
        .advise("choose another name, or replace it with --force");
  }
  if (faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) {
    return target_error(ErrorCode::Io, std::string("the target may not be replaced: ") + std::strerror(errno), target);
  }
  std::filesystem::path resolved = target;
  if (S_ISLNK(link.st_mode)) {
    std::error_code failure;
    resolved = std::filesystem::canonical(target, failure);
    if (failure) return target_error(ErrorCode::Io, failure.message(), target);
  }
  HEADROOM_TRY_VOID(check_folder(resolved));
  return resolved;
}

Result<void> check_regular_or_absent(const std::filesystem::path& path) {
  struct stat status{};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return target_error(ErrorCode::Io, std::strerror(errno), path);
  }
  if (!S_ISREG(status.st_mode)) return not_regular(status.st_mode, path);
  return {};
}

}  // namespace headroom
