// SPDX-License-Identifier: Apache-2.0
#include "device/memory_pool.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "base/status_macros.h"

namespace nereid {

std::unique_ptr<MemoryPool> MemoryPool::OnGpu(Gpu* gpu, size_t byte_size) {
  return std::unique_ptr<MemoryPool>(new MemoryPool(
      absl::StrCat("the memory pool of GPU ", gpu->info().id), byte_size, gpu, nullptr));
}

std::unique_ptr<MemoryPool> MemoryPool::Pinned(const Gpus* gpus, size_t byte_size) {
  return std::unique_ptr<MemoryPool>(
      new MemoryPool("the pinned memory pool", byte_size, nullptr, gpus));
}

MemoryPool::MemoryPool(std::string name, size_t byte_size, Gpu* gpu, const Gpus* gpus)
    : name_(std::move(name)), byte_size_(byte_size), gpu_(gpu), gpus_(gpus), parts_(byte_size) {}

MemoryPool::~MemoryPool() {
  MutexLock lock(&mu_);
  if (block_ == nullptr) return;
  char* const block = block_;
  owner_->Release([&](const cuda::Functions& call) {
    return gpu_ == nullptr ? call.MemFreeHost(block) : call.MemFree(cuda::AddressOf(block));
  });
}

absl::Status MemoryPool::TakeBlock() {
  Gpu* const owner = gpu_ != nullptr ? gpu_ : gpus_->AnyHealthy();
  if (owner == nullptr) {
    return absl::UnavailableError(absl::StrCat(name_, " cannot be made: no GPU works"));
  }
  void* block = nullptr;
  RETURN_IF_ERROR(owner->CallLocked(
      absl::StrCat("give ", byte_size_, " bytes for ", name_), [&](const cuda::Functions& call) {
        if (gpu_ == nullptr) {
          return call.MemHostAlloc(&block, byte_size_, cuda::kHostAllocPortable);
        }
        cuda::Pointer address = 0;
        const cuda::Result result = call.MemAlloc(&address, byte_size_);
        block = reinterpret_cast<void*>(address);
        return result;
      }));
  owner_ = owner;
  block_ = static_cast<char*>(block);
  return absl::OkStatus();
}

absl::StatusOr<void*> MemoryPool::Allocate(size_t byte_size) {
  if (byte_size_ == 0) {
    return absl::UnavailableError(
        absl::StrCat(name_, " is switched off: its size is 0 in the server's options"));
  }
  auto address = Take(byte_size);
  if (address.ok()) return address;
  if (gpu_ != nullptr) gpu_->LogFailure();
  for (size_t id = 0; gpus_ != nullptr && id < gpus_->size(); ++id) {
    gpus_->Get(static_cast<int64_t>(id))->LogFailure();
  }
  return address;
}

absl::StatusOr<void*> MemoryPool::Take(size_t byte_size) {
  MutexLock lock(&mu_);
  if (block_ == nullptr) RETURN_IF_ERROR(TakeBlock());
  const auto offset = parts_.Allocate(byte_size);
  if (!offset.has_value()) {
    return absl::UnavailableError(absl::StrCat(name_, " has no room for ", byte_size,
                                               " bytes: ", parts_.byte_size() - parts_.used(),
                                               " of its ", byte_size_, " bytes are free, ",
                                               parts_.LargestFree(), " of them in one piece"));
  }
  used_.store(parts_.used(), std::memory_order_relaxed);
  return block_ + *offset;
}

absl::Status MemoryPool::Free(void* address) {
  MutexLock lock(&mu_);
  const auto offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(block_);
  if (block_ == nullptr || !parts_.Free(offset)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the address 0x", absl::Hex(reinterpret_cast<uintptr_t>(address)),
                     " was not allocated in ", name_, " or has been freed already"));
  }
  used_.store(parts_.used(), std::memory_order_relaxed);
  return absl::OkStatus();
}

}  // namespace nereid
