// SPDX-License-Identifier: Apache-2.0
// BlockCache: PyTorch's CPU memory. Blocks are kept for the next run, the small ones by the thread
// that frees them (SmallBlocks). Large ones are for all threads: the allocator of the process would
// return their pages to the system, and each run would then fault them in anew, which costs a third
// of the time of a convolutional network. Thread-safe.
#ifndef NEREID_BACKENDS_PYTORCH_BLOCK_CACHE_H_
#define NEREID_BACKENDS_PYTORCH_BLOCK_CACHE_H_

#include <c10/core/Allocator.h>

#include <list>
#include <mutex>

namespace nereid_backend {

class BlockCache : public c10::Allocator {
 public:
  // Limit on the total size of large blocks that are kept; the least recently used one is freed
  // first.
  static constexpr size_t kMostKept = size_t{256} << 20;

  // The only instance in the process. It is never destroyed, because tensors may outlive
  // everything.
  static BlockCache& Instance();
  // From now on PyTorch allocates from this cache.
  static void Install();

  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* destination, const void* source, size_t size) const override;

  // Frees the large blocks that are kept.
  void Clear();
  // Of large blocks.
  size_t kept_bytes() const;

 private:
  struct Block {
    void* start;
    size_t size;
  };

  BlockCache() = default;
  static void Delete(void* data);
  // A kept block, or null if there is none. `size`: rounded up.
  void* Take(size_t size);
  void* TakeLarge(size_t size);
  void Keep(Block block);
  void KeepLarge(Block block);

  mutable std::mutex mu_;
  std::list<Block> kept_;  // guarded by mu_; the newest first
  size_t kept_bytes_ = 0;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_BLOCK_CACHE_H_
