#include "core/io/hdf5_attribute.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>
#include <variant>
#include <vector>

#include "core/io/element_type.h"
#include "core/io/hdf5_error.h"

namespace headroom {
namespace {

constexpr hssize_t kMaxAttributeElements = 1 << 20;  // far above any attribute of a run file

std::string operation(std::string_view verb, std::string_view name) {
  return "cannot " + std::string(verb) + " the attribute " + std::string(name);
}

Result<void> write_raw(hid_t object, const std::string& name, hid_t on_disk, hid_t in_memory, hid_t space,
                       const void* data) {
  if (has_attribute(object, name) && H5Adelete(object, name.c_str()) < 0) {
    return hdf5_error(ErrorCode::Io, operation("replace", name));
  }
  Hdf5Attribute attribute(H5Acreate2(object, name.c_str(), on_disk, space, H5P_DEFAULT, H5P_DEFAULT));
  if (!attribute || H5Awrite(attribute.get(), in_memory, data) < 0 || !attribute.close()) {
    return hdf5_error(ErrorCode::Io, operation("write", name));
  }
  return {};
}

void append_number(std::string& out, auto value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  out.append(buffer.data(), end);
}

template <typename T>
Result<std::string> read_numbers(hid_t attribute, std::size_t count, hid_t memory_type, std::string_view name) {
  std::vector<T> values(count);
  if (count > 0 && H5Aread(attribute, memory_type, values.data()) < 0) {
    return hdf5_error(ErrorCode::Corrupt, operation("read", name));
  }
  std::string out;
  for (const T value : values) {
    if (!out.empty()) out += ", ";
    append_number(out, value);
  }
  return out;
}

Result<std::string> read_text(hid_t attribute, hid_t type, hid_t space, std::size_t count, std::string_view name) {
  std::string out;
  if (H5Tis_variable_str(type) > 0) {
    // The memory type must have the file's character set, or HDF5 refuses the conversion.
    Hdf5Type memory(H5Tcopy(type));
    std::vector<char*> values(count, nullptr);
    if (count > 0 && H5Aread(attribute, memory.get(), static_cast<void*>(values.data())) < 0) {
      return hdf5_error(ErrorCode::Corrupt, operation("read", name));
    }
    for (const char* value : values) {
      if (value == nullptr) continue;
      if (!out.empty()) out += ", ";
      out += value;
    }
    if (count > 0) H5Dvlen_reclaim(memory.get(), space, H5P_DEFAULT, static_cast<void*>(values.data()));
    return out;
  }
  const std::size_t width = H5Tget_size(type);
  if (width > kMaxFixedStringBytes || count * width > kMaxFixedStringBytes) {
    return Error(ErrorCode::Corrupt, operation("read", name) + ": too long");
  }
  std::string bytes(count * width, '\0');
  if (count > 0 && H5Aread(attribute, type, bytes.data()) < 0) {
    return hdf5_error(ErrorCode::Corrupt, operation("read", name));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!out.empty()) out += ", ";
    const std::string_view value = std::string_view(bytes).substr(i * width, width);
    out += value.substr(0, value.find('\0'));
  }
  return out;
}

}  // namespace

Result<void> write_attribute(hid_t object, std::string_view name, const AttributeValue& value) {
  const std::string name_text(name);
  Hdf5Space space(H5Screate(H5S_SCALAR));
  if (const auto* text = std::get_if<std::string>(&value)) {
    const std::string stored = storable_text(*text);
    const char* pointer = stored.c_str();
    const Hdf5Type type = string_type();
    return write_raw(object, name_text, type.get(), type.get(), space.get(), static_cast<const void*>(&pointer));
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return write_raw(object, name_text, H5T_STD_I64LE, H5T_NATIVE_INT64, space.get(), whole);
  }
  return write_raw(object, name_text, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, space.get(), &std::get<double>(value));
}

Result<void> write_number_attribute(hid_t object, std::string_view name, ElementType type,
                                    std::span<const double> values, bool scalar) {
  HEADROOM_TRY(const NativeArray array, to_native(type, values));
  const hsize_t count = values.size();
  Hdf5Space space(scalar ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr));
  const Hdf5Type on_disk = file_type(type);
  return write_raw(object, std::string(name), on_disk.get(), array.type, space.get(), array.bytes.data());
}

bool has_attribute(hid_t object, std::string_view name) { return H5Aexists(object, std::string(name).c_str()) > 0; }

Result<std::string> read_attribute(hid_t object, std::string_view name) {
  if (!has_attribute(object, name)) {
    H5Eclear2(H5E_DEFAULT);
    return Error(ErrorCode::NotFound, "there is no attribute " + std::string(name));
  }
  Hdf5Attribute attribute(H5Aopen(object, std::string(name).c_str(), H5P_DEFAULT));
  Hdf5Type type(attribute ? H5Aget_type(attribute.get()) : H5I_INVALID_HID);
  Hdf5Space space(attribute ? H5Aget_space(attribute.get()) : H5I_INVALID_HID);
  if (!type || !space) return hdf5_error(ErrorCode::Corrupt, operation("read", name));
  const hssize_t count = H5Sget_simple_extent_npoints(space.get());
  if (count < 0 || count > kMaxAttributeElements) {
    H5Eclear2(H5E_DEFAULT);
    return Error(ErrorCode::Corrupt, operation("read", name) + ": its size is damaged");
  }
  const std::size_t elements = static_cast<std::size_t>(count);
  HEADROOM_TRY(const ElementType element, element_type_of(type.get()));
  switch (element) {
    case ElementType::String: return read_text(attribute.get(), type.get(), space.get(), elements, name);
    case ElementType::Float32: return read_numbers<float>(attribute.get(), elements, H5T_NATIVE_FLOAT, name);
    case ElementType::Float64: return read_numbers<double>(attribute.get(), elements, H5T_NATIVE_DOUBLE, name);
    default: return read_numbers<std::int64_t>(attribute.get(), elements, H5T_NATIVE_INT64, name);
  }
}

std::string attribute_or_empty(hid_t object, std::string_view name) {
  auto text = read_attribute(object, name);
  return text ? std::move(text).value() : std::string();
}

}  // namespace headroom
