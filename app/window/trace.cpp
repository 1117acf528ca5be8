#include "app/window/trace.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/environment.h"
#include "core/base/format.h"
#include "core/base/mutex.h"

namespace headroom {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 16;  // bytes

void append_json_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += format("\\u%04x", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

struct Trace::State {
  std::FILE* const file;
  Mutex mutex;
  std::string buffer HEADROOM_GUARDED_BY(mutex) = "[\n";
  bool first HEADROOM_GUARDED_BY(mutex) = true;
  std::vector<std::thread::id> threads HEADROOM_GUARDED_BY(mutex);

  explicit State(std::FILE* opened) : file(opened) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    const MutexLock lock(mutex);
    buffer += "\n]\n";
    flush();
    std::fclose(file);
  }

  void flush() HEADROOM_REQUIRES(mutex) {
    std::fwrite(buffer.data(), 1, buffer.size(), file);
    std::fflush(file);
    buffer.clear();
  }

  // Small numbers in the order in which threads appear.
  std::size_t thread_number() HEADROOM_REQUIRES(mutex) {
    const std::thread::id self = std::this_thread::get_id();
    for (std::size_t i = 0; i < threads.size(); ++i) {
      if (threads[i] == self) return i + 1;
    }
    threads.push_back(self);
    return threads.size();
  }

  void add(const std::string& rest, std::string_view name) HEADROOM_REQUIRES(mutex) {
    if (!first) buffer += ",\n";
    first = false;
    buffer += "{\"name\":";
    append_json_text(buffer, name);
    buffer += rest;
    if (buffer.size() >= kBuffered) flush();
  }
};

Trace::Trace() = default;
Trace::~Trace() = default;

Result<std::unique_ptr<Trace>> Trace::create(const std::string& file) {
  std::FILE* opened = std::fopen(file.c_str(), "we");
  if (!opened)
    return Error(ErrorCode::Io, std::string("the trace could not be made: ") + std::strerror(errno)).in_file(file);
  auto trace = std::make_unique<Trace>();
  trace->state_ = std::make_unique<State>(opened);
  return trace;
}

Result<std::unique_ptr<Trace>> Trace::from_environment() {
  const std::string file = environment_text("HEADROOM_TRACE");
  if (file.empty()) return std::make_unique<Trace>();
  return create(file);
}

double Trace::now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Trace::event(std::string_view name, double start_us, double duration_us) {
  if (!state_) return;
  const MutexLock lock(state_->mutex);
  state_->add(format(",\"ph\":\"X\",\"ts\":%.1f,\"dur\":%.1f,\"pid\":%d,\"tid\":%zu}", start_us, duration_us,
                     static_cast<int>(getpid()), state_->thread_number()),
              name);
}

void Trace::name_thread(std::string_view name) {
  if (!state_) return;
  const MutexLock lock(state_->mutex);
  std::string arguments = format(",\"ph\":\"M\",\"pid\":%d,\"tid\":%zu,\"args\":{\"name\":", static_cast<int>(getpid()),
                                 state_->thread_number());
  append_json_text(arguments, name);
  state_->add(arguments + "}}", "thread_name");
}

TraceCallback Trace::callback() {
  if (!state_) return {};
  return [this](std::string_view name, double start_us, double duration_us) { event(name, start_us, duration_us); };
}

}  // namespace headroom
