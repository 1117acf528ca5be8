// Which program shows a file, with which arguments; stand-ins write down how they were called.
#include "app/session/file_manager.h"

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "app/session/session.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class Programs {
 public:
  // A program that writes its arguments, one a line, and ends with `code`.
  void add(const std::string& name, int code) {
    const fs::path path = folder_.path() / "bin" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" << (folder_.path() / name).string() << "'\nexit "
                        << code << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  [[nodiscard]] Desktop desktop(std::string bus, std::string name) const {
    return {"/no/such/folder:" + (folder_.path() / "bin").string(), std::move(bus), std::move(name)};
  }
  [[nodiscard]] Words arguments(const std::string& name) const {
    Words out;
    std::ifstream file(folder_.path() / name);
    for (std::string line; std::getline(file, line);) out.push_back(line);
    return out;
  }
  [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

CATCH_TEST_CASE("a file manager is asked only where there is a desktop and a program to ask with", "[file manager]") {
  Programs programs;
  CATCH_CHECK(file_manager_missing(programs.desktop("", "")).find("no desktop") != std::string::npos);
  CATCH_CHECK(file_manager_missing(programs.desktop("unix:path=/bus", "GNOME")).find("gdbus") != std::string::npos);
  programs.add("xdg-open", 0);
  CATCH_CHECK(file_manager_missing(programs.desktop("", "")).find("no desktop") != std::string::npos);
  CATCH_CHECK(file_manager_missing(programs.desktop("", "GNOME")).empty());
  // A bus alone is no desktop for xdg-open, which would begin a browser.
  CATCH_CHECK_FALSE(file_manager_missing(programs.desktop("unix:path=/bus", "")).empty());
  programs.add("dbus-send", 0);
  CATCH_CHECK(file_manager_missing(programs.desktop("unix:path=/bus", "")).empty());
}

CATCH_TEST_CASE("a path as a URI: nothing in it can end a word, a text or a list", "[file manager]") {
  CATCH_CHECK(file_uri("/a/b-c_d.e~1") == "file:///a/b-c_d.e~1");
  CATCH_CHECK(file_uri("/a b,c'd\"e]f%\n\xC3\xBC$`") == "file:///a%20b%2Cc%27d%22e%5Df%25%0A%C3%BC%24%60");
}

CATCH_TEST_CASE("a file is shown over the bus, by gdbus before dbus-send, and the folder by xdg-open where that fails",
                "[file manager]") {
  Programs programs;
  const std::string path = (programs.folder() / "it's; a $(model), \"x\".gguf").string();
  std::ofstream(path) << "x";
  programs.add("gdbus", 0);
  programs.add("dbus-send", 0);
  programs.add("xdg-open", 0);
  const Desktop desktop = programs.desktop("unix:path=/bus", "KDE");
  CATCH_REQUIRE(show_in_file_manager(desktop, path).has_value());
  const Words called = programs.arguments("gdbus");
  CATCH_REQUIRE(called.size() >= 3);
  CATCH_CHECK(called[0] == "call");
  CATCH_CHECK(called[called.size() - 3] == "org.freedesktop.FileManager1.ShowItems");
  CATCH_CHECK(called[called.size() - 2] == "['" + file_uri(path) + "']");
  CATCH_CHECK(called.back().empty());  // no startup notification
  CATCH_CHECK(programs.arguments("dbus-send").empty());
  CATCH_CHECK(programs.arguments("xdg-open").empty());

  programs.add("gdbus", 1);
  CATCH_REQUIRE(show_in_file_manager(desktop, path).has_value());
  CATCH_CHECK(programs.arguments("xdg-open") == Words{programs.folder().string()});

  programs.add("xdg-open", 4);
  const auto failed = show_in_file_manager(desktop, path);
  CATCH_REQUIRE_FALSE(failed.has_value());
  CATCH_CHECK(failed.error().message.find("xdg-open ended with 4") != std::string::npos);
  CATCH_CHECK(failed.error().file == path);

  fs::remove(programs.folder() / "bin" / "gdbus");
  CATCH_REQUIRE(show_in_file_manager(desktop, path).has_value());
  CATCH_CHECK(programs.arguments("dbus-send").back() == "string:");
  CATCH_CHECK(programs.arguments("dbus-send")[programs.arguments("dbus-send").size() - 2] ==
              "array:string:" + file_uri(path));
}

CATCH_TEST_CASE("what is gone is looked for in the nearest folder that is there", "[file manager]") {
  Programs programs;
  programs.add("xdg-open", 0);
  CATCH_REQUIRE(show_in_file_manager(programs.desktop("", "XFCE"), (programs.folder() / "gone" / "model.gguf").string())
                    .has_value());
  CATCH_CHECK(programs.arguments("xdg-open") == Words{programs.folder().string()});
}

CATCH_TEST_CASE("file.show is off without a desktop, says why, and does not hold the session up", "[file manager]") {
  Programs programs;
  {
    Session session({});
    const auto refused = session.execute("file.show /etc/hostname");
    CATCH_REQUIRE_FALSE(refused.has_value());
    CATCH_CHECK(refused.error().message.find("without a desktop") != std::string::npos);
  }
  Session::Options options;
  options.no_file_manager.clear();
  Session session(options);
  const auto nothing = session.execute("file.show");
  CATCH_REQUIRE_FALSE(nothing.has_value());
  CATCH_CHECK(nothing.error().message.find("nothing is open") != std::string::npos);

  // A file manager that takes its time: until it is told to end.
  const fs::path slow = programs.folder() / "bin" / "xdg-open", told = programs.folder() / "told";
  fs::create_directories(slow.parent_path());
  std::ofstream(slow) << "#!/bin/sh\nwhile [ ! -e '" << told.string() << "' ]; do sleep 0.02; done\nexit 3\n";
  fs::permissions(slow, fs::perms::owner_all);
  const Desktop before = desktop_of_environment();
  setenv("PATH", (slow.parent_path().string() + ":" + before.programs).c_str(), 1);
  setenv("XDG_CURRENT_DESKTOP", "TEST", 1);
  unsetenv("DBUS_SESSION_BUS_ADDRESS");
  CATCH_REQUIRE(session.execute("file.show /etc").has_value());
  CATCH_CHECK(session.busy());
  CATCH_CHECK_FALSE(fs::exists(told));
  std::ofstream(told) << "end";
  for (int i = 0; i < 1000 && session.busy(); ++i) {
    usleep(10000);
    session.update(0.0);
  }
  CATCH_CHECK_FALSE(session.busy());
  CATCH_REQUIRE_FALSE(session.state().messages.empty());
  CATCH_CHECK(session.state().messages.back().text.find("xdg-open ended with 3") != std::string::npos);
  setenv("PATH", before.programs.c_str(), 1);
  if (before.name.empty()) unsetenv("XDG_CURRENT_DESKTOP");
  if (!before.session_bus.empty()) setenv("DBUS_SESSION_BUS_ADDRESS", before.session_bus.c_str(), 1);
}

}  // namespace
}  // namespace headroom::test
