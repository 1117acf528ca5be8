#include "app/gl/software_renderer.h"

#include <epoxy/gl.h>

#include <cstring>

namespace headroom {

bool software_renderer() {
  const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  if (!name) return false;
  const auto named = [name](const char* part) { return std::strstr(name, part) != nullptr; };
  return named("llvmpipe") || named("softpipe") || named("SWR") || named("SwiftShader");
}

}  // namespace headroom
