#include "core/io/element_type.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/utf8.h"
#include "core/io/hdf5_error.h"

namespace headroom {
namespace {

template <typename T>
Result<NativeArray> to_integers(std::span<const double> values, double missing, hid_t type) {
  NativeArray array{std::vector<std::byte>(values.size() * sizeof(T)), type};
  // 2^63 itself does not fit; the largest double below it does.
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high_excluded = std::ldexp(1.0, std::numeric_limits<T>::digits);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = std::isnan(values[i]) ? missing : values[i];
    if (!(value >= low && value < high_excluded) || value != std::trunc(value)) {
      return Error(ErrorCode::InvalidArgument, "a value does not fit the dataset's integer type")
          .wanted(format("a whole number of %zu bytes", sizeof(T)), format("%.17g at element %zu", value, i));
    }
    const T element = static_cast<T>(value);
    std::memcpy(array.bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return array;
}

template <typename T>
NativeArray to_floats(std::span<const double> values, hid_t type) {
  NativeArray array{std::vector<std::byte>(values.size() * sizeof(T)), type};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T element = static_cast<T>(values[i]);
    std::memcpy(array.bytes.data() + i * sizeof(T), &element, sizeof(T));
  }
  return array;
}

}  // namespace

const char* element_type_name(ElementType type) {
  switch (type) {
    case ElementType::Float32: return "float32";
    case ElementType::Float64: return "float64";
    case ElementType::Int32: return "int32";
    case ElementType::Int64: return "int64";
    case ElementType::UInt8: return "uint8";
    case ElementType::String: return "string";
  }
  return "unknown";
}

Hdf5Type string_type() {
  Hdf5Type type(H5Tcopy(H5T_C_S1));
  HEADROOM_CHECK(type && H5Tset_size(type.get(), H5T_VARIABLE) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0,
                 "HDF5 cannot make its string type");
  return type;
}

Hdf5Type file_type(ElementType type) {
  switch (type) {
    case ElementType::Float32: return Hdf5Type(H5Tcopy(H5T_IEEE_F32LE));
    case ElementType::Float64: return Hdf5Type(H5Tcopy(H5T_IEEE_F64LE));
    case ElementType::Int32: return Hdf5Type(H5Tcopy(H5T_STD_I32LE));
    case ElementType::Int64: return Hdf5Type(H5Tcopy(H5T_STD_I64LE));
    case ElementType::UInt8: return Hdf5Type(H5Tcopy(H5T_STD_U8LE));
    case ElementType::String: return string_type();
  }
  return {};
}

Result<ElementType> element_type_of(hid_t type) {
  const std::size_t size_bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT: return size_bytes <= sizeof(float) ? ElementType::Float32 : ElementType::Float64;
    case H5T_STRING: return ElementType::String;
    case H5T_INTEGER: {
      const bool has_sign = H5Tget_sign(type) != H5T_SGN_NONE;
      if (size_bytes == 1 && !has_sign) return ElementType::UInt8;
      if (size_bytes < sizeof(std::int32_t) || (has_sign && size_bytes == sizeof(std::int32_t))) {
        return ElementType::Int32;
      }
      return ElementType::Int64;
    }
    default: break;
  }
  H5Eclear2(H5E_DEFAULT);
  return Error(ErrorCode::Unsupported, "a dataset's element type is neither a number nor a string");
}

std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::Float32:
    case ElementType::Int32: return 4;
    case ElementType::Float64:
    case ElementType::Int64: return 8;
    case ElementType::UInt8: return 1;
    case ElementType::String: return sizeof(char*);
  }
  return 0;
}

double missing_value(ElementType type) {
  switch (type) {
    case ElementType::Int32:
    case ElementType::Int64: return -1.0;
    case ElementType::UInt8: return 0.0;
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

Result<NativeArray> to_native(ElementType type, std::span<const double> values) {
  const double missing = missing_value(type);
  switch (type) {
    case ElementType::Float32: return to_floats<float>(values, H5T_NATIVE_FLOAT);
    case ElementType::Float64: return to_floats<double>(values, H5T_NATIVE_DOUBLE);
    case ElementType::Int32: return to_integers<std::int32_t>(values, missing, H5T_NATIVE_INT32);
    case ElementType::Int64: return to_integers<std::int64_t>(values, missing, H5T_NATIVE_INT64);
    case ElementType::UInt8: return to_integers<std::uint8_t>(values, missing, H5T_NATIVE_UINT8);
    case ElementType::String: break;
  }
  return Error(ErrorCode::InvalidArgument, "a dataset of strings cannot take numbers");
}

std::string storable_text(const std::string& text) {
  const std::string valid = to_valid_utf8(text);
  std::string out;
  for (const char c : valid) {
    if (c == '\0') {
      append_utf8(out, 0xFFFD);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace headroom
