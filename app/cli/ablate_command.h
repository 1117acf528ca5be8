// `headroom ablate PATH …`: how much the loss of one text changes without each head. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "app/cli/analyze_command.h"

namespace headroom {

struct AblateArguments {
  AnalyzeArguments run;  // its heads: a list of indices, or names like L18.H8
  std::string mode = "zero";
  std::vector<std::string> sets;  // L18.H8+L18.H7
  bool by_token = false;
};

[[nodiscard]] int run_ablate(const AblateArguments& arguments);

}  // namespace headroom
