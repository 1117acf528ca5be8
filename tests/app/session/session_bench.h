// A session with the demos and LibTorch, without a window: lines run and are waited for. Header only; one thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "app/session/session.h"
#include "tests/support/catch.h"

namespace headroom::test {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::filesystem::path demo_assets() {
  return std::filesystem::path(HEADROOM_FIXTURES).parent_path().parent_path() / "assets";
}

class SessionBench {
 public:
  explicit SessionBench(std::filesystem::path config = {}) : SessionBench(options(std::move(config))) {}
  explicit SessionBench(Session::Options given) : session_(complete(std::move(given))) {
    session_.runner().compute().load();
    wait();
  }

  Session* operator->() { return &session_; }
  [[nodiscard]] const State& state() const { return session_.state(); }

  // Until nothing runs; two minutes are for ever.
  void wait() {
    const double end = seconds_now() + 120.0;
    do {
      session_.update(seconds_now());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (session_.busy() && seconds_now() < end);
    session_.update(seconds_now());
    CATCH_REQUIRE_FALSE(session_.busy());
  }

  void run(const std::string& line) {
    CATCH_INFO(line);
    const Result<void> result = session_.execute(line);
    CATCH_INFO((result ? std::string() : describe(result.error())));
    CATCH_REQUIRE(result.has_value());
    wait();
  }

  // What a line that is refused says.
  std::string refusal(const std::string& line) {
    CATCH_INFO(line);
    const Result<void> result = session_.execute(line);
    CATCH_REQUIRE_FALSE(result.has_value());
    wait();
    return describe(result.error());
  }

  void demo(const std::string& name) { run("open " + quote_word((demo_assets() / "demo" / name).string())); }

 private:
  static Session::Options options(std::filesystem::path config) {
    Session::Options options;
    options.config = std::move(config);
    return options;
  }
  static Session::Options complete(Session::Options options) {
    options.assets = demo_assets();
    options.program = "headroom test";
    return options;
  }

  Session session_;
};

}  // namespace headroom::test
