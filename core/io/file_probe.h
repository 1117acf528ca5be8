// HDF5 itself ends the process on some damaged files: 1.10 does where a bit is flipped in the heap that holds texts,
// for which the format has no checksum. So somebody else can be asked to read a file first: a process that may crash.
// One thread only, like HDF5.
#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace headroom {

// Has the file read by read_for_probe() where a crash does no harm. Corrupt where it crashed.
using FileProbe = Result<void> (*)(const std::filesystem::path& path);

// RunFile::open and claims_to_be_run_file ask it from now on; null, as at the start: they ask nobody.
void set_file_probe(FileProbe probe);

// The probe's answer; the one from before where the file is still the same by device, inode, size and times. Nothing
// where there is no probe or no such file.
[[nodiscard]] Result<void> probe_file(const std::filesystem::path& path);

// Opens every object and reads all attributes and all texts of variable length, with the heap that they lie in. Data
// and the trees that lead to it are not read: wrong ones are found by the checksums of chunks. What cannot be read is
// for the one that asks to say.
void read_for_probe(const std::filesystem::path& path);

}  // namespace headroom
