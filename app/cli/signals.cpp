#include "app/cli/signals.h"

#include <atomic>
#include <csignal>

namespace headroom {
namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);

void handle(int number) { received = number; }

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

bool signal_received() { return received != 0; }

int signal_exit_code() { return 128 + (received != 0 ? received.load() : SIGINT); }

}  // namespace headroom
