// The mutex of the whole program: see kernels/mutex.h.
#pragma once

#include "kernels/mutex.h"  // IWYU pragma: export
