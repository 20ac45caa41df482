// SPDX-License-Identifier: Apache-2.0
// Gpus: the GPUs that this process may use. Gpu: one of them, its primary context and whether it
// has failed.
//
// Both are thread-safe. Gpus owns its Gpu objects and outlives everything that is made on them:
// streams, events, pools and opened regions.
#ifndef NEREID_DEVICE_GPUS_H_
#define NEREID_DEVICE_GPUS_H_

#include <absl/base/thread_annotations.h>
#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "device/driver.h"

namespace nereid {

struct GpuInfo {
  int id = 0;  // CUDA's number: the driver has applied CUDA_VISIBLE_DEVICES
  std::string name;
  std::string uuid;        // "GPU-..." as tools of NVIDIA write it
  std::string pci_bus_id;  // "0000:3b:00.0", by which NVML knows the same GPU
  int capability_major = 0;
  int capability_minor = 0;
  uint64_t total_bytes = 0;
};

// Where the bytes of a copy went.
enum class CopyWay { kToDevice, kFromDevice, kWithinDevice, kBetweenDevices, kOnHost };
inline constexpr int kCopyWays = 5;

class Gpu {
 public:
  struct Memory {
    uint64_t free = 0;
    uint64_t total = 0;
  };
  using Function = absl::FunctionRef<cuda::Result(const cuda::Functions&)>;

  Gpu(const CudaDriver* driver, cuda::Device device, GpuInfo info);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const GpuInfo& info() const { return info_; }
  // The driver's own.
  cuda::Device device() const { return device_; }
  // Whether the primary context has been made, which takes memory of the GPU.
  bool has_context() const { return context_.load(std::memory_order_acquire) != nullptr; }

  // OK until an error ends the context. From then on UNAVAILABLE, as every call is: the text names
  // GPU and cause.
  absl::Status failure() const;

  // Calls the driver with this GPU's context current, which the first call makes (about a second),
  // and leaves the thread's own context current afterwards. An error reads "GPU 0 cannot <doing>:
  // <cause>"; one that ends the context is kept and logged once. Blocks as long as the function
  // does.
  absl::Status Call(absl::string_view doing, Function function);
  // As Call, for callers who hold a lock: nothing is logged before LogFailure, which they call
  // without it.
  absl::Status CallLocked(absl::string_view doing, Function function);
  // Logs the failure of this GPU, if there is one and it has not been logged.
  void LogFailure();
  // As Call, and false while the driver says that something is not done yet.
  absl::StatusOr<bool> Poll(absl::string_view doing, Function function);
  // Gives something back. Nobody is left to be told that it fails, as it does after a failure of
  // the GPU.
  void Release(Function function);

  // Free and total bytes as the driver counts them. Makes the context.
  absl::StatusOr<Memory> ReadMemory();

  // What Stream::Copy has submitted on streams of this GPU.
  void CountCopy(CopyWay way, uint64_t bytes);
  uint64_t copied_bytes(CopyWay way) const { return copied_bytes_[static_cast<int>(way)]; }
  uint64_t copies(CopyWay way) const { return copies_[static_cast<int>(way)]; }

 private:
  // The context, retained if it is not yet.
  absl::StatusOr<cuda::Context> Retain() ABSL_LOCKS_EXCLUDED(mu_);
  absl::StatusOr<cuda::Result> CallInContext(Function function);
  absl::Status ToStatus(cuda::Result result, absl::string_view doing);

  const CudaDriver* const driver_;
  const cuda::Device device_;
  const GpuInfo info_;
  std::atomic<cuda::Result> failure_{cuda::kSuccess};  // changes once
  std::atomic<bool> is_failure_logged_{false};
  std::atomic<cuda::Context> context_{nullptr};  // written under mu_, changes once
  std::atomic<uint64_t> copied_bytes_[kCopyWays] = {};
  std::atomic<uint64_t> copies_[kCopyWays] = {};
  Mutex mu_;  // held while the context is made, so that it is made once
};

class Gpus {
 public:
  // Opens the driver and lists its GPUs, without a context on any. Without a driver this is a
  // failed dlopen.
  static std::unique_ptr<Gpus> Find(const std::string& library = "libcuda.so.1");

  size_t size() const { return gpus_.size(); }
  // Null if there is no GPU of this number.
  Gpu* Get(int64_t id) const;
  // Any GPU that has not failed, one with a context if there is one; null if there is none.
  Gpu* AnyHealthy() const;
  // Why there are no GPUs: NOT_FOUND where nobody expects one, FAILED_PRECONDITION where something
  // is wrong.
  const absl::Status& absence() const { return absence_; }
  // 0 without a driver.
  int driver_version() const { return driver_ == nullptr ? 0 : driver_->version(); }

 private:
  Gpus() = default;
  absl::Status List();

  std::unique_ptr<CudaDriver> driver_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  absl::Status absence_;
};

}  // namespace nereid

#endif  // NEREID_DEVICE_GPUS_H_
