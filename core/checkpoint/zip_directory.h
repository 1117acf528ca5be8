// Which bytes of a ZIP archive are which entry, for archives whose entries are stored and not compressed (PyTorch's,
// NumPy's). Reads the directory and the header of each entry, never more. APPNOTE.TXT 6.3.10, with ZIP64.
// Readers of ZIP archives disagree about what the two headers of an entry say differently, about entries that overlap
// and about names that lead out of a folder: all of these are refused. Safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/input_file.h"
#include "core/base/result.h"

namespace headroom {

struct ZipEntry {
  std::string name;
  std::uint64_t offset = 0;       // of the data, from the start of the file
  std::uint64_t size_bytes = 0;   // in the file
  std::uint64_t plain_bytes = 0;  // unpacked: another size where the entry is compressed
  std::uint32_t crc32 = 0;        // as the directory says
  std::uint16_t method = 0;       // 0: stored
};

struct ZipDirectory {
  std::vector<ZipEntry> entries;  // sorted by name, names unique
  [[nodiscard]] const ZipEntry* find(std::string_view name) const;
};

// Corrupt for what is cut off, contradicts itself or could be read in two ways; Unsupported for encrypted entries;
// OutOfMemory above 1,000,000 entries or 256 MiB of directory. Compressed entries are listed.
[[nodiscard]] Result<ZipDirectory> read_zip_directory(const InputFile& file);

// Unsupported for a compressed entry; OutOfMemory where it grows more than a thousandfold.
[[nodiscard]] Result<void> require_stored(const InputFile& file, const ZipEntry& entry);

// The bytes of a stored entry, compared with its checksum. Corrupt where they differ; OutOfMemory above the limit.
[[nodiscard]] Result<std::string> read_zip_entry(const InputFile& file, const ZipEntry& entry,
                                                 std::uint64_t limit_bytes);

}  // namespace headroom
