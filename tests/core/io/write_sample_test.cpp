// Hidden helpers of tests/oracle/test_run_file_interop.py, which names the files in the environment.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/io/blocks.h"
#include "core/io/run_file.h"
#include "tests/core/io/sample_file.h"
#include "tests/support/catch.h"

namespace headroom::test {

CATCH_TEST_CASE("Write the sample run file", "[.sample]") {
  const char* path = std::getenv("HEADROOM_SAMPLE_OUT");
  CATCH_REQUIRE(path != nullptr);
  CATCH_CHECK(write_sample(path) == "");
}

CATCH_TEST_CASE("Open and read the run file that Python wrote", "[.open]") {
  const char* path = std::getenv("HEADROOM_SAMPLE_IN");
  CATCH_REQUIRE(path != nullptr);
  auto file = RunFile::open(path);
  Result<void> outcome;
  if (!file) {
    outcome = file.error();
  } else {
    // A dataset that claims to be huge is read at once, which must fail instead of taking all memory.
    constexpr std::int64_t kHuge = std::int64_t{1} << 40;
    for (const DatasetInfo& info : (*file)->datasets()) {
      if (element_count(info.shape) < kHuge) continue;
      const auto values = (*file)->read(info.path);
      if (!values) outcome = values.error();
    }
    if (outcome) outcome = (*file)->verify();
  }
  const std::string text =
      outcome ? "ok" : std::string(code_name(outcome.error().code)) + ": " + describe(outcome.error());
  std::printf("OUTCOME %s\n", text.c_str());
  CATCH_SUCCEED("the caller reads the outcome");
}

}  // namespace headroom::test
