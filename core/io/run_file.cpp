#include "core/io/run_file.h"

#include <hdf5_hl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/input_file.h"
#include "core/io/blocks.h"
#include "core/io/blocks_schema.h"
#include "core/io/chunk_check.h"
#include "core/io/circuits_schema.h"
#include "core/io/corpus_schema.h"
#include "core/io/element_type.h"
#include "core/io/file_probe.h"
#include "core/io/hdf5_attribute.h"
#include "core/io/hdf5_error.h"
#include "core/io/hdf5_transfer.h"
#include "core/io/run_file_scan.h"

namespace headroom {
namespace {

Result<Hdf5File> open_hdf5(const std::filesystem::path& path, bool use_locks) {
  const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
  // The environment variable HDF5_USE_FILE_LOCKING keeps its say; a file system without locks is no error.
  if (!access || H5Pset_fapl_sec2(access.get()) < 0 || H5Pset_file_locking(access.get(), use_locks, true) < 0 ||
      H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0) {
    return hdf5_error(ErrorCode::Io, "cannot prepare HDF5 for reading");
  }
  Hdf5File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file) {
    Error error = hdf5_error(ErrorCode::Corrupt, "cannot open the run file");
    if (error.code == ErrorCode::Io) error.advise("another program may have it open for writing");
    return error;
  }
  return file;
}

bool is_our_schema(std::string_view name) {
  return name == kRunSchemaName || name == kTrainingSchemaName || name == kAblationSchemaName ||
         name == kCircuitsSchemaName || name == kPlanSchemaName || name == kCorpusSchemaName ||
         name == kSeriesSchemaName || name == kBlocksSchemaName || name == kNeedleSchemaName;
}

Result<void> check_schema(hid_t file) {
  auto name = read_attribute(file, "schema_name");
  if (!name && name.error().code != ErrorCode::NotFound) return std::move(name.error());
  if (!name || !is_our_schema(*name)) {
    return Error(ErrorCode::Corrupt, "an HDF5 file, but not a run file of this program")
        .wanted("schema_name \"" + std::string(kRunSchemaName) + "\"", name ? "\"" + *name + "\"" : "none");
  }
  auto version = read_attribute(file, "schema_version");
  if (!version || version->empty()) return Error(ErrorCode::Corrupt, "the run file says no schema_version");
  const std::string_view ours = kRunSchemaVersion.substr(0, kRunSchemaVersion.find('.'));
  if (version->substr(0, version->find('.')) != ours) {
    return Error(ErrorCode::Unsupported, "a run file of another schema version")
        .wanted(std::string(ours) + ".x", *version)
        .advise("read it with the version of headroom that wrote it");
  }
  return {};
}

Result<void> check_memory(std::span<const std::int64_t> count, std::size_t element_bytes) {
  const auto pages = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES));
  const auto page_bytes = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  const std::int64_t limit = pages / 2 * page_bytes / static_cast<std::int64_t>(element_bytes);
  if (pages <= 0 || element_count(count) <= limit) return {};
  return Error(ErrorCode::OutOfMemory, "a dataset is larger than half of this machine's memory")
      .wanted(format("at most %lld elements", static_cast<long long>(limit)),
              format("%lld", static_cast<long long>(element_count(count))));
}

}  // namespace

struct RunFile::State {
  std::filesystem::path path;
  Hdf5File file;
  std::vector<DatasetInfo> datasets;

  Error context(Error error, std::string_view dataset) const { return error.at_tensor(dataset).in_file(path.string()); }

  Result<std::vector<std::string>> read_text(const DatasetInfo& info) const;
  Result<Hdf5Dataset> open_axis(const std::string& name) const;
};

Result<std::vector<std::string>> RunFile::State::read_text(const DatasetInfo& info) const {
  const Hdf5Dataset dataset(H5Dopen2(file.get(), info.path.c_str(), H5P_DEFAULT));
  const Hdf5Type type(dataset ? H5Dget_type(dataset.get()) : H5I_INVALID_HID);
  const Hdf5Space space(dataset ? H5Dget_space(dataset.get()) : H5I_INVALID_HID);
  if (!type || !space) return hdf5_error(ErrorCode::Corrupt, "cannot open a dataset");
  const bool is_variable = H5Tis_variable_str(type.get()) > 0;
  const std::size_t width = is_variable ? sizeof(char*) : H5Tget_size(type.get());
  if (width > kMaxFixedStringBytes) return Error(ErrorCode::Corrupt, "a string type is too wide");
  HEADROOM_TRY_VOID(check_memory(info.shape, width + sizeof(std::string)));
  const std::size_t count = static_cast<std::size_t>(element_count(info.shape));
  std::vector<std::string> out(count);
  if (count == 0) return out;
  if (is_variable) {
    std::vector<char*> values(count, nullptr);
    if (H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, by_pieces(), static_cast<void*>(values.data())) < 0) {
      return hdf5_error(ErrorCode::Corrupt, "cannot read a dataset");
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (values[i] != nullptr) out[i] = values[i];
    }
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, static_cast<void*>(values.data()));
    return out;
  }
  std::string bytes(count * width, '\0');
  if (H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, by_pieces(), bytes.data()) < 0) {
    return hdf5_error(ErrorCode::Corrupt, "cannot read a dataset");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view value = std::string_view(bytes).substr(i * width, width);
    out[i] = value.substr(0, value.find('\0'));
  }
  return out;
}

