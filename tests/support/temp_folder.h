// A scratch folder that is removed with its contents at the end of its scope.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace headroom::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headroom-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Whether a test that runs as root can become another user, to whom permissions apply: in a root folder that is
  // closed to others, as a fresh one of mktemp, such a user reaches nothing at all.
  [[nodiscard]] bool reachable_by_others() const {
    for (std::filesystem::path folder = path_.parent_path();; folder = folder.parent_path()) {
      if ((std::filesystem::status(folder).permissions() & std::filesystem::perms::others_exec) ==
          std::filesystem::perms::none)
        return false;
      if (folder == folder.root_path()) return true;
    }
  }

  std::filesystem::path write(std::string_view name, std::string_view content) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace headroom::test
