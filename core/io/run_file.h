// Reads a run file back: the list of its datasets and their values, with plugins off and external links, external
// storage and virtual datasets refused. One thread only: HDF5 is not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/run_file_writer.h"

namespace headroom {

struct DatasetInfo {
  std::string path;  // "rows/lse", "sink_score"; names as they are in the file
  std::vector<std::string> axes;
  std::vector<std::int64_t> shape;
  ElementType type = ElementType::Float32;
  std::string units;
  std::string long_name;
  std::string definition;
};

class RunFile {
 public:
  // Corrupt where the file is no HDF5 or schema_name is none of this program's;
  // Unsupported for another major schema version.
  // What links to or stores data outside of the file is Corrupt and nothing there is touched; a filter that this HDF5
  // lacks is Unsupported with its number.
  [[nodiscard]] static Result<std::unique_ptr<RunFile>> open(const std::filesystem::path& path);
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  // In creation order; axes (dimension scales) left out.
  [[nodiscard]] std::span<const DatasetInfo> datasets() const;
  [[nodiscard]] const DatasetInfo* find(std::string_view path) const;
  // Whole datasets, row-major; OutOfMemory above half of the machine's memory. Numbers of any type.
  [[nodiscard]] Result<std::vector<double>> read(std::string_view path) const;
  [[nodiscard]] Result<std::vector<std::string>> read_strings(std::string_view path) const;
  // The names along an axis of labels: "set". NotFound where there is no such dimension scale, Corrupt where it holds
  // no list of texts.
  [[nodiscard]] Result<std::vector<std::string>> read_labels(std::string_view path) const;
  // The coordinate of an axis: "layer". NotFound where there is no such dimension scale, Corrupt where it holds no list
  // of numbers.
  [[nodiscard]] Result<std::vector<double>> read_axis(std::string_view path) const;
  // The hyperslab from `start` with extents `count`, one entry per axis.
  [[nodiscard]] Result<std::vector<double>> read_part(std::string_view path, std::span<const std::int64_t> start,
                                                      std::span<const std::int64_t> count) const;
  // Compares the checksum of every chunk with what is stored; what has none is read, block by block. Corrupt or Io
  // where one is wrong or cannot be read.
  [[nodiscard]] Result<void> verify() const;
  [[nodiscard]] Result<std::string> root_attribute(std::string_view name) const;  // as text
  // Of a group, or of the root where that is "".
  [[nodiscard]] Result<std::string> attribute(std::string_view group, std::string_view name) const;

 private:
  struct State;
  explicit RunFile(std::unique_ptr<State> state);
  friend class RunFileWriter;
  // For the writer, whose own lock on the file would keep HDF5 from opening it.
  [[nodiscard]] static Result<std::unique_ptr<RunFile>> open_without_lock(const std::filesystem::path& path);
  [[nodiscard]] static Result<std::unique_ptr<RunFile>> open_with(const std::filesystem::path& path, bool use_locks);
  std::unique_ptr<State> state_;
};

// Begins as HDF5 files do.
[[nodiscard]] bool is_hdf5_file(const std::filesystem::path& path);
// An HDF5 file that says to be one of this program's, or that HDF5 cannot open, so that RunFile::open says why.
[[nodiscard]] bool claims_to_be_run_file(const std::filesystem::path& path);

}  // namespace headroom
