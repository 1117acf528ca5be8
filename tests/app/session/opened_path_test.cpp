#include "app/session/opened_path.h"

#include <filesystem>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {

CATCH_TEST_CASE("opened paths: a sequence of a capture, the base of an adapter") {
  const OpenedPath sequence = parse_opened_path("calls.safetensors::S12");
  CATCH_CHECK((sequence.path == "calls.safetensors" && sequence.sequence == 12 && sequence.base.empty()));
  const OpenedPath adapter = parse_opened_path(with_base("a::b", "/models/x::S3"));
  CATCH_CHECK((adapter.path == "a::b" && adapter.sequence == 0 && adapter.base == "/models/x::S3"));
  for (const char* whole : {"calls::S", "calls::S-1", "calls::S1x", "calls::L3", ""})
    CATCH_CHECK((parse_opened_path(whole).path == whole && parse_opened_path(whole).sequence == 0));
}

CATCH_TEST_CASE("opened paths: a path that exists is what it says") {
  const TempFolder folder;
  const std::filesystem::path file = folder.write("x::S1", "");
  CATCH_CHECK(parse_opened_path(file.string()).path == file.string());
}

CATCH_TEST_CASE("opened paths: a base becomes absolute") {
  const OpenedPath adapter = parse_opened_path(with_base("a", "b/../c"));
  CATCH_CHECK(adapter.base == (std::filesystem::current_path() / "c").string());
}

}  // namespace headroom::test
