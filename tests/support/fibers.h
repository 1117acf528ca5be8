// Threads of one block, emulated: each is a fiber with a stack of its own, and they run in turn on the calling thread
// until all are done, 32 after 32. A fiber runs until it waits. One Fibers at a time on a thread.
#pragma once

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace headroom::test {

class Fibers {
 public:
  // body(fiber) for fiber = 0 … count − 1, first to last or, reversed, last to first.
  void run(int count, bool reversed, const std::function<void(int)>& body) {
    body_ = &body;
    failure_ = nullptr;
    progress_ = 0;
    while (fibers_.size() < static_cast<std::size_t>(count)) {
      fibers_.push_back(std::make_unique<Fiber>());
      prepare(*fibers_.back(), static_cast<int>(fibers_.size()) - 1);
    }
    for (int f = 0; f < count; ++f) fibers_[static_cast<std::size_t>(f)]->done = false;
    for (int left = count; left > 0;) {
      const std::uint64_t before = progress_;
      for (int group = 0; group < count; group += kGroup) {
        const int first = reversed ? std::max(count - kGroup - group, 0) : group;
        left -= run_group(first, std::min(first + kGroup, count), reversed);
      }
      if (left > 0 && progress_ == before)
        fail(std::make_exception_ptr(std::runtime_error("every thread of the block waits for another one")));
    }
  }

  // From inside a fiber: lets the others run.
  void wait() {
    Fiber& fiber = *current_;
    if (_setjmp(fiber.state) == 0) {
      leave(&fiber.fake_stack);
      _longjmp(scheduler_, 1);
    }
    entered(fiber.fake_stack);
  }

  // Tells the scheduler that somebody's wait may be over.
  void advance() { ++progress_; }

 private:
  static constexpr std::size_t kStackBytes = 256 * 1024;
  static constexpr int kGroup = 32;

  struct Fiber {
    std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};
    ucontext_t context;
    jmp_buf state;
    void* fake_stack = nullptr;
    int index = 0;
    bool started = false, done = false;
  };

  // A group runs as far as it comes without the others, so that it overtakes them where no barrier holds it. Returns
  // how many of it are done by that.
  int run_group(int first, int end, bool reversed) {
    int done = 0;
    for (std::uint64_t before = progress_ + 1; before != progress_;) {
      before = progress_;
      for (int turn = 0; turn < end - first; ++turn) {
        Fiber& fiber = *fibers_[static_cast<std::size_t>(reversed ? end - 1 - turn : first + turn)];
        if (fiber.done) continue;
        resume(fiber);
        if (failure_) fail(failure_);
        if (fiber.done) ++done;
      }
    }
    return done;
  }

  // What the other fibers hold on their stacks is given up with them: plain numbers, in a kernel.
  [[noreturn]] void fail(std::exception_ptr failure) {
    fibers_.clear();
    std::rethrow_exception(std::move(failure));
  }

  void prepare(Fiber& fiber, int index) {
    fiber.index = index;
    if (getcontext(&fiber.context) != 0) throw std::runtime_error("getcontext failed");
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Fibers::start), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
  }

  // ucontext only starts a fiber; changing between fibers with it would be a system call each time.
  void resume(Fiber& fiber) {
    current_ = &fiber;
    if (_setjmp(scheduler_) == 0) {
#if defined(__SANITIZE_ADDRESS__)
      __sanitizer_start_switch_fiber(&scheduler_fake_stack_, fiber.stack.get(), kStackBytes);
#endif
      if (fiber.started) _longjmp(fiber.state, 1);
      fiber.started = true;
      setcontext(&fiber.context);
    }
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
#endif
  }

  static void start(unsigned high, unsigned low) {
    Fibers& self = *reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(high) << 32 | low);
    self.entered(nullptr);
    for (;;) {  // once for each run()
      try {
        (*self.body_)(self.current_->index);
      } catch (...) {
        self.failure_ = std::current_exception();
      }
      self.current_->done = true;
      self.advance();
      self.wait();
    }
  }

  // What AddressSanitizer wants to know of stacks.
  void leave([[maybe_unused]] void** fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(fake_stack, scheduler_stack_, scheduler_stack_bytes_);
#endif
  }
  void entered([[maybe_unused]] void* fake_stack) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake_stack, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
  }

  const std::function<void(int)>* body_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Fiber* current_ = nullptr;
  jmp_buf scheduler_;
  std::exception_ptr failure_;
  std::uint64_t progress_ = 0;
  [[maybe_unused]] void* scheduler_fake_stack_ = nullptr;
  [[maybe_unused]] const void* scheduler_stack_ = nullptr;
  [[maybe_unused]] std::size_t scheduler_stack_bytes_ = 0;
};

}  // namespace headroom::test
