// Folders as the file chooser shows them, each read on a thread of its own: one that answers slowly or never holds up
// neither the window nor opening nor leaving the program. No Worker (core/base/worker.h): its end waits for the running
// job, and a disk that hangs never ends one. Main thread only; `wake` and `read` are called on the others.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/ui/file_list.h"

namespace headroom {

struct FolderListing {
  std::string folder;
  bool hidden = false;  // with names that begin with a dot
  FileList list;
  std::optional<Error> error;  // why there is no list
};

class FolderReader {
 public:
  using Read = std::function<Result<FileList>(const std::filesystem::path&, const FileListOptions&)>;
  static constexpr std::size_t kMostAtOnce = 8;  // beyond, an error: that many do not answer

  // `wake`: a listing arrived.
  explicit FolderReader(std::function<void()> wake = {}, Read read = &list_folder);
  ~FolderReader();  // waits for nothing: what is still being read is dropped when it comes
  FolderReader(const FolderReader&) = delete;
  FolderReader& operator=(const FolderReader&) = delete;

  // What the folder held when it was read; null while it is being read, which begins with the first asking.
  [[nodiscard]] std::shared_ptr<const FolderListing> listing(const std::string& folder, bool hidden);
  // All listings; the next asking reads again.
  void forget();
  // The folder asked for last is still being read.
  [[nodiscard]] bool waiting();

 private:
  using Key = std::pair<std::string, bool>;
  struct Shared;

  void collect();

  const Read read_;
  std::shared_ptr<Shared> shared_;
  std::map<Key, std::shared_ptr<const FolderListing>> listings_;  // null: being read
  Key last_;
};

// The folder read on the calling thread, with anything that `read` throws as an error.
[[nodiscard]] std::shared_ptr<const FolderListing> read_listing(const FolderReader::Read& read,
                                                                const std::string& folder, bool hidden);

}  // namespace headroom
