#include "core/io/file_probe.h"

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "core/io/hdf5_handle.h"
#include "core/io/run_file.h"
#include "core/io/run_file_scan.h"

namespace headroom {
namespace {

// Device, inode, size, seconds and nanoseconds of the last change of the contents and of the file.
using FileState =
    std::tuple<std::uint64_t, std::uint64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

struct Probing {
  FileProbe probe = nullptr;
  std::map<FileState, Result<void>> answers;
};

Probing& probing() {
  static Probing all;
  return all;
}

}  // namespace

void set_file_probe(FileProbe probe) {
  probing().probe = probe;
  probing().answers.clear();
}

Result<void> probe_file(const std::filesystem::path& path) {
  Probing& all = probing();
  struct stat now{};
  if (!all.probe || ::stat(path.c_str(), &now) != 0) return {};
  const FileState state{now.st_dev,          now.st_ino,         now.st_size,        now.st_mtim.tv_sec,
                        now.st_mtim.tv_nsec, now.st_ctim.tv_sec, now.st_ctim.tv_nsec};
  const auto known = all.answers.find(state);
  if (known != all.answers.end()) return known->second;
  const Result<void> answer = all.probe(path);
  all.answers.emplace(state, answer);
  return answer;
}

void read_for_probe(const std::filesystem::path& path) {
  if (!claims_to_be_run_file(path)) return;
  const Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (file) read_texts(file);
}

}  // namespace headroom
