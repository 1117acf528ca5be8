#include "app/process/signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>

#include "core/base/temporary_files.h"

namespace headroom {
namespace {

std::atomic<int> received{0};
std::atomic<bool> graceful{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void handle(int number) {
  const int error_number = errno;
  if (received.exchange(number) != 0 || !graceful) {
    end_without_temporary_files(128 + number);
  }
  errno = error_number;
}

}  // namespace

void install_signal_handlers() {
  constexpr int kNumbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (const int number : kNumbers) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    for (const int other : kNumbers) sigaddset(&action.sa_mask, other);
    sigaction(number, &action, nullptr);
  }
}

GracefulStop::GracefulStop() { graceful = true; }
GracefulStop::~GracefulStop() { graceful = false; }

bool signal_received() { return received != 0; }

int signal_exit_code() { return 128 + (received != 0 ? received.load() : SIGINT); }

}  // namespace headroom
