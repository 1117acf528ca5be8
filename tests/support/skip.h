// Test cases that cannot run here: skip("no CUDA device"); return; The program then ends with kSkipCode, which CTest
// counts as skipped, unless something failed or another case ran. Main thread only.
#pragma once

#include <string>

namespace headroom::test {

// What Catch2 3 ends with where all cases skipped themselves; its newer CMake scripts tell CTest so, whatever is asked
// of them. Also in tests/CMakeLists.txt.
inline constexpr int kSkipCode = 4;

// Prints `SKIPPED: reason` and marks the test case that runs. What it checks besides still counts.
void skip(const std::string& reason);

}  // namespace headroom::test
