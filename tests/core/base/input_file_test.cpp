#include "core/base/input_file.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

Error refusal(const fs::path& path) {
  auto result = InputFile::open(path);
  CATCH_REQUIRE(!result.has_value());
  return result.error();
}

std::string read_all(const InputFile& file) {
  std::string text(file.size_bytes(), '\0');
  CATCH_REQUIRE(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))).has_value());
  return text;
}

// Another user for the scope, since permissions do not bind root.
class OtherUser {
 public:
  OtherUser() : changed_(geteuid() == 0 && seteuid(65534) == 0) {}
  ~OtherUser() {
    if (changed_ && seteuid(0) != 0) std::abort();
  }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;

 private:
  bool changed_;
};

}  // namespace

CATCH_TEST_CASE("catalogue 1: a path that does not exist names the nearest folder that does") {
  const TempFolder folder;
  const Error error = refusal(folder.path() / "no" / "such" / "model.safetensors");
  CATCH_CHECK(error.code == ErrorCode::NotFound);
  CATCH_CHECK(exit_code(error.code) == 5);
  CATCH_CHECK(error.hint == "the nearest folder that exists is " + folder.path().string());
  folder.write("file", "x");
  CATCH_CHECK(refusal(folder.path() / "file" / "below").code == ErrorCode::NotFound);
  CATCH_CHECK(refusal(fs::path("no-such-folder-here") / "x").code == ErrorCode::NotFound);
}

CATCH_TEST_CASE("catalogue 2: permission denied says which permission") {
  const TempFolder folder;
  if (geteuid() == 0 && !folder.reachable_by_others()) {
    skip("permissions do not apply to root, and other users cannot enter the scratch folder");
    return;
  }
  const fs::path file = folder.write("secret", "x");
  fs::create_directory(folder.path() / "closed");
  folder.write("closed/inside", "x");
  fs::permissions(file, fs::perms::none);
  fs::permissions(folder.path() / "closed", fs::perms::none);
  fs::permissions(folder.path(), fs::perms::all);
  Error unreadable;
  Error closed;
  {
    const OtherUser user;
    unreadable = refusal(file);
    closed = refusal(folder.path() / "closed" / "inside");
  }
  fs::permissions(folder.path() / "closed", fs::perms::owner_all);
  CATCH_CHECK(unreadable.code == ErrorCode::Io);
  CATCH_CHECK(unreadable.expected == "read permission");
  CATCH_CHECK(closed.code == ErrorCode::Io);
  CATCH_CHECK(closed.message == "No permission to enter the folder " + (folder.path() / "closed").string());
}

