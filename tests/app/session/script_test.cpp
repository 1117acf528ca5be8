// When a script runs its next line: what `wait`, `sleep`, `until` and opening hold back, and what a failure names.
#include "app/session/script.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom::test {
namespace {

class ScriptBench {
 public:
  explicit ScriptBench(const std::string& text) : session_(options()) {
    const std::filesystem::path path = folder_.path() / "the.script";
    std::ofstream(path) << text;
    auto read = Script::read(path, session_.commands());
    CATCH_REQUIRE(read.has_value());
    script_ = std::move(*read);
    around.drawn = true;
  }

  // Whether a line ran; a failure is kept in `error`.
  bool step(double now_s = 0.0) {
    around.now_s = now_s;
    const Result<bool> result = script_.step(session_, facts, around);
    if (!result) error = describe(result.error());
    return script_.ran_line();
  }
  [[nodiscard]] std::string blamed(const Error& of) const { return describe(script_.blamed(of)); }
  [[nodiscard]] bool finished() const { return script_.finished(); }
  [[nodiscard]] bool dark() const { return session_.state().settings.dark; }

  Facts facts;
  Script::Surroundings around;
  std::string error;

 private:
  static Session::Options options() {
    Session::Options options;
    options.program = "headroom test";
    return options;
  }
  TempFolder folder_;
  Session session_;
  Script script_;
};

CATCH_TEST_CASE("A script waits until nothing runs and what is seen is up to date", "[script]") {
  ScriptBench bench("wait\ntheme light  # a comment\n");
  bench.around.busy = true;
  CATCH_CHECK_FALSE(bench.step());
  bench.around.busy = false;
  bench.around.drawn = false;
  CATCH_CHECK_FALSE(bench.step());
  bench.around.drawn = true;
  CATCH_CHECK(bench.step());
  CATCH_CHECK(bench.dark());
  CATCH_CHECK(bench.step());
  CATCH_CHECK_FALSE(bench.dark());
  CATCH_CHECK(bench.finished());
}

CATCH_TEST_CASE("A wait that is given seconds fails after them", "[script]") {
  ScriptBench bench("\nwait 2\n");
  bench.around.busy = true;
  CATCH_CHECK_FALSE(bench.step(10.0));
  CATCH_CHECK_FALSE(bench.step(11.9));
  CATCH_CHECK(bench.error.empty());
  CATCH_CHECK_FALSE(bench.step(12.1));
  CATCH_CHECK(bench.error.find("line 2, wait 2") != std::string::npos);
  CATCH_CHECK(bench.error.find("the.script") != std::string::npos);
}

CATCH_TEST_CASE("A script sleeps while other things go on", "[script]") {
  ScriptBench bench("sleep 0.5\ntheme light\n");
  CATCH_CHECK(bench.step(3.0));
  CATCH_CHECK_FALSE(bench.step(3.4));
  CATCH_CHECK(bench.step(3.6));
  CATCH_CHECK_FALSE(bench.dark());
}

CATCH_TEST_CASE("A script holds until a fact does", "[script]") {
  ScriptBench bench("until run.layers >= 1\ntheme light\n");
  CATCH_CHECK_FALSE(bench.step(0.0));  // there is no such fact yet
  bench.facts.set("run.layers", 0.0);
  CATCH_CHECK_FALSE(bench.step(1.0));
  bench.facts.set("run.layers", 2.0);
  CATCH_CHECK(bench.step(2.0));
  CATCH_CHECK(bench.error.empty());

  ScriptBench never("until run.layers >= 1\n");
  never.facts.set("run.layers", 0.0);
  CATCH_CHECK_FALSE(never.step(0.0));
  CATCH_CHECK_FALSE(never.step(10000.0));
  CATCH_CHECK(never.error.find("found 0") != std::string::npos);
}

CATCH_TEST_CASE("What follows an open speaks of what was opened, unless it came after a sleep", "[script]") {
  ScriptBench bench("expect a == 1\n");
  bench.facts.set("a", 1.0);
  bench.around.opening = true;
  CATCH_CHECK_FALSE(bench.step());
  bench.around.opening = false;
  CATCH_CHECK(bench.step());

  ScriptBench looking("sleep 0\nexpect a == 1\nexpect a == 1\ntheme light\n");
  looking.facts.set("a", 1.0);
  looking.around.opening = true;
  CATCH_CHECK(looking.step());
  CATCH_CHECK(looking.step());
  CATCH_CHECK(looking.step());
  CATCH_CHECK_FALSE(looking.step());
  looking.around.opening = false;
  CATCH_CHECK(looking.step());
}

CATCH_TEST_CASE("An expectation that fails names its line, its file and what was found", "[script]") {
  ScriptBench bench("# first\ntheme light\nexpect theme == dark\n");
  bench.facts.set("theme", std::string("light"));
  CATCH_CHECK(bench.step());
  CATCH_CHECK_FALSE(bench.step());
  for (const char* part : {"line 3, expect theme == dark", "found light", "the.script"}) {
    CATCH_CAPTURE(part, bench.error);
    CATCH_CHECK(bench.error.find(part) != std::string::npos);
  }
}

CATCH_TEST_CASE("A failure about a file of its own names the script's file and line beside it", "[script]") {
  const auto names_all = [](const std::string& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts) {
      CATCH_CAPTURE(part, text);
      CATCH_CHECK(text.find(part) != std::string::npos);
    }
  };
  ScriptBench bench("wait\nscreenshot /proc/nowhere/shot.png\nwait\n");
  CATCH_CHECK(bench.step());
  CATCH_CHECK(bench.step());
  names_all(bench.blamed(Error(ErrorCode::Io, "No such folder").in_file("/proc/nowhere/shot.png")),
            {"the.script, line 2, screenshot /proc/nowhere/shot.png: No such folder", "(/proc/nowhere/shot.png)"});
  names_all(bench.blamed(Error(ErrorCode::Io, "No picture")), {"line 2, screenshot", "the.script)"});
}

CATCH_TEST_CASE("Facts are compared as numbers where both are, else as texts", "[script]") {
  Facts facts;
  facts.set("n", 2.5);
  facts.set("nan", std::nan(""));
  facts.set("text", std::string("12 keys"));
  const auto holds = [&](std::vector<std::string> words) { return check_fact(facts, words).empty(); };
  CATCH_CHECK(holds({"n", "==", "2.5"}));
  CATCH_CHECK(holds({"n", "<", "10"}));  // not as texts, where "2" > "10"
  CATCH_CHECK(holds({"n", "~", "2.5000001"}));
  CATCH_CHECK_FALSE(holds({"n", "~", "2.5001"}));
  CATCH_CHECK_FALSE(holds({"n", ">", "2.5"}));
  CATCH_CHECK(holds({"n", ">=", "2.5"}));
  CATCH_CHECK(holds({"nan", "==", "nan"}));
  CATCH_CHECK_FALSE(holds({"nan", ">", "0"}));
  CATCH_CHECK(holds({"text", "~", "keys"}));
  CATCH_CHECK_FALSE(holds({"text", "==", "keys"}));
  CATCH_CHECK_FALSE(holds({"text", "<", "z"}));
  CATCH_CHECK_FALSE(holds({"none", "==", "1"}));
  CATCH_CHECK_FALSE(holds({"n", "=", "2.5"}));
  CATCH_CHECK_FALSE(holds({"n", "=="}));
}

}  // namespace
}  // namespace headroom::test
