// SPDX-License-Identifier: Apache-2.0
// Devices: the GPUs that this server uses, out of those that it finds, and the memory pools for
// them. Thread-safe: all but the pools is fixed after Find. Outlives the models and backends.
#ifndef NEREID_DEVICE_DEVICES_H_
#define NEREID_DEVICE_DEVICES_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/export.h"
#include "base/threads/thread_pool.h"
#include "device/copier.h"
#include "device/device_options.h"
#include "device/gpus.h"
#include "device/growable_memory.h"
#include "device/ipc_regions.h"
#include "device/memory_pool.h"

namespace nereid {

// An address, and where it is.
struct PlacedMemory {
  void* base = nullptr;
  MemoryPlace place;
};

class NEREID_API Devices {
 public:
  // Lists the machine's GPUs, which makes no context on any. Without a driver this is a failed
  // dlopen.
  static std::unique_ptr<Devices> Find(DeviceOptions options,
                                       const std::string& library = "libcuda.so.1");
  // No GPUs, without looking for any.
  static Devices* None();

  // The GPUs in use by CUDA's numbers, ascending.
  const std::vector<int>& used() const { return used_; }
  // Null if no GPU in use has this number.
  Gpu* Get(int64_t id) const;
  double min_compute_capability() const {
    return options_.min_compute_capability.value_or(DeviceOptions::kMinComputeCapability);
  }
  // Sentences for the log: which GPUs are used, which are not, and why. None without a driver.
  std::vector<std::string> Describe() const;
  // Why the machine's GPUs cannot be used although it seems to have some; OK otherwise.
  absl::Status fault() const;

  // Null if no GPU in use has this number. It has no bytes if it is switched off.
  MemoryPool* gpu_pool(int64_t id) const;
  // Null without GPUs.
  MemoryPool* pinned_pool() const { return pinned_pool_.get(); }

  // Memory out of the pools: on the GPU that `wish` names or, if its pool cannot give any, pinned.
  // None if the pinned pool cannot either, if no GPU in use has this number, or if the wish is
  // plain memory: the caller then takes memory of the process. Says in the log what the pools
  // cannot give, once for each kind.
  std::optional<PlacedMemory> Allocate(const MemoryPlace& wish, size_t byte_size) const;
  // Gives it back. No copy may still use it. REQUIRES: it comes from Allocate.
  void Free(const PlacedMemory& memory) const;

  // Memory that grows where it is. INVALID_ARGUMENT if no GPU in use has this number, UNAVAILABLE
  // if the GPU has failed. Must not outlive this object.
  absl::StatusOr<std::unique_ptr<GrowableMemory>> MakeGrowable(int64_t id) const;

  // UNAVAILABLE if more of the GPU's memory is in use than the limit for it allows. Without a limit
  // nothing is asked; with one it makes the GPU's context, and may block for a second.
  absl::Status CheckLoadLimit(int64_t id, absl::string_view instance) const;

  // Copies memory of the GPUs in use from and to any other, and waits. UNAVAILABLE if a GPU has
  // failed, INVALID_ARGUMENT if none in use has the number of a place. Never on an I/O thread.
  absl::Status Copy(absl::Span<const CopyItem> items) const;

  // While one lives, its thread closes the regions that it is the last to use.
  class NEREID_API ClosingHere {
   public:
    ClosingHere();
    ~ClosingHere();
    ClosingHere(const ClosingHere&) = delete;
    ClosingHere& operator=(const ClosingHere&) = delete;
  };

  // Opens a region of another process on GPU `id`, which may take a second: INVALID_ARGUMENT if the
  // handle is not good or no GPU in use has that number. The last user may be any thread: except
  // within ClosingHere, another thread then closes the region. Must not outlive this object.
  absl::StatusOr<std::shared_ptr<const IpcRegion>> OpenRegion(int64_t id,
                                                              absl::string_view handle) const;
  // "0, 1, 2"
  std::string UsedText() const;

 private:
  explicit Devices(DeviceOptions options) : options_(std::move(options)) {}
  void MakePools();
  void Close(std::unique_ptr<IpcRegion> region) const;

  const DeviceOptions options_;
  std::unique_ptr<Gpus> gpus_;  // null: nobody has looked for any
  std::vector<int> used_;
  std::map<int64_t, std::unique_ptr<MemoryPool>> gpu_pools_;
  std::map<int64_t, std::unique_ptr<GpuBlocks>> blocks_;
  std::unique_ptr<MemoryPool> pinned_pool_;
  const std::unique_ptr<Copier> copier_ = std::make_unique<Copier>();
  const std::unique_ptr<IpcRegions> regions_ = std::make_unique<IpcRegions>();
  mutable std::atomic<bool> told_pinned_{false};    // that pinned memory was used instead
  mutable std::atomic<bool> told_unpinned_{false};  // that not even that was left
  std::unique_ptr<ThreadPool> closer_;  // has no thread before it is needed; null without GPUs
};

}  // namespace nereid

#endif  // NEREID_DEVICE_DEVICES_H_
