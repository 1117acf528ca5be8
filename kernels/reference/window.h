// The window of a map by the definition: dense rows in double, one cell at a time. Safe from any thread.
#pragma once

#include "kernels/window.h"

namespace headroom::kernels {

// Computes its own log-sum-exp. Cells of a map that the head lacks are not-a-number.
void reference_window(const HeadProblem<double>& problem, const WindowRequest& request, const WindowCells& cells);

}  // namespace headroom::kernels
