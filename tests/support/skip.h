// Test cases that cannot run here: skip("no CUDA device"); return; The program then ends with kSkipCode, which CTest
// counts as skipped, unless something failed or another case ran. Main thread only.
#pragma once

#include <string>

namespace headroom::test {

inline constexpr int kSkipCode = 77;  // also in tests/CMakeLists.txt and tests/oracle/conftest.py

// Prints `SKIPPED: reason` and marks the test case that runs. What it checks besides still counts.
void skip(const std::string& reason);

}  // namespace headroom::test
