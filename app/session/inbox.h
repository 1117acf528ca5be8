// What comes to the main thread: results of other threads and whether any are waited for, messages and error cards for
// the person, and what only the window can do. post() from any thread, all else on the main thread. Outlives all that
// post.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/session/main_queue.h"
#include "app/session/state.h"
#include "core/base/worker.h"

namespace headroom {

// A command that needs the window: done by the application after the next frame.
struct WindowRequest {
  enum class Kind {
    Quit,
    Screenshot,
    CopyText,
    Pointer,
    Click,
    Drag,
    Wheel,
    KeyPress,
    TypeText,
    RandomHands,
    NativeDialog,
    Times
  } kind = Kind::Quit;
  std::string text;               // a path, a text, a key
  std::vector<double> numbers{};  // coordinates
  std::string panel{};            // of a screenshot: only this one; empty: the window
  bool by_person = false;         // not by a script
};

class Inbox {
 public:
  Inbox(State& state, std::function<void()> wake) : state_(state), queue_(std::move(wake)) {}

  void post(std::function<void()> work) { queue_.post(std::move(work)); }
  bool run() { return queue_.run(); }  // what arrived; true if there was anything

  // `work` on the worker, then `then` here with what it returned; busy until that.
  template <typename Work, typename Then>
  void ask(Worker& worker, Work work, Then then) {
    begin();
    worker.post([this, work = std::move(work), then = std::move(then)]() mutable {
      if constexpr (std::is_void_v<std::invoke_result_t<Work&>>) {
        work();
        post([this, then = std::move(then)]() mutable { end(), then(); });
      } else {
        const auto result = std::make_shared<std::invoke_result_t<Work&>>(work());
        post([this, then = std::move(then), result]() mutable { end(), then(std::move(*result)); });
      }
    });
  }

  // Around a job whose result has not arrived; one that opens something is told of as such.
  void begin() { ++pending_; }
  void end() { --pending_; }
  void begin_opening() { ++pending_, ++opening_; }
  void end_opening() { --pending_, --opening_; }
  [[nodiscard]] bool busy() const { return pending_ > 0; }
  [[nodiscard]] bool opening() const { return opening_ > 0; }  // a checkpoint, a run file, a history
  [[nodiscard]] int next_id() { return next_id_++; }           // of runs, models, jobs, cards: all differ

  void message(MessageLevel level, std::string text);
  // `retry`: a command line; empty: none.
  void card(std::string title, const Error& error, std::string retry = {});
  void request(WindowRequest request) { requests_.push_back(std::move(request)); }
  [[nodiscard]] std::vector<WindowRequest> take_requests() { return std::exchange(requests_, {}); }

 private:
  State& state_;
  MainQueue queue_;
  std::vector<WindowRequest> requests_;
  int pending_ = 0, opening_ = 0, next_id_ = 1;
};

}  // namespace headroom
