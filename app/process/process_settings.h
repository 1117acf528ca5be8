// Settings of the whole process that LibTorch's speed depends on. Call once, first thing in main, while there is one
// thread: the OpenMP runtime reads its variables when it is loaded.
#pragma once

#include "core/base/end_process.h"  // IWYU pragma: export

namespace headroom {

void apply_process_settings();

}  // namespace headroom
