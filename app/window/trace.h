// What the program did when, as a Chrome trace (JSON array of complete events): HEADROOM_TRACE=file. Events are
// collected and written every few hundred and at the end. Safe from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace headroom {

// Called at the end of a piece of work with its name, its start and its length in microseconds of Trace::now_us(); the
// form in which core is given a trace.
using TraceCallback = std::function<void(std::string_view name, double start_us, double duration_us)>;

class Trace {
 public:
  // Off: events cost one comparison.
  Trace();
  // Io if the file cannot be made.
  [[nodiscard]] static Result<std::unique_ptr<Trace>> create(const std::string& file);
  // From HEADROOM_TRACE; off where that is unset or empty.
  [[nodiscard]] static Result<std::unique_ptr<Trace>> from_environment();
  ~Trace();  // writes the rest and closes the array
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  [[nodiscard]] bool enabled() const { return state_ != nullptr; }
  [[nodiscard]] static double now_us();  // monotonic
  void event(std::string_view name, double start_us, double duration_us);
  // Names the calling thread.
  void name_thread(std::string_view name);
  [[nodiscard]] TraceCallback callback();  // empty when off; the trace outlives it

  // An event from its construction to its destruction. `name` outlives it.
  class Zone {
   public:
    Zone(Trace* trace, std::string_view name)
        : trace_(trace && trace->enabled() ? trace : nullptr), name_(name), start_us_(trace_ ? now_us() : 0.0) {}
    ~Zone() {
      if (trace_) trace_->event(name_, start_us_, now_us() - start_us_);
    }
    Zone(const Zone&) = delete;
    Zone& operator=(const Zone&) = delete;

   private:
    Trace* trace_;
    std::string_view name_;
    double start_us_;
  };

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headroom
