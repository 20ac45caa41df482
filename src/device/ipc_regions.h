// SPDX-License-Identifier: Apache-2.0
// Memory of a GPU that processes share: handles for own memory, and regions opened by handles of
// others.
//
// The process that made a handle must keep its memory until each region of it is closed. The driver
// leaves it undefined what happens otherwise, and nobody but that process can hold to it.
#ifndef NEREID_DEVICE_IPC_REGIONS_H_
#define NEREID_DEVICE_IPC_REGIONS_H_

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "device/gpus.h"

namespace nereid {

// What another process needs to find an address of this process's: a handle of the whole
// allocation, as the driver knows it, and where in it the address lies.
struct IpcExport {
  cuda::IpcHandle handle = {};
  size_t offset = 0;
};

// INVALID_ARGUMENT if the address is not of memory that was allocated on this GPU.
absl::StatusOr<IpcExport> ExportMemory(Gpu* gpu, const void* address);

class IpcRegions;

// An opened region. Closed when the last one of its handle is destroyed. Immutable once Open has
// returned it.
class IpcRegion {
 public:
  ~IpcRegion();
  IpcRegion(const IpcRegion&) = delete;
  IpcRegion& operator=(const IpcRegion&) = delete;

  char* base() const { return opened_->second.base; }
  // Of the whole allocation, however little of it the other process means.
  size_t byte_size() const { return opened_->second.byte_size; }
  Gpu* gpu() const { return gpu_; }

 private:
  friend class IpcRegions;
  struct Opened {
    char* base = nullptr;
    size_t byte_size = 0;
    size_t users = 0;
  };
  using Regions = std::map<std::pair<int, std::string>, Opened>;  // by GPU and handle

  IpcRegion(IpcRegions* regions, Gpu* gpu) : regions_(regions), gpu_(gpu) {}

  IpcRegions* const regions_;
  Gpu* const gpu_;
  bool is_open_ = false;
  Regions::iterator opened_;  // stays where it is until the last user closes; set if is_open_
};

// Opens regions, each handle once per GPU, however often it is asked for. Thread-safe. Outlives its
// regions.
class IpcRegions {
 public:
  // The region of a handle, which has exactly 64 bytes. INVALID_ARGUMENT if it has not, or if the
  // driver refuses it: it is of no living process, of this process itself, or of a GPU that this
  // one cannot reach.
  absl::StatusOr<std::unique_ptr<IpcRegion>> Open(Gpu* gpu, absl::string_view handle)
      ABSL_LOCKS_EXCLUDED(mu_);

  // How many handles are open at present.
  size_t size() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  friend class IpcRegion;
  using Regions = IpcRegion::Regions;
  absl::StatusOr<Regions::iterator> OpenCounted(Gpu* gpu, absl::string_view handle)
      ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<IpcRegion::Opened> OpenFirst(Gpu* gpu, absl::string_view handle)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Close(Gpu* gpu, Regions::iterator region) ABSL_LOCKS_EXCLUDED(mu_);

  mutable Mutex
      mu_;  // held while the driver opens and closes, so that it never does both with one handle
  Regions opened_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_DEVICE_IPC_REGIONS_H_
