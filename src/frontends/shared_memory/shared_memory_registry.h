// SPDX-License-Identifier: Apache-2.0
// SharedMemoryRegistry: the regions of shared memory that clients have registered by name, and
// where requests find and put their tensors. Thread-safe.
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
#include <vector>

#include "base/mutex.h"
#include "frontends/shared_memory/mapped_segment.h"

namespace nereid {

// A registered region, as its owner described it.
struct SharedMemoryRegion {
  std::string name;
  std::string key;
  uint64_t offset = 0;  // of the region in the segment
  uint64_t byte_size = 0;
};

// Which bytes of which region a request names.
struct SharedMemoryRange {
  std::string region;
  uint64_t offset = 0;  // in the region
  uint64_t byte_size = 0;
};

// Bytes of a region. Keeps them mapped, also when the region is unregistered meanwhile.
struct SharedMemorySlice {
  char* data = nullptr;
  uint64_t byte_size = 0;
  std::shared_ptr<const MappedSegment> segment;
};

class SharedMemoryRegistry {
 public:
  // Longer names are refused, as are more regions than a PageGuard can guard.
  static constexpr size_t kMaxNameBytes = 1024;

  // Whether clients may register regions (--allow-client-shm).
  explicit SharedMemoryRegistry(bool allowed) : allowed_(allowed) {}

  // One without regions, for ever: for servers without shared memory.
  static SharedMemoryRegistry* Closed();

  // UNIMPLEMENTED unless clients may; otherwise OK. For registering and unregistering.
  absl::Status CheckAllowed() const;

  // Maps the region. UNIMPLEMENTED if clients may not, INVALID_ARGUMENT for a name in use, a key
  // that cannot be, and a region outside its segment; INTERNAL if the segment cannot be opened.
  absl::Status Register(const SharedMemoryRegion& region) ABSL_LOCKS_EXCLUDED(mu_);
  // Forgets the region `name`, or all if it is empty. An unknown name is no error. A region that
  // requests use stays, for reports and for further requests, until the last of them has ended; but
  // its name may be registered anew.
  absl::Status Unregister(const std::string& name) ABSL_LOCKS_EXCLUDED(mu_);
  // The region `name`, or all regions by name if it is empty. NOT_FOUND for an unknown one.
  absl::StatusOr<std::vector<SharedMemoryRegion>> Regions(const std::string& name) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // NOT_FOUND: there is no region `name` of CUDA memory, with a hint if it is one of this kind.
  absl::Status CudaRegionError(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);

  // The bytes of `range`. NOT_FOUND for an unknown region, INVALID_ARGUMENT if the bytes are not
  // all in it, or no longer in its segment.
  absl::StatusOr<SharedMemorySlice> Find(const SharedMemoryRange& range) const
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    SharedMemoryRegion region;
    std::shared_ptr<const MappedSegment> registered;  // null: unregistered, but in use
    std::weak_ptr<const MappedSegment> segment;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // Forgets the regions that were unregistered and are no longer in use.
  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsRegistered(absl::string_view name) const ABSL_LOCKS_EXCLUDED(mu_);
  // Null for an unknown region.
  std::shared_ptr<const MappedSegment> SegmentOf(absl::string_view name) const
      ABSL_LOCKS_EXCLUDED(mu_);

  const bool allowed_;
  mutable Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);  // unregistered ones stay until the next change
};

// The error for a request that names a region that is not registered.
absl::Status UnknownSharedMemory(absl::string_view name);
// The error for registering the region `name` of CUDA memory: INVALID_ARGUMENT.
absl::Status NoCudaError(absl::string_view name);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_SHARED_MEMORY_SHARED_MEMORY_REGISTRY_H_
