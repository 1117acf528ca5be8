// Writes a run file: HDF5 that is also netCDF-4 (dimension scales on every axis, creation order tracked), built under
// a temporary name beside the target and renamed only when complete and verified. Layers are written as they finish,
// so that memory stays that of one layer. One thread only: HDF5 is not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace headroom {

enum class ElementType { Float32, Float64, Int32, Int64, UInt8, String };
[[nodiscard]] const char* element_type_name(ElementType type);  // "float32"

// An axis with a coordinate has `size` values or labels; without either it is a dimension only.
struct AxisDef {
  std::string group;  // "" is the root group; visible in it and below
  std::string name;
  std::int64_t size = 0;
  std::vector<double> values;
  ElementType type = ElementType::Float64;  // of the values; String where labels are given
  std::vector<std::string> labels;
  std::string units;      // "1" for counts and indices
  std::string long_name;  // its definition too
};

struct DatasetDef {
  std::string group;
  std::string name;
  std::vector<std::string> axes;  // names of axes; empty for a scalar
  ElementType type = ElementType::Float32;
  std::string units;
  std::string long_name;
  std::string definition;
  std::map<std::string, std::string> attributes;  // further ones: source, rows, pass
  // For integers: −1 stands for "no value", said in `_FillValue`, so that xarray shows NaN (and floats) there. Floats
  // always say so, UInt8 and strings never.
  bool missing_values = false;
};

inline constexpr std::string_view kRunSchemaName = "headroom-run";
inline constexpr std::string_view kTrainingSchemaName = "headroom-training";  // of training.h5: the same layout
inline constexpr std::string_view kAblationSchemaName = "headroom-ablation";  // of `headroom ablate`: likewise
inline constexpr std::string_view kRunSchemaVersion = "1.0";

using AttributeValue = std::variant<std::string, std::int64_t, double>;

class RunFileWriter {
 public:
  struct Options {
    bool force = false;                         // replace an existing regular file
    std::vector<std::filesystem::path> inputs;  // never written onto, also through links
    std::string_view schema_name = kRunSchemaName;
  };

  // Checks the target before any work: InvalidArgument where it exists without force or is an input; Io where its
  // folder is missing or not writable, the target is not a regular file, or another process is writing it. The new
  // file has the root attributes schema_name and schema_version.
  [[nodiscard]] static Result<std::unique_ptr<RunFileWriter>> create(const std::filesystem::path& target,
                                                                     const Options& options);
  // Without commit() the temporary file is removed and an existing target stays as it was.
  ~RunFileWriter();
  RunFileWriter(const RunFileWriter&) = delete;
  RunFileWriter& operator=(const RunFileWriter&) = delete;

  // `path` is "" for the root, "rows" for a group (made where it is missing), "rows/lse" for a dataset or axis. An
  // attribute of that name is replaced. Bytes that are not UTF-8 and NUL become U+FFFD, here and in every string.
  [[nodiscard]] Result<void> set_attribute(std::string_view path, std::string_view name, const AttributeValue& value);
  [[nodiscard]] Result<void> add_axis(const AxisDef& axis);
  // Axes must have been added, in the group or one above it. Float datasets are filled with NaN, integers with −1
  // (UInt8 with 0), strings with "". UInt8 is for yes and no: it gets flag_values and flag_meanings. A name that netCDF
  // refuses is written as to_netcdf_name() and kept in the attribute original_name; paths here go by the name as given.
  [[nodiscard]] Result<void> add_dataset(const DatasetDef& dataset);

  // Writes the hyperslab that starts at `start` and has extents `count` (both one entry per axis), values in row-major
  // order, converted to the dataset's type; NaN becomes −1 in integers (0 in UInt8), another number that an integer
  // type cannot hold is InvalidArgument. Strings stay in memory until commit(). After an Io error every call returns
  // it.
  [[nodiscard]] Result<void> write(std::string_view path, std::span<const std::int64_t> start,
                                   std::span<const std::int64_t> count, std::span<const double> values);
  [[nodiscard]] Result<void> write_strings(std::string_view path, std::span<const std::int64_t> start,
                                           std::span<const std::int64_t> count, std::span<const std::string> values);
  // Writes what HDF5 holds back, which commit() would do otherwise: after each complete layer. Chunks that are not
  // complete wait, up to 64 MiB of them.
  [[nodiscard]] Result<void> flush();

  // Closes, re-opens and verifies the file, fsyncs it, renames it onto the target and fsyncs the folder.
  [[nodiscard]] Result<void> commit();

  [[nodiscard]] const std::filesystem::path& temporary_path() const;

 private:
  struct State;
  explicit RunFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
