// SPDX-License-Identifier: Apache-2.0
// operator new and operator delete of a program, in all their forms. They replace those of
// jemalloc, including in the libraries and backends loaded into the program, which is why the
// linker exports them (CMakeLists.txt).
//
// The important one is operator delete. jemalloc trusts the size of a sized delete, and a backend
// that frees the result of `new T[n]` with `delete` passes the size of one T. With glibc's
// allocator, under which backends are written and tested, that is harmless; with jemalloc the heap
// is corrupted, and the server dies later and elsewhere. So every form ends in free(), which uses
// only the address. docs/adr/0013 says more.
//
// Thread-safe, as the allocator is. Nothing here allocates for itself.
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <new>

namespace {

void* AllocateOrNull(size_t size) noexcept { return malloc(size); }

void* AllocateAlignedOrNull(size_t size, std::align_val_t alignment) noexcept {
  // posix_memalign refuses alignments below the size of a pointer.
  const size_t least = std::max(static_cast<size_t>(alignment), sizeof(void*));
  void* memory = nullptr;
  return posix_memalign(&memory, least, size) == 0 ? memory : nullptr;
}

// The standard's behaviour when there is no memory: the new-handler is called until it has made
// room, has thrown, or is no longer set. Out of line, to keep the normal path short.
template <typename Allocate>
__attribute__((noinline)) void* AskHandler(Allocate allocate) {
  while (true) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    if (void* const memory = allocate(); memory != nullptr) return memory;
  }
}

void* New(size_t size) {
  void* const memory = AllocateOrNull(size);
  if (__builtin_expect(memory != nullptr, true)) return memory;
  return AskHandler([size] { return AllocateOrNull(size); });
}

void* NewAligned(size_t size, std::align_val_t alignment) {
  void* const memory = AllocateAlignedOrNull(size, alignment);
  if (__builtin_expect(memory != nullptr, true)) return memory;
  return AskHandler([=] { return AllocateAlignedOrNull(size, alignment); });
}

// The forms without exceptions also call the handler, and return null if it throws.
void* NewOrNull(size_t size) noexcept {
  try {
    return New(size);
  } catch (...) {
    return nullptr;
  }
}

void* NewAlignedOrNull(size_t size, std::align_val_t alignment) noexcept {
  try {
    return NewAligned(size, alignment);
  } catch (...) {
    return nullptr;
  }
}

using Alignment = std::align_val_t;
using NoThrow = const std::nothrow_t&;

}  // namespace

void* operator new(size_t size) { return New(size); }
void* operator new[](size_t size) { return New(size); }
void* operator new(size_t size, NoThrow) noexcept { return NewOrNull(size); }
void* operator new[](size_t size, NoThrow) noexcept { return NewOrNull(size); }
void* operator new(size_t size, Alignment to) { return NewAligned(size, to); }
void* operator new[](size_t size, Alignment to) { return NewAligned(size, to); }
void* operator new(size_t size, Alignment to, NoThrow) noexcept {
  return NewAlignedOrNull(size, to);
}
void* operator new[](size_t size, Alignment to, NoThrow) noexcept {
  return NewAlignedOrNull(size, to);
}

void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, NoThrow) noexcept { free(memory); }
void operator delete[](void* memory, NoThrow) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }
void operator delete(void* memory, Alignment) noexcept { free(memory); }
void operator delete[](void* memory, Alignment) noexcept { free(memory); }
void operator delete(void* memory, Alignment, NoThrow) noexcept { free(memory); }
void operator delete[](void* memory, Alignment, NoThrow) noexcept { free(memory); }
void operator delete(void* memory, size_t, Alignment) noexcept { free(memory); }
void operator delete[](void* memory, size_t, Alignment) noexcept { free(memory); }
