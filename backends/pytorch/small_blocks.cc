// SPDX-License-Identifier: Apache-2.0
#include "backends/pytorch/small_blocks.h"

#include <c10/core/impl/alloc_cpu.h>

#include <new>

namespace nereid_backend {
namespace {

// What other thread-local objects free while the thread ends goes to the process's allocator.
thread_local bool t_ending = false;

struct ThreadsOwn {
  ~ThreadsOwn() { t_ending = true; }

  SmallBlocks blocks;
};

}  // namespace

SmallBlocks* SmallBlocks::OfThisThread() {
  thread_local ThreadsOwn own;
  return t_ending ? nullptr : &own.blocks;
}

void* SmallBlocks::Take(size_t size) {
  static_assert(ClassOf(kMostBlock).number + 1 == kClasses);
  const Class wanted = ClassOf(size);
  Free* const block = free_[wanted.number];
  if (block == nullptr) return nullptr;
  free_[wanted.number] = block->next;
  kept_bytes_ -= wanted.size;
  return block;
}

void SmallBlocks::Keep(void* block, size_t size) {
  if (kept_bytes_ + size > kMostKept) Clear();
  Free*& first = free_[ClassOf(size).number];
  first = new (block) Free{first};
  kept_bytes_ += size;
}

void SmallBlocks::Clear() {
  for (Free*& first : free_) {
    while (first != nullptr) {
      Free* const block = first;
      first = block->next;
      c10::free_cpu(block);
    }
  }
  kept_bytes_ = 0;
}

}  // namespace nereid_backend
