// What a long run has done, kept beside its target while it runs: a hidden file to which records are added and synced,
// so that a process that is killed loses what was under way. A record that is cut off or damaged is dropped with what
// follows it. One process at a time, by a lock; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace headroom {

class RecordLog {
 public:
  // Of a record that is whole: its kind, which is not 1, its bytes, and where they begin in the file.
  using Take = std::function<Result<void>(std::uint32_t kind, const std::string& bytes, std::uint64_t offset)>;

  // The log of `target`, made where there is none. `settings` is what its records are of, as text: a log of others is
  // InvalidArgument with both; with `anew` any log is thrown away. Io where another process has it. `take` hears of
  // every record that is kept.
  [[nodiscard]] static Result<std::unique_ptr<RecordLog>> open(const std::filesystem::path& target,
                                                               const std::string& settings, bool anew,
                                                               const Take& take);
  ~RecordLog();
  RecordLog(const RecordLog&) = delete;
  RecordLog& operator=(const RecordLog&) = delete;

  [[nodiscard]] static std::filesystem::path path_of(const std::filesystem::path& target);
  // Removes a log that was left beside a finished target; one of other settings, or that a process is at, stays.
  static void remove_left_over(const std::filesystem::path& target, const std::string& settings);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Where its bytes begin. Written, and by sync() on the disk.
  [[nodiscard]] Result<std::uint64_t> add(std::uint32_t kind, const std::string& bytes);
  [[nodiscard]] Result<void> sync() const;
  [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> out) const;

  // The target is written: the log goes.
  void remove();

 private:
  RecordLog(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  [[nodiscard]] Error failed(const char* what, int error_number) const;
  [[nodiscard]] Result<std::string> scan(const std::string& settings, const Take& take);
  [[nodiscard]] Result<void> begin(const std::string& settings);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t end_ = 0;  // of what is whole
};

}  // namespace headroom
