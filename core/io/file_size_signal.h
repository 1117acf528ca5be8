// The signal of a limit on file sizes. Safe from any thread.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace headroom {

// Holds back SIGXFSZ, which would end the process, for the thread and the time of one call; the call then fails with
// EFBIG. A signal that arose here is taken out of the queue again.
class FileSizeSignalBlock {
 public:
  FileSizeSignalBlock() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &signal_, &previous_);
  }
  ~FileSizeSignalBlock() {
    const int error_number = errno;
    if (!was_pending_) {
      const timespec no_wait{};
      sigtimedwait(&signal_, nullptr, &no_wait);
    }
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
    errno = error_number;
  }
  FileSizeSignalBlock(const FileSizeSignalBlock&) = delete;
  FileSizeSignalBlock& operator=(const FileSizeSignalBlock&) = delete;

 private:
  sigset_t signal_;
  sigset_t previous_;
  bool was_pending_ = false;
};

}  // namespace headroom
