// `headroom compare A B`: two run files, quantity by quantity. Main thread only.
#pragma once

#include <filesystem>

namespace headroom {

struct CompareArguments {
  std::filesystem::path a;
  std::filesystem::path b;
  double rtol = 0.0;
  double atol = 0.0;
  bool json = false;
};

// Prints the comparison; 0 equal within the tolerances, 1 not equal, otherwise the code of the error it reported.
[[nodiscard]] int run_compare(const CompareArguments& arguments);

}  // namespace headroom
