// Which renderer GL is. Main thread only, with a current context.
#pragma once

namespace headroom {

// It draws on the CPU: each pixel costs, a draw call next to nothing.
[[nodiscard]] bool software_renderer();

}  // namespace headroom
