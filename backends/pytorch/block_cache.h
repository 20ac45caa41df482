// BlockCache: PyTorch's memory on the CPU. Large blocks are kept for the next run instead of going
// back to the allocator of the process, which gives the pages back to the system: each run would
// fault them in anew, a third of the time of a convolutional network. Thread-safe.
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
  // So much is kept in all; what was used longest ago goes first.
  static constexpr size_t kMostKept = size_t{256} << 20;

  // The process's only one, never destroyed: tensors may outlive everything.
  static BlockCache& Instance();
  // From now on PyTorch allocates here.
  static void Install();

  c10::DataPtr allocate(size_t size) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* destination, const void* source, size_t size) const override;

  // Gives everything that is kept back.
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
