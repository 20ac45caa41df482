// SPDX-License-Identifier: Apache-2.0
// GrowableMemory: memory of a GPU that keeps its address while it grows. Its addresses are reserved
// at first, and blocks of memory come behind them when they are needed. GpuBlocks: the blocks of
// one GPU.
#ifndef NEREID_DEVICE_GROWABLE_MEMORY_H_
#define NEREID_DEVICE_GROWABLE_MEMORY_H_

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "device/gpus.h"

namespace nereid {

// Thread-safe. Outlives the memory that is made of its blocks, and not the GPU.
class GpuBlocks {
 public:
  explicit GpuBlocks(Gpu* gpu) : gpu_(gpu) {}
  ~GpuBlocks();
  GpuBlocks(const GpuBlocks&) = delete;
  GpuBlocks& operator=(const GpuBlocks&) = delete;

  Gpu* gpu() const { return gpu_; }
  // The size of each block, which the driver chooses.
  absl::StatusOr<size_t> BlockBytes();
  // A block that somebody has given back, or a new one. UNAVAILABLE without memory.
  absl::StatusOr<cuda::MemoryBlock> Take() ABSL_LOCKS_EXCLUDED(mu_);
  // Keeps a block, which lies at no address any more, for the next Take. Takes no memory.
  void Give(cuda::MemoryBlock block) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Gpu* const gpu_;
  std::atomic<size_t> block_bytes_{0};  // 0: not asked for yet
  Mutex mu_;
  size_t most_ ABSL_GUARDED_BY(mu_) = 0;  // that can be idle: idle_ has room for them
  std::vector<cuda::MemoryBlock> idle_ ABSL_GUARDED_BY(mu_);
};

// Thread-compatible.
class GrowableMemory {
 public:
  // Reserves that many addresses, which costs no memory.
  static absl::StatusOr<std::unique_ptr<GrowableMemory>> Create(GpuBlocks* blocks,
                                                                size_t reserved_bytes);
  // No copy may still use the memory.
  ~GrowableMemory();
  GrowableMemory(const GrowableMemory&) = delete;
  GrowableMemory& operator=(const GrowableMemory&) = delete;

  // Makes room for that many bytes; those that are there keep their values. What has been taken
  // stays until the end. INVALID_ARGUMENT if not as many addresses are reserved, UNAVAILABLE
  // without memory or if the GPU has failed.
  absl::Status Resize(size_t byte_size);

  char* base() const { return reinterpret_cast<char*>(base_); }
  // The room that there is.
  size_t byte_size() const { return handles_.size() * block_bytes_; }

 private:
  GrowableMemory(GpuBlocks* blocks, size_t block_bytes, size_t wanted_bytes)
      : blocks_(blocks), block_bytes_(block_bytes), wanted_bytes_(wanted_bytes) {}
  size_t reserved_bytes() const;
  absl::Status AddBlock();

  GpuBlocks* const blocks_;
  const size_t block_bytes_;
  const size_t wanted_bytes_;
  cuda::Pointer base_ = 0;
  std::vector<cuda::MemoryBlock> handles_;  // in the order of their addresses
};

}  // namespace nereid

#endif  // NEREID_DEVICE_GROWABLE_MEMORY_H_
