#include "core/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/core/io/child.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

using Inputs = std::vector<std::filesystem::path>;

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

ErrorCode create_error(const std::filesystem::path& target, bool force = true, const Inputs& inputs = {}) {
  const auto file = AtomicFile::create(target, force, inputs);
  CATCH_REQUIRE_FALSE(file);
  return file.error().code;
}

void put(const AtomicFile& file, const std::string& text) {
  CATCH_REQUIRE(write(file.descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

}  // namespace

CATCH_TEST_CASE("A file appears only at commit, and without it nothing stays") {
  const TempFolder folder;
  const auto target = folder.path() / "out.h5";
  {
    auto file = AtomicFile::create(target, false, {});
    CATCH_REQUIRE(file);
    put(*file, "half");
    CATCH_CHECK(file->temporary_path().parent_path() == folder.path());
    CATCH_CHECK_FALSE(std::filesystem::exists(target));
  }
  CATCH_CHECK(names_in(folder.path()).empty());
  {
    auto file = AtomicFile::create(target, false, {});
    CATCH_REQUIRE(file);
    put(*file, "whole");
    CATCH_REQUIRE(file->commit());
  }
  CATCH_CHECK(names_in(folder.path()) == std::set<std::string>{"out.h5"});
  CATCH_CHECK(content(target) == "whole");
}

CATCH_TEST_CASE("An existing target needs force and keeps its permissions") {
  const TempFolder folder;
  const auto target = folder.write("out.h5", "old");
  CATCH_CHECK(create_error(target, false) == ErrorCode::InvalidArgument);
  CATCH_REQUIRE(chmod(target.c_str(), 0640) == 0);
  auto file = AtomicFile::create(target, true, {});
  CATCH_REQUIRE(file);
  put(*file, "new");
  CATCH_CHECK(content(target) == "old");
  CATCH_REQUIRE(file->commit());
  CATCH_CHECK(content(target) == "new");
  struct stat status{};
  CATCH_REQUIRE(stat(target.c_str(), &status) == 0);
  CATCH_CHECK((status.st_mode & 0777) == 0640);
}

CATCH_TEST_CASE("An input is never the target, whatever its name") {
  const TempFolder folder;
  const auto input = folder.write("model.gguf", "weights");
  std::filesystem::create_hard_link(input, folder.path() / "hard");
  std::filesystem::create_symlink(input, folder.path() / "soft");
  std::filesystem::create_symlink("soft", folder.path() / "softer");
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "here");
  for (const char* name : {"model.gguf", "hard", "soft", "softer", "here/model.gguf", "./here/././model.gguf"}) {
    CATCH_INFO(name);
    CATCH_CHECK(create_error(folder.path() / name, true, {folder.path() / "absent", input}) ==
                ErrorCode::InvalidArgument);
  }
  // The input may itself be named by a link.
  CATCH_CHECK(create_error(input, true, {folder.path() / "softer"}) == ErrorCode::InvalidArgument);
  CATCH_CHECK(content(input) == "weights");
}

CATCH_TEST_CASE("What is not a regular file is never replaced") {
  const TempFolder folder;
  CATCH_CHECK(create_error(folder.path() / "absent" / "out.h5") == ErrorCode::Io);
  CATCH_CHECK(create_error(folder.path() / "absent" / "") == ErrorCode::Io);
  CATCH_CHECK(create_error(folder.path()) == ErrorCode::Io);
  CATCH_CHECK(create_error(folder.write("file", "") / "out.h5") == ErrorCode::Io);
  CATCH_CHECK(create_error("") == ErrorCode::InvalidArgument);
  const auto fifo = folder.path() / "fifo";
  CATCH_REQUIRE(mkfifo(fifo.c_str(), 0666) == 0);
  CATCH_CHECK(create_error(fifo) == ErrorCode::Io);
  std::filesystem::create_symlink("nowhere", folder.path() / "dangling");
  CATCH_CHECK(create_error(folder.path() / "dangling") == ErrorCode::Io);
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  CATCH_CHECK(create_error(folder.path() / "loop") == ErrorCode::Io);

  // As root, a node of our own stands for /dev/full; others cannot harm the real one.
  auto device = folder.path() / "full";
  if (mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0) device = "/dev/full";
  CATCH_CHECK(create_error(device) == ErrorCode::Io);
  std::filesystem::create_symlink(device, folder.path() / "to_device");
  CATCH_CHECK(create_error(folder.path() / "to_device") == ErrorCode::Io);
  CATCH_CHECK(std::filesystem::is_character_file(device));
  CATCH_CHECK(std::filesystem::is_fifo(fifo));
}

CATCH_TEST_CASE("Missing permission is said before any work") {
  const TempFolder folder;
  if (geteuid() == 0 && !folder.reachable_by_others()) {
    skip("permissions do not apply to root, and other users cannot enter the scratch folder");
    return;
  }
  const auto closed = folder.path() / "closed";
  std::filesystem::create_directory(closed);
  const auto read_only = folder.write("read_only.h5", "old");
  CATCH_REQUIRE(chmod(read_only.c_str(), 0444) == 0);
  CATCH_REQUIRE(chmod(closed.c_str(), 0555) == 0);
  CATCH_REQUIRE(chmod(folder.path().c_str(), 0777) == 0);
  const int code = run_child([&] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setuid(kNobody) != 0) return 90;
    const auto in_closed = AtomicFile::create(closed / "out.h5", false, {});
    if (in_closed || in_closed.error().code != ErrorCode::Io) return 1;
    const auto over_read_only = AtomicFile::create(read_only, true, {});
    if (over_read_only || over_read_only.error().code != ErrorCode::Io) return 2;
    const auto allowed = AtomicFile::create(folder.path() / "out.h5", false, {});
    return allowed ? 0 : 3;
  });
  CATCH_CHECK(code == 0);
  CATCH_CHECK(content(read_only) == "old");
  CATCH_CHECK(names_in(folder.path()) == std::set<std::string>{"closed", "read_only.h5"});
}

