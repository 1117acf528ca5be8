// The HDF5 objects that a run file is made of, in the form that netCDF-4 gives them: groups, axes as dimension scales,
// datasets with fill value, chunks and filters. One thread only, like HDF5.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/hdf5_handle.h"
#include "core/io/run_file_writer.h"

namespace headroom {

// For H5P_FILE_CREATE, H5P_GROUP_CREATE and H5P_DATASET_CREATE: the order of creation is kept, as netCDF needs it, and
// no time stamps, so that equal runs give equal files.
[[nodiscard]] Hdf5Properties creation_properties(hid_t property_class);

[[nodiscard]] Hdf5Space make_space(std::span<const std::int64_t> shape);

[[nodiscard]] Result<Hdf5Group> create_group(hid_t parent, std::string_view name);

// `dimension_id` is netCDF's number for it, unique in the file. The values or labels are written.
[[nodiscard]] Result<Hdf5Dataset> create_axis(hid_t group, const AxisDef& axis, int dimension_id);

// Extents of its chunks; empty where it lies in one piece, as strings do: their text is in a heap outside of the
// chunks, where no filter reaches it.
[[nodiscard]] std::vector<std::int64_t> chunk_of(const DatasetDef& definition, std::span<const std::int64_t> shape);

// Without its dimension scales, which the caller attaches.
[[nodiscard]] Result<Hdf5Dataset> create_dataset(hid_t group, const DatasetDef& definition,
                                                 std::span<const std::int64_t> shape);

// All strings of a dataset at once.
[[nodiscard]] Result<void> write_all_strings(const Hdf5Dataset& dataset, std::span<const std::string> values);

}  // namespace headroom
