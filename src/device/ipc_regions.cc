// SPDX-License-Identifier: Apache-2.0
#include "device/ipc_regions.h"

#include <absl/strings/str_cat.h>

#include <cstring>

#include "base/status_macros.h"

namespace nereid {

absl::StatusOr<IpcExport> ExportMemory(Gpu* gpu, const void* address) {
  IpcExport exported;
  cuda::Pointer base = 0;
  size_t byte_size = 0;
  RETURN_IF_ERROR(gpu->Call("make a handle of memory", [&](const cuda::Functions& call) {
    const cuda::Result result =
        call.MemGetAddressRange(&base, &byte_size, cuda::AddressOf(address));
    if (result != cuda::kSuccess) return result;
    return call.IpcGetMemHandle(&exported.handle, base);
  }));
  exported.offset = cuda::AddressOf(address) - base;
  return exported;
}

IpcRegion::~IpcRegion() { regions_->Close(*this); }

absl::StatusOr<std::unique_ptr<IpcRegion>> IpcRegions::Open(Gpu* gpu, absl::string_view handle) {
  if (handle.size() != sizeof(cuda::IpcHandle)) {
    return absl::InvalidArgumentError(absl::StrCat("the handle of a region of GPU memory has ",
                                                   handle.size(), " bytes: it must have ",
                                                   sizeof(cuda::IpcHandle)));
  }
  const auto opened = OpenCounted(gpu, handle);
  if (!opened.ok()) {
    gpu->LogFailure();
    return opened.status();
  }
  return std::unique_ptr<IpcRegion>(
      new IpcRegion(this, gpu, std::string(handle), opened->base, opened->byte_size));
}

absl::StatusOr<IpcRegions::Opened> IpcRegions::OpenCounted(Gpu* gpu, absl::string_view handle) {
  MutexLock lock(&mu_);
  const auto [entry, is_new] = opened_.try_emplace({gpu->info().id, std::string(handle)});
  if (is_new) {
    auto opened = OpenFirst(gpu, handle);
    if (!opened.ok()) {
      opened_.erase(entry);
      return std::move(opened).status();
    }
    entry->second = *opened;
  }
  ++entry->second.users;
  return entry->second;
}

absl::StatusOr<IpcRegions::Opened> IpcRegions::OpenFirst(Gpu* gpu, absl::string_view handle) {
  cuda::IpcHandle raw;
  std::memcpy(raw.bytes, handle.data(), sizeof(raw.bytes));
  cuda::Pointer opened = 0, base = 0;
  size_t byte_size = 0;
  const absl::Status status =
      gpu->CallLocked("open a region of another process", [&](const cuda::Functions& call) {
        cuda::Result result = call.IpcOpenMemHandle(&opened, raw, cuda::kIpcLazyPeerAccess);
        if (result != cuda::kSuccess) return result;
        result = call.MemGetAddressRange(&base, &byte_size, opened);
        if (result != cuda::kSuccess) call.IpcCloseMemHandle(opened);
        return result;
      });
  // Whatever the driver objects to, it is the handle that a client has sent, unless the GPU itself
  // has failed.
  if (absl::IsInternal(status)) return absl::InvalidArgumentError(status.message());
  RETURN_IF_ERROR(status);
  return Opened{reinterpret_cast<char*>(opened), byte_size - (opened - base), 0};
}

void IpcRegions::Close(const IpcRegion& region) {
  MutexLock lock(&mu_);
  const auto entry = opened_.find({region.gpu_->info().id, region.handle_});
  if (--entry->second.users > 0) return;
  opened_.erase(entry);
  region.gpu_->Release([&](const cuda::Functions& call) {
    return call.IpcCloseMemHandle(cuda::AddressOf(region.base_));
  });
}

size_t IpcRegions::size() const {
  MutexLock lock(&mu_);
  return opened_.size();
}

}  // namespace nereid