CATCH_TEST_CASE("A symbolic link to a file stays, and the file it names is replaced") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "data");
  const auto file_path = folder.write("data/real.h5", "old");
  std::filesystem::create_symlink("data/real.h5", folder.path() / "link.h5");
  auto file = AtomicFile::create(folder.path() / "link.h5", true, {});
  CATCH_REQUIRE(file);
  put(*file, "new");
  CATCH_REQUIRE(file->commit());
  CATCH_CHECK(std::filesystem::is_symlink(folder.path() / "link.h5"));
  CATCH_CHECK(content(file_path) == "new");
  CATCH_CHECK(names_in(folder.path() / "data") == std::set<std::string>{"real.h5"});
}

CATCH_TEST_CASE("The target changes while the file is written") {
  const TempFolder folder;
  const auto target = folder.path() / "out.h5";
  CATCH_SECTION("it appears") {
    auto file = AtomicFile::create(target, false, {});
    CATCH_REQUIRE(file);
    put(*file, "ours");
    folder.write("out.h5", "theirs");
    CATCH_CHECK(file->commit().error().code == ErrorCode::InvalidArgument);
    CATCH_CHECK(content(target) == "theirs");
  }
  CATCH_SECTION("it becomes a folder, a FIFO") {
    for (const bool forced : {false, true}) {
      auto file = AtomicFile::create(target, forced, {});
      CATCH_REQUIRE(file);
      std::filesystem::create_directory(target);
      CATCH_CHECK(file->commit().error().code == ErrorCode::Io);
      std::filesystem::remove(target);
      CATCH_REQUIRE(mkfifo(target.c_str(), 0666) == 0);
      CATCH_CHECK(file->commit().error().code == ErrorCode::Io);
      CATCH_CHECK(std::filesystem::is_fifo(target));
      std::filesystem::remove(target);
    }
  }
  CATCH_SECTION("somebody removes the temporary file") {
    auto file = AtomicFile::create(target, false, {});
    CATCH_REQUIRE(file);
    std::filesystem::remove(file->temporary_path());
    CATCH_CHECK(file->commit().error().code == ErrorCode::Io);
  }
  for (const std::string& name : names_in(folder.path())) CATCH_CHECK(name == "out.h5");
}

