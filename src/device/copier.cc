// SPDX-License-Identifier: Apache-2.0
#include "device/copier.h"

#include <utility>

#include "base/status_macros.h"

namespace nereid {

int64_t CopyingGpu(const CopyItem& item) {
  if (item.to_place.type == MemoryType::kGpu) return item.to_place.id;
  return item.from_place.type == MemoryType::kGpu ? item.from_place.id : -1;
}

absl::StatusOr<std::unique_ptr<Stream>> Copier::TakeStream(Gpu* gpu) {
  {
    MutexLock lock(&mu_);
    std::vector<std::unique_ptr<Stream>>& idle = idle_[gpu];
    if (!idle.empty()) {
      std::unique_ptr<Stream> stream = std::move(idle.back());
      idle.pop_back();
      return stream;
    }
  }
  return Stream::Create(gpu, Stream::Priority::kUsual);
}

absl::Status Copier::Copy(Gpu* gpu, absl::Span<const CopyItem> items) {
  if (items.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, TakeStream(gpu));
  absl::Status status = stream->Copy(items);
  // Also after an error: the caller frees the memory next.
  status.Update(stream->Synchronize());
  MutexLock lock(&mu_);
  idle_[gpu].push_back(std::move(stream));
  return status;
}

}  // namespace nereid
