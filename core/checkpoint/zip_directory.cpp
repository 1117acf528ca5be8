#include "core/checkpoint/zip_directory.h"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "core/base/format.h"
#include "core/checkpoint/byte_reader.h"

namespace headroom {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kMostEntries = 1'000'000, kMostDirectoryBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kBombRatio = 1000;
constexpr std::size_t kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20, kLocalBytes = 30, kCentralBytes = 46;
constexpr std::size_t kLongestComment = 0xFFFF;
constexpr std::uint16_t kEncrypted = 1U << 0, kDescriptor = 1U << 3, kUtf8 = 1U << 11, kDeflateLevel = 3U << 1,
                        kStrongEncryption = 1U << 6, kMaskedHeaders = 1U << 13;
constexpr std::uint16_t kStored = 0, kZip64Extra = 0x0001;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the value is in the ZIP64 field
constexpr std::uint16_t kShortIn64 = 0xFFFF;

Error corrupt_zip(const std::string& message) { return Error(ErrorCode::Corrupt, message); }

template <typename T>
T number_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

Result<std::string> bytes_at(const InputFile& file, std::uint64_t offset, std::uint64_t count, const char* what) {
  if (count > file.size_bytes() || offset > file.size_bytes() - count) {
    return corrupt_zip(std::string("The archive ends inside ") + what)
        .at_offset(std::min(offset, file.size_bytes()))
        .wanted(std::to_string(count) + " bytes",
                std::to_string(file.size_bytes() - std::min(offset, file.size_bytes())));
  }
  std::string out(static_cast<std::size_t>(count), '\0');
  HEADROOM_TRY_VOID(file.read_at(offset, std::as_writable_bytes(std::span(out.data(), out.size()))));
  return out;
}

struct DirectoryPlace {
  std::uint64_t offset = 0, size_bytes = 0, entries = 0;
};

// The end record is the last thing of the file but for a comment, whose length it says.
Result<DirectoryPlace> find_directory(const InputFile& file) {
  const std::uint64_t size = file.size_bytes();
  const std::uint64_t tail_bytes = std::min<std::uint64_t>(size, kEndBytes + kLongestComment);
  HEADROOM_TRY(const std::string tail, bytes_at(file, size - tail_bytes, tail_bytes, "the end record"));
  std::size_t at = std::string::npos;
  for (std::size_t place = tail.rfind("PK\5\6"); place != std::string::npos;
       place = place > 0 ? tail.rfind("PK\5\6", place - 1) : std::string::npos) {
    if (tail.size() - place < kEndBytes) continue;
    if (number_at<std::uint16_t>(tail, place + 20) != tail.size() - place - kEndBytes) continue;
    at = place;
    break;
  }
  if (at == std::string::npos) {
    return corrupt_zip("The archive has no directory at its end")
        .wanted("", "it is cut off after " + std::to_string(size) + " bytes")
        .advise("download or copy it again");
  }
  const std::string_view end = std::string_view(tail).substr(at);
  const std::uint64_t end_offset = size - tail_bytes + at;
  const auto short_at = [&](std::size_t offset) { return number_at<std::uint16_t>(end, offset); };
  DirectoryPlace place{number_at<std::uint32_t>(end, 16), number_at<std::uint32_t>(end, 12), short_at(10)};
  std::uint64_t directory_end = end_offset;
  // PyTorch writes the records of ZIP64 always, whether the numbers need them or not.
  if (end_offset >= kLocatorBytes) {
    HEADROOM_TRY(const std::string locator,
                 bytes_at(file, end_offset - kLocatorBytes, kLocatorBytes, "the ZIP64 locator"));
    if (locator.starts_with("PK\6\7")) {
      const auto offset64 = number_at<std::uint64_t>(locator, 8);
      HEADROOM_TRY(const std::string end64, bytes_at(file, offset64, kEnd64Bytes, "the ZIP64 end record"));
      if (!end64.starts_with("PK\6\6") || number_at<std::uint32_t>(locator, 4) != 0)
        return corrupt_zip("The ZIP64 locator does not lead to an end record").at_offset(end_offset - kLocatorBytes);
      const DirectoryPlace place64{number_at<std::uint64_t>(end64, 48), number_at<std::uint64_t>(end64, 40),
                                   number_at<std::uint64_t>(end64, 32)};
      const auto contradicts = [](std::uint64_t plain, std::uint64_t in64, std::uint64_t escape) {
        return plain != escape && plain != in64;
      };
      if (contradicts(place.offset, place64.offset, kIn64) ||
          contradicts(place.size_bytes, place64.size_bytes, kIn64) ||
          contradicts(place.entries, place64.entries, kShortIn64))
        return corrupt_zip("The two end records of the archive contradict each other").at_offset(offset64);
      place = place64;
      directory_end = offset64;
    }
  }
  if (short_at(4) != 0 && short_at(4) != kShortIn64)
    return Error(ErrorCode::Unsupported, "The archive is one of several disks").at_offset(end_offset);
  if (place.entries > kMostEntries || place.size_bytes > kMostDirectoryBytes) {
    return Error(ErrorCode::OutOfMemory, "The directory of the archive is above the limit")
        .at_offset(end_offset)
        .wanted(format("at most %llu entries in %llu bytes", static_cast<unsigned long long>(kMostEntries),
                       static_cast<unsigned long long>(kMostDirectoryBytes)),
                std::to_string(place.entries) + " in " + std::to_string(place.size_bytes));
  }
  if (place.size_bytes > directory_end || place.offset != directory_end - place.size_bytes) {
    return corrupt_zip("The directory of the archive does not lie before its end record")
        .at_offset(end_offset)
        .wanted("an end at " + std::to_string(directory_end),
                std::to_string(place.offset) + " + " + std::to_string(place.size_bytes));
  }
  if (place.entries * kCentralBytes > place.size_bytes) {
    return corrupt_zip("The directory of the archive is too short for its number of entries")
        .at_offset(end_offset)
        .wanted("at most " + std::to_string(place.size_bytes / kCentralBytes), std::to_string(place.entries));
  }
  return place;
}

// Why a name is refused; null where it is fine.
const char* entry_name_fault(std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) return "it is empty or has a NUL";
  if (name.front() == '/' || name.find('\\') != std::string_view::npos || name.find(':') != std::string_view::npos)
    return "it is an absolute path";
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return "it leads out of the archive";
    begin = end + 1;
  }
  return nullptr;
}

