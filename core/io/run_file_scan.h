// Walks the groups of an HDF5 file, refuses what a run file never has (links and storage outside of the file, virtual
// datasets, cycles) before anything of it is touched, and describes the datasets. One thread only, like HDF5.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/io/hdf5_handle.h"
#include "core/io/run_file.h"

namespace headroom {

// Datasets in creation order where the file tracks it, otherwise by name; a group's own before those of groups in it.
[[nodiscard]] Result<std::vector<DatasetInfo>> scan_datasets(const Hdf5File& file);

// Reads every attribute and every text and forgets them.
void read_texts(const Hdf5File& file);

}  // namespace headroom
