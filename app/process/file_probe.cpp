#include "app/process/file_probe.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include "core/base/format.h"
#include "core/io/file_probe.h"
#include "core/io/hdf5_info.h"

namespace headroom {
namespace {

constexpr const char* kProbeWord = "--read-for-probe";
constexpr int kProbeSeconds = 20;  // of a processor, for one file: a damaged length may lead in a circle

const char* what_signal_means(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS: return "read at a wrong address";
    case SIGABRT: return "gave up";
    case SIGFPE: return "divided by zero";
    case SIGILL: return "ran into code that is none";
    case SIGPROF: return "did not come to an end";
    default: return nullptr;  // somebody's, not the file's
  }
}

// The process that reads. It is started for the first file, stays for those that come and ends with this one, whose end
// of the socket is closed then. Paths go to it, a byte comes back for each.
struct Reader {
  pid_t process = 0;
  int socket = -1;
  bool is_new = true;  // has read nothing yet
};

// Reads what `socket` names until nobody is left to name anything.
void serve(int socket) {
  set_file_probe(nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // whoever asked is gone: nobody waits for the end of a file that has none
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const itimerval long_enough{{}, {kProbeSeconds, 0}}, off{};
  std::string path(std::size_t{1} << 16, '\0');
  for (ssize_t size = 0; (size = ::recv(socket, path.data(), path.size(), 0)) > 0;) {
    setitimer(ITIMER_PROF, &long_enough, nullptr);
    read_for_probe(path.substr(0, static_cast<std::size_t>(size)));
    setitimer(ITIMER_PROF, &off, nullptr);
    const char done = 1;
    if (::send(socket, &done, 1, MSG_NOSIGNAL) != 1) break;
  }
}

bool is_single_threaded() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

// A copy of this process, in a millisecond where starting the program anew takes forty. Locks of other threads would
// stay taken in it, and so would those on files that this one holds: nothing but the socket stays open.
pid_t fork_reader(int socket) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::dup2(socket, STDIN_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  ::closefrom(STDERR_FILENO + 1);
  ::setsid();  // Ctrl+C in the terminal is not meant for it
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, SIG_DFL);
  serve(STDIN_FILENO);
  std::_Exit(0);
}

pid_t spawn_reader(int socket) {
  std::string program = "headroom", word = kProbeWord;
  std::array<char*, 3> arguments = {program.data(), word.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? child : -1;
}

bool start(Reader& reader) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  reader = {is_single_threaded() ? fork_reader(ends[1]) : spawn_reader(ends[1]), ends[0], true};
  ::close(ends[1]);
  if (reader.process > 0) return true;
  ::close(ends[0]);
  reader = {};
  return false;
}

template <typename Call>
ssize_t again_after_signals(const Call& call) {
  ssize_t got = 0;
  do got = call();
  while (got < 0 && errno == EINTR);
  return got;
}

// Whether it has read the file and lives. Otherwise `status` is how it ended, and there is none.
bool read_through(Reader& reader, const std::string& path, int& status) {
  char answer = 0;
  const bool lives =
      again_after_signals([&] { return ::send(reader.socket, path.data(), path.size(), MSG_NOSIGNAL); }) > 0 &&
      again_after_signals([&] { return ::recv(reader.socket, &answer, 1, 0); }) > 0;
  reader.is_new = false;
  if (lives) return true;
  ::close(reader.socket);
  again_after_signals([&] { return ::waitpid(reader.process, &status, 0); });
  reader = {};
  return false;
}

Result<void> read_in_other_process(const std::filesystem::path& path) {
  static Reader reader;
  std::error_code none;
  const std::string file = std::filesystem::absolute(path, none).string();
  const char* happened = nullptr;
  // One that has read damaged files before may be damaged itself: what it ends on is asked of another.
  for (bool was_new = false; !was_new;) {
    if (reader.socket < 0 && !start(reader)) return {};
    was_new = reader.is_new;
    int status = 0;
    if (read_through(reader, file, status)) return {};
    happened = WIFSIGNALED(status) ? what_signal_means(WTERMSIG(status)) : nullptr;
  }
  if (!happened) return {};
  return Error(ErrorCode::Corrupt, format("damaged: HDF5 %s fails on it: it %s", hdf5_info().version.c_str(), happened))
      .in_file(path.string())
      .advise("take another copy of the file, or make it again");
}

}  // namespace

void install_file_probe() { set_file_probe(read_in_other_process); }

std::optional<int> run_as_file_probe(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) != kProbeWord) return std::nullopt;
  serve(STDIN_FILENO);
  return 0;
}

}  // namespace headroom
