// What a signal handler removes before it ends the process: in a child, which ends like that.
#include "core/base/temporary_files.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

int made(const std::filesystem::path& path) { return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }

// Runs the body in a child that then removes its temporary files and ends without destructors.
void in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  CATCH_REQUIRE(child >= 0);
  if (child == 0) {
    body();
    remove_temporary_files();
    _exit(7);
  }
  int status = 0;
  CATCH_REQUIRE(waitpid(child, &status, 0) == child);
  CATCH_CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
}

}  // namespace

CATCH_TEST_CASE("temporary files: those whose entries live are removed, moved ones too, and others stay") {
  const TempFolder folder;
  const auto path = [&](const char* name) { return folder.path() / name; };
  in_child([&] {
    static std::vector<TemporaryFileEntry> kept;
    kept.emplace_back(path("first"), made(path("first")));
    TemporaryFileEntry second(path("second"), made(path("second")));
    kept.push_back(std::move(second));
    {
      const TemporaryFileEntry gone(path("finished"), made(path("finished")));
    }
    TemporaryFileEntry replaced(path("replaced"), made(path("replaced")));
    replaced = TemporaryFileEntry(path("third"), made(path("third")));
    kept.push_back(std::move(replaced));
    (void)made(path("nobody's"));
  });
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) left.push_back(entry.path().filename());
  std::ranges::sort(left);
  CATCH_CHECK(left == std::vector<std::string>{"finished", "nobody's", "replaced"});
}

CATCH_TEST_CASE("temporary files: a file that took the name over stays, and so does what there is no room for") {
  const TempFolder folder;
  in_child([&] {
    static std::vector<TemporaryFileEntry> kept;
    const auto taken = folder.path() / "taken";
    kept.emplace_back(taken, made(taken));
    std::filesystem::rename(taken, folder.path() / "result");
    std::ofstream(taken) << "another process's";
    for (int i = 0; i < 100; ++i) {
      const auto path = folder.path() / std::to_string(i);
      kept.emplace_back(path, made(path));
    }
  });
  CATCH_CHECK(std::filesystem::exists(folder.path() / "taken"));
  CATCH_CHECK(std::filesystem::exists(folder.path() / "result"));
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "0"));
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "25"));
  CATCH_CHECK(std::filesystem::exists(folder.path() / "99"));
}

CATCH_TEST_CASE("temporary files: an end that is asked for while a file is made comes when its entry is there") {
  const TempFolder folder;
  in_child([&] {
    TemporaryFileEntry entry;
    {
      const TemporaryFileCreation creation;
      const int descriptor = made(folder.path() / "being made");
      end_without_temporary_files(7);
      std::ofstream(folder.path() / "went on");
      entry = TemporaryFileEntry(folder.path() / "being made", descriptor);
    }
    std::ofstream(folder.path() / "after the end");
  });
  CATCH_CHECK(std::filesystem::exists(folder.path() / "went on"));
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "being made"));
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "after the end"));
}

CATCH_TEST_CASE("temporary files: an end comes at once where none is made, and where it is asked for twice") {
  const TempFolder folder;
  for (const bool making : {false, true}) {
    in_child([&] {
      std::optional<TemporaryFileCreation> creation;
      if (making) {
        creation.emplace();
        end_without_temporary_files(8);
      }
      end_without_temporary_files(7);
      std::ofstream(folder.path() / "after the end");
    });
  }
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "after the end"));
}

}  // namespace headroom::test
