#include "core/run/same_checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "core/run/provenance.h"

namespace headroom {

std::vector<std::string> stored_hashes(std::string_view attribute) {
  std::vector<std::string> hashes;
  std::istringstream lines{std::string(attribute)};
  for (std::string line; std::getline(lines, line);) {
    // Names may hold blanks; what follows them does not begin with one.
    constexpr std::string_view kNotComputed = " not computed: ";
    std::size_t blank = line.rfind(kNotComputed);
    if (blank == std::string::npos) blank = line.rfind(' ');
    if (blank != std::string::npos) hashes.push_back(line.substr(blank + 1));
  }
  std::ranges::sort(hashes);
  return hashes;
}

Result<bool> is_checkpoint_of(std::string_view attribute, const Checkpoint& checkpoint, std::string& found,
                              const kernels::StopRequested& stop) {
  found.clear();
  const std::vector<std::string> wanted = stored_hashes(attribute);
  if (wanted.empty() || wanted.size() != checkpoint.files().size()) return false;
  HEADROOM_TRY(found, checkpoint_hashes(checkpoint, stop));
  return stored_hashes(found) == wanted;
}

std::vector<std::string> paths_in(std::string_view command_line, const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  std::istringstream words{std::string(command_line)};
  for (std::string word; words >> word;)
    for (const fs::path& path : {fs::path(word), fs::path(folder) / word}) {
      std::error_code ignored;
      const std::string name = path.lexically_normal().string();
      if (!word.starts_with('-') && fs::exists(path, ignored) && std::ranges::find(paths, name) == paths.end())
        paths.push_back(name);
    }
  return paths;
}

}  // namespace headroom
