#include "app/session/folder_reader.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/worker.h"

namespace headroom {
namespace {

constexpr std::size_t kMostKept = 32;

}  // namespace

// What the reading threads see; it lives as long as the last of them.
struct FolderReader::Shared {
  struct Arrived {
    Key key;
    std::uint64_t serial = 0;
    std::shared_ptr<const FolderListing> listing;
  };
  Mutex mutex;
  std::function<void()> wake HEADROOM_GUARDED_BY(mutex);  // empty once the reader is gone
  std::vector<Arrived> arrived HEADROOM_GUARDED_BY(mutex);
  std::size_t reading HEADROOM_GUARDED_BY(mutex) = 0;
  std::uint64_t serial HEADROOM_GUARDED_BY(mutex) = 0;  // of the last forget(): what was begun before it is dropped
};

std::shared_ptr<const FolderListing> read_listing(const FolderReader::Read& read, const std::string& folder,
                                                  bool hidden) {
  auto listing = std::make_shared<FolderListing>();
  listing->folder = folder;
  listing->hidden = hidden;
  try {
    FileListOptions options;
    options.hidden = hidden;
    Result<FileList> list = read(folder, options);
    if (list)
      listing->list = std::move(*list);
    else
      listing->error = list.error();
  } catch (const std::exception& exception) {
    listing->error =
        Error(ErrorCode::Io, std::string("this folder cannot be read: ") + exception.what()).in_file(folder);
  }
  return listing;
}

FolderReader::FolderReader(std::function<void()> wake, Read read)
    : read_(std::move(read)), shared_(std::make_shared<Shared>()) {
  const MutexLock lock(shared_->mutex);
  shared_->wake = std::move(wake);
}

FolderReader::~FolderReader() {
  const MutexLock lock(shared_->mutex);
  shared_->wake = nullptr;
}

std::shared_ptr<const FolderListing> FolderReader::listing(const std::string& folder, bool hidden) {
  collect();
  last_ = {folder, hidden};
  if (const auto found = listings_.find(last_); found != listings_.end()) return found->second;
  if (listings_.size() >= kMostKept) std::erase_if(listings_, [](const auto& kept) { return kept.second != nullptr; });
  const auto failed = [&](const std::string& why) {
    auto listing = std::make_shared<FolderListing>();
    listing->folder = folder;
    listing->hidden = hidden;
    listing->error = Error(ErrorCode::Io, why).in_file(folder);
    return listing;
  };
  std::uint64_t serial = 0;
  {
    const MutexLock lock(shared_->mutex);
    if (shared_->reading >= kMostAtOnce)
      return failed(std::to_string(kMostAtOnce) +
                    " folders do not answer: this one is not read before one of them does");
    ++shared_->reading;
    serial = shared_->serial;
  }
  try {
    std::thread([shared = shared_, read = read_, key = last_, serial] {
      become_background_thread("folder", 0);
      std::shared_ptr<const FolderListing> listing = read_listing(read, key.first, key.second);
      const MutexLock lock(shared->mutex);
      --shared->reading;
      shared->arrived.push_back({key, serial, std::move(listing)});
      if (shared->wake) shared->wake();
    }).detach();
  } catch (const std::system_error& error) {
    const MutexLock lock(shared_->mutex);
    --shared_->reading;
    return listings_[last_] = failed(std::string("no thread to read it on: ") + error.what());
  }
  return listings_[last_] = nullptr;
}

void FolderReader::forget() {
  const MutexLock lock(shared_->mutex);
  ++shared_->serial;
  listings_.clear();
}

bool FolderReader::waiting() {
  collect();
  const auto found = listings_.find(last_);
  return found != listings_.end() && !found->second;
}

void FolderReader::collect() {
  std::vector<Shared::Arrived> arrived;
  std::uint64_t serial = 0;
  {
    const MutexLock lock(shared_->mutex);
    arrived.swap(shared_->arrived);
    serial = shared_->serial;
  }
  for (Shared::Arrived& one : arrived)
    if (one.serial == serial) listings_[one.key] = std::move(one.listing);
}

}  // namespace headroom
