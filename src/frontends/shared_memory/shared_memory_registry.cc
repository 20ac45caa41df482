// SPDX-License-Identifier: Apache-2.0
#include "frontends/shared_memory/shared_memory_registry.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/outside_text.h"
#include "base/status_macros.h"

namespace nereid {
namespace {

// Segments of Triton's Python backend have such names; clients must not get hold of them.
constexpr absl::string_view kReservedPrefix = "triton_python_backend_shm_region_";

absl::Status CheckKey(const SharedMemoryRegion& region) {
  absl::string_view key = region.key;
  key.remove_prefix(std::min(key.find_first_not_of('/'), key.size()));
  const std::string refused =
      absl::StrCat("cannot register shared memory region '", region.name, "'");
  if (key.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(refused, " - invalid shm key '", region.key, "'"));
  }
  if (absl::StartsWith(key, kReservedPrefix)) {
    return absl::InvalidArgumentError(absl::StrCat(refused, " with key '", region.key,
                                                   "' as the key contains the reserved prefix '",
                                                   kReservedPrefix, "'"));
  }
  return absl::OkStatus();
}

// OK if offset + byte_size can be computed.
absl::Status CheckSum(absl::string_view name, uint64_t offset, uint64_t byte_size) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  if (byte_size <= kMax - offset) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Integer overflow detected: byte_size (", byte_size, ") + offset (", offset,
                   ") exceeds maximum value (", kMax, ") for region '", name, "'"));
}

absl::Status TakenError(absl::string_view name) {
  return absl::AlreadyExistsError(
      absl::StrCat("shared memory region '", name, "' already in manager"));
}

}  // namespace

SharedMemoryRegistry* SharedMemoryRegistry::Closed() {
  static SharedMemoryRegistry* const closed = new SharedMemoryRegistry(/*allowed=*/false);
  return closed;
}

absl::Status SharedMemoryRegistry::CheckAllowed() const {
  if (allowed_) return absl::OkStatus();
  return absl::UnimplementedError(
      "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to "
      "enable.");
}

absl::Status SharedMemoryRegistry::Register(const SharedMemoryRegion& region) {
  RETURN_IF_ERROR(CheckAllowed());
  if (region.name.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the name of a shared memory region may have ",
                                                   kMaxNameBytes, " bytes, not ",
                                                   region.name.size()));
  }
  RETURN_IF_ERROR(CheckOutsideName("shared memory region", region.name, kMaxNameBytes));
  RETURN_IF_ERROR(CheckOutsideName("shared memory key", region.key, kMaxNameBytes));
  RETURN_IF_ERROR(CheckKey(region));
  RETURN_IF_ERROR(CheckSum(region.name, region.offset, region.byte_size));
  if (IsRegistered(region.name)) return TakenError(region.name);
  if (region.byte_size == 0) {
    // A segment that cannot be opened comes first, as in Triton.
    const auto byte = MappedSegment::Map(region.key, 0, 1);
    if (absl::IsInternal(byte.status())) return byte.status();
    return absl::InvalidArgumentError(
        absl::StrCat("failed to register shared memory region '", region.name, "': invalid args"));
  }
  absl::StatusOr<std::unique_ptr<MappedSegment>> segment =
      MappedSegment::Map(region.key, region.offset, region.byte_size);
  if (absl::IsInvalidArgument(segment.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to register shared memory region '", region.name,
                     "': invalid args: ", segment.status().message()));
  }
  RETURN_IF_ERROR(segment.status());
  Entry entry{region, *std::move(segment), {}};  // is unmapped outside the lock if it is too late
  entry.segment = entry.registered;
  MutexLock lock(&mu_);
  Sweep();
  Entry& present = entries_[region.name];
  if (present.registered != nullptr) return TakenError(region.name);
  std::swap(present, entry);
  return absl::OkStatus();
}

absl::Status SharedMemoryRegistry::Unregister(const std::string& name) {
  RETURN_IF_ERROR(CheckAllowed());
  std::vector<std::shared_ptr<const MappedSegment>> removed;  // unmapped outside the lock
  MutexLock lock(&mu_);
  Sweep();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (name.empty() || entry->first == name) {
      removed.push_back(std::move(entry->second.registered));
      if (removed.back().use_count() == 1) entries_.erase(entry);
    }
    entry = next;
  }
  return absl::OkStatus();
}

void SharedMemoryRegistry::Sweep() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.segment.expired(); });
}

bool SharedMemoryRegistry::IsRegistered(absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  return it != entries_.end() && it->second.registered != nullptr;
}

absl::StatusOr<std::vector<SharedMemoryRegion>> SharedMemoryRegistry::Regions(
    const std::string& name) const {
  std::vector<SharedMemoryRegion> found;
  MutexLock lock(&mu_);
  for (const auto& [known, entry] : entries_) {
    if (!name.empty() && known != name) continue;
    if (!entry.segment.expired()) found.push_back(entry.region);
  }
  if (found.empty() && !name.empty()) {
    return absl::NotFoundError(
        absl::StrCat("Unable to find system shared memory region: '", name, "'"));
  }
  return found;
}

std::shared_ptr<const MappedSegment> SharedMemoryRegistry::SegmentOf(absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : it->second.segment.lock();
}

absl::StatusOr<SharedMemorySlice> SharedMemoryRegistry::Find(const SharedMemoryRange& range) const {
  const std::string& name = range.region;
  std::shared_ptr<const MappedSegment> segment = SegmentOf(name);
  if (segment == nullptr) return UnknownSharedMemory(name);
  if (range.offset >= segment->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid offset for shared memory region: '", name, "'"));
  }
  RETURN_IF_ERROR(CheckSum(name, range.offset, range.byte_size));
  if (range.byte_size > segment->size() - range.offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid offset + byte size for shared memory region: '", name, "'"));
  }
  if (!segment->IsWhole()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the segment of shared memory region '", name,
                     "' was truncated after its registration: unregister the region, and register "
                     "it again with a size that the segment has"));
  }
  char* const data = segment->data() + range.offset;
  return SharedMemorySlice{data, range.byte_size, std::move(segment)};
}

absl::Status SharedMemoryRegistry::CudaRegionError(absl::string_view name) const {
  if (SegmentOf(name) == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("Unable to find cuda shared memory region: '", name, "'"));
  }
  return absl::NotFoundError(
      absl::StrCat("The region named '", name,
                   "' is registered as system shared memory, not CUDA shared memory"));
}

absl::Status NoCudaError(absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat("failed to register CUDA shared memory region: '",
                                                 name, "', GPUs not supported"));
}

absl::Status UnknownSharedMemory(absl::string_view name) {
  return absl::NotFoundError(absl::StrCat("Unable to find shared memory region: '", name, "'"));
}

}  // namespace nereid
