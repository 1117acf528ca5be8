#include "core/corpus/record_log.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/base/format.h"
#include "core/io/atomic_file.h"

namespace headroom {
namespace {

constexpr std::string_view kMagic = "headroom progress 1\n";
constexpr std::size_t kHeadBytes = 16;  // kind, CRC-32, length
constexpr std::uint32_t kSettings = 1;

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <typename T>
void append_value(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
T value_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

}  // namespace

Error RecordLog::failed(const char* what, int error_number) const {
  Error error(ErrorCode::Io, std::string(what) + ": " + std::strerror(error_number));
  return error.in_file(path_.string());
}

Result<void> RecordLog::read(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("the progress of the run cannot be read", errno);
    if (got == 0) return Error(ErrorCode::Io, "the progress of the run is shorter than it was").in_file(path_.string());
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<std::uint64_t> RecordLog::add(std::uint32_t kind, const std::string& bytes) {
  std::string record;
  append_value(record, kind);
  append_value(record, checksum(bytes));
  append_value(record, std::uint64_t{bytes.size()});
  record += bytes;
  if (lseek(descriptor_, static_cast<off_t>(end_), SEEK_SET) < 0)
    return failed("the progress of the run cannot be written", errno);
  HEADROOM_TRY_VOID(write_all(descriptor_, std::as_bytes(std::span(record)), path_));
  const std::uint64_t offset = end_ + kHeadBytes;
  end_ += record.size();
  return offset;
}

Result<void> RecordLog::sync() const {
  if (fdatasync(descriptor_) != 0) return failed("the progress of the run cannot be synced", errno);
  return {};
}

// Everything that is whole, of these settings; what follows is cut off. Settings come first.
Result<std::string> RecordLog::scan(const std::string& settings, const Take& take) {
  struct stat status{};
  if (fstat(descriptor_, &status) != 0) return failed("the progress of the run cannot be read", errno);
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  std::string found, magic(kMagic.size(), '\0');
  if (size_bytes < kMagic.size()) return found;
  HEADROOM_TRY_VOID(read(0, std::as_writable_bytes(std::span(magic))));
  if (magic != kMagic) return found;
  end_ = kMagic.size();
  std::array<char, kHeadBytes> head{};
  std::string bytes;
  while (size_bytes - end_ >= kHeadBytes) {
    HEADROOM_TRY_VOID(read(end_, std::as_writable_bytes(std::span(head))));
    const std::string_view words(head.data(), head.size());
    const auto length = value_at<std::uint64_t>(words, 8);
    if (length > size_bytes - end_ - kHeadBytes) break;
    bytes.resize(static_cast<std::size_t>(length));
    HEADROOM_TRY_VOID(read(end_ + kHeadBytes, std::as_writable_bytes(std::span(bytes))));
    if (checksum(bytes) != value_at<std::uint32_t>(words, 4)) break;
    const auto kind = value_at<std::uint32_t>(words, 0);
    if (kind == kSettings)
      found = bytes;
    else if (take && found == settings)
      HEADROOM_TRY_VOID(take(kind, bytes, end_ + kHeadBytes));
    end_ += kHeadBytes + length;
  }
  if (ftruncate(descriptor_, static_cast<off_t>(end_)) != 0)
    return failed("the progress of the run cannot be cut", errno);
  return found;
}

Result<void> RecordLog::begin(const std::string& settings) {
  if (ftruncate(descriptor_, 0) != 0 || lseek(descriptor_, 0, SEEK_SET) < 0)
    return failed("the progress of the run cannot be begun", errno);
  HEADROOM_TRY_VOID(write_all(descriptor_, std::as_bytes(std::span(kMagic)), path_));
  end_ = kMagic.size();
  HEADROOM_TRY([[maybe_unused]] const std::uint64_t offset, add(kSettings, settings));
  return sync();
}

RecordLog::~RecordLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::filesystem::path RecordLog::path_of(const std::filesystem::path& target) {
  return target.parent_path() / ("." + target.filename().string() + ".headroom-progress");
}

Result<std::unique_ptr<RecordLog>> RecordLog::open(const std::filesystem::path& target, const std::string& settings,
                                                   bool anew, const Take& take) {
  const std::filesystem::path path = path_of(target);
  // Without locks nothing tells of another process.
  HEADROOM_TRY(const LockedFile file, open_locked(path));
  std::unique_ptr<RecordLog> log(new RecordLog(path, file.descriptor));
  HEADROOM_TRY(const std::string before, log->scan(settings, anew ? Take() : take));
  if (before.empty() || anew) {
    HEADROOM_TRY_VOID(log->begin(settings));
  } else if (before != settings) {
    Error error(ErrorCode::InvalidArgument, "a run with other settings was begun under this name");
    return error.in_file(target.string())
        .wanted(settings, before)
        .advise("--force begins anew; another name leaves what was begun as it is");
  }
  return log;
}

void RecordLog::remove_left_over(const std::filesystem::path& target, const std::string& settings) {
  const std::filesystem::path path = path_of(target);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  const auto file = open_locked(path);
  if (!file) return;
  RecordLog log(path, file->descriptor);
  if (const auto before = log.scan(settings, {}); before && *before == settings) log.remove();
}

void RecordLog::remove() { unlink(path_.c_str()); }

}  // namespace headroom
