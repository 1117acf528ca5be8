#include "core/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace headroom {
namespace {

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec; }

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  return ignored ? path : absolute;
}

std::string_view kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode)) return "a character device";
  if (S_ISBLK(mode)) return "a block device";
  return "something else";
}

Error not_regular(const std::filesystem::path& path, mode_t mode) {
  Error error(ErrorCode::Corrupt, "Not a regular file");
  error.in_file(path.string()).wanted("a regular file", kind_name(mode));
  return error;
}

Error not_found(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored))) {
    Error error(ErrorCode::NotFound, "The link points to nothing");
    const std::filesystem::path target = std::filesystem::read_symlink(path, ignored);
    error.in_file(path.string()).wanted("", target.string());
    return error;
  }
  Error error(ErrorCode::NotFound, "No such file or folder");
  error.in_file(path.string());
  std::filesystem::path parent = absolute_path(path).parent_path();
  while (parent.has_relative_path() && !std::filesystem::exists(parent, ignored)) parent = parent.parent_path();
  error.advise("the nearest folder that exists is " + parent.string());
  return error;
}

Error not_permitted(const std::filesystem::path& path) {
  Error error(ErrorCode::Io, "No permission to read the file");
  error.in_file(path.string()).wanted("read permission", "none");
  std::filesystem::path folder;
  const std::filesystem::path absolute = absolute_path(path);
  for (const std::filesystem::path& part : absolute.parent_path()) {
    folder /= part;
    if (faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) == 0) continue;
    error.message = "No permission to enter the folder " + folder.string();
    error.wanted("search (x) permission on the folder", "none");
    break;
  }
  return error;
}

}  // namespace

Error path_error(const std::filesystem::path& path, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return not_found(path);
    case EACCES:
    case EPERM: return not_permitted(path);
    case ELOOP: return Error(ErrorCode::NotFound, "The symbolic links form a loop").in_file(path.string());
    case ENAMETOOLONG:
      return Error(ErrorCode::NotFound, "The name is longer than the file system allows").in_file(path.string());
    default: break;
  }
  Error error(ErrorCode::Io, "The system cannot open it: " + std::generic_category().message(error_number));
  return error.in_file(path.string());
}

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  struct stat status{};
  // stat() first: opening a pipe or a device can block or have effects.
  if (::stat(path.c_str(), &status) != 0) return path_error(path, errno);
  if (!S_ISREG(status.st_mode)) return not_regular(path, status.st_mode);
  InputFile file;
  file.descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file.descriptor_ < 0) return path_error(path, errno);
  if (::fstat(file.descriptor_, &status) != 0) return path_error(path, errno);
  if (!S_ISREG(status.st_mode)) return not_regular(path, status.st_mode);
  file.path_ = path;
  file.size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  file.inode_ = status.st_ino;
  file.device_ = status.st_dev;
  file.modified_ns_ = nanoseconds(status.st_mtim);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept { *this = std::move(other); }

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  path_.swap(other.path_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(inode_, other.inode_);
  std::swap(device_, other.device_);
  std::swap(modified_ns_, other.modified_ns_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool InputFile::replaced_on_disk() const {
  struct stat status{};
  return ::stat(path_.c_str(), &status) != 0 || status.st_ino != inode_ || status.st_dev != device_;
}

Result<void> InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const auto changed = [&](std::uint64_t found) {
    Error error(ErrorCode::Io, "The file has changed on disk since it was opened");
    error.in_file(path_.string()).wanted(std::to_string(size_bytes_) + " bytes", std::to_string(found));
    error.at_offset(offset).advise("open it again once the other program has finished writing");
    return error;
  };
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return path_error(path_, errno);
  if (static_cast<std::uint64_t>(status.st_size) != size_bytes_ || nanoseconds(status.st_mtim) != modified_ns_)
    return changed(static_cast<std::uint64_t>(status.st_size));
  if (offset > size_bytes_ || out.size() > size_bytes_ - offset) {
    Error error(ErrorCode::Corrupt, "The file ends before the bytes that are needed");
    error.in_file(path_.string()).at_offset(offset);
    return error.wanted(std::to_string(out.size()) + " bytes",
                        std::to_string(size_bytes_ - std::min(offset, size_bytes_)));
  }
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      Error error(ErrorCode::Io, "Reading failed: " + std::generic_category().message(errno));
      return error.in_file(path_.string()).at_offset(offset);
    }
    if (got == 0) return changed(offset);
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<std::string> read_text_file(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  HEADROOM_TRY(const InputFile file, InputFile::open(path));
  if (file.size_bytes() > limit_bytes) {
    Error error(ErrorCode::OutOfMemory, "The file is larger than this program reads as text");
    error.in_file(path.string());
    return error.wanted("at most " + std::to_string(limit_bytes) + " bytes", std::to_string(file.size_bytes()));
  }
  std::string text(static_cast<std::size_t>(file.size_bytes()), '\0');
  HEADROOM_TRY_VOID(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return text;
}

}  // namespace headroom
