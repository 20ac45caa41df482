// BlockCache: PyTorch's CPU memory. Large blocks are kept for the next run instead of being
// returned to the allocator of the process, which returns the pages to the system. Each run would
// then fault them in anew, which costs a third of the time of a convolutional network. Thread-safe.
#ifndef NEREID_BACKENDS_PYTORCH_BLOCK_CACHE_H_
#define NEREID_BACKENDS_PYTORCH_BLOCK_CACHE_H_

#include <c10/core/Allocator.h>

#include <list>
#include <mutex>

namespace nereid_backend {

class BlockCache : public c10::Allocator {
 public:
  // Blocks of at least this size are kept.
  static constexpr size_t kLarge = size_t{1} << 20;
  // Limit on the total size kept; the least recently used block is freed first.
  static constexpr size_t kMostKept = size_t{256} << 20;

  // The only instance in the process. It is never destroyed, because tensors may outlive
  // everything.
  static BlockCache& Instance();
  // From now on PyTorch allocates from this cache.
  static void Install();

  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* destination, const void* source, size_t size) const override;

  // Frees all kept blocks.
  void Clear();
  size_t kept_bytes() const;

 private:
  struct Block {
    void* start;
    size_t size;
  };

  BlockCache() = default;
  static void Delete(void* data);
  void* Take(size_t size);
  void Keep(Block block);

  mutable std::mutex mu_;
  std::list<Block> kept_;  // guarded by mu_; the newest first
  size_t kept_bytes_ = 0;  // guarded by mu_
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTORCH_BLOCK_CACHE_H_