CATCH_TEST_CASE("One writer per target") {
  const TempFolder folder;
  auto first = AtomicFile::create(folder.path() / "out.h5", false, {});
  CATCH_REQUIRE(first);
  CATCH_CHECK(create_error(folder.path() / "out.h5") == ErrorCode::Io);
  CATCH_CHECK(run_child([&] {
                const auto second = AtomicFile::create(folder.path() / "out.h5", true, {});
                return second ? 1 : static_cast<int>(second.error().code == ErrorCode::Io ? 0 : 2);
              }) == 0);
  CATCH_CHECK(AtomicFile::create(folder.path() / "other.h5", false, {}));
  put(*first, "first");
  CATCH_REQUIRE(first->commit());
  CATCH_CHECK(content(folder.path() / "out.h5") == "first");
}

CATCH_TEST_CASE("What a killed writer left goes at the next start") {
  const TempFolder folder;
  const auto target = folder.write("out.h5", "old");
  const auto kill_one = [&] {
    CATCH_REQUIRE(run_child([&] {
                    auto file = AtomicFile::create(target, true, {});
                    if (!file || write(file->descriptor(), "half", 4) != 4) return 1;
                    raise(SIGKILL);
                    return 2;
                  }) == -SIGKILL);
    CATCH_CHECK(content(target) == "old");
    CATCH_REQUIRE(names_in(folder.path()).size() == 2);
  };
  CATCH_SECTION("one that is refused") {
    kill_one();
    CATCH_CHECK(create_error(target, false) == ErrorCode::InvalidArgument);
    CATCH_CHECK(names_in(folder.path()) == std::set<std::string>{"out.h5"});
  }
  CATCH_SECTION("one that writes, from an empty file") {
    kill_one();
    auto file = AtomicFile::create(target, true, {});
    CATCH_REQUIRE(file);
    put(*file, "n");
    CATCH_REQUIRE(file->commit());
    CATCH_CHECK(content(target) == "n");
    CATCH_CHECK(names_in(folder.path()) == std::set<std::string>{"out.h5"});
  }
}

CATCH_TEST_CASE("A planted temporary name harms no other file") {
  const TempFolder folder;
  const auto victim = folder.write("victim", "precious");
  const auto target = folder.path() / "out.h5";
  CATCH_SECTION("symbolic link") {
    std::filesystem::create_symlink(victim, temporary_name(target));
    CATCH_CHECK(create_error(target) == ErrorCode::Io);
  }
  CATCH_SECTION("hard link") {
    std::filesystem::create_hard_link(victim, temporary_name(target));
    auto file = AtomicFile::create(target, false, {});
    CATCH_REQUIRE(file);
    put(*file, "new");
    CATCH_REQUIRE(file->commit());
    CATCH_CHECK(content(target) == "new");
  }
  CATCH_CHECK(content(victim) == "precious");
}

CATCH_TEST_CASE("Names of 255 bytes, with any bytes") {
  const TempFolder folder;
  const std::string long_name(255, 'n');
  const std::string odd_name = "a\n\x1b[31m\xFF \"'.h5";
  for (const std::string& name : {long_name, odd_name}) {
    auto file = AtomicFile::create(folder.path() / name, false, {});
    CATCH_REQUIRE(file);
    CATCH_REQUIRE(file->commit());
    CATCH_CHECK(std::filesystem::exists(folder.path() / name));
  }
  CATCH_CHECK(temporary_name("x/" + long_name) != temporary_name("x/" + std::string(254, 'n') + "m"));
  CATCH_CHECK(temporary_name("out.h5").filename().string().size() < 255);
}

}  // namespace headroom::test