Result<std::unique_ptr<RunFile>> RunFile::open(const std::filesystem::path& path) {
  if (is_hdf5_file(path)) HEADROOM_TRY_VOID(probe_file(path));
  return open_with(path, true);
}

Result<std::unique_ptr<RunFile>> RunFile::open_without_lock(const std::filesystem::path& path) {
  return open_with(path, false);
}

Result<std::unique_ptr<RunFile>> RunFile::open_with(const std::filesystem::path& path, bool use_locks) {
  // For its errors: missing, not permitted, not a regular file.
  HEADROOM_TRY(const InputFile input, InputFile::open(path));
  if (input.size_bytes() == 0) return Error(ErrorCode::Corrupt, "empty file").in_file(path.string());
  prepare_hdf5();
  auto state = std::make_unique<State>();
  state->path = path;
  auto file = open_hdf5(path, use_locks);
  if (!file) return std::move(file.error()).in_file(path.string());
  state->file = std::move(file).value();
  const Result<void> schema = check_schema(state->file.get());
  if (!schema) return state->context(schema.error(), "");
  auto datasets = scan_datasets(state->file);
  if (!datasets) return state->context(std::move(datasets.error()), "");
  state->datasets = std::move(datasets).value();
  return std::unique_ptr<RunFile>(new RunFile(std::move(state)));
}

RunFile::RunFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFile::~RunFile() = default;

std::span<const DatasetInfo> RunFile::datasets() const { return state_->datasets; }

const DatasetInfo* RunFile::find(std::string_view path) const {
  const auto found = std::find_if(state_->datasets.begin(), state_->datasets.end(),
                                  [&](const DatasetInfo& info) { return info.path == path; });
  return found == state_->datasets.end() ? nullptr : &*found;
}

Result<std::vector<double>> RunFile::read(std::string_view path) const {
  const DatasetInfo* info = find(path);
  if (info == nullptr) return state_->context(Error(ErrorCode::NotFound, "no such dataset"), path);
  const std::vector<std::int64_t> start(info->shape.size(), 0);
  return read_part(path, start, info->shape);
}

Result<std::vector<double>> RunFile::read_part(std::string_view path, std::span<const std::int64_t> start,
                                               std::span<const std::int64_t> count) const {
  const DatasetInfo* info = find(path);
  if (info == nullptr) return state_->context(Error(ErrorCode::NotFound, "no such dataset"), path);
  if (info->type == ElementType::String) {
    return state_->context(Error(ErrorCode::InvalidArgument, "a dataset of strings read as numbers"), path);
  }
  bool inside = start.size() == info->shape.size() && count.size() == info->shape.size();
  for (std::size_t i = 0; inside && i < start.size(); ++i) {
    inside = start[i] >= 0 && count[i] >= 0 && start[i] <= info->shape[i] - count[i];
  }
  if (!inside) return state_->context(Error(ErrorCode::InvalidArgument, "a region leaves the dataset"), path);
  const Result<void> memory_fits = check_memory(count, sizeof(double));
  if (!memory_fits) return state_->context(memory_fits.error(), path);
  std::vector<double> values(static_cast<std::size_t>(element_count(count)));
  if (values.empty()) return values;
  const Hdf5Dataset dataset(H5Dopen2(state_->file.get(), info->path.c_str(), H5P_DEFAULT));
  const Hdf5Space region(dataset ? H5Dget_space(dataset.get()) : H5I_INVALID_HID);
  const std::vector<hsize_t> offsets(start.begin(), start.end());
  const std::vector<hsize_t> extents(count.begin(), count.end());
  const Hdf5Space memory(extents.empty() ? H5Screate(H5S_SCALAR)
                                         : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
  const bool selected = region && (extents.empty() || H5Sselect_hyperslab(region.get(), H5S_SELECT_SET, offsets.data(),
                                                                          nullptr, extents.data(), nullptr) >= 0);
  if (!selected ||
      H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, memory.get(), region.get(), by_pieces(), values.data()) < 0) {
    return state_->context(hdf5_error(ErrorCode::Corrupt, "cannot read a dataset"), path);
  }
  return values;
}

Result<std::vector<std::string>> RunFile::read_strings(std::string_view path) const {
  const DatasetInfo* info = find(path);
  if (info == nullptr) return state_->context(Error(ErrorCode::NotFound, "no such dataset"), path);
  if (info->type != ElementType::String) {
    return state_->context(Error(ErrorCode::InvalidArgument, "a dataset of numbers read as strings"), path);
  }
  auto text = state_->read_text(*info);
  if (!text) return state_->context(std::move(text.error()), path);
  return text;
}

