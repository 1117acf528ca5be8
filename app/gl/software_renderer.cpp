#include "app/gl/software_renderer.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace headroom {
namespace {

std::string_view renderer_name() {
  const auto* name = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  return name ? name : std::string_view();
}

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts,
                             [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

bool draws_on_cpu(std::string_view name) { return has_any(name, {"llvmpipe", "softpipe", "SWR", "SwiftShader"}); }

}  // namespace

bool software_renderer() { return draws_on_cpu(renderer_name()); }

bool copies_to_screen(std::string_view name) { return draws_on_cpu(name) && !has_any(name, {"zink", "ANGLE"}); }
bool copies_to_screen() { return copies_to_screen(renderer_name()); }

}  // namespace headroom
