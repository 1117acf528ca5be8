// What GL and its driver complain about: KHR_debug where the context has it, glGetError everywhere. Main thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace headroom {

class GlErrors {
 public:
  // Installs the callback into the current context, which this object must not outlive. `report` gets one line per
  // message; a message that repeats itself is reported once.
  explicit GlErrors(std::function<void(const std::string&)> report);
  ~GlErrors();
  GlErrors(const GlErrors&) = delete;
  GlErrors& operator=(const GlErrors&) = delete;

  // Takes what glGetError has; `where` names the work before it. True if there was none.
  bool check(const char* where);
  [[nodiscard]] std::int64_t count() const;  // errors so far, repeated ones included

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headroom
