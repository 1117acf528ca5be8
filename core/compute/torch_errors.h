// LibTorch's exceptions end here: they become errors. Compute threads.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <new>
#include <string>

#include "core/base/error.h"

namespace headroom {

// The result of body(), a Result.
template <typename Body>
auto without_exceptions(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const c10::OutOfMemoryError& error) {
    return Error(ErrorCode::OutOfMemory, std::string("out of device memory: ") + error.what_without_backtrace());
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    // Memory of the CPU that runs out has no type of its own.
    if (const std::size_t at = what.find("you tried to allocate"); at != std::string::npos)
      return Error(ErrorCode::OutOfMemory, "out of memory: " + what.substr(at))
          .advise("free memory, or give a shorter prompt");
    return Error(ErrorCode::Device, "LibTorch failed: " + what);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::OutOfMemory, "out of memory");
  }
}

}  // namespace headroom
