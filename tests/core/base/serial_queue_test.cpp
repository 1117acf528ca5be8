// Jobs run in order on one thread that is not the caller's, a bounded number waits, and errors, exceptions and
// cancellation come back to the caller. Moments are fixed by latches, never by time.
#include "core/base/serial_queue.h"

#include <atomic>
#include <cstddef>
#include <latch>
#include <memory>
#include <new>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

Result<void> done() { return {}; }

}  // namespace

CATCH_TEST_CASE("serial queue: jobs run in order, on one thread that is not the caller's") {
  std::vector<int> order;  // no lock: the queue's own order has to be enough
  std::set<std::thread::id> threads;
  SerialQueue queue(2);
  for (int i = 0; i < 100; ++i)
    CATCH_REQUIRE(queue
                      .submit([&, i](const std::stop_token&) {
                        order.push_back(i);
                        threads.insert(std::this_thread::get_id());
                        return done();
                      })
                      .has_value());
  CATCH_REQUIRE(queue.finish().has_value());
  CATCH_REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CATCH_CHECK(order[static_cast<std::size_t>(i)] == i);
  CATCH_CHECK(threads.size() == 1);
  CATCH_CHECK(threads.count(std::this_thread::get_id()) == 0);
  // A finished queue takes more.
  CATCH_CHECK(queue.submit([&](const std::stop_token&) { return order.clear(), done(); }).has_value());
  CATCH_CHECK(queue.finish().has_value());
  CATCH_CHECK(order.empty());
}

CATCH_TEST_CASE("serial queue: no more jobs than its bound wait, and each lets go of what it holds when done") {
  for (const std::size_t bound : {std::size_t{1}, std::size_t{3}}) {
    CATCH_INFO(bound);
    const auto held = std::make_shared<int>(0);
    std::latch begun(1), go(1);
    SerialQueue queue(bound);
    CATCH_REQUIRE(
        queue.submit([&, held](const std::stop_token&) { return begun.count_down(), go.wait(), done(); }).has_value());
    begun.wait();
    std::size_t taken = 0;
    while (taken < 100 && queue.submit([held](const std::stop_token&) { return done(); }, [] { return true; })) ++taken;
    CATCH_CHECK(taken == bound);
    CATCH_CHECK(held.use_count() == static_cast<long>(bound) + 2);
    go.count_down();
    CATCH_REQUIRE(queue.finish().has_value());
    CATCH_CHECK(held.use_count() == 1);
  }
}

CATCH_TEST_CASE("serial queue: the first error comes back, and nothing runs after it") {
  SerialQueue queue(4);
  std::latch all_in(1);
  bool ran_after = false;
  CATCH_REQUIRE(queue
                    .submit([&](const std::stop_token&) -> Result<void> {
                      all_in.wait();
                      return Error(ErrorCode::Io, "the disk is full");
                    })
                    .has_value());
  for (int i = 0; i < 3; ++i)
    CATCH_REQUIRE(queue.submit([&](const std::stop_token&) { return ran_after = true, done(); }).has_value());
  all_in.count_down();
  for (int i = 0; i < 2; ++i) {
    const Result<void> end = queue.finish();
    CATCH_REQUIRE_FALSE(end.has_value());
    CATCH_CHECK(end.error().code == ErrorCode::Io);
    CATCH_CHECK(end.error().message == "the disk is full");
  }
  const Result<void> later = queue.submit([&](const std::stop_token&) { return ran_after = true, done(); });
  CATCH_REQUIRE_FALSE(later.has_value());
  CATCH_CHECK(later.error().message == "the disk is full");
  CATCH_CHECK_FALSE(ran_after);
}

CATCH_TEST_CASE("serial queue: an exception of a job is thrown at the caller") {
  SerialQueue queue(1);
  CATCH_REQUIRE(queue.submit([](const std::stop_token&) -> Result<void> { throw std::bad_alloc(); }).has_value());
  CATCH_CHECK_THROWS_AS((void)queue.finish(), std::bad_alloc);
  CATCH_CHECK_THROWS_AS((void)queue.submit([](const std::stop_token&) { return done(); }), std::bad_alloc);
}

CATCH_TEST_CASE("serial queue: a caller that waits can be stopped") {
  std::latch go(1);
  bool second_ran = false;
  SerialQueue queue(1);
  CATCH_REQUIRE(queue.submit([&](const std::stop_token&) { return go.wait(), done(); }).has_value());
  CATCH_REQUIRE(queue.submit([&](const std::stop_token&) { return second_ran = true, done(); }).has_value());
  // Whether or not the first has begun, the second job is not through before the latch opens: no place, no end.
  int asked = 0;
  const Result<void> full = queue.submit([](const std::stop_token&) { return done(); }, [&] { return ++asked >= 1; });
  const Result<void> end = queue.finish([&] { return ++asked >= 2; });
  go.count_down();
  for (const Result<void>* result : {&full, &end}) {
    CATCH_REQUIRE_FALSE(result->has_value());
    CATCH_CHECK(result->error().code == ErrorCode::Cancelled);
  }
  // It was the wait that ended: the queue itself goes on.
  CATCH_CHECK(queue.finish().has_value());
  CATCH_CHECK(second_ran);
}

CATCH_TEST_CASE("serial queue: cancelling tells the running job and drops the ones that wait") {
  for (const bool by_destructor : {false, true}) {
    CATCH_INFO(by_destructor);
    std::latch begun(1);
    std::atomic<bool> told{false}, second_ran{false};
    auto queue = std::make_unique<SerialQueue>(2);
    CATCH_REQUIRE(queue
                      ->submit([&](const std::stop_token& token) {
                        begun.count_down();
                        while (!token.stop_requested()) std::this_thread::yield();
                        told = true;
                        return done();
                      })
                      .has_value());
    CATCH_REQUIRE(queue->submit([&](const std::stop_token&) { return second_ran = true, done(); }).has_value());
    begun.wait();
    if (!by_destructor) {
      queue->cancel();
      for (const Result<void>& result :
           {queue->finish(), queue->submit([](const std::stop_token&) { return done(); })}) {
        CATCH_REQUIRE_FALSE(result.has_value());
        CATCH_CHECK(result.error().code == ErrorCode::Cancelled);
      }
    }
    queue.reset();
    CATCH_CHECK(told);
    CATCH_CHECK_FALSE(second_ran);
  }
}

}  // namespace headroom::test
