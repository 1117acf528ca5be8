// A figure drawn again from what its file says: the command, and the run files by their hashes. Main thread only.
#pragma once

#include "app/cli/figure_command.h"
#include "core/base/result.h"

namespace headroom {

// The arguments of the command that made `given.from`, with given's output; run files are looked for beside the figure
// and in the current folder, by name and by content. NotFound names the one that is in neither.
[[nodiscard]] Result<FigureArguments> arguments_again(const FigureArguments& given);

}  // namespace headroom
