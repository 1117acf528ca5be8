// Jobs run in order on one thread that is not the caller's, a bounded number waits, wanted ones take the place of those
// before them, and errors, exceptions and cancellation come back to the caller. Moments are fixed by latches, never by
// time.
#include "core/base/worker.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
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

// A worker that is held up by a submitted job until the latch opens, so that what is wanted meanwhile waits.
struct HeldUp {
  std::latch begun{1}, go{1};
  std::vector<int> order;
  Worker worker;

  HeldUp() {
    worker.post([this] {
      begun.count_down();
      go.wait();
    });
    begun.wait();
  }
  Worker::Wanted job(int number) {
    return {{static_cast<std::uint64_t>(number)},
            [this, number](const std::stop_token&) { return order.push_back(number), done(); }};
  }
};

}  // namespace

CATCH_TEST_CASE("worker: jobs run in order, on one thread that is not the caller's") {
  std::vector<int> order;  // no lock: the queue's own order has to be enough
  std::set<std::thread::id> threads;
  Worker queue({.most_waiting = 2});
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

CATCH_TEST_CASE("worker: no more jobs than its bound wait, and each lets go of what it holds when done") {
  for (const std::size_t bound : {std::size_t{1}, std::size_t{3}}) {
    CATCH_INFO(bound);
    const auto held = std::make_shared<int>(0);
    std::latch begun(1), go(1);
    Worker queue({.most_waiting = bound});
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

CATCH_TEST_CASE("worker: the first error comes back, and nothing runs after it") {
  Worker queue({.most_waiting = 4});
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

CATCH_TEST_CASE("worker: an exception of a job is thrown at the caller") {
  Worker queue({.most_waiting = 1});
  CATCH_REQUIRE(queue.submit([](const std::stop_token&) -> Result<void> { throw std::bad_alloc(); }).has_value());
  CATCH_CHECK_THROWS_AS((void)queue.finish(), std::bad_alloc);
  CATCH_CHECK_THROWS_AS((void)queue.submit([](const std::stop_token&) { return done(); }), std::bad_alloc);
}

CATCH_TEST_CASE("worker: a caller that waits can be stopped") {
  std::latch go(1);
  bool second_ran = false;
  Worker queue({.most_waiting = 1});
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

CATCH_TEST_CASE("worker: cancelling tells the running job and drops the ones that wait") {
  for (const bool by_destructor : {false, true}) {
    CATCH_INFO(by_destructor);
    std::latch begun(1);
    std::atomic<bool> told{false}, second_ran{false};
    auto queue = std::make_unique<Worker>(WorkerOptions{.most_waiting = 2});
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

CATCH_TEST_CASE("worker: what is wanted runs in the order of the last list, behind what is submitted") {
  HeldUp held;
  held.worker.want({held.job(1), held.job(2), held.job(3)});
  held.worker.want({held.job(3), held.job(4), held.job(2)});
  CATCH_CHECK(held.worker.waiting() == 3);
  held.worker.post([&] { held.order.push_back(0); });
  CATCH_CHECK(held.worker.waiting() == 4);
  held.go.count_down();
  CATCH_REQUIRE(held.worker.finish().has_value());
  CATCH_CHECK(held.order == std::vector<int>{0, 3, 4, 2});
  CATCH_CHECK(held.worker.idle());
  held.worker.want({held.job(5)});
  held.worker.want({});  // whether or not it has begun, it ends
  CATCH_CHECK(held.worker.finish().has_value());
}

CATCH_TEST_CASE(
    "worker: the running job goes on while it is wanted, is told when it is not, and begins anew after that") {
  std::atomic<int> begun{0}, told{0};
  std::latch first(1), second(1), other(1);
  Worker worker;
  const Worker::Wanted endless = {{7}, [&](const std::stop_token& token) {
                                    ++begun == 1 ? first.count_down() : second.count_down();
                                    while (!token.stop_requested()) std::this_thread::yield();
                                    ++told;
                                    return done();
                                  }};
  worker.want({endless});
  first.wait();
  worker.want({{{8}, [](const std::stop_token&) { return done(); }}, endless});
  worker.want({endless});
  CATCH_CHECK(begun == 1);
  CATCH_CHECK(told == 0);
  CATCH_CHECK(worker.waiting() == 0);
  CATCH_CHECK_FALSE(worker.idle());
  worker.want({{{9}, [&](const std::stop_token&) { return other.count_down(), done(); }}});
  other.wait();
  CATCH_CHECK(told == 1);
  worker.want({endless});
  second.wait();
  worker.want({});
  CATCH_CHECK(worker.finish().has_value());
  CATCH_CHECK(begun == 2);
  CATCH_CHECK(told == 2);
}

CATCH_TEST_CASE("worker: a submitted job is not told by what is wanted") {
  HeldUp held;
  bool stopped = true;
  std::latch begun(1), go(1);
  CATCH_REQUIRE(held.worker
                    .submit([&](const std::stop_token& token) {
                      begun.count_down();
                      go.wait();
                      stopped = token.stop_requested();
                      return done();
                    })
                    .has_value());
  held.go.count_down();
  begun.wait();
  held.worker.want({held.job(1)});
  go.count_down();
  CATCH_REQUIRE(held.worker.finish().has_value());
  CATCH_CHECK_FALSE(stopped);
  CATCH_CHECK(held.order == std::vector<int>{1});
}

CATCH_TEST_CASE("worker: an error or exception of a submitted job drops what is wanted, before and after it") {
  for (const bool throws : {false, true}) {
    CATCH_INFO(throws);
    HeldUp held;
    CATCH_REQUIRE(held.worker
                      .submit([throws](const std::stop_token&) -> Result<void> {
                        if (throws) throw std::bad_alloc();
                        return Error(ErrorCode::Io, "the disk is full");
                      })
                      .has_value());
    held.worker.want({held.job(1), held.job(2)});
    held.go.count_down();
    if (throws)
      CATCH_CHECK_THROWS_AS((void)held.worker.finish(), std::bad_alloc);
    else
      CATCH_CHECK(held.worker.finish().error().message == "the disk is full");
    held.worker.want({held.job(3)});
    CATCH_CHECK(held.worker.waiting() == 0);
    CATCH_CHECK(held.order.empty());
  }
}

CATCH_TEST_CASE("worker: its end drops what waits, tells a wanted job that runs, and waits for it") {
  std::latch begun(1);
  std::atomic<bool> ended{false}, second_ran{false};
  std::thread::id first_thread;
  {
    Worker worker({.at_start = [&] { first_thread = std::this_thread::get_id(); }});
    worker.want({{{1},
                  [&](const std::stop_token& token) {
                    CATCH_CHECK(std::this_thread::get_id() == first_thread);
                    begun.count_down();
                    while (!token.stop_requested()) std::this_thread::yield();
                    ended = true;
                    return done();
                  }},
                 {{2}, [&](const std::stop_token&) { return second_ran = true, done(); }}});
    begun.wait();
    worker.post([&] { second_ran = true; });
  }
  CATCH_CHECK(ended);
  CATCH_CHECK_FALSE(second_ran);
}

}  // namespace headroom::test
