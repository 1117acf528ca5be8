// A mutex whose use clang checks (-Wthread-safety): HEADROOM_GUARDED_BY says what it guards, HEADROOM_REQUIRES what
// must hold it. Other compilers see std::mutex and nothing else. A condition variable waits on the Mutex itself, with a
// MutexLock around it: changed.wait(mutex, [&]() HEADROOM_REQUIRES(mutex) { return ready; }).
#pragma once

#include <mutex>

#if defined(__clang__)
#define HEADROOM_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define HEADROOM_THREAD_ANNOTATION(x)
#endif

#define HEADROOM_GUARDED_BY(mutex) HEADROOM_THREAD_ANNOTATION(guarded_by(mutex))
#define HEADROOM_REQUIRES(...) HEADROOM_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define HEADROOM_EXCLUDES(...) HEADROOM_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define HEADROOM_ACQUIRE(...) HEADROOM_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define HEADROOM_RELEASE(...) HEADROOM_THREAD_ANNOTATION(release_capability(__VA_ARGS__))

namespace headroom {

class HEADROOM_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() HEADROOM_ACQUIRE() { mutex_.lock(); }
  void unlock() HEADROOM_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

// Holds the mutex to the end of the block.
class HEADROOM_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEADROOM_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() HEADROOM_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Lets go of a mutex that is held, to the end of the block.
class HEADROOM_THREAD_ANNOTATION(scoped_lockable) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) HEADROOM_RELEASE(mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~MutexUnlock() HEADROOM_RELEASE() { mutex_.lock(); }  // the scope ends: what it released is held again
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace headroom
