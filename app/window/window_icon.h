// The program's icon, drawn: the causal triangle of an attention map with its sink. Main thread only.
#pragma once

#include <cstdint>
#include <vector>

struct GLFWwindow;

namespace headroom {

// RGBA, `size` × `size` pixels, straight alpha.
[[nodiscard]] std::vector<std::uint8_t> icon_pixels(int size);
void set_window_icon(GLFWwindow* window);

}  // namespace headroom
