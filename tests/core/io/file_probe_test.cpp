#include "core/io/file_probe.h"

#include <filesystem>
#include <string>
#include <vector>

#include "core/io/run_file.h"
#include "tests/core/io/sample_file.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

std::vector<std::string> asked;  // names of files
bool survives = true;

Result<void> note_and_answer(const std::filesystem::path& path) {
  asked.push_back(path.filename().string());
  if (survives) return {};
  return Error(ErrorCode::Corrupt, "crashed").in_file(path.string());
}

struct InstalledProbe {
  InstalledProbe() {
    asked.clear();
    survives = true;
    set_file_probe(note_and_answer);
  }
  ~InstalledProbe() { set_file_probe(nullptr); }
};

}  // namespace

CATCH_TEST_CASE("Another process reads a file before HDF5 does here, once as long as it stays the same") {
  const TempFolder folder;
  const InstalledProbe installed;
  CATCH_REQUIRE(write_sample(folder.path() / "run.h5") == "");
  CATCH_CHECK(asked.empty());  // what the writer reads back is its own
  CATCH_REQUIRE(RunFile::open(folder.path() / "run.h5"));
  CATCH_CHECK(claims_to_be_run_file(folder.path() / "run.h5"));
  CATCH_REQUIRE(RunFile::open(folder.path() / "run.h5"));
  CATCH_CHECK(asked == std::vector<std::string>{"run.h5"});
  CATCH_CHECK_FALSE(RunFile::open(folder.write("text.h5", "no HDF5 at all")));
  CATCH_CHECK_FALSE(RunFile::open(folder.path() / "absent.h5"));
  CATCH_CHECK(asked.size() == 1);
  std::filesystem::copy_file(folder.path() / "run.h5", folder.path() / "other.h5");
  std::filesystem::rename(folder.path() / "other.h5", folder.path() / "run.h5");
  CATCH_REQUIRE(RunFile::open(folder.path() / "run.h5"));
  CATCH_CHECK(asked.size() == 2);
}

CATCH_TEST_CASE("A file that the other process crashed on is not opened") {
  const TempFolder folder;
  const InstalledProbe installed;
  CATCH_REQUIRE(write_sample(folder.path() / "run.h5") == "");
  survives = false;
  const auto file = RunFile::open(folder.path() / "run.h5");
  CATCH_REQUIRE_FALSE(file);
  CATCH_CHECK(file.error().message == "crashed");
  CATCH_CHECK(claims_to_be_run_file(folder.path() / "run.h5"));  // so that opening it says why
  CATCH_CHECK(asked.size() == 1);
}

}  // namespace headroom::test
