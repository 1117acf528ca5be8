#include "app/process/crash_report.h"

#include <execinfo.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <limits>

#include "core/base/temporary_files.h"

namespace headroom {
namespace {

constexpr std::size_t kLines = 32, kLineBytes = 200, kHeaderBytes = 2048, kPathBytes = 4096;
constexpr int kFrames = 128;

struct Line {
  std::array<char, kLineBytes> text{};
  std::size_t size = 0;
};

// All that the handler reads lies here, written before: it may neither allocate nor lock.
struct Report {
  std::array<char, kPathBytes> path{};
  std::array<char, kHeaderBytes> header{};
  std::array<char, kLineBytes> exception{};
  std::array<Line, kLines> lines;
  std::atomic<std::size_t> noted{0};
  std::atomic<bool> begun{false};
};
Report report;
alignas(16) std::array<char, 65536> handler_stack;  // a stack that overflowed cannot carry the handler

template <std::size_t Size>
void keep(std::array<char, Size>& kept, std::string_view text) {
  const std::size_t size = std::min(text.size(), Size - 1);
  std::copy_n(text.begin(), size, kept.begin());
  kept[size] = '\0';
}

void put(int file, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file, text, size);
    if (written <= 0) return;
    text += written, size -= static_cast<std::size_t>(written);
  }
}
void put(int file, const char* text) { put(file, text, std::strlen(text)); }

void put_number(int file, unsigned number) {
  std::array<char, std::numeric_limits<unsigned>::digits10 + 2> digits{};
  auto at = digits.end();
  do *--at = static_cast<char>('0' + number % 10);
  while ((number /= 10) != 0);
  put(file, &*at, static_cast<std::size_t>(digits.end() - at));
}

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV, a wrong address";
    case SIGBUS: return "SIGBUS, a file that became shorter or a wrong address";
    case SIGFPE: return "SIGFPE, a division by zero";
    case SIGILL: return "SIGILL, an instruction that the processor lacks";
    case SIGABRT: return "SIGABRT, given up by the program or a library";
    default: return "?";
  }
}

void write_report(int signal) {
  const int file = ::open(report.path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  put(file, "ended by signal ");
  put_number(file, static_cast<unsigned>(signal));
  put(file, " (");
  put(file, name_of(signal));
  put(file, ")\n");
  if (report.exception[0] != '\0') {
    put(file, "exception: ");
    put(file, report.exception.data());
    put(file, "\n");
  }
  put(file, report.header.data());
  put(file, "\nlast commands, the latest at the end:\n");
  const std::size_t noted = report.noted;
  for (std::size_t i = noted > kLines ? noted - kLines : 0; i < noted; ++i) {
    const Line& line = report.lines[i % kLines];
    put(file, "  ");
    put(file, line.text.data(), line.size);
    put(file, "\n");
  }
  put(file, "\nstack:\n");
  std::array<void*, kFrames> frames{};
  const int found = backtrace(frames.data(), kFrames);
  backtrace_symbols_fd(frames.data(), found, file);
  ::close(file);
}

void handle_fault(int signal) {
  // A second fault, of the report itself or of another thread, ends the process without one.
  if (!report.begun.exchange(true)) {
    write_report(signal);
    remove_temporary_files();
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

[[noreturn]] void end_by_exception() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
      keep(report.exception, error.what());
    } catch (...) {
      keep(report.exception, "of another type than std::exception");
    }
  }
  std::abort();
}

}  // namespace

void install_crash_report(const std::filesystem::path& path, const std::string& header) {
  if (path.native().size() >= kPathBytes) return;
  keep(report.path, path.native());
  keep(report.header, header);
  std::array<void*, 1> frame{};
  (void)backtrace(frame.data(), 1);  // the first call loads a library, which a handler may not
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  std::set_terminate(end_by_exception);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action{};
    action.sa_handler = handle_fault;
    action.sa_flags = SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

void note_for_crash_report(std::string_view text) {
  const std::size_t at = report.noted;
  Line& line = report.lines[at % kLines];
  line.size = std::min(text.size(), line.text.size());
  std::copy_n(text.begin(), line.size, line.text.begin());
  std::replace(line.text.begin(), line.text.begin() + static_cast<std::ptrdiff_t>(line.size), '\n', ' ');
  report.noted = at + 1;
}

}  // namespace headroom
