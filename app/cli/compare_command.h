// `headroom compare A B`: two run files, quantity by quantity; two corpora of the same sequences, sequence by sequence.
// Main thread only.
#pragma once

#include <filesystem>

namespace headroom {

struct CompareArguments {
  std::filesystem::path a;
  std::filesystem::path b;
  double rtol = 0.0;
  double atol = 0.0;
  bool by_value = false;  // a tolerance was given: corpora too are compared number by number
  bool json = false;
};

// Prints the comparison; 0 equal within the tolerances, 1 not equal, otherwise the code of the error it reported. Two
// corpora are equal where no sequence changes.
[[nodiscard]] int run_compare(const CompareArguments& arguments);

}  // namespace headroom
