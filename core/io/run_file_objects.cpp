#include "core/io/run_file_objects.h"

#include <hdf5_hl.h>

#include <array>
#include <cstddef>

#include "core/base/format.h"
#include "core/io/blocks.h"
#include "core/io/element_type.h"
#include "core/io/hdf5_attribute.h"
#include "core/io/hdf5_error.h"
#include "core/io/hdf5_transfer.h"
#include "core/io/netcdf_name.h"

namespace headroom {
namespace {

constexpr unsigned kGzipLevel = 4;
constexpr unsigned kOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

Error make_error(std::string_view name) {
  return hdf5_error(ErrorCode::Io, "cannot write to the run file").at_tensor(name);
}

Result<void> describe_object(const Hdf5Dataset& id, std::string_view name, const std::string& units,
                             const std::string& long_name, const std::string& definition) {
  if (!units.empty()) HEADROOM_TRY_VOID(write_attribute(id.get(), "units", units));
  if (!long_name.empty()) HEADROOM_TRY_VOID(write_attribute(id.get(), "long_name", long_name));
  if (!definition.empty()) HEADROOM_TRY_VOID(write_attribute(id.get(), "definition", definition));
  if (to_netcdf_name(name) != name) {
    HEADROOM_TRY_VOID(write_attribute(id.get(), "original_name", std::string(name)));
  }
  return {};
}

// False where HDF5 refuses. Filters in the order of ChunkFilter.
bool set_layout(const Hdf5Properties& properties, const DatasetDef& definition, std::span<const std::int64_t> shape) {
  const std::vector<std::int64_t> chunk = chunk_of(definition, shape);
  if (chunk.empty()) return true;
  const std::vector<hsize_t> extents(chunk.begin(), chunk.end());
  return H5Pset_chunk(properties.get(), static_cast<int>(extents.size()), extents.data()) >= 0 &&
         H5Pset_shuffle(properties.get()) >= 0 && H5Pset_deflate(properties.get(), kGzipLevel) >= 0 &&
         H5Pset_fletcher32(properties.get()) >= 0;
}

Result<void> describe_dataset(const Hdf5Dataset& id, const DatasetDef& definition) {
  const ElementType type = definition.type;
  const std::array<double, 1> missing{missing_value(type)};
  const bool is_float = type == ElementType::Float32 || type == ElementType::Float64;
  const bool is_integer = type == ElementType::Int32 || type == ElementType::Int64;
  if (is_float || (is_integer && definition.missing_values)) {
    HEADROOM_TRY_VOID(write_number_attribute(id.get(), "_FillValue", type, missing, true));
  }
  HEADROOM_TRY_VOID(
      describe_object(id, definition.name, definition.units, definition.long_name, definition.definition));
  if (type == ElementType::UInt8) {
    const std::array<double, 2> flags{0.0, 1.0};
    HEADROOM_TRY_VOID(write_number_attribute(id.get(), "flag_values", type, flags, false));
    HEADROOM_TRY_VOID(write_attribute(id.get(), "flag_meanings", std::string("false true")));
  }
  for (const auto& [name, value] : definition.attributes) {
    HEADROOM_TRY_VOID(write_attribute(id.get(), to_netcdf_name(name), value));
  }
  return {};
}

}  // namespace

Hdf5Properties creation_properties(hid_t property_class) {
  Hdf5Properties properties(H5Pcreate(property_class));
  H5Pset_obj_track_times(properties.get(), false);
  H5Pset_attr_creation_order(properties.get(), kOrder);
  if (property_class != H5P_DATASET_CREATE) H5Pset_link_creation_order(properties.get(), kOrder);
  return properties;
}

Hdf5Space make_space(std::span<const std::int64_t> shape) {
  if (shape.empty()) return Hdf5Space(H5Screate(H5S_SCALAR));
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return Hdf5Space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
}

Result<Hdf5Group> create_group(hid_t parent, std::string_view name) {
  const Hdf5Properties properties = creation_properties(H5P_GROUP_CREATE);
  const std::string file_name = to_netcdf_name(name);
  Hdf5Group group(H5Gcreate2(parent, file_name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT));
  if (!group) return make_error(name);
  if (file_name != name) HEADROOM_TRY_VOID(write_attribute(group.get(), "original_name", std::string(name)));
  return group;
}

// A coordinate has its values and NAME = its own name. An axis without one is a big-endian float array that is never
// written, with the NAME by which netCDF knows it as "dimension only".
Result<Hdf5Dataset> create_axis(hid_t group, const AxisDef& axis, int dimension_id) {
  const bool has_coordinate = !axis.values.empty() || !axis.labels.empty();
  const ElementType type = axis.labels.empty() ? axis.type : ElementType::String;
  const std::string name = to_netcdf_name(axis.name);
  const Hdf5Type on_disk = has_coordinate ? file_type(type) : Hdf5Type(H5Tcopy(H5T_IEEE_F32BE));
  const std::array<std::int64_t, 1> shape{axis.size};
  const Hdf5Space space = make_space(shape);
  const Hdf5Properties properties = creation_properties(H5P_DATASET_CREATE);
  Hdf5Dataset id(
      H5Dcreate2(group, name.c_str(), on_disk.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT));
  const std::string scale_name = has_coordinate ? name
                                                : format("This is a netCDF dimension but not a netCDF variable.%10lld",
                                                         static_cast<long long>(axis.size));
  if (!id || H5DSset_scale(id.get(), scale_name.c_str()) < 0) return make_error(axis.name);
  const std::array<double, 1> number{static_cast<double>(dimension_id)};
  HEADROOM_TRY_VOID(write_number_attribute(id.get(), "_Netcdf4Dimid", ElementType::Int32, number, true));
  if (!has_coordinate) return id;
  HEADROOM_TRY_VOID(describe_object(id, axis.name, axis.units, axis.long_name, axis.long_name));
  if (!axis.labels.empty()) {
    HEADROOM_TRY_VOID(write_all_strings(id, axis.labels));
    return id;
  }
  HEADROOM_TRY(const NativeArray array, to_native(type, axis.values));
  if (H5Dwrite(id.get(), array.type, H5S_ALL, H5S_ALL, by_pieces(), array.bytes.data()) < 0) {
    return make_error(axis.name);
  }
  return id;
}

std::vector<std::int64_t> chunk_of(const DatasetDef& definition, std::span<const std::int64_t> shape) {
  if (definition.type == ElementType::String) return {};
  const bool split_first = !definition.axes.empty() && definition.axes.front().starts_with("layer");
  return chunk_shape(shape, element_bytes(definition.type), split_first);
}

Result<Hdf5Dataset> create_dataset(hid_t group, const DatasetDef& definition, std::span<const std::int64_t> shape) {
  const Hdf5Properties properties = creation_properties(H5P_DATASET_CREATE);
  if (definition.type != ElementType::String) {
    const std::array<double, 1> missing{missing_value(definition.type)};
    HEADROOM_TRY(const NativeArray fill, to_native(definition.type, missing));
    if (H5Pset_fill_value(properties.get(), fill.type, fill.bytes.data()) < 0) return make_error(definition.name);
  }
  if (!set_layout(properties, definition, shape)) return make_error(definition.name);
  const Hdf5Type on_disk = file_type(definition.type);
  const Hdf5Space space = make_space(shape);
  Hdf5Dataset id(H5Dcreate2(group, to_netcdf_name(definition.name).c_str(), on_disk.get(), space.get(), H5P_DEFAULT,
                            properties.get(), H5P_DEFAULT));
  if (!id) return make_error(definition.name);
  HEADROOM_TRY_VOID(describe_dataset(id, definition));
  return id;
}

Result<void> write_all_strings(const Hdf5Dataset& dataset, std::span<const std::string> values) {
  if (values.empty()) return {};
  std::vector<std::string> stored(values.size());
  std::vector<const char*> pointers(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    stored[i] = storable_text(values[i]);
    pointers[i] = stored[i].c_str();
  }
  const Hdf5Type type = string_type();
  if (H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, by_pieces(), static_cast<const void*>(pointers.data())) < 0)
    return make_error("");
  return {};
}

}  // namespace headroom
