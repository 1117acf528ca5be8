#include "app/session/file_manager.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/environment.h"
#include "core/base/format.h"

extern char** environ;

namespace headroom {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A file manager that is started takes its time; one that stays is there.
constexpr std::chrono::milliseconds kLongestAnswer{6000}, kLookEvery{10};

// Empty: the program ended well, or still runs, which is what some file managers do.
std::string run_program(const Words& words) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);  // Ctrl+C in the terminal is not meant for it
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int failed = posix_spawn(&child, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  const std::string name = fs::path(words[0]).filename().string();
  if (failed) return name + " cannot be started: " + std::strerror(failed);
  const auto begin = std::chrono::steady_clock::now();
  int status = 0;
  for (pid_t ended = 0; (ended = ::waitpid(child, &status, WNOHANG)) != child;
       std::this_thread::sleep_for(kLookEvery)) {
    if (ended < 0) return name + " cannot be waited for";
    if (std::chrono::steady_clock::now() - begin < kLongestAnswer) continue;
    std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();  // takes its exit status, whenever it ends
    return "";
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFEXITED(status) ? format("%s ended with %d", name.c_str(), WEXITSTATUS(status))
                           : name + " was ended by a signal";
}

}  // namespace

Desktop desktop_of_environment() {
  return {environment_text("PATH"), environment_text("DBUS_SESSION_BUS_ADDRESS"),
          environment_text("XDG_CURRENT_DESKTOP")};
}

std::string find_program(const std::string& programs, const std::string& name) {
  std::istringstream folders(programs);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    if (folder.empty()) continue;  // would be the folder the program was started in
    const fs::path candidate = fs::path(folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return "";
}

std::string file_manager_missing(const Desktop& desktop) {
  if (desktop.session_bus.empty() && desktop.name.empty())
    return "there is no desktop here: neither DBUS_SESSION_BUS_ADDRESS nor XDG_CURRENT_DESKTOP is set";
  if (!file_manager_calls(desktop, "/").empty()) return "";
  return "none of gdbus, dbus-send and xdg-open, which could ask for it, is installed";
}

std::string file_uri(const std::string& absolute_path) {
  std::string uri = "file://";
  for (const char c : absolute_path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::strchr("-._~/", c) != nullptr;
    uri +=
        plain && c != '\0' ? std::string(1, c) : format("%%%02X", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return uri;
}

std::vector<Words> file_manager_calls(const Desktop& desktop, const std::string& absolute_path) {
  constexpr const char* kName = "org.freedesktop.FileManager1";
  constexpr const char* kPath = "/org/freedesktop/FileManager1";
  const std::string method = std::string(kName) + ".ShowItems", uri = file_uri(absolute_path);
  std::vector<Words> calls;
  if (!desktop.session_bus.empty()) {
    if (std::string gdbus = find_program(desktop.programs, "gdbus"); !gdbus.empty())
      calls.push_back({std::move(gdbus), "call", "--session", "--timeout", "5", "--dest", kName, "--object-path", kPath,
                       "--method", method, "['" + uri + "']", ""});
    else if (std::string send = find_program(desktop.programs, "dbus-send"); !send.empty())
      calls.push_back({std::move(send), "--session", "--print-reply", "--reply-timeout=5000",
                       std::string("--dest=") + kName, "--type=method_call", kPath, method, "array:string:" + uri,
                       "string:"});
  }
  // The folder alone: xdg-open of the file itself would start the program that reads it.
  if (std::string open = find_program(desktop.programs, "xdg-open"); !open.empty() && !desktop.name.empty()) {
    std::error_code ignored;
    const bool folder = fs::is_directory(absolute_path, ignored);
    calls.push_back({std::move(open), folder ? absolute_path : fs::path(absolute_path).parent_path().string()});
  }
  return calls;
}

Result<void> show_in_file_manager(const Desktop& desktop, const std::string& path) {
  std::error_code error;
  fs::path shown = fs::absolute(path, error).lexically_normal();
  if (error) return Error(ErrorCode::Io, "this path cannot be shown: " + error.message()).in_file(path);
  if (!shown.has_filename()) shown = shown.parent_path();
  while (shown.has_relative_path() && !fs::exists(fs::symlink_status(shown, error))) shown = shown.parent_path();
  std::string wrong = file_manager_missing(desktop);
  for (const Words& words : file_manager_calls(desktop, shown.string())) {
    wrong = run_program(words);
    if (wrong.empty()) return {};
  }
  return Error(ErrorCode::Device, "the desktop's file manager cannot show it: " + wrong).in_file(path);
}

}  // namespace headroom
