// `headroom quantities [PATTERN]`: the definitions of everything that a run file holds. Main thread only.
#pragma once

#include <string>

namespace headroom {

struct QuantitiesArguments {
  std::string pattern;    // empty: all of them, with the notions that they share
  bool circuits = false;  // those of a file of circuits
  bool markdown = false;
  bool json = false;
};

// Prints them; InvalidArgument's code where nothing matches.
[[nodiscard]] int run_quantities(const QuantitiesArguments& arguments);

}  // namespace headroom
