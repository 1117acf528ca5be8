#include "core/base/data_folder.h"

#include <system_error>

namespace headroom {
namespace {

constexpr const char* kInstalled = "share/headroom";  // below the prefix, as app/install.cmake puts it

}  // namespace

std::filesystem::path find_data_folder(const std::filesystem::path& name, const std::filesystem::path& inside) {
  std::error_code failed;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
  constexpr int kLevels = 6;
  for (int i = 0; i < kLevels && !folder.empty(); ++i) {
    for (const std::filesystem::path& place : {folder / name, folder / kInstalled / name})
      if (std::filesystem::exists(place / inside, failed)) return place;
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return {};
}

}  // namespace headroom
