// SPDX-License-Identifier: Apache-2.0
#include "frontends/codec/received_body.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace nereid {
namespace {

// From here on, memory that grows is mapped: the kernel moves its pages, so that a body is never
// there twice.
constexpr size_t kMappedBytes = 1 << 20;
constexpr std::align_val_t kAligned{ReceivedBody::kAlignment};

// Space in front of the bytes, for the byte at `aligned_offset` to be aligned.
size_t LeadOf(size_t aligned_offset) {
  constexpr size_t kAlignment = ReceivedBody::kAlignment;
  return (kAlignment - aligned_offset % kAlignment) % kAlignment;
}

// Puts a shared object and `extra` bytes behind it into one piece of memory.
// `*behind` becomes the address of those bytes, which is aligned.
template <typename T>
struct AllocatorWithRoom {
  using value_type = T;

  AllocatorWithRoom(size_t extra_in, char** behind_in) : extra(extra_in), behind(behind_in) {}
  template <typename U>
  explicit AllocatorWithRoom(const AllocatorWithRoom<U>& other)
      : extra(other.extra), behind(other.behind) {}

  T* allocate(size_t count) {
    constexpr size_t kAlignment = ReceivedBody::kAlignment;
    const size_t own = (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    if (extra > SIZE_MAX - own) throw std::bad_alloc();
    char* const memory = static_cast<char*>(::operator new(own + extra, kAligned));
    *behind = memory + own;
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kAligned); }

  size_t extra;
  char** behind;  // of the caller of Reserve; not used after that
};

}  // namespace

std::shared_ptr<ReceivedBody> ReceivedBody::Reserve(size_t capacity, size_t aligned_offset) {
  const size_t lead = LeadOf(aligned_offset);
  if (capacity > SIZE_MAX - lead - kPadding) return nullptr;
  char* behind = nullptr;
  try {
    auto body = std::allocate_shared<ReceivedBody>(
        AllocatorWithRoom<ReceivedBody>(lead + capacity + kPadding, &behind), Key(),
        aligned_offset);
    body->begin_ = behind + lead;
    body->capacity_ = capacity;
    return body;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

ReceivedBody::~ReceivedBody() { FreeGrown(); }

void ReceivedBody::FreeGrown() {
  if (mapped_ > 0) {
    munmap(grown_, mapped_);
  } else {
    ::operator delete(grown_, kAligned);
  }
}

bool ReceivedBody::Grow(size_t capacity) {
  const size_t lead = LeadOf(aligned_offset_);
  if (capacity > SIZE_MAX - lead - kPadding) return false;
  const size_t size = lead + capacity + kPadding;
  const bool map = size >= kMappedBytes;
  void* block = nullptr;
  if (mapped_ > 0) {
    block = mremap(grown_, mapped_, size, MREMAP_MAYMOVE);
  } else if (map) {
    block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  } else {
    block = ::operator new(size, kAligned, std::nothrow);
  }
  if (block == nullptr || block == MAP_FAILED) return false;
  char* const begin = static_cast<char*>(block) + lead;
  if (mapped_ == 0) {
    if (size_ > 0) std::memcpy(begin, begin_, size_);
    FreeGrown();
  }
  grown_ = static_cast<char*>(block);
  mapped_ = map ? size : 0;
  begin_ = begin;
  capacity_ = capacity;
  return true;
}

void ReceivedBody::Seal() { std::memset(begin_ + size_, 0, kPadding); }

}  // namespace nereid
