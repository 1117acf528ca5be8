// The program with LibTorch loaded already, for tests that start it hundreds of times: loading is two thirds of what a
// small run takes. Preloaded into the program itself, this stands before its main(): it loads LibTorch once and then
// answers each request with a fork that has the arguments, the environment, the folder and the streams of the request
// and goes on into the program's own main(). No thread runs before, so that none is missing after; where there is one,
// nothing is forked.
//
// HEADROOM_WARM_SOCKET is the number of a stream socket. A request (oracle/warm.py makes them): a std::uint32_t with
// the descriptors of standard input, output and error beside it, then so many bytes of strings that each end in NUL:
// folder, mask of new files' permissions, number of arguments, arguments, environment. The answer is an int as waitpid
// gives it. Whatever comes before the answer, the end included, kills the process that runs.
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "app/process/process_settings.h"
#include "core/base/error.h"
#include "core/run/compute.h"

namespace {

using Main = int (*)(int, char**, char**);

constexpr const char* kSocketVariable = "HEADROOM_WARM_SOCKET";
constexpr const char* kProgram = "headroom";  // what else has the same environment, a script around it, is left alone

Main program_main = nullptr;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "the warm program: %s\n", why.c_str());
  std::fflush(nullptr);
  _exit(1);
}

[[noreturn]] void give_up_on(const char* call) { give_up(std::string(call) + ": " + std::strerror(errno)); }

struct Request {
  std::array<int, 3> streams{};
  std::string text;
};

// False at the end: the tests are done.
bool receive(int socket, Request& request) {
  std::uint32_t size = 0;
  iovec part{&size, sizeof size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof request.streams)> room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  const ssize_t got = recvmsg(socket, &message, 0);
  if (got == 0 || (got < 0 && errno == ECONNRESET)) return false;
  if (got < 0) give_up_on("recvmsg");
  const cmsghdr* passed = CMSG_FIRSTHDR(&message);
  if (got != sizeof size || !passed || passed->cmsg_len != CMSG_LEN(sizeof request.streams)) give_up("not a request");
  std::memcpy(request.streams.data(), CMSG_DATA(passed), sizeof request.streams);
  request.text.resize(size);
  if (recv(socket, request.text.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size))
    give_up("a request without its end");
  return true;
}

// What a process of its own would be given; nothing of this one's is left but what its libraries have read.
[[noreturn]] void run_program(Request& request, int socket, const sigset_t& mask) {
  for (int i = 0; i < 3; ++i)
    if (dup2(request.streams[i], i) < 0) give_up_on("dup2");
  for (const int stream : request.streams) close(stream);
  close(socket);
  std::vector<char*> words;
  for (std::size_t at = 0; at < request.text.size(); at = request.text.find('\0', at) + 1)
    words.push_back(&request.text[at]);
  constexpr std::size_t kBefore = 3;
  const char* const folder = words.at(0);
  const std::size_t count = std::stoul(words.at(2));
  std::vector<char*> arguments(words.begin() + kBefore, words.begin() + kBefore + count);
  std::vector<char*> variables(words.begin() + kBefore + count, words.end());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  environ = variables.data();
  umask(static_cast<mode_t>(std::stoul(words.at(1))));
  if (chdir(folder) != 0) give_up_on(folder);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  exit(program_main(static_cast<int>(count), arguments.data(), environ));
}

int wait_for(pid_t child, int socket, sigset_t mask) {
  sigdelset(&mask, SIGCHLD);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    pollfd heard{socket, POLLIN, 0};
    if (ppoll(&heard, 1, nullptr, &mask) > 0) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
  }
  return status;
}

std::ptrdiff_t threads() {
  const std::filesystem::directory_iterator found("/proc/self/task");
  return std::distance(begin(found), end(found));
}

int serve(int socket) {
  headroom::apply_process_settings();  // as main() does, before anything is loaded
  if (const auto compute = headroom::load_compute(); !compute) give_up(headroom::describe(compute.error()));
  // Its end interrupts ppoll() and nothing else.
  sigset_t mask, ended;
  sigemptyset(&ended);
  sigaddset(&ended, SIGCHLD);
  sigprocmask(SIG_BLOCK, &ended, &mask);
  struct sigaction action{};
  action.sa_handler = [](int) {};
  sigaction(SIGCHLD, &action, nullptr);
  for (Request request; receive(socket, request);) {
    if (threads() != 1) give_up("LibTorch has started threads, which no fork takes along");
    const pid_t child = fork();
    if (child < 0) give_up_on("fork");
    if (child == 0) run_program(request, socket, mask);
    for (const int stream : request.streams) close(stream);
    const int status = wait_for(child, socket, mask);
    if (send(socket, &status, sizeof status, MSG_NOSIGNAL) != sizeof status) break;
  }
  return 0;
}

int warm_main(int argc, char** argv, char** variables) {
  const char* const socket = getenv(kSocketVariable);
  if (!socket || std::strcmp(program_invocation_short_name, kProgram) != 0) return program_main(argc, argv, variables);
  _exit(serve(std::stoi(socket)));
}

}  // namespace

// What the C library's start of every program calls with its main().
extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*loader_fini)(), void* stack_end) {
  program_main = main;
  const auto next = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return next(warm_main, argc, argv, init, fini, loader_fini, stack_end);
}
