#include "app/ui/file_list.h"
#include "app/ui/fuzzy.h"
#include "core/base/environment.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <system_error>

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCompletions = 100;

bool digit(char c) { return c >= '0' && c <= '9'; }

bool ends_with(std::string_view name, std::string_view ending) {
  if (name.size() <= ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), name.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [](char a, char b) { return a == ascii_lower(b); });
}

std::int64_t unix_seconds(fs::file_time_type time) {
  const auto since = time - fs::file_time_type::clock::now();
  const auto now = std::chrono::system_clock::now();
  return std::chrono::duration_cast<std::chrono::seconds>(
             (now + std::chrono::duration_cast<std::chrono::system_clock::duration>(since)).time_since_epoch())
      .count();
}

}  // namespace

const char* file_kind_text(FileKind kind) {
  switch (kind) {
    case FileKind::Folder: return "";
    case FileKind::ModelFolder: return "model folder";
    case FileKind::TrainingFolder:
    case FileKind::Training: return "training";
    case FileKind::Checkpoint: return "checkpoint";
    case FileKind::Run: return "run";
    case FileKind::Session: return "session";
    case FileKind::Text: return "text";
    case FileKind::Other: return "";
  }
  return "";
}

FileKind kind_of_name(std::string_view name) {
  if (name == "training.h5") return FileKind::Training;
  for (const char* ending : {".h5", ".hdf5"}) {
    if (ends_with(name, ending)) return FileKind::Run;
  }
  if (ends_with(name, kSessionEnding)) return FileKind::Session;
  for (const std::string_view ending : kCheckpointEndings) {
    if (ends_with(name, ending)) return FileKind::Checkpoint;
  }
  for (const char* ending : {".txt", ".md", ".json"}) {
    if (ends_with(name, ending)) return FileKind::Text;
  }
  return FileKind::Other;
}

bool is_model_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "config.json", error) && !fs::exists(folder / "adapter_config.json", error)) return false;
  fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  if (error) return false;
  for (std::size_t looked = 0; at != fs::directory_iterator() && looked < 200; at.increment(error), ++looked) {
    if (error) return false;
    if (kind_of_name(at->path().filename().string()) == FileKind::Checkpoint) return true;
  }
  return false;
}

bool is_training_folder(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"training.h5", "training_state.safetensors", "trainer_state.json"})
    if (fs::exists(folder / name, error)) return true;
  fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (std::size_t looked = 0; !error && at != fs::directory_iterator() && looked < 200;
       at.increment(error), ++looked) {
    const std::string name = at->path().filename().string();
    for (const std::string_view beginning : {"step_", "checkpoint-"}) {
      const std::size_t begin = beginning.size();
      if (name.starts_with(beginning) && name.size() > begin &&
          name.find_first_not_of("0123456789", begin) == std::string::npos &&
          fs::exists(at->path() / "config.json", error))
        return true;
    }
  }
  return false;
}

