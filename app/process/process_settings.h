// Settings of the whole process that LibTorch's speed depends on. Call once, first thing in main, while there is one
// thread: the OpenMP runtime reads its variables when it is loaded.
#pragma once

namespace headroom {

void apply_process_settings();

}  // namespace headroom
