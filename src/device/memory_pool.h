// SPDX-License-Identifier: Apache-2.0
// MemoryPool: memory for the product's own buffers, on a GPU or pinned in the host's memory, from
// one block that is taken when it is first needed. Thread-safe. Must not outlive the Gpus it was
// made with.
//
// A GPU's pool is one plain allocation, because models' processes open the whole of it by one
// handle and find tensors in it by their offsets.
#ifndef NEREID_DEVICE_MEMORY_POOL_H_
#define NEREID_DEVICE_MEMORY_POOL_H_

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "device/best_fit.h"
#include "device/gpus.h"

namespace nereid {

class MemoryPool {
 public:
  // A pool of `byte_size` bytes on `gpu`. With 0 bytes there is none, and Allocate says so.
  static std::unique_ptr<MemoryPool> OnGpu(Gpu* gpu, size_t byte_size);
  // A pool in memory of the host that all GPUs copy from and to without a detour.
  static std::unique_ptr<MemoryPool> Pinned(const Gpus* gpus, size_t byte_size);

  // Gives the block back, and with it whatever is still allocated.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // Bytes at a multiple of 256; never null, even for 0 bytes. UNAVAILABLE if there is no room or no
  // block, which the next call tries to take again.
  absl::StatusOr<void*> Allocate(size_t byte_size) ABSL_LOCKS_EXCLUDED(mu_);
  // INVALID_ARGUMENT if the address is not one that Allocate gave and nobody has freed. The bytes
  // can be given to somebody else at once, so no copy may still use them.
  absl::Status Free(void* address) ABSL_LOCKS_EXCLUDED(mu_);

  size_t byte_size() const { return byte_size_; }
  // Bytes taken, without waiting for anybody.
  size_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  MemoryPool(std::string name, size_t byte_size, Gpu* gpu, const Gpus* gpus);
  absl::StatusOr<void*> Take(size_t byte_size) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status TakeBlock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string name_;  // "the memory pool of GPU 0"
  const size_t byte_size_;
  Gpu* const gpu_;          // null for a pinned pool
  const Gpus* const gpus_;  // null for a GPU's pool
  std::atomic<size_t> used_{0};
  Mutex mu_;  // held while the block is taken, so that it is taken once
  BestFit parts_ ABSL_GUARDED_BY(mu_);
  Gpu* owner_ ABSL_GUARDED_BY(mu_) = nullptr;   // through whose context the block was taken
  char* block_ ABSL_GUARDED_BY(mu_) = nullptr;  // an address of the GPU's, or of the host's
};

}  // namespace nereid

#endif  // NEREID_DEVICE_MEMORY_POOL_H_
