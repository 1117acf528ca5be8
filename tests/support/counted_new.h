// Replaces the allocating operators of a test program by ones that count. Include in exactly one of its sources.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tests/support/counted_memory.h"

namespace headroom::test {

CountedMemory& counted_memory() {
  static CountedMemory memory;
  return memory;
}

}  // namespace headroom::test

namespace {

[[gnu::noinline]] void* counted(std::size_t size) {
  void* memory = std::malloc(size > 0 ? size : 1);
  if (!memory) throw std::bad_alloc();
  headroom::test::counted_memory().count(static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}

[[gnu::noinline]] void* counted_aligned(std::size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(static_cast<std::size_t>(alignment), sizeof(void*)), size > 0 ? size : 1) != 0)
    throw std::bad_alloc();
  headroom::test::counted_memory().count(static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}

[[gnu::noinline]] void uncounted(void* memory) noexcept {
  if (memory) headroom::test::counted_memory().live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
// The sanitizers bring their own of these, which do not go with the replaced ones.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept try {
  return counted(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept try {
  return counted(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* memory, const std::nothrow_t&) noexcept { uncounted(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { uncounted(memory); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t) noexcept { uncounted(memory); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted_aligned(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return counted_aligned(size, alignment); }
void operator delete(void* memory, std::align_val_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { uncounted(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { uncounted(memory); }
