// Which renderer GL is. Main thread only, with a current context.
#pragma once

#include <string_view>

namespace headroom {

// It draws on the CPU: each pixel costs, a draw call next to nothing.
[[nodiscard]] bool software_renderer();

// By the name that GL gives it: it draws on the CPU and itself copies what it drew to the screen. Layers above Vulkan
// (zink, ANGLE) draw into images that are shown in turn, wherever they draw.
[[nodiscard]] bool copies_to_screen(std::string_view name);
[[nodiscard]] bool copies_to_screen();

}  // namespace headroom
