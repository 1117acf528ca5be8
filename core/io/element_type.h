// The element types of a run file in HDF5: types on disk and in memory, what stands for "no value", conversion from and
// to double. One thread only, like HDF5.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/io/hdf5_handle.h"
#include "core/io/run_file_writer.h"

namespace headroom {

// Scalar string of variable length, UTF-8.
[[nodiscard]] Hdf5Type string_type();
// Little-endian on every machine; a copy that the caller owns.
[[nodiscard]] Hdf5Type file_type(ElementType type);

// The number type that holds every value of an HDF5 type: integers of any width and sign, floats, strings. Unsupported
// for the rest (compound, reference, opaque, …).
[[nodiscard]] Result<ElementType> element_type_of(hid_t type);

[[nodiscard]] std::size_t element_bytes(ElementType type);

// Where nothing has been written: NaN, −1, or 0 for UInt8. Not for String.
[[nodiscard]] double missing_value(ElementType type);

// `values` as an array of `type` in this machine's byte order, with its type for H5Dwrite. NaN becomes −1 in an integer
// type; InvalidArgument where a number does not fit or has a fraction.
struct NativeArray {
  std::vector<std::byte> bytes;
  hid_t type;
};
[[nodiscard]] Result<NativeArray> to_native(ElementType type, std::span<const double> values);

// What a string in the file can hold: valid UTF-8 without NUL, both replaced by U+FFFD.
[[nodiscard]] std::string storable_text(const std::string& text);

}  // namespace headroom
