#include "core/io/run_file_writer.h"

#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/format.h"
#include "core/io/atomic_file.h"
#include "core/io/blocks.h"
#include "core/io/chunk_codec.h"
#include "core/io/chunk_writer.h"
#include "core/io/element_type.h"
#include "core/io/hdf5_attribute.h"
#include "core/io/hdf5_error.h"
#include "core/io/hdf5_file_driver.h"
#include "core/io/hdf5_transfer.h"
#include "core/io/netcdf_name.h"
#include "core/io/run_file.h"
#include "core/io/run_file_objects.h"

namespace headroom {
namespace {

constexpr const char* kOperation = "cannot write the run file";
constexpr std::size_t kMostWaitingBytes = 64 * 1024 * 1024;  // in chunks that are not complete

struct AxisEntry {
  std::int64_t size = 0;
  Hdf5Dataset id;
};

struct DatasetEntry {
  std::string file_path;
  ElementType type = ElementType::Float32;
  std::vector<std::int64_t> shape;
  Hdf5Dataset id;
  std::vector<std::string> strings;  // row-major, until commit
  std::optional<ChunkWriter> chunks;
};

std::string join(std::string_view group, std::string_view name) {
  return group.empty() ? std::string(name) : std::string(group) + "/" + std::string(name);
}

std::string file_group(std::string_view group) {
  std::string out;
  while (!group.empty()) {
    const std::size_t slash = std::min(group.find('/'), group.size());
    out = join(out, to_netcdf_name(group.substr(0, slash)));
    group.remove_prefix(std::min(slash + 1, group.size()));
  }
  return out;
}

Error argument_error(const std::string& text, std::string_view path) {
  return Error(ErrorCode::InvalidArgument, text).at_tensor(path);
}

std::vector<hsize_t> to_hsize(std::span<const std::int64_t> values) { return {values.begin(), values.end()}; }

Result<void> check_region(const DatasetEntry& dataset, std::span<const std::int64_t> start,
                          std::span<const std::int64_t> count, std::size_t values, std::string_view path) {
  if (start.size() != dataset.shape.size() || count.size() != dataset.shape.size()) {
    return argument_error("a region needs one start and one count for each axis", path)
        .wanted(std::to_string(dataset.shape.size()), std::to_string(start.size()));
  }
  for (std::size_t axis = 0; axis < start.size(); ++axis) {
    if (start[axis] < 0 || count[axis] < 0 || start[axis] > dataset.shape[axis] - count[axis]) {
      return argument_error("a region leaves the dataset", path)
          .wanted(format("at most %lld along axis %zu", static_cast<long long>(dataset.shape[axis]), axis),
                  format("%lld + %lld", static_cast<long long>(start[axis]), static_cast<long long>(count[axis])));
    }
  }
  if (static_cast<std::size_t>(element_count(count)) != values) {
    return argument_error("the number of values does not match the region", path)
        .wanted(std::to_string(element_count(count)), std::to_string(values));
  }
  return {};
}

}  // namespace

struct RunFileWriter::State {
  AtomicFile target;
  FileChannel channel;
  Hdf5Driver driver;
  Hdf5File file;
  std::map<std::string, Hdf5Group, std::less<>> groups;
  std::map<std::string, AxisEntry, std::less<>> axes;
  std::map<std::string, DatasetEntry, std::less<>> datasets;
  ChunkEncoder encoder;
  std::optional<Error> failure;
  bool committed = false;

