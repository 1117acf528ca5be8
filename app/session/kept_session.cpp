#include "app/session/kept_session.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <functional>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/session/saving.h"
#include "app/ui/file_list.h"
#include "core/base/input_file.h"

namespace headroom {
namespace {

using std::filesystem::path;

constexpr std::string_view kLock = ".lock", kReport = ".crash.txt";
constexpr std::size_t kMostLost = 5;  // whose files stay

// The lock's descriptor, or −1 where another program holds it or it is gone.
int take_lock(const path& path, int flags) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (file < 0) return -1;
  struct stat found{};
  // One that found the lock just before its holder removed it holds a file without a name.
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &found) == 0 && found.st_nlink > 0) return file;
  ::close(file);
  return -1;
}

std::int64_t written_unix(const path& path) {
  struct stat found{};
  return ::stat(path.c_str(), &found) == 0 ? static_cast<std::int64_t>(found.st_mtim.tv_sec) : 0;
}

std::string first_line(const path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line.substr(0, 200);
}

path with_ending(const path& folder, const std::string& name, std::string_view ending) {
  return folder / (name + std::string(ending));
}

bool is_there(const path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void discard(const path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

// Names with files of this ending, the latest first: they begin with the time.
std::vector<std::string> names_with(const path& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    names.push_back(std::move(name));
  }
  std::ranges::sort(names, std::greater<>());
  return names;
}

}  // namespace

std::string own_name() { return std::to_string(std::time(nullptr)) + "-" + std::to_string(::getpid()); }

path crash_report_path(const path& folder, const std::string& name) { return with_ending(folder, name, kReport); }

path last_session_path(const path& folder) { return with_ending(folder, "last", kSessionEnding); }

SessionKeeper::SessionKeeper(path folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}

SessionKeeper::~SessionKeeper() {
  if (lock_ >= 0) ::close(lock_);
}

path SessionKeeper::own(std::string_view ending) const { return with_ending(folder_, name_, ending); }

Result<std::unique_ptr<SessionKeeper>> SessionKeeper::create(const path& folder, const std::string& name) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return path_error(folder.string(), failed.value());
  std::unique_ptr<SessionKeeper> keeper(new SessionKeeper(folder, name));
  keeper->lock_ = take_lock(keeper->own(kLock), O_CREAT);
  if (keeper->lock_ < 0) return path_error(keeper->own(kLock).string(), errno);
  return keeper;
}

Result<void> SessionKeeper::keep(const SavedSession* session) {
  std::string text = session ? session_text(*session) : std::string();
  if (text == written_) return {};
  if (text.empty())
    discard(own(kSessionEnding));
  else
    HEADROOM_TRY_VOID(save_text(own(kSessionEnding), text));
  written_ = std::move(text);
  return {};
}

void SessionKeeper::leave() {
  std::error_code ignored;
  if (!written_.empty()) std::filesystem::rename(own(kSessionEnding), last_session_path(folder_), ignored);
  written_.clear();
  discard(own(kLock));
}

std::vector<LostSession> SessionKeeper::take_lost() {
  std::vector<LostSession> lost;
  for (const std::string& name : names_with(folder_, kLock)) {
    if (name == name_) continue;
    const int lock = take_lock(with_ending(folder_, name, kLock), 0);
    if (lock < 0) continue;
    LostSession one;
    one.session = with_ending(folder_, name, kSessionEnding);
    one.report = with_ending(folder_, name, kReport);
    one.ended_unix = std::max(written_unix(one.session), written_unix(one.report));
    if (!is_there(one.session)) one.session.clear();
    if (is_there(one.report))
      one.why = first_line(one.report);
    else
      one.report.clear();
    if (!one.session.empty() || !one.report.empty()) lost.push_back(std::move(one));
    discard(with_ending(folder_, name, kLock));
    ::close(lock);
  }
  for (const std::string_view ending : {kSessionEnding, kReport}) {
    std::vector<std::string> names = names_with(folder_, ending);
    std::erase_if(
        names, [&](const std::string& name) { return name == "last" || is_there(with_ending(folder_, name, kLock)); });
    for (std::size_t i = kMostLost; i < names.size(); ++i) discard(with_ending(folder_, names[i], ending));
  }
  return lost;
}

}  // namespace headroom
