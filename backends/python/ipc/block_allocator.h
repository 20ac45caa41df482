// SPDX-License-Identifier: Apache-2.0
// BlockAllocator: allocates blocks in a memory file for the process that owns the file, the only
// one that writes there. It enlarges the file, and gives pages back that were not needed for a
// while. Its bookkeeping is in private memory, so that no other process can corrupt it. Not
// thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_IPC_BLOCK_ALLOCATOR_H_
#define NEREID_BACKENDS_PYTHON_IPC_BLOCK_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace nereid_python {

class BlockAllocator {
 public:
  // `fd` outlives the allocator. `limit`: the file never grows beyond it.
  BlockAllocator(int fd, uint64_t limit) : fd_(fd), limit_(limit) {}

  // The offset of `size` bytes that have pages, aligned to kBlockAlignment. Empty if there is no
  // room for them, in memory or below the limit.
  std::optional<uint64_t> Allocate(uint64_t size);
  // False if `offset` is not the offset of a block.
  bool Free(uint64_t offset);
  // The size of the block at `offset`, or 0.
  uint64_t SizeOf(uint64_t offset) const;
  // Gives back the pages that no block has used since the last call, if those are many. The
  // allocator does so itself after a number of allocations; the owner's clock does where they are
  // rare.
  void Trim();

  uint64_t used() const { return used_bytes_; }
  // The file has pages up to here.
  uint64_t paged() const { return paged_; }

 private:
  std::optional<uint64_t> TakeFree(uint64_t size);
  std::optional<uint64_t> Grow(uint64_t size);

  const int fd_;
  const uint64_t limit_;
  std::map<uint64_t, uint64_t> free_;            // offset -> size; never two adjacent ones
  std::unordered_map<uint64_t, uint64_t> used_;  // offset -> size
  uint64_t end_ = 0;                             // end of the area covered by free_ and used_
  uint64_t paged_ = 0;
  uint64_t used_bytes_ = 0;
  // Since the last Trim.
  uint64_t highest_ = 0;
  uint32_t allocations_ = 0;
};

}  // namespace nereid_python

#endif  // NEREID_BACKENDS_PYTHON_IPC_BLOCK_ALLOCATOR_H_