  explicit State(AtomicFile atomic_file) : target(std::move(atomic_file)) {}
  ~State() {
    channel.discard = true;
    close_all();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // In the order that HDF5 wants; false where something reported an error.
  bool close_all() {
    channel.closing = true;
    bool ok = true;
    for (auto& [path, dataset] : datasets) ok = dataset.id.close() && ok;
    for (auto& [path, axis] : axes) ok = axis.id.close() && ok;
    for (auto& [path, group] : groups) ok = group.close() && ok;
    ok = file.close() && ok;
    driver.close();
    H5Eclear2(H5E_DEFAULT);
    return ok;
  }

  // The error of the HDF5 call that failed last, remembered for all later calls.
  Error fail(Error error) {
    if (channel.error_number != 0) {
      error = write_error(kOperation, channel.error_number, channel.descriptor, channel.needed_bytes);
    }
    failure = error.in_file(target.target().string());
    return *failure;
  }
  Error fail() { return fail(hdf5_error(ErrorCode::Io, kOperation)); }

  // After each operation: HDF5 may keep a failed write to itself.
  Result<void> checked(Result<void> result) {
    if (result && channel.error_number == 0) return {};
    return fail(result ? Error(ErrorCode::Io, kOperation) : std::move(result.error()));
  }
  Result<void> usable() const {
    if (failure) return *failure;
    if (committed) return Error(ErrorCode::InvalidArgument, "the run file is written and closed");
    return {};
  }

  [[nodiscard]] hid_t group_id(std::string_view path) const {
    const auto found = groups.find(path);
    return found == groups.end() ? file.get() : found->second.get();
  }

  Result<void> ensure_group(std::string_view path) {
    for (std::size_t end = 0; !path.empty() && end < path.size();) {
      const std::size_t begin = end == 0 ? 0 : end + 1;
      end = std::min(path.find('/', begin), path.size());
      const std::string_view name = path.substr(begin, end - begin);
      const std::string_view whole = path.substr(0, end);
      if (groups.contains(whole)) continue;
      if (name.empty() || axes.contains(whole) || datasets.contains(whole)) {
        return argument_error("a group cannot have this name", whole);
      }
      const hid_t parent = begin == 0 ? file.get() : group_id(path.substr(0, begin - 1));
      auto group = create_group(parent, name);
      if (!group) return fail(std::move(group.error()));
      groups.emplace(std::string(whole), std::move(group).value());
    }
    return {};
  }

  // The axis that netCDF's scoping gives: in the group itself or in the nearest one above.
  [[nodiscard]] const AxisEntry* find_axis(std::string_view group, std::string_view name) const {
    for (;;) {
      const auto found = axes.find(join(group, name));
      if (found != axes.end()) return &found->second;
      if (group.empty()) return nullptr;
      const std::size_t slash = group.rfind('/');
      group = slash == std::string_view::npos ? std::string_view() : group.substr(0, slash);
    }
  }

  Result<void> check_new(std::string_view group, std::string_view name) const {
    const std::string path = join(group, name);
    if (name.empty()) return argument_error("a dataset or axis needs a name", group);
    if (axes.contains(path) || datasets.contains(path) || groups.contains(path)) {
      return argument_error("the name is taken", path);
    }
    return {};
  }

  Result<void> attach_axes(const DatasetDef& definition, const Hdf5Dataset& id);
  Result<void> write_chunks(DatasetEntry& dataset, std::span<const std::int64_t> start,
                            std::span<const std::int64_t> count, std::span<const std::byte> elements);
  Result<void> write_waiting();
  Result<void> verify_temporary();
};

Result<void> RunFileWriter::State::attach_axes(const DatasetDef& definition, const Hdf5Dataset& id) {
  for (std::size_t i = 0; i < definition.axes.size(); ++i) {
    const AxisEntry* axis = find_axis(definition.group, definition.axes[i]);
    if (H5DSattach_scale(id.get(), axis->id.get(), static_cast<unsigned>(i)) < 0) return fail();
  }
  return {};
}

Result<void> RunFileWriter::State::write_chunks(DatasetEntry& dataset, std::span<const std::int64_t> start,
                                                std::span<const std::int64_t> count,
                                                std::span<const std::byte> elements) {
  HEADROOM_TRY_VOID(dataset.chunks->write(dataset.id, start, count, elements));
  std::size_t waiting = 0;
  for (const auto& [path, other] : datasets) waiting += other.chunks ? other.chunks->waiting_bytes() : 0;
  return waiting > kMostWaitingBytes ? write_waiting() : Result<void>();
}

Result<void> RunFileWriter::State::write_waiting() {
  for (auto& [path, dataset] : datasets)
    if (dataset.chunks) HEADROOM_TRY_VOID(dataset.chunks->write_waiting(dataset.id));
  return {};
}

Result<void> RunFileWriter::State::verify_temporary() {
  HEADROOM_TRY(const std::unique_ptr<RunFile> written, RunFile::open_without_lock(target.temporary_path()));
  for (const auto& [path, dataset] : datasets) {
    const DatasetInfo* info = written->find(dataset.file_path);
    if (info == nullptr || info->shape != dataset.shape || info->type != dataset.type) {
      return Error(ErrorCode::Io, "the run file does not read back as it was written").at_tensor(path);
    }
  }
  return written->verify();
}

Result<std::unique_ptr<RunFileWriter>> RunFileWriter::create(const std::filesystem::path& target,
                                                             const Options& options) {
  HEADROOM_TRY(AtomicFile atomic_file, AtomicFile::create(target, options.force, options.inputs));
  prepare_hdf5();
  auto state = std::make_unique<State>(std::move(atomic_file));
  state->channel.descriptor = state->target.descriptor();
  HEADROOM_TRY(state->driver, register_file_driver());
  HEADROOM_TRY(const Hdf5Properties access, access_through(state->driver, state->channel));
  const Hdf5Properties properties = creation_properties(H5P_FILE_CREATE);
  state->file =
      Hdf5File(H5Fcreate(state->target.temporary_path().c_str(), H5F_ACC_TRUNC, properties.get(), access.get()));
  if (!state->file) return state->fail();
  std::unique_ptr<RunFileWriter> writer(new RunFileWriter(std::move(state)));
  HEADROOM_TRY_VOID(writer->set_attribute("", "schema_name", std::string(options.schema_name)));
  HEADROOM_TRY_VOID(writer->set_attribute("", "schema_version", std::string(kRunSchemaVersion)));
  return writer;
}

RunFileWriter::RunFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFileWriter::~RunFileWriter() = default;

const std::filesystem::path& RunFileWriter::temporary_path() const { return state_->target.temporary_path(); }

Result<void> RunFileWriter::set_attribute(std::string_view path, std::string_view name, const AttributeValue& value) {
  HEADROOM_TRY_VOID(state_->usable());
  if (name.empty()) return argument_error("an attribute needs a name", path);
  hid_t object = H5I_INVALID_HID;
  const auto dataset = state_->datasets.find(path);
  const auto axis = state_->axes.find(path);
  if (dataset != state_->datasets.end()) {
    object = dataset->second.id.get();
  } else if (axis != state_->axes.end()) {
    object = axis->second.id.get();
  } else {
    HEADROOM_TRY_VOID(state_->ensure_group(path));
    object = state_->group_id(path);
  }
  return state_->checked(write_attribute(object, to_netcdf_name(name), value));
}

Result<void> RunFileWriter::add_axis(const AxisDef& axis) {
  HEADROOM_TRY_VOID(state_->usable());
  HEADROOM_TRY_VOID(state_->check_new(axis.group, axis.name));
  const std::string path = join(axis.group, axis.name);
  const auto matches = [&](std::size_t size) { return size == 0 || static_cast<std::int64_t>(size) == axis.size; };
  if (axis.size < 0 || !matches(axis.values.size()) || !matches(axis.labels.size()) ||
      (!axis.values.empty() && !axis.labels.empty())) {
    return argument_error("an axis needs as many values, or labels, as its size", path);
  }
  HEADROOM_TRY_VOID(state_->ensure_group(axis.group));
  auto id = create_axis(state_->group_id(axis.group), axis, static_cast<int>(state_->axes.size()));
  if (!id) return state_->fail(std::move(id.error()));
  state_->axes.emplace(path, AxisEntry{axis.size, std::move(id).value()});
  return state_->checked({});
}

Result<void> RunFileWriter::add_dataset(const DatasetDef& dataset) {
  HEADROOM_TRY_VOID(state_->usable());
  HEADROOM_TRY_VOID(state_->check_new(dataset.group, dataset.name));
  const std::string path = join(dataset.group, dataset.name);
  DatasetEntry entry;
  entry.file_path = join(file_group(dataset.group), to_netcdf_name(dataset.name));
  entry.type = dataset.type;
  for (const std::string& name : dataset.axes) {
    const AxisEntry* axis = state_->find_axis(dataset.group, name);
    if (axis == nullptr) return argument_error("there is no axis " + name + " for this dataset", path);
    entry.shape.push_back(axis->size);
  }
  HEADROOM_TRY_VOID(state_->ensure_group(dataset.group));
  auto id = create_dataset(state_->group_id(dataset.group), dataset, entry.shape);
  if (!id) return state_->fail(std::move(id.error()));
  entry.id = std::move(id).value();
  if (std::vector<std::int64_t> chunk = chunk_of(dataset, entry.shape); !chunk.empty()) {
    const std::array<double, 1> missing{missing_value(dataset.type)};
    HEADROOM_TRY(NativeArray fill, to_native(dataset.type, missing));
    // Encoded here only where elements lie in memory as they do in the file.
    if (H5Tequal(fill.type, file_type(dataset.type).get()) > 0)
      entry.chunks.emplace(state_->encoder, entry.shape, std::move(chunk), std::move(fill.bytes));
  }
  HEADROOM_TRY_VOID(state_->checked(state_->attach_axes(dataset, entry.id)));
  if (dataset.type == ElementType::String) entry.strings.resize(static_cast<std::size_t>(element_count(entry.shape)));
  state_->datasets.emplace(path, std::move(entry));
  return {};
}

Result<void> RunFileWriter::write(std::string_view path, std::span<const std::int64_t> start,
                                  std::span<const std::int64_t> count, std::span<const double> values) {
  HEADROOM_TRY_VOID(state_->usable());
  const auto found = state_->datasets.find(path);
  if (found == state_->datasets.end()) return argument_error("there is no such dataset", path);
  DatasetEntry& dataset = found->second;
  HEADROOM_TRY_VOID(check_region(dataset, start, count, values.size(), path));
  auto array = to_native(dataset.type, values);
  if (!array) return std::move(array.error()).at_tensor(path);
  if (values.empty()) return {};
  if (dataset.chunks && dataset.chunks->is_free(start, count))
    return state_->checked(state_->write_chunks(dataset, start, count, array->bytes));
  if (dataset.chunks) {
    // A chunk that is in the file already is HDF5's to change.
    HEADROOM_TRY_VOID(state_->checked(dataset.chunks->write_waiting(dataset.id)));
    dataset.chunks->mark(start, count);
  }
  const Hdf5Space memory = make_space(count);
  const Hdf5Space region = make_space(dataset.shape);
  if (!dataset.shape.empty() && H5Sselect_hyperslab(region.get(), H5S_SELECT_SET, to_hsize(start).data(), nullptr,
                                                    to_hsize(count).data(), nullptr) < 0) {
    return state_->fail();
  }
  if (H5Dwrite(dataset.id.get(), array->type, memory.get(), region.get(), by_pieces(), array->bytes.data()) < 0) {
    return state_->fail();
  }
  return state_->checked({});
}

Result<void> RunFileWriter::write_strings(std::string_view path, std::span<const std::int64_t> start,
                                          std::span<const std::int64_t> count, std::span<const std::string> values) {
  HEADROOM_TRY_VOID(state_->usable());
  const auto found = state_->datasets.find(path);
  if (found == state_->datasets.end()) return argument_error("there is no such dataset", path);
  DatasetEntry& dataset = found->second;
  if (dataset.type != ElementType::String) return argument_error("a dataset of numbers cannot take strings", path);
  HEADROOM_TRY_VOID(check_region(dataset, start, count, values.size(), path));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t index = 0;
    std::size_t rest = i;
    std::size_t stride = 1;
    for (std::size_t axis = count.size(); axis-- > 0;) {
      const std::size_t extent = static_cast<std::size_t>(count[axis]);
      index += (static_cast<std::size_t>(start[axis]) + rest % extent) * stride;
      rest /= extent;
      stride *= static_cast<std::size_t>(dataset.shape[axis]);
    }
    dataset.strings[index] = values[i];
  }
  return {};
}

Result<void> RunFileWriter::flush() {
  HEADROOM_TRY_VOID(state_->usable());
  // As at closing, HDF5 is told that all went well: a chunk cache whose flush failed half-way crashes when it is
  // closed.
  state_->channel.closing = true;
  const bool flushed = H5Fflush(state_->file.get(), H5F_SCOPE_LOCAL) >= 0;
  state_->channel.closing = false;
  if (!flushed) return state_->fail();
  return state_->checked({});
}

Result<void> RunFileWriter::commit() {
  HEADROOM_TRY_VOID(state_->usable());
  HEADROOM_TRY_VOID(state_->checked(state_->write_waiting()));
  for (const auto& [path, dataset] : state_->datasets) {
    HEADROOM_TRY_VOID(state_->checked(write_all_strings(dataset.id, dataset.strings)));
  }
  const bool closed = state_->close_all();
  if (state_->channel.error_number != 0 || !closed) return state_->fail(Error(ErrorCode::Io, kOperation));
  Result<void> verified = state_->verify_temporary();
  if (!verified) return state_->fail(std::move(verified.error()));
  Result<void> renamed = state_->target.commit();
  if (!renamed) return state_->fail(std::move(renamed.error()));
  state_->committed = true;
  return {};
}

}  // namespace headroom
