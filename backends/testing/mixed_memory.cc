// SPDX-License-Identifier: Apache-2.0
// Behaviour mixed_memory: allocates memory in every way that C and C++ have, and frees each block
// in every way, also with one that does not fit the allocation, and with a wrong size and
// alignment. Some backends do a little of this by mistake, and with glibc's allocator it is
// harmless.
//
// One round uses every pair of an allocation and a deallocation once. A block lives for kLifetime
// pairs. It is filled when it is allocated and compared when it is freed, so that two blocks which
// overlap are detected.
#include <malloc.h>
#include <stdlib.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "backends/testing/behaviours.h"

namespace nereid_backend {
namespace {

using Alignment = std::align_val_t;
constexpr size_t kAligned = 64;
constexpr size_t kLifetime = 61;

void* PosixAligned(size_t size) {
  void* memory = nullptr;
  return posix_memalign(&memory, kAligned, size) == 0 ? memory : nullptr;
}

void* Realloced(size_t size) { return realloc(malloc(size / 2 + 1), size); }

void* Duplicated(size_t size) {
  const std::unique_ptr<char, decltype(&free)> text(static_cast<char*>(malloc(size)), &free);
  memset(text.get(), 'x', size - 1);
  text.get()[size - 1] = '\0';
  return strdup(text.get());
}

using Take = void* (*)(size_t size);
constexpr Take kTake[] = {
    [](size_t size) { return ::operator new(size); },
    [](size_t size) { return ::operator new[](size); },
    [](size_t size) { return ::operator new(size, std::nothrow); },
    [](size_t size) { return ::operator new[](size, std::nothrow); },
    [](size_t size) { return ::operator new(size, Alignment(kAligned)); },
    [](size_t size) { return ::operator new[](size, Alignment(kAligned)); },
    [](size_t size) { return ::operator new(size, Alignment(kAligned), std::nothrow); },
    [](size_t size) { return ::operator new[](size, Alignment(kAligned), std::nothrow); },
    [](size_t size) { return malloc(size); },
    [](size_t size) { return calloc(1, size); },
    &Realloced,
    [](size_t size) { return reallocarray(nullptr, size, 1); },
    &PosixAligned,
    [](size_t size) { return aligned_alloc(kAligned, size); },
    [](size_t size) { return memalign(kAligned, size); },
    [](size_t size) { return valloc(size); },
    [](size_t size) { return pvalloc(size); },
    &Duplicated,
};

using GiveBack = void (*)(void* memory, size_t wrong_size);
constexpr GiveBack kGiveBack[] = {
    [](void* memory, size_t) { ::operator delete(memory); },
    [](void* memory, size_t) { ::operator delete[](memory); },
    [](void* memory, size_t) { ::operator delete(memory, std::nothrow); },
    [](void* memory, size_t) { ::operator delete[](memory, std::nothrow); },
    [](void* memory, size_t size) { ::operator delete(memory, size); },
    [](void* memory, size_t size) { ::operator delete[](memory, size); },
    [](void* memory, size_t) { ::operator delete(memory, Alignment(kAligned)); },
    [](void* memory, size_t) { ::operator delete[](memory, Alignment(kAligned)); },
    [](void* memory, size_t) { ::operator delete(memory, Alignment(kAligned), std::nothrow); },
    [](void* memory, size_t) { ::operator delete[](memory, Alignment(kAligned), std::nothrow); },
    [](void* memory, size_t size) { ::operator delete(memory, size, Alignment(kAligned)); },
    [](void* memory, size_t size) { ::operator delete[](memory, size, Alignment(kAligned)); },
    [](void* memory, size_t) { free(memory); },
};

// A block in use: `size` bytes, all of value `fill`. `give_back` will free it, and gets
// `wrong_size` as its size.
struct Block {
  unsigned char* memory = nullptr;
  size_t size = 0;
  size_t wrong_size = 0;
  unsigned char fill = 0;
  GiveBack give_back = nullptr;
};

// From 1 to 4,096 bytes, small sizes more often. Not random, so that a run can be repeated.
size_t SizeOf(uint64_t n) {
  const uint64_t scattered = n * 0x9E3779B97F4A7C15u >> 32;
  return 1 + scattered % (size_t{16} << (scattered >> 16) % 9);
}

// Frees `block` and leaves it empty. False if its content has changed.
bool End(Block* block) {
  const Block ended = std::exchange(*block, Block());
  if (ended.memory == nullptr) return true;
  // All bytes are equal: each is compared with the next.
  const bool intact =
      ended.memory[0] == ended.fill && memcmp(ended.memory, ended.memory + 1, ended.size - 1) == 0;
  ended.give_back(ended.memory, ended.wrong_size);
  return intact;
}

// Uses every pair `rounds` times. Fails if a block was overwritten.
Error MixPairs(int64_t rounds) {
  std::array<Block, kLifetime> living;
  bool intact = true;
  uint64_t n = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    for (const Take take : kTake) {
      for (const GiveBack give_back : kGiveBack) {
        Block& block = living[++n % kLifetime];
        intact &= End(&block);
        block = {nullptr, SizeOf(n), SizeOf(n * 31), static_cast<unsigned char>(n), give_back};
        block.memory = static_cast<unsigned char*>(take(block.size));
        if (block.memory == nullptr) return Error::Internal("testing backend: no memory");
        memset(block.memory, block.fill, block.size);
      }
    }
  }
  for (Block& block : living) intact &= End(&block);
  if (intact) return Error();
  return Error::Internal("testing backend: a block of memory was overwritten");
}

}  // namespace

TRITONSERVER_Error* ExecuteMixedMemory(TestingInstance& instance, TRITONBACKEND_Request** requests,
                                       uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (Error error = MixPairs(instance.model().times()); !error.ok()) return error.release();
    EchoAndRelease(instance.model(), instance.handle(), requests[i]);
  }
  return nullptr;
}

}  // namespace nereid_backend
