// Attributes of HDF5 objects: scalar UTF-8 strings of variable length and scalar numbers, as h5py and netCDF read them.
// One thread only, like HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/io/hdf5_handle.h"
#include "core/io/run_file_writer.h"

namespace headroom {

inline constexpr std::size_t kMaxFixedStringBytes = 1 << 24;

// Replaces an attribute of that name. Text of any length.
[[nodiscard]] Result<void> write_attribute(hid_t object, std::string_view name, const AttributeValue& value);

// Numbers as `type`, an array of one dimension or a scalar.
[[nodiscard]] Result<void> write_number_attribute(hid_t object, std::string_view name, ElementType type,
                                                  std::span<const double> values, bool scalar);

[[nodiscard]] bool has_attribute(hid_t object, std::string_view name);

// As text: numbers in their shortest exact form, arrays separated by ", ". NotFound where there is none.
[[nodiscard]] Result<std::string> read_attribute(hid_t object, std::string_view name);

// Empty where it is absent or unreadable.
[[nodiscard]] std::string attribute_or_empty(hid_t object, std::string_view name);

}  // namespace headroom
