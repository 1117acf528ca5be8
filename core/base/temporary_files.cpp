#include "core/base/temporary_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>

namespace headroom {
namespace {

enum class SlotState { Free, Filling, Set, Removing };

// A signal handler reaches nothing but what is there for the whole process.
struct Slot {
  std::atomic<SlotState> state{SlotState::Free};
  int descriptor = -1;
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<SlotState>::is_always_lock_free);
constinit std::array<Slot, 32> slots;

constinit std::atomic<int> creations{0};
constinit std::atomic<int> end_code{-1};  // −1: nobody has asked for the end
constinit std::atomic<bool> ending{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// One thread does it, without being interrupted; any other waits for the end.
[[noreturn]] void end_now(int code) noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (ending.exchange(true)) pause();
  remove_temporary_files();
  _exit(code);
}

}  // namespace

// Either this sees that the end was asked for, or who asks for it sees this creation.
TemporaryFileCreation::TemporaryFileCreation() noexcept {
  creations += 1;
  if (end_code >= 0) end_now(end_code);
}

TemporaryFileCreation::~TemporaryFileCreation() {
  creations -= 1;
  if (end_code >= 0) end_now(end_code);
}

void end_without_temporary_files(int code) noexcept {
  if (end_code.exchange(code) < 0 && creations > 0) return;
  end_now(code);
}

TemporaryFileEntry::TemporaryFileEntry(const std::filesystem::path& path, int descriptor) {
  const std::string& name = path.native();
  if (name.size() >= PATH_MAX) return;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    SlotState free = SlotState::Free;
    if (!slots[i].state.compare_exchange_strong(free, SlotState::Filling)) continue;
    *std::ranges::copy(name, slots[i].path.begin()).out = '\0';
    slots[i].descriptor = descriptor;
    slots[i].state = SlotState::Set;
    slot_ = static_cast<int>(i);
    return;
  }
}

TemporaryFileEntry::~TemporaryFileEntry() {
  if (slot_ < 0) return;
  // Where a handler has it, the process is about to end, and the descriptor must stay open until then.
  SlotState set = SlotState::Set;
  while (!slots[static_cast<std::size_t>(slot_)].state.compare_exchange_strong(set, SlotState::Free)) {
    set = SlotState::Set;
    pause();
  }
}

TemporaryFileEntry::TemporaryFileEntry(TemporaryFileEntry&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

TemporaryFileEntry& TemporaryFileEntry::operator=(TemporaryFileEntry&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

void remove_temporary_files() noexcept {
  for (Slot& slot : slots) {
    SlotState set = SlotState::Set;
    if (!slot.state.compare_exchange_strong(set, SlotState::Removing)) continue;
    struct stat by_name{};
    struct stat by_descriptor{};
    if (lstat(slot.path.data(), &by_name) == 0 && fstat(slot.descriptor, &by_descriptor) == 0 &&
        by_name.st_dev == by_descriptor.st_dev && by_name.st_ino == by_descriptor.st_ino)
      unlink(slot.path.data());
  }
}

}  // namespace headroom
