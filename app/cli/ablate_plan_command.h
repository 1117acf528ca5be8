// `headroom ablate PATH --plan …`: changes of the loss without heads over the sequences of a plan. Main thread only.
#pragma once

#include "app/cli/ablate_command.h"

namespace headroom {

[[nodiscard]] int run_ablate_plan(const AblateArguments& given);

}  // namespace headroom
