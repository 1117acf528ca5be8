// What is open is kept while the program runs, found by the next one where this one crashed, and only then.
#include "app/session/kept_session.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/commands.h"
#include "app/session/session.h"
#include "tests/app/session/session_bench.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace headroom {
namespace {

using test::SessionBench;
using test::TempFolder;

std::unique_ptr<SessionKeeper> keeper(const TempFolder& folder, const std::string& name) {
  auto made = SessionKeeper::create(folder.path(), name);
  CATCH_REQUIRE(made.has_value());
  return std::move(*made);
}

SavedSession session_of(const std::string& path) {
  SavedSession session;
  session.files.push_back({path, 0});
  return session;
}

std::string shown_file(const std::filesystem::path& path) {
  const auto session = load_session(path);
  return session ? session->files[session->shown].path : describe(session.error());
}

CATCH_TEST_CASE("kept session: a crash leaves it to be found once and quitting leaves it as the last one") {
  const TempFolder folder;
  const SavedSession first = session_of("/models/a"), second = session_of("/models/b");
  auto crashed = keeper(folder, "100-1"), running = keeper(folder, "200-2"), empty = keeper(folder, "300-3");
  CATCH_REQUIRE(crashed->keep(&first).has_value());
  CATCH_REQUIRE(running->keep(&second).has_value());
  const auto written = std::filesystem::last_write_time(folder.path() / "200-2.headroom");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CATCH_REQUIRE(running->keep(&second).has_value());
  CATCH_CHECK(std::filesystem::last_write_time(folder.path() / "200-2.headroom") == written);  // nothing has changed
  crashed.reset();
  empty.reset();  // nothing was open: nothing to tell
  {
    std::ofstream report(crash_report_path(folder.path(), "100-1"));
    report << "ended by signal 11 (SIGSEGV)\nmore\n";
  }
  const auto next = keeper(folder, "400-4");
  const std::vector<LostSession> lost = next->take_lost();
  CATCH_REQUIRE(lost.size() == 1);
  CATCH_CHECK(shown_file(lost[0].session) == "/models/a");
  CATCH_CHECK(lost[0].why == "ended by signal 11 (SIGSEGV)");
  CATCH_CHECK(lost[0].report.filename() == "100-1.crash.txt");
  CATCH_CHECK(lost[0].ended_unix > 1'700'000'000);
  CATCH_CHECK(next->take_lost().empty());
  CATCH_CHECK(std::filesystem::exists(folder.path() / "100-1.headroom"));  // told of, and still there
  // Quitting: the last session, and nothing lost.
  running->leave();
  running.reset();
  CATCH_CHECK(next->take_lost().empty());
  CATCH_CHECK(shown_file(last_session_path(folder.path())) == "/models/b");
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "200-2.headroom"));
  // Nothing is open any more: there is nothing that a crash could lose.
  CATCH_REQUIRE(next->keep(&first).has_value());
  CATCH_REQUIRE(next->keep(nullptr).has_value());
  CATCH_CHECK_FALSE(std::filesystem::exists(folder.path() / "400-4.headroom"));
}

CATCH_TEST_CASE("kept session: the newest five that were lost stay and those of running programs are left alone") {
  const TempFolder folder;
  const SavedSession session = session_of("/models/a");
  const auto running = keeper(folder, "050-1");
  CATCH_REQUIRE(running->keep(&session).has_value());
  for (int i = 0; i < 8; ++i) {
    const auto crashed = keeper(folder, std::to_string(100 + i) + "-1");
    CATCH_REQUIRE(crashed->keep(&session).has_value());
  }
  const auto next = keeper(folder, "200-1");
  CATCH_CHECK(next->take_lost().size() == 8);
  for (int i = 0; i < 8; ++i)
    CATCH_CHECK(std::filesystem::exists(folder.path() / (std::to_string(100 + i) + "-1.headroom")) == (i >= 3));
  CATCH_CHECK(std::filesystem::exists(folder.path() / "050-1.headroom"));
  CATCH_CHECK_FALSE(SessionKeeper::create("/proc/no/such", "1-1").has_value());
}

CATCH_TEST_CASE("kept session: the next start offers what was open and brings all of it back", "[session]") {
  const TempFolder folder;
  Session::Options options;
  options.kept = folder.path();
  options.own_name = "100-1";
  options.keep_seconds = 0.0;
  {
    SessionBench bench(options);
    CATCH_CHECK(bench.state().errors.empty());
    CATCH_CHECK(bench.refusal("session.last").find("no session is kept") != std::string::npos);
    bench.demo("bytes/diff_v2");
    bench.run("ids 5 6 7 8");
    bench.run("run");
    bench.run("select L1.H0");
    bench.run("heads.filter \"sink_score > 0.01\"");
    for (int i = 0; i < 3; ++i) {  // what was being written, then what has changed since
      bench.wait();
      bench->finish_files();
    }  // and no leave(): as a crash
  }
  options.own_name = "200-1";
  {
    SessionBench bench(options);
    CATCH_REQUIRE(bench.state().errors.size() == 1);
    const ErrorCard card = bench.state().errors[0];
    CATCH_CHECK(card.title == "Headroom ended unexpectedly");
    CATCH_CHECK(card.error.hint.find("diff_v2, 4 ids") != std::string::npos);
    CATCH_CHECK(bench.state().unseen_warnings == 1);
    CATCH_REQUIRE(card.offers.size() == 1);
    bench.run(card.offers[0].lines[0]);
    CATCH_REQUIRE(bench.state().data());
    CATCH_CHECK(bench.state().data()->length == 4);
    CATCH_CHECK(bench.state().view.selection.head == HeadRef{1, 0});
    CATCH_CHECK(bench.state().view.heads.filter == "sink_score > 0.01");
    CATCH_CHECK(bench.state().recent.size() == 1);  // the checkpoint: the kept file is not one of the person's
    bench->keeping().leave();
    bench->finish_files();
  }
  options.own_name = "300-1";
  SessionBench bench(options);
  CATCH_CHECK(bench.state().errors.empty());
  bench.run("session.last");
  CATCH_REQUIRE(bench.state().data());
  CATCH_CHECK(bench.state().view.selection.head == HeadRef{1, 0});
}

CATCH_TEST_CASE("kept session: keeping what did not change asks for no frame", "[session]") {
  const TempFolder folder;
  std::atomic<int> woken = 0;
  Session::Options options;
  options.kept = folder.path();
  options.own_name = "100-1";
  options.keep_seconds = 0.0;
  options.wake = [&woken] { ++woken; };
  SessionBench bench(options);
  bench.demo("bytes/diff_v2");
  bench.run("run");
  bench.wait();
  bench->finish_files();
  (void)bench->update(test::seconds_now());
  const int before = woken;
  for (int i = 0; i < 5; ++i) {
    CATCH_CHECK_FALSE(bench->update(test::seconds_now()));  // each of them starts keeping
    bench->finish_files();
  }
  CATCH_CHECK(woken == before);
}

}  // namespace
}  // namespace headroom
