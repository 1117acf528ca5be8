// A full disk, a file size limit, kill -9 and giving up: the old file stays, or the new one is whole.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/io/run_file.h"
#include "tests/core/io/child.h"
#include "tests/core/io/sample_file.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

enum Outcome : int { Written = 0, RefusedAsIo = 10, RefusedOtherwise = 11, NoNumbers = 12, DoesNotRead = 13 };

// Writes the sample over `path`; says how it went.
int try_sample(const std::filesystem::path& path) {
  auto writer = RunFileWriter::create(path, {.force = true, .inputs = {}});
  Result<void> outcome;
  if (!writer) {
    outcome = writer.error();
  } else {
    std::string failure;
    if (!fill_sample(**writer, failure)) {
      // The error is kept for every later call.
      outcome = (*writer)->commit();
      if (outcome) return RefusedOtherwise;
    } else {
      outcome = (*writer)->commit();
    }
  }
  if (outcome) return RunFile::open(path) ? Written : DoesNotRead;
  if (outcome.error().code != ErrorCode::Io) return RefusedOtherwise;
  const std::string& message = outcome.error().message;
  return message.find("needs at least ") != std::string::npos && message.find(", has ") != std::string::npos
             ? RefusedAsIo
             : NoNumbers;
}

}  // namespace

CATCH_TEST_CASE("A file size limit at any byte leaves the old file, or writes the new one") {
  const TempFolder folder;
  CATCH_REQUIRE(write_sample(folder.path() / "measure.h5") == "");
  const auto size = static_cast<rlim_t>(std::filesystem::file_size(folder.path() / "measure.h5"));
  const std::string whole = content(folder.path() / "measure.h5");
  std::filesystem::remove(folder.path() / "measure.h5");
  int refused = 0;
  int written = 0;
  // From nothing (the header) over the chunks to what is written at closing.
  for (rlim_t step = 0; step <= 88; ++step) {
    const rlim_t limit = size * step / 80 + (step % 3);
    const bool ignore_signal = step % 2 == 0;
    const auto path = folder.write("run.h5", "the old file");
    const int outcome = run_child([&] {
      if (ignore_signal) signal(SIGXFSZ, SIG_IGN);
      const rlimit value{limit, limit};
      if (setrlimit(RLIMIT_FSIZE, &value) != 0) return 90;
      return try_sample(path);
    });
    CATCH_INFO("limit " << limit << " of " << size << ", SIGXFSZ ignored: " << ignore_signal);
    CATCH_CHECK((outcome == Written || outcome == RefusedAsIo));
    if (outcome == Written) ++written;
    if (outcome == RefusedAsIo) ++refused;
    CATCH_CHECK((content(path) == (outcome == Written ? whole : "the old file")));
    CATCH_CHECK(files_in(folder.path()) == 1);
  }
  CATCH_CHECK(refused >= 76);
  CATCH_CHECK(written >= 2);
}

CATCH_TEST_CASE("A full disk leaves the old file, or writes the new one") {
  const TempFolder folder;
  const int code = run_child([&] {
    // A small file system of our own, seen by this child only.
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    int refused = 0;
    int written = 0;
    for (int kib = 4; kib <= 256; kib += 12) {
      const std::string options = "size=" + std::to_string(kib) + "k";
      if (mount("headroom-test", folder.path().c_str(), "tmpfs", 0, options.c_str()) != 0) return 77;
      // Written without blocks of its own: an empty old file fits on any disk.
      const auto path = folder.write("run.h5", "");
      const int outcome = try_sample(path);
      if (outcome == RefusedAsIo) ++refused;
      if (outcome == Written) ++written;
      const bool as_promised = outcome == Written ? std::filesystem::file_size(path) > 0
                                                  : outcome == RefusedAsIo && std::filesystem::file_size(path) == 0;
      if (!as_promised || files_in(folder.path()) != 1) return 1;
      if (umount(folder.path().c_str()) != 0) return 2;
    }
    return refused >= 5 && written >= 5 ? 0 : 3;
  });
  if (code == 77) {
    skip("no right to mount a small file system here");
    return;
  }
  CATCH_CHECK(code == 0);
}

CATCH_TEST_CASE("kill -9 at any moment leaves the old or the new file whole") {
  const TempFolder folder;
  const auto path = folder.path() / "run.h5";
  CATCH_REQUIRE(write_sample(path) == "");
  const std::string whole = content(path);
  int killed = 0;
  for (int i = 0; i < 25; ++i) {
    const pid_t child = start_child([&] {
      for (;;) {
        if (write_sample(path, true) != "") return 1;
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(1500 * i + 100));
    CATCH_REQUIRE(kill(child, SIGKILL) == 0);
    if (wait_for(child) == -SIGKILL) ++killed;
    CATCH_CHECK((content(path) == whole));
    CATCH_CHECK(files_in(folder.path()) <= 2);
  }
  CATCH_CHECK(killed == 25);
  CATCH_CHECK(write_sample(path, true) == "");
  CATCH_CHECK(files_in(folder.path()) == 1);
}

CATCH_TEST_CASE("A writer that is given up leaves nothing and the old file") {
  const TempFolder folder;
  const auto path = folder.write("run.h5", "old");
  {
    auto writer = RunFileWriter::create(path, {.force = true, .inputs = {}});
    CATCH_REQUIRE(writer);
    std::string failure;
    CATCH_REQUIRE(fill_sample(**writer, failure));
    CATCH_CHECK(std::filesystem::exists((*writer)->temporary_path()));
    CATCH_CHECK(content(path) == "old");
  }
  CATCH_CHECK(files_in(folder.path()) == 1);
  CATCH_CHECK(content(path) == "old");
}

CATCH_TEST_CASE("The writer checks its target first and holds it") {
  const TempFolder folder;
  const auto input = folder.write("model.safetensors", "weights");
  const auto code = [](const std::filesystem::path& path, bool force, std::vector<std::filesystem::path> inputs) {
    const auto writer = RunFileWriter::create(path, {force, std::move(inputs)});
    CATCH_REQUIRE_FALSE(writer);
    return exit_code(writer.error().code);
  };
  CATCH_CHECK(code(input, true, {input}) == 2);
  CATCH_CHECK(code(input, false, {}) == 2);
  CATCH_CHECK(code(folder.path(), true, {}) == 5);
  CATCH_CHECK(code(folder.path() / "absent" / "run.h5", true, {}) == 5);
  const auto holder = RunFileWriter::create(folder.path() / "run.h5", {});
  CATCH_REQUIRE(holder);
  CATCH_CHECK(code(folder.path() / "run.h5", true, {}) == 5);
}

}  // namespace headroom::test
