// SPDX-License-Identifier: Apache-2.0
#include "device/devices.h"

#include <absl/algorithm/container.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

// A capability such as 8.6 has no exact form in binary.
constexpr double kTolerance = 0.01;

thread_local int closing_here = 0;

double CapabilityOf(const GpuInfo& gpu) {
  return gpu.capability_major + gpu.capability_minor / 10.0;
}

}  // namespace

std::unique_ptr<Devices> Devices::Find(DeviceOptions options, const std::string& library) {
  std::unique_ptr<Devices> devices(new Devices(std::move(options)));
  devices->gpus_ = Gpus::Find(library);
  for (size_t id = 0; id < devices->gpus_->size(); ++id) {
    const GpuInfo& gpu = devices->gpus_->Get(static_cast<int64_t>(id))->info();
    if (CapabilityOf(gpu) + kTolerance >= devices->min_compute_capability()) {
      devices->used_.push_back(gpu.id);
    }
  }
  devices->MakePools();
  return devices;
}

Devices* Devices::None() {
  static Devices* const none = new Devices(DeviceOptions{});
  return none;
}

void Devices::MakePools() {
  if (used_.empty()) return;
  closer_ = std::make_unique<ThreadPool>(
      ThreadPoolOptions{.name = "gpu regions", .threads = 0, .most_threads = 16});
  pinned_pool_ = MemoryPool::Pinned(
      gpus_.get(), options_.pinned_pool_bytes.value_or(DeviceOptions::kPinnedPoolBytes));
  for (const int id : used_) {
    const auto given = options_.gpu_pool_bytes.find(id);
    const uint64_t bytes =
        given == options_.gpu_pool_bytes.end() ? DeviceOptions::kGpuPoolBytes : given->second;
    blocks_[id] = std::make_unique<GpuBlocks>(gpus_->Get(id));
    gpu_pools_[id] = MemoryPool::OnGpu(gpus_->Get(id), bytes);
  }
}

Gpu* Devices::Get(int64_t id) const {
  return absl::c_linear_search(used_, id) ? gpus_->Get(id) : nullptr;
}

MemoryPool* Devices::gpu_pool(int64_t id) const {
  const auto pool = gpu_pools_.find(id);
  return pool == gpu_pools_.end() ? nullptr : pool->second.get();
}

std::optional<PlacedMemory> Devices::Allocate(const MemoryPlace& wish, size_t byte_size) const {
  if (wish.type == MemoryType::kCpu || pinned_pool_ == nullptr) return std::nullopt;
  if (wish.type == MemoryType::kGpu) {
    MemoryPool* const pool = gpu_pool(wish.id);
    if (pool == nullptr) return std::nullopt;
    const absl::StatusOr<void*> on_gpu = pool->Allocate(byte_size);
    if (on_gpu.ok()) return PlacedMemory{*on_gpu, wish};
    if (!told_pinned_.exchange(true)) {
      LOG_WARNING << on_gpu.status().message() << ", falling back to pinned system memory";
    }
  }
  const absl::StatusOr<void*> pinned = pinned_pool_->Allocate(byte_size);
  if (pinned.ok()) return PlacedMemory{*pinned, {MemoryType::kCpuPinned, 0}};
  if (!told_unpinned_.exchange(true)) {
    LOG_WARNING << pinned.status().message() << ", falling back to non-pinned system memory";
  }
  return std::nullopt;
}

void Devices::Free(const PlacedMemory& memory) const {
  MemoryPool* const pool =
      memory.place.type == MemoryType::kGpu ? gpu_pool(memory.place.id) : pinned_pool_.get();
  pool->Free(memory.base).IgnoreError();  // it is the pool's: there is no error
}

absl::StatusOr<std::unique_ptr<GrowableMemory>> Devices::MakeGrowable(int64_t id) const {
  const auto blocks = blocks_.find(id);
  if (blocks == blocks_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no memory that grows on GPU ", id,
                                                   ": this server uses no such GPU"));
  }
  const auto given = options_.address_bytes.find(static_cast<int>(id));
  return GrowableMemory::Create(blocks->second.get(), given == options_.address_bytes.end()
                                                          ? DeviceOptions::kAddressBytes
                                                          : given->second);
}

std::vector<std::string> Devices::Describe() const {
  std::vector<std::string> sentences;
  for (size_t id = 0; gpus_ != nullptr && id < gpus_->size(); ++id) {
    const GpuInfo& gpu = gpus_->Get(static_cast<int64_t>(id))->info();
    const std::string capability = absl::StrCat(gpu.capability_major, ".", gpu.capability_minor);
    if (Get(gpu.id) != nullptr) {
      sentences.push_back(absl::StrCat("GPU ", gpu.id, " is used: ", gpu.name, ", ", gpu.uuid,
                                       ", compute capability ", capability, ", ",
                                       gpu.total_bytes >> 20, " MiB"));
    } else {
      sentences.push_back(absl::StrCat("GPU ", gpu.id, " (", gpu.name,
                                       ") is not used: its compute capability is ", capability,
                                       ", and --min-supported-compute-capability is ",
                                       absl::StrFormat("%.1f", min_compute_capability())));
    }
  }
  return sentences;
}

absl::Status Devices::fault() const {
  if (gpus_ == nullptr || absl::IsNotFound(gpus_->absence())) return absl::OkStatus();
  return gpus_->absence();
}

absl::Status Devices::CheckLoadLimit(int64_t id, absl::string_view instance) const {
  Gpu* const gpu = Get(id);
  const auto limit = options_.load_limits.find(static_cast<int>(id));
  if (gpu == nullptr || limit == options_.load_limits.end()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Gpu::Memory memory, gpu->ReadMemory());
  const auto used = static_cast<double>(memory.total - memory.free);
  if (used <= static_cast<double>(memory.total) * limit->second) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("can not create model '", instance,
                                             "': memory limit set for GPU ", id,
                                             " has exceeded, model loading is rejected."));
}

std::string Devices::UsedText() const { return absl::StrJoin(used_, ", "); }

absl::Status Devices::Copy(absl::Span<const CopyItem> items) const {
  for (const CopyItem& item : items) {
    for (const MemoryPlace& place : {item.to_place, item.from_place}) {
      if (place.type == MemoryType::kGpu && Get(place.id) == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat(
            "memory of GPU ", place.id, " cannot be copied: this server uses no such GPU"));
      }
    }
  }
  for (const int id : used_) {
    std::vector<CopyItem> own;
    absl::c_copy_if(items, std::back_inserter(own),
                    [id](const CopyItem& item) { return CopyingGpu(item) == id; });
    RETURN_IF_ERROR(copier_->Copy(Get(id), own));
  }
  return absl::OkStatus();
}

Devices::ClosingHere::ClosingHere() { ++closing_here; }
Devices::ClosingHere::~ClosingHere() { --closing_here; }

absl::StatusOr<std::shared_ptr<const IpcRegion>> Devices::OpenRegion(
    int64_t id, absl::string_view handle) const {
  Gpu* const gpu = Get(id);
  if (gpu == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("this server uses no GPU ", id,
                     used_.empty() ? std::string() : absl::StrCat(", but these: ", UsedText())));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<IpcRegion> region, regions_->Open(gpu, handle));
  return std::shared_ptr<const IpcRegion>(
      region.release(), [this](IpcRegion* unused) { Close(std::unique_ptr<IpcRegion>(unused)); });
}

void Devices::Close(std::unique_ptr<IpcRegion> region) const {
  auto close = [owned = std::move(region)]() mutable { owned.reset(); };
  if (closing_here > 0 || !closer_->TryRun(std::move(close))) close();
}

}  // namespace nereid
