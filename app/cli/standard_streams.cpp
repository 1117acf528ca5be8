#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "app/process/report_error.h"

namespace headroom {

void occupy_closed_streams() {
  // Opened the wrong way round, so that using one fails as it does where it is closed.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
}

int flush_standard_output(int code) {
  constexpr int kBrokenPipe = 141;  // as a shell reports SIGPIPE, for callers that ignore the signal
  constexpr int kNotEqual = 1;
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  const int flags = fcntl(STDOUT_FILENO, F_GETFL);
  const bool closed = flags < 0 || (flags & O_ACCMODE) == O_RDONLY;
  if ((flushed && std::ferror(stdout) == 0) || closed || code > kNotEqual) return code;
  if (reason == EPIPE) return kBrokenPipe;
  const char* text = reason != 0 ? std::strerror(reason) : "the write failed";
  return report_error(Error(ErrorCode::Io, std::string("standard output cannot be written: ") + text), false);
}

}  // namespace headroom
