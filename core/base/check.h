// Bugs of this program: HEADROOM_CHECK throws LogicError with the place and a text. A job catches it; the session
// lives. Never for bad input, which is a Result. Safe from any thread.
#pragma once

#include <stdexcept>
#include <string>

namespace headroom {

class LogicError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_logic_error(const char* file, int line, const char* condition, const std::string& text);

}  // namespace headroom

#define HEADROOM_CHECK(condition, text)                                                      \
  do {                                                                                       \
    if (!(condition)) ::headroom::throw_logic_error(__FILE__, __LINE__, #condition, (text)); \
  } while (false)