CATCH_TEST_CASE("catalogue 5: pipes, sockets, devices and folders are refused before anything is read") {
  const TempFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  CATCH_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const fs::path socket_path = folder.path() / "socket";
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  CATCH_REQUIRE(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  struct Case {
    fs::path path;
    const char* kind;
  };
  for (const Case& test : {Case{pipe, "a pipe"}, Case{socket_path, "a socket"}, Case{"/dev/zero", "a character device"},
                           Case{"/dev/full", "a character device"}, Case{folder.path(), "a folder"}}) {
    CATCH_INFO(test.kind);
    const Error error = refusal(test.path);
    CATCH_CHECK(error.code == ErrorCode::Corrupt);
    CATCH_CHECK(error.message == "Not a regular file");
    CATCH_CHECK(error.found == test.kind);
  }
  close(descriptor);
}

CATCH_TEST_CASE("catalogue 6: a symlink loop and a dangling link are clear errors") {
  const TempFolder folder;
  fs::create_symlink("b", folder.path() / "a");
  fs::create_symlink("a", folder.path() / "b");
  fs::create_symlink("gone.safetensors", folder.path() / "link");
  const Error loop = refusal(folder.path() / "a");
  CATCH_CHECK(exit_code(loop.code) == 5);
  CATCH_CHECK(loop.message == "The symbolic links form a loop");
  const Error dangling = refusal(folder.path() / "link");
  CATCH_CHECK(exit_code(dangling.code) == 5);
  CATCH_CHECK(dangling.message == "The link points to nothing");
  CATCH_CHECK(dangling.found == "gone.safetensors");
}

CATCH_TEST_CASE("catalogue 7: any name opens, and is shown without control characters") {
  const TempFolder folder;
  const std::vector<std::string> names = {"a b 'c' \"d\"", "line\nbreak",  "esc\x1b[31mred",
                                          "rtl\u202Eexe",  "\xFF\xFE raw", std::string(255, 'n')};
  for (const std::string& name : names) {
    const fs::path file = folder.write(name, "content");
    auto opened = InputFile::open(file);
    CATCH_REQUIRE(opened.has_value());
    CATCH_CHECK(read_all(*opened) == "content");
    CATCH_CHECK(opened->path() == file);
  }
  const std::string shown = describe(refusal(folder.path() / "esc\x1b[31m\n\u202E"));
  CATCH_CHECK(shown.find('\x1b') == std::string::npos);
  CATCH_CHECK(shown.find('\n') == std::string::npos);
  CATCH_CHECK(shown.find("\u202E") == std::string::npos);
  CATCH_CHECK(refusal(folder.path() / std::string(256, 'n')).code == ErrorCode::NotFound);
}

CATCH_TEST_CASE("catalogue 9 and 11: a replaced or deleted file goes on being read") {
  const TempFolder folder;
  const fs::path path = folder.write("file", "first");
  auto file = InputFile::open(path);
  CATCH_REQUIRE(file.has_value());
  CATCH_CHECK(!file->replaced_on_disk());
  fs::rename(folder.write("other", "second"), path);
  CATCH_CHECK(file->replaced_on_disk());
  CATCH_CHECK(read_all(*file) == "first");
  fs::remove(path);
  CATCH_CHECK(file->replaced_on_disk());
  CATCH_CHECK(read_all(*file) == "first");
}

CATCH_TEST_CASE("catalogue 10: a file truncated, extended or rewritten while open is reported") {
  const TempFolder folder;
  const auto change = [&](const char* name, auto action) {
    const fs::path path = folder.write(name, "0123456789");
    auto file = InputFile::open(path);
    CATCH_REQUIRE(file.has_value());
    action(path);
    std::array<std::byte, 4> out{};
    auto result = file->read_at(0, out);
    CATCH_INFO(name);
    CATCH_REQUIRE(!result.has_value());
    CATCH_CHECK(exit_code(result.error().code) == 5);
    CATCH_CHECK(result.error().message.find("changed on disk") != std::string::npos);
  };
  change("truncated", [](const fs::path& path) { fs::resize_file(path, 3); });
  change("extended", [](const fs::path& path) { fs::resize_file(path, 20); });
  change("touched",
         [](const fs::path& path) { fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(5)); });
}

CATCH_TEST_CASE("reads outside of the file are refused, at 64-bit limits too") {
  const TempFolder folder;
  auto file = InputFile::open(folder.write("file", "0123456789"));
  CATCH_REQUIRE(file.has_value());
  std::array<std::byte, 4> out{};
  CATCH_CHECK(file->read_at(6, out).has_value());
  CATCH_CHECK(std::to_integer<char>(out[0]) == '6');
  for (const std::uint64_t offset : {7ULL, 10ULL, 11ULL, 1ULL << 63, ~0ULL, ~0ULL - 3})
    CATCH_CHECK(!file->read_at(offset, out).has_value());
  InputFile moved = std::move(*file);
  CATCH_CHECK(moved.read_at(0, out).has_value());
}

CATCH_TEST_CASE("text files have a size limit") {
  const TempFolder folder;
  const fs::path path = folder.write("text", "12345");
  CATCH_CHECK(read_text_file(path, 5).value() == "12345");
  const auto refused = read_text_file(path, 4);
  CATCH_REQUIRE(!refused.has_value());
  CATCH_CHECK(refused.error().code == ErrorCode::OutOfMemory);
}

}  // namespace headroom::test