Result<FileList> list_folder(const fs::path& folder, const FileListOptions& options) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (error || !fs::exists(status)) {
    const bool denied = error == std::errc::permission_denied;
    return Error(denied ? ErrorCode::Io : ErrorCode::NotFound,
                 denied ? "this folder may not be read" : "there is no such folder")
        .in_file(folder.string());
  }
  if (!fs::is_directory(status))
    return Error(ErrorCode::InvalidArgument, "this is a file, not a folder").in_file(folder.string());
  fs::directory_iterator at(folder, error);
  if (error) return Error(ErrorCode::Io, "this folder may not be read: " + error.message()).in_file(folder.string());
  FileList list;
  while (at != fs::directory_iterator()) {
    const fs::directory_entry entry = *at;
    at.increment(error);
    if (error) return Error(ErrorCode::Io, "reading this folder stopped: " + error.message()).in_file(folder.string());
    FileItem item;
    item.name = entry.path().filename().string();
    if (item.name.starts_with('.') && !options.hidden) continue;
    if (list.items.size() >= options.most) {
      ++list.left_out;
      continue;
    }
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      item.kind = FileKind::Folder;
    } else {
      item.kind = kind_of_name(item.name);
      const auto size = entry.is_regular_file(ignored) ? entry.file_size(ignored) : 0;
      item.size_bytes = ignored ? 0 : size;
      if (!entry.is_regular_file(ignored)) item.kind = FileKind::Other;
    }
    const auto time = entry.last_write_time(ignored);
    if (!ignored) item.modified_unix = unix_seconds(time);
    list.items.push_back(std::move(item));
  }
  list.model = is_model_folder(folder) || is_training_folder(folder);
  // Looking into folders costs a little each: the first hundreds are enough.
  std::size_t looked = 0;
  for (FileItem& item : list.items) {
    if (item.kind != FileKind::Folder || looked++ >= 500) continue;
    if (is_model_folder(folder / item.name))
      item.kind = FileKind::ModelFolder;
    else if (is_training_folder(folder / item.name))
      item.kind = FileKind::TrainingFolder;
  }
  std::sort(list.items.begin(), list.items.end(), [](const FileItem& a, const FileItem& b) {
    if (a.folder() != b.folder()) return a.folder();
    return natural_less(a.name, b.name);
  });
  return list;
}

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    if (digit(a[i]) && digit(b[k])) {
      std::size_t end_a = i, end_b = k;
      while (end_a < a.size() && digit(a[end_a])) ++end_a;
      while (end_b < b.size() && digit(b[end_b])) ++end_b;
      std::size_t from_a = i, from_b = k;
      while (from_a + 1 < end_a && a[from_a] == '0') ++from_a;
      while (from_b + 1 < end_b && b[from_b] == '0') ++from_b;
      if (end_a - from_a != end_b - from_b) return end_a - from_a < end_b - from_b;
      const int order = a.substr(from_a, end_a - from_a).compare(b.substr(from_b, end_b - from_b));
      if (order != 0) return order < 0;
      i = end_a;
      k = end_b;
      continue;
    }
    const auto x = static_cast<unsigned char>(ascii_lower(a[i])), y = static_cast<unsigned char>(ascii_lower(b[k]));
    if (x != y) return x < y;
    ++i;
    ++k;
  }
  if ((a.size() - i) != (b.size() - k)) return a.size() - i < b.size() - k;
  return a < b;
}

bool begins_with(std::string_view name, std::string_view beginning) {
  return name.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), name.begin(),
                                                       [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
}

int find_typed(const std::vector<FileItem>& items, std::string_view typed, int from) {
  const int count = static_cast<int>(items.size());
  if (typed.empty()) return -1;
  for (int i = 0; i < count; ++i) {
    const int at = (std::max(from, 0) + i) % count;
    if (begins_with(items[static_cast<std::size_t>(at)].name, typed)) return at;
  }
  return -1;
}

std::string expand_home(std::string_view path) {
  const std::string home = environment_text("HOME");
  if (home.empty() || path.empty() || path[0] != '~' || (path.size() > 1 && path[1] != '/')) return std::string(path);
  return home + std::string(path.substr(1));
}

std::vector<std::string> complete_path(std::string_view typed) {
  std::vector<std::string> out;
  const std::size_t slash = typed.rfind('/');
  const std::string_view folder = slash == std::string_view::npos ? std::string_view() : typed.substr(0, slash + 1);
  const std::string_view last = slash == std::string_view::npos ? typed : typed.substr(slash + 1);
  FileListOptions options;
  options.hidden = last.starts_with('.');
  const auto list = list_folder(folder.empty() ? fs::path(".") : fs::path(expand_home(folder)), options);
  if (!list) return out;
  for (const FileItem& item : list->items) {
    if (!begins_with(item.name, last)) continue;
    out.push_back(std::string(folder) + item.name + (item.folder() ? "/" : ""));
    if (out.size() >= kMostCompletions) break;
  }
  return out;
}

}  // namespace headroom
