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
  std::string path;                     // "rows/lse", "sink_score"
  std::vector<std::string> axes;
  std::vector<std::int64_t> shape;
  ElementType type = ElementType::Float32;
  std::string units;
  std::string long_name;
  std::string definition;
};

class RunFile {
 public:
  // Corrupt where the file is no HDF5 or schema_name is not "headroom-run"; Unsupported for another major schema version.
  [[nodiscard]] static Result<std::unique_ptr<RunFile>> open(const std::filesystem::path& path);
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  // In creation order; axes (dimension scales) left out.
  [[nodiscard]] std::span<const DatasetInfo> datasets() const;
  [[nodiscard]] const DatasetInfo* find(std::string_view path) const;
  [[nodiscard]] Result<std::vector<double>> read(std::string_view path) const;           // numbers of any type
  [[nodiscard]] Result<std::vector<std::string>> read_strings(std::string_view path) const;
  [[nodiscard]] Result<std::string> root_attribute(std::string_view name) const;         // as text

 private:
  struct State;
  explicit RunFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
