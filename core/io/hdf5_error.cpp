#include "core/io/hdf5_error.h"

#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/format.h"

namespace headroom {
namespace {

struct StackText {
  std::string deepest;
  int error_number = 0;
  bool out_of_memory = false;
};

// Called from C: nothing may escape.
herr_t read_entry(unsigned, const H5E_error2_t* entry, void* data) noexcept {
  auto& text = *static_cast<StackText*>(data);
  try {
    const std::string description = entry->desc == nullptr ? "" : entry->desc;
    if (text.deepest.empty()) text.deepest = description;
    const std::string_view key = "errno = ";
    const std::size_t at = description.find(key);
    if (at != std::string::npos && text.error_number == 0) {
      std::from_chars(description.data() + at + key.size(), description.data() + description.size(), text.error_number);
    }
    if (description.find("memory allocation failed") != std::string::npos) text.out_of_memory = true;
  } catch (...) {
    text.out_of_memory = true;
  }
  return 0;
}

// Bytes the file could have at most, as far as the system tells.
std::uint64_t available_bytes(int error_number, int descriptor) {
  if (error_number == EFBIG) {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? static_cast<std::uint64_t>(limit.rlim_cur) : 0;
  }
  struct stat status{};
  struct statvfs volume{};
  if (fstat(descriptor, &status) != 0 || fstatvfs(descriptor, &volume) != 0) return 0;
  constexpr std::uint64_t kBlockBytes = 512;  // the unit of st_blocks, whatever the file system
  return static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes +
         static_cast<std::uint64_t>(volume.f_bavail) * volume.f_frsize;
}

}  // namespace

void prepare_hdf5() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLset_loading_state(0);
}

Error hdf5_error(ErrorCode code, std::string_view operation) {
  StackText text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &read_entry, &text);
  H5Eclear2(H5E_DEFAULT);
  if (text.error_number != 0) {
    code = ErrorCode::Io;
    text.deepest = std::strerror(text.error_number);
  } else if (text.out_of_memory) {
    code = ErrorCode::OutOfMemory;
  }
  std::string message(operation);
  if (!text.deepest.empty()) message += ": " + text.deepest;
  return {code, message};
}

Error write_error(std::string_view operation, int error_number, int descriptor, std::uint64_t needed_bytes) {
  Error error(ErrorCode::Io, std::string(operation) + ": " + std::strerror(error_number));
  if (error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG) {
    const std::uint64_t available = available_bytes(error_number, descriptor);
    error.message += format(": needs at least %llu bytes", static_cast<unsigned long long>(needed_bytes));
    // With a quota the volume's free space says nothing about what this user may have.
    if (error_number != EDQUOT) error.message += format(", has %llu", static_cast<unsigned long long>(available));
    error.advise(error_number == EFBIG ? "raise the file size limit (ulimit -f) or write less, e.g. with --only summary"
                                       : "free some space, or write to another volume with -o");
  }
  return error;
}

}  // namespace headroom
