// SPDX-License-Identifier: Apache-2.0
#include "device/gpus.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

std::string UuidText(const cuda::Uuid& uuid) {
  const std::string hex = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(uuid.bytes), sizeof(uuid.bytes)));
  const absl::string_view text = hex;
  return absl::StrCat("GPU-", text.substr(0, 8), "-", text.substr(8, 4), "-", text.substr(12, 4),
                      "-", text.substr(16, 4), "-", text.substr(20));
}

absl::StatusOr<std::pair<cuda::Device, GpuInfo>> Describe(const CudaDriver& driver, int id) {
  const cuda::Functions& call = driver.functions();
  GpuInfo info;
  info.id = id;
  cuda::Device device = 0;
  char name[256] = "";
  char bus[32] = "";
  cuda::Uuid uuid = {};
  size_t bytes = 0;
  cuda::Result result = call.DeviceGet(&device, id);
  const auto then = [&](cuda::Result next) {
    if (result == cuda::kSuccess) result = next;
  };
  then(call.DeviceGetName(name, sizeof(name), device));
  then(call.DeviceGetUuid(&uuid, device));
  then(call.DeviceGetPciBusId(bus, sizeof(bus), device));
  then(call.DeviceTotalMem(&bytes, device));
  then(call.DeviceGetAttribute(&info.capability_major, cuda::kCapabilityMajor, device));
  then(call.DeviceGetAttribute(&info.capability_minor, cuda::kCapabilityMinor, device));
  if (result != cuda::kSuccess) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no GPU is used because GPU ", id, " cannot be described: ", driver.Describe(result)));
  }
  info.name = name;
  info.uuid = UuidText(uuid);
  info.pci_bus_id = bus;
  info.total_bytes = bytes;
  return std::make_pair(device, std::move(info));
}

}  // namespace

Gpu::Gpu(const CudaDriver* driver, cuda::Device device, GpuInfo info)
    : driver_(driver), device_(device), info_(std::move(info)) {}

Gpu::~Gpu() {
  if (has_context()) driver_->functions().PrimaryCtxRelease(device_);
}

absl::Status Gpu::failure() const {
  const cuda::Result result = failure_.load(std::memory_order_acquire);
  if (result == cuda::kSuccess) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "GPU ", info_.id, " (", info_.uuid,
      ") has failed and needs a new start of the server: ", driver_->Describe(result)));
}

absl::StatusOr<cuda::Context> Gpu::Retain() {
  if (cuda::Context context = context_.load(std::memory_order_acquire)) return context;
  MutexLock lock(&mu_);
  cuda::Context context = context_.load(std::memory_order_relaxed);
  if (context != nullptr) return context;
  const cuda::Result result = driver_->functions().PrimaryCtxRetain(&context, device_);
  if (result != cuda::kSuccess) {
    return driver_->ToStatus(result, absl::StrCat("GPU ", info_.id, " cannot make a context"));
  }
  context_.store(context, std::memory_order_release);
  return context;
}

absl::StatusOr<cuda::Result> Gpu::CallInContext(Function function) {
  RETURN_IF_ERROR(failure());
  ASSIGN_OR_RETURN(const cuda::Context context, Retain());
  const cuda::Functions& call = driver_->functions();
  cuda::Result result = call.CtxPushCurrent(context);
  if (result != cuda::kSuccess) return result;
  result = function(call);
  cuda::Context popped = nullptr;
  call.CtxPopCurrent(&popped);
  return result;
}

absl::Status Gpu::ToStatus(cuda::Result result, absl::string_view doing) {
  if (result == cuda::kSuccess) return absl::OkStatus();
  if (!IsSticky(result)) {
    return driver_->ToStatus(result, absl::StrCat("GPU ", info_.id, " cannot ", doing));
  }
  cuda::Result none = cuda::kSuccess;
  failure_.compare_exchange_strong(none, result);
  return failure();
}

void Gpu::LogFailure() {
  const absl::Status status = failure();
  if (!status.ok() && !is_failure_logged_.exchange(true)) LOG_ERROR << status.message();
}

absl::Status Gpu::Call(absl::string_view doing, Function function) {
  absl::Status status = CallLocked(doing, function);
  if (!status.ok()) LogFailure();
  return status;
}

absl::Status Gpu::CallLocked(absl::string_view doing, Function function) {
  ASSIGN_OR_RETURN(const cuda::Result result, CallInContext(function));
  return ToStatus(result, doing);
}

absl::StatusOr<bool> Gpu::Poll(absl::string_view doing, Function function) {
  ASSIGN_OR_RETURN(const cuda::Result result, CallInContext(function));
  if (result == cuda::kNotReady) return false;
  const absl::Status status = ToStatus(result, doing);
  if (!status.ok()) {
    LogFailure();
    return status;
  }
  return true;
}

void Gpu::Release(Function function) {
  const cuda::Functions& call = driver_->functions();
  const cuda::Context context = context_.load(std::memory_order_acquire);
  if (context == nullptr || call.CtxPushCurrent(context) != cuda::kSuccess) return;
  function(call);
  cuda::Context popped = nullptr;
  call.CtxPopCurrent(&popped);
}

absl::StatusOr<Gpu::Memory> Gpu::ReadMemory() {
  size_t free = 0, total = 0;
  RETURN_IF_ERROR(Call("say how much memory is free", [&](const cuda::Functions& call) {
    return call.MemGetInfo(&free, &total);
  }));
  return Memory{free, total};
}

void Gpu::CountCopy(CopyWay way, uint64_t bytes) {
  copies_[static_cast<int>(way)].fetch_add(1, std::memory_order_relaxed);
  copied_bytes_[static_cast<int>(way)].fetch_add(bytes, std::memory_order_relaxed);
}

std::unique_ptr<Gpus> Gpus::Find(const std::string& library) {
  std::unique_ptr<Gpus> gpus(new Gpus);
  auto driver = CudaDriver::Open(library);
  if (!driver.ok()) {
    gpus->absence_ = std::move(driver).status();
    return gpus;
  }
  gpus->driver_ = *std::move(driver);
  gpus->absence_ = gpus->List();
  if (!gpus->absence_.ok()) gpus->gpus_.clear();
  return gpus;
}

absl::Status Gpus::List() {
  int count = 0;
  const cuda::Result result = driver_->functions().DeviceGetCount(&count);
  if (result != cuda::kSuccess) {
    return absl::FailedPreconditionError(
        absl::StrCat("no GPU is used because NVIDIA's driver does not say how many there are: ",
                     driver_->Describe(result)));
  }
  if (count == 0) return absl::NotFoundError("no GPU is used because NVIDIA's driver finds none");
  for (int id = 0; id < count; ++id) {
    ASSIGN_OR_RETURN(auto described, Describe(*driver_, id));
    gpus_.push_back(
        std::make_unique<Gpu>(driver_.get(), described.first, std::move(described.second)));
  }
  return absl::OkStatus();
}

Gpu* Gpus::Get(int64_t id) const {
  const bool exists = id >= 0 && id < static_cast<int64_t>(gpus_.size());
  return exists ? gpus_[static_cast<size_t>(id)].get() : nullptr;
}

Gpu* Gpus::AnyHealthy() const {
  Gpu* found = nullptr;
  for (const auto& gpu : gpus_) {
    if (!gpu->failure().ok()) continue;
    if (gpu->has_context()) return gpu.get();
    if (found == nullptr) found = gpu.get();
  }
  return found;
}

}  // namespace nereid
