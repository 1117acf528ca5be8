// Runs that do not fit into memory: said before, not begun, offered smaller; and memory that runs out on the way.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/session/session.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

class Bench {
 public:
  explicit Bench(TraceSpan trace = {}) : session(options(std::move(trace))) {
    session.runner().compute().load();
    wait();
    const auto demo =
        std::filesystem::path(HEADROOM_FIXTURES).parent_path().parent_path() / "assets" / "demo" / "bytes" / "diff_v2";
    run("open " + quote_word(demo.string()));
  }
  void wait() {
    for (int i = 0; i < 60000; ++i) {
      session.update(0.001 * i);
      if (!session.busy()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    session.update(100.0);
    CATCH_REQUIRE_FALSE(session.busy());
  }
  void run(const std::string& line) {
    CATCH_INFO(line);
    const Result<void> result = session.execute(line);
    CATCH_INFO((result ? std::string() : describe(result.error())));
    CATCH_REQUIRE(result.has_value());
    session.update(0.0);  // where an estimate begins
    wait();
  }
  void set_bytes(double bytes) { run("memory " + std::to_string(bytes / 1e9)); }
  [[nodiscard]] const State& state() const { return session.state(); }
  [[nodiscard]] const RunEntry& shown() const { return *session.state().shown(); }

  Session session;

 private:
  static Session::Options options(TraceSpan trace) {
    Session::Options options;
    options.assets = std::filesystem::path(HEADROOM_FIXTURES).parent_path().parent_path() / "assets";
    options.program = "headroom test";
    options.trace = std::move(trace);
    return options;
  }
};

}  // namespace

CATCH_TEST_CASE("What a run takes is known before it, and follows prompt and settings", "[session][memory]") {
  Bench bench;
  bench.run("ids 1,2,3,4,5");
  CATCH_REQUIRE(bench.state().estimate);
  CATCH_CHECK(bench.state().estimate->memory.length == 5);
  const std::size_t small = bench.state().estimate->memory.all_bytes();
  std::string ids = "ids 1";
  for (int i = 0; i < 3000; ++i) ids += ",2";
  bench.run(ids);
  CATCH_REQUIRE(bench.state().estimate);
  CATCH_CHECK(bench.state().estimate->memory.length == 3001);
  CATCH_CHECK(bench.state().estimate->memory.all_bytes() > small);
  bench.run("prompt.first 40");
  CATCH_REQUIRE(bench.state().estimate);
  CATCH_CHECK(bench.state().estimate->memory.length == 40);
  bench.set_bytes(1e9);
  CATCH_REQUIRE(bench.state().estimate);
  CATCH_CHECK(bench.state().estimate->budget_bytes <= 1000000000u);
  bench.run("dtype float64");
  CATCH_REQUIRE(bench.state().estimate);
  CATCH_CHECK(bench.state().estimate->memory.inputs == 0);
  bench.run("close");
  CATCH_CHECK_FALSE(bench.state().estimate);
}

CATCH_TEST_CASE("A type in the settings that nobody knows is an error of the run, not float32", "[session]") {
  Bench bench;
  bench.run("ids 1,2,3,4,5");
  const std::size_t runs = bench.state().runs.size();
  bench.session.edit().settings.dtype = "float16";
  bench.session.update(0.0);
  bench.wait();
  CATCH_CHECK_FALSE(bench.state().estimate);
  const Result<void> started = bench.session.execute("run");
  CATCH_REQUIRE_FALSE(started);
  CATCH_CHECK(started.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(describe(started.error()).find("float16") != std::string::npos);
  CATCH_CHECK(describe(started.error()).find("float32, float64 or bfloat16") != std::string::npos);
  CATCH_CHECK(bench.state().runs.size() == runs);
  CATCH_CHECK_FALSE(bench.session.execute("dtype float16"));
  bench.run("dtype float64");
  bench.run("run");
  CATCH_CHECK(bench.shown().status == RunStatus::Done);
}

CATCH_TEST_CASE("A run beyond the budget is not begun, and its offers run", "[session][memory]") {
  Bench bench;
  std::string ids = "ids 1";
  for (int i = 0; i < 5000; ++i) ids += ",2";
  bench.run(ids);
  bench.run("prompt.first 1000");
  CATCH_REQUIRE(bench.state().estimate);
  bench.set_bytes(static_cast<double>(bench.state().estimate->memory.least_bytes()));
  bench.run("prompt.first 0");
  bench.run("run");
  CATCH_CHECK(bench.shown().status == RunStatus::Waiting);
  CATCH_CHECK(bench.shown().refused);
  CATCH_CHECK_FALSE(bench.shown().data);
  CATCH_CHECK(bench.state().errors.empty());
  CATCH_REQUIRE(bench.shown().error);
  CATCH_CHECK(bench.shown().error->code == ErrorCode::OutOfMemory);
  CATCH_CHECK(bench.state().messages.back().text.find("was not started") != std::string::npos);
  const std::vector<RunOffer> offers = bench.shown().offers;
  const auto first =
      std::ranges::find_if(offers, [](const RunOffer& offer) { return offer.lines[0].starts_with("prompt.first "); });
  CATCH_REQUIRE(first != offers.end());
  const std::size_t runs = bench.state().runs.size();
  for (const std::string& line : first->lines) bench.run(line);
  CATCH_CHECK(bench.state().runs.size() == runs);  // the one that waited has run
  CATCH_REQUIRE(bench.shown().status == RunStatus::Done);
  CATCH_CHECK_FALSE(bench.shown().refused);
  CATCH_CHECK(bench.shown().data->length == std::stoll(first->lines[0].substr(13)));
  CATCH_REQUIRE(bench.shown().budget);
  CATCH_CHECK(bench.shown().budget->fit.needed_bytes <= bench.shown().budget->budget_bytes);
  std::int64_t kept = 0;
  for (const auto& layer : bench.shown().data->data) kept += layer->maps ? 1 : 0;
  CATCH_CHECK(kept == bench.shown().budget->fit.kept_layers);
  // What is shown stays: a card says why the next was not begun, and what can be done.
  const int id = bench.shown().id;
  bench.run("prompt.first 0");
  bench.run("run");
  CATCH_CHECK((bench.shown().id == id && bench.shown().status == RunStatus::Done));
  CATCH_CHECK(bench.state().runs.size() == runs);
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(bench.state().errors[0].title.starts_with("Not enough memory for bytes/diff_v2"));
  CATCH_CHECK(bench.state().errors[0].offers.size() == offers.size());
}

CATCH_TEST_CASE("A refusal goes with the prompt that it was about", "[session][memory]") {
  Bench bench;
  std::string ids = "ids 1";
  for (int i = 0; i < 5000; ++i) ids += ",2";
  bench.run(ids);
  bench.set_bytes(1e6);
  bench.run("run");
  CATCH_REQUIRE(bench.shown().refused);
  bench.run("ids 1,2,3");
  CATCH_CHECK_FALSE(bench.shown().refused);
}

CATCH_TEST_CASE("A layer that does not fit again leaves the run as it is", "[session][memory]") {
  Bench bench;
  bench.run("run without-maps");
  CATCH_REQUIRE(bench.shown().status == RunStatus::Done);
  CATCH_CHECK_FALSE(bench.shown().data->data[0]->maps);
  CATCH_CHECK_FALSE(bench.shown().data->data[0]->series.empty());
  bench.set_bytes(1e6);
  bench.run("layer.recompute 1");
  CATCH_CHECK(bench.shown().status == RunStatus::Done);
  CATCH_CHECK_FALSE(bench.shown().refused);
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(bench.state().errors[0].error.code == ErrorCode::OutOfMemory);
  CATCH_CHECK(bench.shown().data->finished_layers() == bench.shown().data->layers.size());
  bench.run("memory 0");
  bench.run("layer.recompute 1");
  CATCH_CHECK(bench.shown().data->layer(1)->maps);
}

CATCH_TEST_CASE("Memory that runs out on the way: what was finished stays, and a smaller run is offered",
                "[session][memory]") {
  int layers = 0;
  Bench bench([&](const char* name, double, double) {
    if (std::string_view(name) == "layer" && ++layers == 2) throw std::bad_alloc();
  });
  std::string ids = "ids 1";
  for (int i = 0; i < 200; ++i) ids += ",2";
  bench.run(ids);
  bench.run("run");
  CATCH_CHECK(bench.shown().status == RunStatus::Failed);
  CATCH_CHECK_FALSE(bench.shown().refused);
  CATCH_REQUIRE(bench.shown().data);
  CATCH_CHECK(bench.shown().data->finished_layers() == 1);
  CATCH_REQUIRE(bench.state().errors.size() == 1);
  CATCH_CHECK(bench.state().errors[0].error.code == ErrorCode::OutOfMemory);
  CATCH_CHECK(bench.state().errors[0].title == "The run of bytes/diff_v2 ran out of memory");
  // The session lives: the same again succeeds.
  bench.run("run");
  CATCH_CHECK(bench.shown().status == RunStatus::Done);
}

CATCH_TEST_CASE("Memory that runs out before the first layer has its own place", "[session][memory]") {
  int spans = 0;
  Bench bench([&](const char* name, double, double) {
    if (std::string_view(name) == "layer" && ++spans == 1) throw std::bad_alloc();
  });
  bench.run("run");
  CATCH_CHECK(bench.shown().status == RunStatus::Failed);
  CATCH_CHECK_FALSE(bench.shown().data);
  CATCH_CHECK(bench.state().errors.empty());
  CATCH_REQUIRE(bench.shown().error);
  CATCH_CHECK(bench.shown().error->code == ErrorCode::OutOfMemory);
  CATCH_CHECK(bench.shown().budget);
}

}  // namespace headroom::test
