#include "core/base/check.h"

namespace headroom {

void throw_logic_error(const char* file, int line, const char* condition, const std::string& text) {
  throw LogicError(std::string(file) + ":" + std::to_string(line) + ": " + condition + ": " + text);
}

}  // namespace headroom