struct Sizes {
  std::uint64_t stored = 0, plain = 0, header = 0;
};

// Fills in what the 32-bit fields leave to the ZIP64 extra field, in the order of the format.
Result<void> take_zip64(std::string_view extra, Sizes& sizes, bool has_header) {
  while (extra.size() >= 4) {
    const auto id = number_at<std::uint16_t>(extra, 0), size = number_at<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) return corrupt_zip("An extra field of the archive is longer than its header");
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + std::size_t{size});
    if (id != kZip64Extra) continue;
    const auto take = [&](std::uint64_t& value) {
      if (value != kIn64) return true;
      if (field.size() < sizeof(std::uint64_t)) return false;
      value = number_at<std::uint64_t>(field, 0);
      field.remove_prefix(sizeof(std::uint64_t));
      return true;
    };
    if (!take(sizes.plain) || !take(sizes.stored) || (has_header && !take(sizes.header)))
      return corrupt_zip("A ZIP64 field of the archive is too short");
    return {};
  }
  return {};
}

struct Central {
  ZipEntry entry;
  std::uint64_t header = 0;  // offset of the local header
  std::uint16_t flags = 0;
};

Result<void> check_flags(std::uint16_t flags) {
  if (flags & (kEncrypted | kStrongEncryption | kMaskedHeaders))
    return Error(ErrorCode::Unsupported, "The archive is encrypted").advise("decrypt it first");
  constexpr std::uint16_t kKnown = kDescriptor | kUtf8 | kDeflateLevel;
  if (flags & ~kKnown)
    return corrupt_zip("An entry of the archive has flags that mean nothing").wanted("", format("0x%04X", flags));
  return {};
}

