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

IpcRegion::~IpcRegion() {
  if (is_open_) regions_->Close(gpu_, opened_);
}

absl::StatusOr<std::unique_ptr<IpcRegion>> IpcRegions::Open(Gpu* gpu, absl::string_view handle) {
  if (handle.size() != sizeof(cuda::IpcHandle)) {
    return absl::InvalidArgumentError(absl::StrCat("the handle of a region of GPU memory has ",
                                                   handle.size(), " bytes: it must have ",
                                                   sizeof(cuda::IpcHandle)));
  }
  // Made first: if there is no memory for it, nothing has been opened yet.
  std::unique_ptr<IpcRegion> region(new IpcRegion(this, gpu));
  const auto opened = OpenCounted(gpu, handle);
  if (!opened.ok()) {
    gpu->LogFailure();
    return opened.status();
  }
  region->opened_ = *opened;
  region->is_open_ = true;
  return region;
}

absl::StatusOr<IpcRegions::Regions::iterator> IpcRegions::OpenCounted(Gpu* gpu,
                                                                      absl::string_view handle) {
  MutexLock lock(&mu_);
  Regions fresh;  // its memory is there before anything is opened
  fresh.try_emplace({gpu->info().id, std::string(handle)});
  auto region = opened_.find(fresh.begin()->first);
  if (region == opened_.end()) {
    ASSIGN_OR_RETURN(fresh.begin()->second, OpenFirst(gpu, handle));
    region = opened_.insert(fresh.extract(fresh.begin())).position;
  }
  ++region->second.users;
  return region;
}

absl::StatusOr<IpcRegion::Opened> IpcRegions::OpenFirst(Gpu* gpu, absl::string_view handle) {
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
  return IpcRegion::Opened{reinterpret_cast<char*>(opened), byte_size - (opened - base), 0};
}

void IpcRegions::Close(Gpu* gpu, Regions::iterator region) {
  MutexLock lock(&mu_);
  if (--region->second.users > 0) return;
  char* const base = region->second.base;
  opened_.erase(region);
  gpu->Release(
      [&](const cuda::Functions& call) { return call.IpcCloseMemHandle(cuda::AddressOf(base)); });
}

size_t IpcRegions::size() const {
  MutexLock lock(&mu_);
  return opened_.size();
}

}  // namespace nereid
