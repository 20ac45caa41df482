// SPDX-License-Identifier: Apache-2.0
// SharedMemoryRegistry: the regions of shared memory that clients have registered by name, of the
// host or of GPUs, and where requests find and put their tensors. Thread-safe.
//
// Names, rules and texts are those of docs/protocol/shared_memory.md.
#ifndef NEREID_FRONTENDS_SHARED_MEMORY_SHARED_MEMORY_REGISTRY_H_
#define NEREID_FRONTENDS_SHARED_MEMORY_SHARED_MEMORY_REGISTRY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "device/devices.h"
#include "frontends/shared_memory/mapped_segment.h"
#include "memory/file_memory.h"
#include "model/memory_kind.h"

namespace nereid {

// A registered region, as its owner described it.
struct SharedMemoryRegion {
  std::string name;
  std::string key;
  uint64_t offset = 0;  // of the region in the segment
  uint64_t byte_size = 0;
};

// A registered region of CUDA memory, as its owner described it: the first bytes of the allocation
// that its handle names.
struct CudaMemoryRegion {
  std::string name;
  int64_t device_id = 0;
  uint64_t byte_size = 0;
};

// What a region is in this process. Immutable.
struct RegionMemory {
  char* data = nullptr;
  uint64_t byte_size = 0;
  MemoryPlace place;
  std::unique_ptr<const MappedSegment> segment;  // null: on a GPU
  std::shared_ptr<const IpcRegion> on_gpu;       // null: of the host
  CudaIpcHandle ipc_handle = {};                 // with on_gpu: by which it was registered
};

// Which bytes of which region a request names.
struct SharedMemoryRange {
  std::string region;
  uint64_t offset = 0;  // in the region
  uint64_t byte_size = 0;
};

// Bytes of a region. Keeps them mapped, also when the region is unregistered meanwhile.
struct SharedMemorySlice {
  char* data = nullptr;  // of memory that only a GPU can read if the place says so
  uint64_t byte_size = 0;
  MemoryPlace place;
  std::shared_ptr<const RegionMemory> memory;

  // By which its owner has registered it; null: it is not on a GPU.
  std::shared_ptr<const CudaIpcHandle> ipc_handle() const {
    if (memory == nullptr || memory->on_gpu == nullptr) return nullptr;
    return {memory, &memory->ipc_handle};
  }
  // Null: other processes cannot map it.
  const FileMemory* file() const {
    return memory == nullptr || memory->segment == nullptr ? nullptr : &memory->segment->file();
  }
};

class SharedMemoryRegistry {
 public:
  // Longer names are refused, as are more regions of the host than a PageGuard can guard.
  static constexpr size_t kMaxNameBytes = 1024;
  static constexpr size_t kMaxCudaRegions = PageGuard::kMaxGuards;

  // Whether clients may register regions (--allow-client-shm), and the GPUs of which, which outlive
  // the registry and its slices.
  explicit SharedMemoryRegistry(bool allowed, const Devices* devices = Devices::None())
      : allowed_(allowed), devices_(*devices) {}

  // One without regions, for ever: for servers without shared memory.
  static SharedMemoryRegistry* Closed();

  // UNIMPLEMENTED unless clients may; otherwise OK. For registering and unregistering.
  absl::Status CheckAllowed() const;

  // Maps the region. UNIMPLEMENTED if clients may not, INVALID_ARGUMENT for a name in use, a key
  // that cannot be, and a region outside its segment; INTERNAL if the segment cannot be opened.
  absl::Status Register(const SharedMemoryRegion& region) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets the region `name`, or all if it is empty. An unknown name is no error, nor is that of a
  // region of CUDA memory, which stays. A region that requests use stays, for reports and for
  // further requests, until the last of them has ended; but its name may be registered anew.
  absl::Status Unregister(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // The region `name`, or all regions by name if it is empty. NOT_FOUND for an unknown one, with a
  // hint if it is of CUDA memory.
  absl::StatusOr<std::vector<SharedMemoryRegion>> Regions(const std::string& name) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // The same three for regions of CUDA memory. All may block for a second, as the driver does.
  // OK if there are GPUs to register such regions of; otherwise INVALID_ARGUMENT for region `name`.
  absl::Status CheckCuda(absl::string_view name) const;
  // `handle`: of the allocation, 64 bytes. UNIMPLEMENTED if clients may not, INVALID_ARGUMENT for a
  // name in use, a GPU that is not used here, a handle that the driver refuses and a size that is 0
  // or larger than the allocation; UNAVAILABLE if the GPU has failed.
  absl::Status RegisterCuda(const CudaMemoryRegion& region, absl::string_view handle)
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status UnregisterCuda(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<std::vector<CudaMemoryRegion>> CudaRegions(const std::string& name) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // The bytes of `range`. NOT_FOUND for an unknown region, INVALID_ARGUMENT if the bytes are not
  // all in it, or no longer in its segment.
  absl::StatusOr<SharedMemorySlice> Find(const SharedMemoryRange& range) const
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    std::variant<SharedMemoryRegion, CudaMemoryRegion> region;
    std::shared_ptr<const RegionMemory> registered;  // null: unregistered, but in use
    std::weak_ptr<const RegionMemory> memory;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // Forgets the regions that were unregistered and are no longer in use.
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsRegistered(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  // Null for an unknown region.
  std::shared_ptr<const RegionMemory> MemoryOf(absl::string_view name) const
      ABSL_LOCKS_EXCLUDED(mu_);
  // OK if a region of that name may be made.
  absl::Status CheckName(const std::string& name) const;
  // Makes the region an entry, unless its name is taken.
  absl::Status Add(const std::string& name, Entry entry) ABSL_LOCKS_EXCLUDED(mu_);
  size_t CudaCount() const ABSL_LOCKS_EXCLUDED(mu_);
  template <typename Region>
  std::vector<Region> RegionsOf(const std::string& name) const ABSL_LOCKS_EXCLUDED(mu_);
  template <typename Region>
  void Forget(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // The memory of a region of another process.
  absl::StatusOr<std::shared_ptr<const RegionMemory>> Open(const CudaMemoryRegion& region,
                                                           absl::string_view handle) const;

  const bool allowed_;
  const Devices& devices_;
  mutable Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);  // unregistered ones stay until the next change
};

// The error for a request that names a region that is not registered.
absl::Status UnknownSharedMemory(absl::string_view name);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_SHARED_MEMORY_SHARED_MEMORY_REGISTRY_H_