Result<Hdf5Dataset> RunFile::State::open_axis(const std::string& name) const {
  if (H5Lexists(file.get(), name.c_str(), H5P_DEFAULT) > 0) {
    // Where the file stores its data was checked when it was opened.
    Hdf5Dataset dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
    if (dataset && H5DSis_scale(dataset.get()) > 0) return dataset;
  }
  H5Eclear2(H5E_DEFAULT);
  return context(Error(ErrorCode::NotFound, "no such axis"), name);
}

Result<std::vector<std::string>> RunFile::read_labels(std::string_view path) const {
  HEADROOM_TRY(const Hdf5Dataset dataset, state_->open_axis(std::string(path)));
  const Hdf5Type type(H5Dget_type(dataset.get()));
  const Hdf5Space space(H5Dget_space(dataset.get()));
  hsize_t size = 0;
  if (!space || !type || H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      H5Sget_simple_extent_dims(space.get(), &size, nullptr) < 0 || size > static_cast<hsize_t>(INT64_MAX)) {
    H5Eclear2(H5E_DEFAULT);
    return state_->context(Error(ErrorCode::Corrupt, "an axis holds no list of texts"), path);
  }
  DatasetInfo info;
  info.path = path, info.shape = {static_cast<std::int64_t>(size)}, info.type = ElementType::String;
  auto labels = state_->read_text(info);
  if (!labels) return state_->context(std::move(labels.error()), path);
  return labels;
}

Result<std::vector<double>> RunFile::read_axis(std::string_view path) const {
  const auto fail = [&](ErrorCode code, const char* text) { return state_->context(Error(code, text), path); };
  HEADROOM_TRY(const Hdf5Dataset dataset, state_->open_axis(std::string(path)));
  const Hdf5Type type(H5Dget_type(dataset.get()));
  const Hdf5Space space(H5Dget_space(dataset.get()));
  const H5T_class_t kind = type ? H5Tget_class(type.get()) : H5T_NO_CLASS;
  hsize_t size = 0;
  if (!space || (kind != H5T_INTEGER && kind != H5T_FLOAT) || H5Sget_simple_extent_ndims(space.get()) != 1 ||
      H5Sget_simple_extent_dims(space.get(), &size, nullptr) < 0 || size > static_cast<hsize_t>(INT64_MAX)) {
    H5Eclear2(H5E_DEFAULT);
    return fail(ErrorCode::Corrupt, "an axis holds no list of numbers");
  }
  const std::int64_t shape[] = {static_cast<std::int64_t>(size)};
  const Result<void> memory_fits = check_memory(shape, sizeof(double));
  if (!memory_fits) return state_->context(memory_fits.error(), path);
  std::vector<double> values(static_cast<std::size_t>(size));
  if (size > 0 && H5Dread(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, by_pieces(), values.data()) < 0)
    return state_->context(hdf5_error(ErrorCode::Corrupt, "cannot read an axis"), path);
  return values;
}

Result<void> RunFile::verify() const {
  for (const DatasetInfo& info : state_->datasets) {
    if (info.type == ElementType::String) {
      HEADROOM_TRY(const std::vector<std::string> ignored, read_strings(info.path));
      continue;
    }
    const Hdf5Dataset dataset(H5Dopen2(state_->file.get(), info.path.c_str(), H5P_DEFAULT));
    if (dataset && chunks_have_their_checksums(dataset.get(), info.shape)) continue;
    HEADROOM_TRY_VOID(for_each_block(info.shape, kBlockElements, [&](auto start, auto count) -> Result<void> {
      HEADROOM_TRY(const std::vector<double> ignored, read_part(info.path, start, count));
      return {};
    }));
  }
  return {};
}

Result<std::string> RunFile::root_attribute(std::string_view name) const { return attribute("", name); }

Result<std::string> RunFile::attribute(std::string_view group, std::string_view name) const {
  const std::string path = group.empty() ? "/" : std::string(group);
  if (H5Lexists(state_->file.get(), path.c_str(), H5P_DEFAULT) <= 0 && !group.empty())
    return state_->context(Error(ErrorCode::NotFound, "no such group"), group);
  const Hdf5Object object(H5Oopen(state_->file.get(), path.c_str(), H5P_DEFAULT));
  if (!object) return state_->context(hdf5_error(ErrorCode::Corrupt, "cannot open a group"), group);
  auto text = read_attribute(object.get(), name);
  if (!text) return state_->context(std::move(text.error()), group);
  return text;
}

bool is_hdf5_file(const std::filesystem::path& path) {
  constexpr std::array<char, 8> kSignature = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::array<char, 8> head{};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), head.size()) && head == kSignature;
}

bool claims_to_be_run_file(const std::filesystem::path& path) {
  if (!is_hdf5_file(path)) return false;
  if (!probe_file(path)) return true;
  prepare_hdf5();
  const auto file = open_hdf5(path, false);
  if (!file) return true;
  const Result<std::string> name = read_attribute(file->get(), "schema_name");
  return name ? is_our_schema(*name) : name.error().code != ErrorCode::NotFound;
}

}  // namespace headroom
