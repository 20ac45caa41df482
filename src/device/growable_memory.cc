// SPDX-License-Identifier: Apache-2.0
#include "device/growable_memory.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "base/status_macros.h"

namespace nereid {
namespace {

cuda::BlockKind KindOn(const Gpu& gpu) {
  cuda::BlockKind kind = {};
  kind.type = cuda::kBlockPinned;
  kind.location = {cuda::kLocationDevice, gpu.device()};
  return kind;
}

}  // namespace

GpuBlocks::~GpuBlocks() {
  MutexLock lock(&mu_);
  for (const cuda::MemoryBlock block : idle_) {
    gpu_->Release([&](const cuda::Functions& call) { return call.MemRelease(block); });
  }
}

absl::StatusOr<size_t> GpuBlocks::BlockBytes() {
  size_t bytes = block_bytes_.load(std::memory_order_relaxed);
  if (bytes != 0) return bytes;
  const cuda::BlockKind kind = KindOn(*gpu_);
  RETURN_IF_ERROR(gpu_->Call("say how large blocks of memory are", [&](const auto& call) {
    return call.MemGetAllocationGranularity(&bytes, &kind, cuda::kGranularityMinimum);
  }));
  block_bytes_.store(bytes, std::memory_order_relaxed);
  return bytes;
}

absl::StatusOr<cuda::MemoryBlock> GpuBlocks::Take() {
  {
    MutexLock lock(&mu_);
    if (!idle_.empty()) {
      const cuda::MemoryBlock block = idle_.back();
      idle_.pop_back();
      return block;
    }
    idle_.reserve(++most_);
  }
  ASSIGN_OR_RETURN(const size_t bytes, BlockBytes());
  const cuda::BlockKind kind = KindOn(*gpu_);
  cuda::MemoryBlock block = 0;
  RETURN_IF_ERROR(gpu_->Call(
      absl::StrCat("give ", bytes, " bytes for memory that grows"),
      [&](const cuda::Functions& call) { return call.MemCreate(&block, bytes, &kind, 0); }));
  return block;
}

void GpuBlocks::Give(cuda::MemoryBlock block) {
  MutexLock lock(&mu_);
  idle_.push_back(block);
}

absl::StatusOr<std::unique_ptr<GrowableMemory>> GrowableMemory::Create(GpuBlocks* blocks,
                                                                       size_t reserved_bytes) {
  ASSIGN_OR_RETURN(const size_t block_bytes, blocks->BlockBytes());
  std::unique_ptr<GrowableMemory> memory(new GrowableMemory(blocks, block_bytes, reserved_bytes));
  RETURN_IF_ERROR(blocks->gpu()->Call(
      absl::StrCat("reserve addresses for ", reserved_bytes, " bytes that grow"),
      [&](const cuda::Functions& call) {
        return call.MemAddressReserve(&memory->base_, memory->reserved_bytes(), 0, 0, 0);
      }));
  return memory;
}

size_t GrowableMemory::reserved_bytes() const {
  return std::max<size_t>((wanted_bytes_ + block_bytes_ - 1) / block_bytes_, 1) * block_bytes_;
}

GrowableMemory::~GrowableMemory() {
  if (base_ == 0) return;
  blocks_->gpu()->Release([&](const cuda::Functions& call) {
    if (!handles_.empty()) call.MemUnmap(base_, byte_size());
    return call.MemAddressFree(base_, reserved_bytes());
  });
  for (const cuda::MemoryBlock block : handles_) blocks_->Give(block);
}

absl::Status GrowableMemory::AddBlock() {
  handles_.reserve(handles_.size() + 1);
  ASSIGN_OR_RETURN(const cuda::MemoryBlock block, blocks_->Take());
  Gpu* const gpu = blocks_->gpu();
  const cuda::Pointer address = base_ + byte_size();
  const cuda::BlockAccess access = {{cuda::kLocationDevice, gpu->device()}, cuda::kReadWrite};
  const absl::Status added =
      gpu->Call("put memory behind an address", [&](const cuda::Functions& call) {
        cuda::Result result = call.MemMap(address, block_bytes_, 0, block, 0);
        if (result != cuda::kSuccess) return result;
        result = call.MemSetAccess(address, block_bytes_, &access, 1);
        if (result != cuda::kSuccess) call.MemUnmap(address, block_bytes_);
        return result;
      });
  if (!added.ok()) {
    blocks_->Give(block);
    return added;
  }
  handles_.push_back(block);
  return absl::OkStatus();
}

absl::Status GrowableMemory::Resize(size_t byte_size) {
  if (byte_size > wanted_bytes_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "memory of GPU ", blocks_->gpu()->info().id, " cannot grow to ", byte_size,
        " bytes where it is: --cuda-virtual-address-size reserves addresses for ", wanted_bytes_));
  }
  while (this->byte_size() < byte_size) RETURN_IF_ERROR(AddBlock());
  return absl::OkStatus();
}

}  // namespace nereid