Result<std::vector<Central>> read_central(const InputFile& file, const DirectoryPlace& place) {
  HEADROOM_TRY(const std::string bytes, bytes_at(file, place.offset, place.size_bytes, "the directory"));
  std::vector<Central> out;
  out.reserve(static_cast<std::size_t>(place.entries));
  std::string_view rest = bytes;
  while (out.size() < place.entries) {
    const std::uint64_t offset = place.offset + (bytes.size() - rest.size());
    if (rest.size() < kCentralBytes || !rest.starts_with("PK\1\2"))
      return corrupt_zip("The directory of the archive is damaged").at_offset(offset);
    const auto flags = number_at<std::uint16_t>(rest, 8), method = number_at<std::uint16_t>(rest, 10);
    const std::size_t name_bytes = number_at<std::uint16_t>(rest, 28), extra_bytes = number_at<std::uint16_t>(rest, 30),
                      comment_bytes = number_at<std::uint16_t>(rest, 32);
    if (rest.size() - kCentralBytes < name_bytes + extra_bytes + comment_bytes)
      return corrupt_zip("The directory of the archive ends inside an entry").at_offset(offset);
    Central central;
    central.entry.name = rest.substr(kCentralBytes, name_bytes);
    central.entry.crc32 = number_at<std::uint32_t>(rest, 16);
    central.flags = flags;
    Sizes sizes{number_at<std::uint32_t>(rest, 20), number_at<std::uint32_t>(rest, 24),
                number_at<std::uint32_t>(rest, 42)};
    const auto located = [&](Error error) { return error.at_offset(offset).at_tensor(central.entry.name); };
    if (auto taken = take_zip64(rest.substr(kCentralBytes + name_bytes, extra_bytes), sizes, true); !taken)
      return located(taken.error());
    if (auto checked = check_flags(flags); !checked) return located(checked.error());
    if (method == kStored && sizes.stored != sizes.plain)
      return located(corrupt_zip("An entry of the archive is stored with two sizes"));
    if (const char* fault = entry_name_fault(central.entry.name))
      return located(corrupt_zip("The name of an entry is refused").wanted("", fault));
    central.entry.size_bytes = sizes.stored;
    central.entry.plain_bytes = sizes.plain;
    central.entry.method = method;
    central.header = sizes.header;
    out.push_back(std::move(central));
    rest.remove_prefix(kCentralBytes + name_bytes + extra_bytes + comment_bytes);
  }
  if (!rest.empty())
    return corrupt_zip("The directory of the archive has bytes behind its last entry")
        .at_offset(place.offset + (bytes.size() - rest.size()));
  return out;
}

// What the header in front of the data says must agree with the directory.
Result<void> check_local(const InputFile& file, Central& central) {
  HEADROOM_TRY(const std::string head, bytes_at(file, central.header, kLocalBytes, "the header of an entry"));
  if (!head.starts_with("PK\3\4")) return corrupt_zip("The directory of the archive leads to no entry");
  const auto flags = number_at<std::uint16_t>(head, 6), method = number_at<std::uint16_t>(head, 8);
  const std::size_t name_bytes = number_at<std::uint16_t>(head, 26), extra_bytes = number_at<std::uint16_t>(head, 28);
  HEADROOM_TRY(const std::string tail,
               bytes_at(file, central.header + kLocalBytes, name_bytes + extra_bytes, "the header of an entry"));
  if (std::string_view(tail).substr(0, name_bytes) != central.entry.name)
    return corrupt_zip("The two headers of an entry have different names")
        .wanted(central.entry.name, tail.substr(0, name_bytes));
  if (flags != central.flags || method != central.entry.method)
    return corrupt_zip("The two headers of an entry contradict each other").wanted("", "flags or method");
  Sizes sizes{number_at<std::uint32_t>(head, 18), number_at<std::uint32_t>(head, 22), 0};
  HEADROOM_TRY_VOID(take_zip64(std::string_view(tail).substr(name_bytes), sizes, false));
  const auto crc = number_at<std::uint32_t>(head, 14);
  // With a descriptor behind the data this header was written before they were known, and holds zeros.
  const bool later = (flags & kDescriptor) != 0 && sizes.plain == 0 && sizes.stored == 0 && crc == 0;
  if (!later && (sizes.plain != central.entry.plain_bytes || sizes.stored != central.entry.size_bytes ||
                 crc != central.entry.crc32))
    return corrupt_zip("The two headers of an entry contradict each other").wanted("", "sizes or checksum");
  central.entry.offset = central.header + kLocalBytes + tail.size();
  return {};
}

