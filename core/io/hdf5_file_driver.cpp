#include "core/io/hdf5_file_driver.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <new>

#include "core/io/file_size_signal.h"
#include "core/io/hdf5_error.h"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace headroom {
namespace {

constexpr haddr_t kMaxAddress = static_cast<haddr_t>(std::numeric_limits<std::int64_t>::max());

// What HDF5 copies into the access properties.
struct DriverInfo {
  FileChannel* channel;
};

// HDF5 sees the first member only.
struct ChannelFile {
  H5FD_t common;
  FileChannel* channel;
  haddr_t end_of_allocation;
  haddr_t end_of_file;
};

ChannelFile& self(H5FD_t* file) { return *reinterpret_cast<ChannelFile*>(file); }
const ChannelFile& self(const H5FD_t* file) { return *reinterpret_cast<const ChannelFile*>(file); }

herr_t failed(FileChannel& channel, int error_number, haddr_t needed_bytes) {
  if (channel.error_number == 0) {
    channel.error_number = error_number;
    channel.needed_bytes = needed_bytes;
  }
  return channel.closing ? 0 : -1;
}

bool gone(const FileChannel& channel) { return channel.discard || (channel.closing && channel.error_number != 0); }

H5FD_t* open_file(const char*, unsigned flags, hid_t access, haddr_t) noexcept {
  const auto* info = static_cast<const DriverInfo*>(H5Pget_driver_info(access));
  if (info == nullptr) return nullptr;
  FileChannel& channel = *info->channel;
  if ((flags & H5F_ACC_TRUNC) != 0 && ftruncate(channel.descriptor, 0) != 0) {
    failed(channel, errno, 0);
    return nullptr;
  }
  struct stat status{};
  if (fstat(channel.descriptor, &status) != 0) return nullptr;
  auto* file = new (std::nothrow) ChannelFile{};
  if (file == nullptr) return nullptr;
  file->channel = &channel;
  file->end_of_file = static_cast<haddr_t>(status.st_size);
  return &file->common;
}

// The descriptor belongs to the owner of the channel.
herr_t close_file(H5FD_t* file) noexcept {
  delete &self(file);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) noexcept {
  if (flags != nullptr) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
#ifdef H5FD_FEAT_DEFAULT_VFD_COMPATIBLE
    *flags |= H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
#endif
  }
  return 0;
}

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t) noexcept { return self(file).end_of_allocation; }

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) noexcept {
  self(file).end_of_allocation = address;
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) noexcept { return self(file).end_of_file; }

// Beyond the end of the file the bytes are zero, as HDF5 expects.
herr_t read_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) noexcept {
  auto* out = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t count = pread(self(file).channel->descriptor, out, size, static_cast<off_t>(address));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(*self(file).channel, errno, address + size);
    if (count == 0) {
      std::memset(out, 0, size);
      return 0;
    }
    out += count;
    address += static_cast<haddr_t>(count);
    size -= static_cast<size_t>(count);
  }
  return 0;
}

herr_t write_bytes(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) noexcept {
  ChannelFile& target = self(file);
  const haddr_t end = address + size;
  const auto* in = static_cast<const char*>(buffer);
  if (!gone(*target.channel)) {
    const FileSizeSignalBlock block;
    while (size > 0) {
      const ssize_t count = pwrite(target.channel->descriptor, in, size, static_cast<off_t>(address));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        if (failed(*target.channel, count < 0 ? errno : EIO, end) < 0) return -1;
        break;
      }
      in += count;
      address += static_cast<haddr_t>(count);
      size -= static_cast<size_t>(count);
    }
  }
  target.end_of_file = std::max(target.end_of_file, end);
  return 0;
}

herr_t truncate_file(H5FD_t* file, hid_t, hbool_t) noexcept {
  ChannelFile& target = self(file);
  if (target.end_of_allocation == target.end_of_file) return 0;
  if (!gone(*target.channel)) {
    const FileSizeSignalBlock block;
    if (ftruncate(target.channel->descriptor, static_cast<off_t>(target.end_of_allocation)) != 0 &&
        failed(*target.channel, errno, target.end_of_allocation) < 0) {
      return -1;
    }
  }
  target.end_of_file = target.end_of_allocation;
  return 0;
}

H5FD_class_t driver_class() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 0)
  constexpr H5FD_class_value_t kFirstFreeValue = 512;  // below are the library's own and registered drivers
  driver.version = H5FD_CLASS_VERSION;
  driver.value = kFirstFreeValue;
#endif
  driver.name = "headroom_channel";
  driver.maxaddr = kMaxAddress;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = &open_file;
  driver.close = &close_file;
  driver.query = &query;
  driver.get_eoa = &get_end_of_allocation;
  driver.set_eoa = &set_end_of_allocation;
  driver.get_eof = &get_end_of_file;
  driver.read = &read_bytes;
  driver.write = &write_bytes;
  driver.truncate = &truncate_file;
  const H5FD_mem_t map[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), driver.fl_map);
  return driver;
}

}  // namespace

Result<Hdf5Driver> register_file_driver() {
  const H5FD_class_t driver = driver_class();
  Hdf5Driver handle(H5FDregister(&driver));
  if (!handle) return hdf5_error(ErrorCode::Io, "cannot prepare HDF5 for writing");
  return handle;
}

Result<Hdf5Properties> access_through(const Hdf5Driver& driver, FileChannel& channel) {
  Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS));
  const DriverInfo info{&channel};
  if (!access || H5Pset_driver(access.get(), driver.get(), &info) < 0 ||
      H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0) {
    return hdf5_error(ErrorCode::Io, "cannot prepare HDF5 for writing");
  }
  return access;
}

}  // namespace headroom