Result<ZipDirectory> read_checked(const InputFile& file) {
  HEADROOM_TRY(const DirectoryPlace place, find_directory(file));
  HEADROOM_TRY(std::vector<Central> centrals, read_central(file, place));
  std::sort(centrals.begin(), centrals.end(), [](const Central& a, const Central& b) { return a.header < b.header; });
  std::uint64_t free_from = 0;
  for (Central& central : centrals) {
    const auto located = [&](Error error) { return error.at_offset(central.header).at_tensor(central.entry.name); };
    if (central.header < free_from) return located(corrupt_zip("Two entries of the archive overlap"));
    if (auto checked = check_local(file, central); !checked) return located(checked.error());
    const auto end = checked_add(central.entry.offset, central.entry.size_bytes);
    if (!end || *end > place.offset) {
      return located(corrupt_zip("An entry of the archive reaches into its directory"))
          .wanted("an end at " + std::to_string(place.offset) + " at most",
                  std::to_string(central.entry.offset) + " + " + std::to_string(central.entry.size_bytes));
    }
    free_from = *end;
  }
  ZipDirectory directory;
  directory.entries.reserve(centrals.size());
  for (Central& central : centrals) directory.entries.push_back(std::move(central.entry));
  std::sort(directory.entries.begin(), directory.entries.end(),
            [](const ZipEntry& a, const ZipEntry& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(directory.entries.begin(), directory.entries.end(),
                                        [](const ZipEntry& a, const ZipEntry& b) { return a.name == b.name; });
  if (twice != directory.entries.end())
    return corrupt_zip("Two entries of the archive have the same name").at_tensor(twice->name);
  return directory;
}

}  // namespace

const ZipEntry* ZipDirectory::find(std::string_view name) const {
  const auto before = [](const ZipEntry& entry, std::string_view wanted) { return entry.name < wanted; };
  const auto found = std::lower_bound(entries.begin(), entries.end(), name, before);
  return found != entries.end() && found->name == name ? &*found : nullptr;
}

Result<ZipDirectory> read_zip_directory(const InputFile& file) {
  auto directory = read_checked(file);
  if (!directory) directory.error().in_file(file.path().string());
  return directory;
}

Result<void> require_stored(const InputFile& file, const ZipEntry& entry) {
  if (entry.method == kStored) return {};
  const auto located = [&](Error error) {
    return error.at_tensor(entry.name).at_offset(entry.offset).in_file(file.path().string());
  };
  if (entry.plain_bytes / kBombRatio > entry.size_bytes)
    return located(
        Error(ErrorCode::OutOfMemory, "An entry of the archive grows more than a thousandfold when it is unpacked"));
  return located(Error(ErrorCode::Unsupported, "An entry of the archive is compressed")
                     .wanted("stored entries, as torch.save writes them", "method " + std::to_string(entry.method))
                     .advise("unpack it and pack it again without compression: zip -0 -r OUT FOLDER"));
}

Result<std::string> read_zip_entry(const InputFile& file, const ZipEntry& entry, std::uint64_t limit_bytes) {
  const auto located = [&](Error error) {
    return error.at_tensor(entry.name).at_offset(entry.offset).in_file(file.path().string());
  };
  HEADROOM_TRY_VOID(require_stored(file, entry));
  if (entry.size_bytes > limit_bytes) {
    return located(Error(ErrorCode::OutOfMemory, "An entry of the archive is above the limit"))
        .wanted("at most " + std::to_string(limit_bytes) + " bytes", std::to_string(entry.size_bytes));
  }
  HEADROOM_TRY(std::string bytes, bytes_at(file, entry.offset, entry.size_bytes, "an entry"));
  const auto crc =
      static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
  if (crc != entry.crc32) {
    return located(Error(ErrorCode::Corrupt, "The checksum of an entry is wrong"))
        .wanted(format("%08X", entry.crc32), format("%08X", crc))
        .advise("the file is damaged: download or copy it again");
  }
  return bytes;
}

}  // namespace headroom
