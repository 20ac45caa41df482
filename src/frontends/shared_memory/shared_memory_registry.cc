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

absl::Status InvalidArgs(absl::string_view name, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("failed to register shared memory region '", name,
                                                 "': invalid args", why.empty() ? "" : ": ", why));
}

absl::Status NoRegion(absl::string_view kind, absl::string_view name) {
  return absl::NotFoundError(
      absl::StrCat("Unable to find ", kind, " shared memory region: '", name, "'"));
}

absl::Status OtherKind(absl::string_view name, absl::string_view kind, absl::string_view asked) {
  return absl::NotFoundError(absl::StrCat("The region named '", name, "' is registered as ", kind,
                                          " shared memory, not ", asked, " shared memory"));
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

absl::Status SharedMemoryRegistry::CheckName(const std::string& name) const {
  if (name.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the name of a shared memory region may have ",
                                                   kMaxNameBytes, " bytes, not ", name.size()));
  }
  return CheckOutsideName("shared memory region", name, kMaxNameBytes);
}

absl::Status SharedMemoryRegistry::Register(const SharedMemoryRegion& region) {
  RETURN_IF_ERROR(CheckAllowed());
  RETURN_IF_ERROR(CheckName(region.name));
  RETURN_IF_ERROR(CheckOutsideName("shared memory key", region.key, kMaxNameBytes));
  RETURN_IF_ERROR(CheckKey(region));
  RETURN_IF_ERROR(CheckSum(region.name, region.offset, region.byte_size));
  if (IsRegistered(region.name)) return TakenError(region.name);
  if (region.byte_size == 0) {
    // A segment that cannot be opened comes first, as in Triton.
    const auto byte = MappedSegment::Map(region.key, 0, 1);
    if (absl::IsInternal(byte.status())) return byte.status();
    return InvalidArgs(region.name, "");
  }
  absl::StatusOr<std::unique_ptr<MappedSegment>> segment =
      MappedSegment::Map(region.key, region.offset, region.byte_size);
  if (absl::IsInvalidArgument(segment.status())) {
    return InvalidArgs(region.name, segment.status().message());
  }
  RETURN_IF_ERROR(segment.status());
  auto memory = std::make_shared<RegionMemory>();
  memory->data = (*segment)->data();
  memory->byte_size = (*segment)->size();
  memory->segment = *std::move(segment);
  return Add(region.name, Entry{region, std::move(memory), {}});
}

// `entry` is unmapped outside the lock if it is too late.
absl::Status SharedMemoryRegistry::Add(const std::string& name, Entry entry) {
  entry.memory = entry.registered;
  MutexLock lock(&mu_);
  Sweep();
  Entry& present = entries_[name];
  if (present.registered != nullptr) return TakenError(name);
  std::swap(present, entry);
  return absl::OkStatus();
}

absl::Status SharedMemoryRegistry::Unregister(const std::string& name) {
  RETURN_IF_ERROR(CheckAllowed());
  Forget<SharedMemoryRegion>(name);
  return absl::OkStatus();
}

template <typename Region>
void SharedMemoryRegistry::Forget(const std::string& name) {
  std::vector<std::shared_ptr<const RegionMemory>> removed;  // unmapped outside the lock
  MutexLock lock(&mu_);
  Sweep();
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (std::holds_alternative<Region>(entry->second.region) &&
        (name.empty() || entry->first == name)) {
      removed.push_back(std::move(entry->second.registered));
      if (removed.back().use_count() == 1) entries_.erase(entry);
    }
    entry = next;
  }
}

void SharedMemoryRegistry::Sweep() {
  std::erase_if(entries_, [](const auto& entry) { return entry.second.memory.expired(); });
}

bool SharedMemoryRegistry::IsRegistered(absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  return it != entries_.end() && it->second.registered != nullptr;
}

template <typename Region>
std::vector<Region> SharedMemoryRegistry::RegionsOf(const std::string& name) const {
  std::vector<Region> found;
  MutexLock lock(&mu_);
  for (const auto& [known, entry] : entries_) {
    const auto* const region = std::get_if<Region>(&entry.region);
    if (region == nullptr || (!name.empty() && known != name)) continue;
    if (!entry.memory.expired()) found.push_back(*region);
  }
  return found;
}

absl::StatusOr<std::vector<SharedMemoryRegion>> SharedMemoryRegistry::Regions(
    const std::string& name) const {
  auto found = RegionsOf<SharedMemoryRegion>(name);
  if (!found.empty() || name.empty()) return found;
  if (MemoryOf(name) == nullptr) return NoRegion("system", name);
  return OtherKind(name, "CUDA", "system");
}

absl::StatusOr<std::vector<CudaMemoryRegion>> SharedMemoryRegistry::CudaRegions(
    const std::string& name) const {
  auto found = RegionsOf<CudaMemoryRegion>(name);
  if (!found.empty() || name.empty()) return found;
  if (MemoryOf(name) == nullptr) return NoRegion("cuda", name);
  return OtherKind(name, "system", "CUDA");
}

std::shared_ptr<const RegionMemory> SharedMemoryRegistry::MemoryOf(absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  return it == entries_.end() ? nullptr : it->second.memory.lock();
}

absl::StatusOr<SharedMemorySlice> SharedMemoryRegistry::Find(const SharedMemoryRange& range) const {
  const std::string& name = range.region;
  std::shared_ptr<const RegionMemory> memory = MemoryOf(name);
  if (memory == nullptr) return UnknownSharedMemory(name);
  if (range.offset >= memory->byte_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid offset for shared memory region: '", name, "'"));
  }
  RETURN_IF_ERROR(CheckSum(name, range.offset, range.byte_size));
  if (range.byte_size > memory->byte_size - range.offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("Invalid offset + byte size for shared memory region: '", name, "'"));
  }
  if (memory->segment != nullptr && !memory->segment->IsWhole()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the segment of shared memory region '", name,
                     "' was truncated after its registration: unregister the region, and register "
                     "it again with a size that the segment has"));
  }
  char* const data = memory->data + range.offset;
  return SharedMemorySlice{data, range.byte_size, memory->place, std::move(memory)};
}

absl::Status SharedMemoryRegistry::CheckCuda(absl::string_view name) const {
  if (!devices_.used().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("failed to register CUDA shared memory region: '",
                                                 name, "', GPUs not supported"));
}

size_t SharedMemoryRegistry::CudaCount() const {
  MutexLock lock(&mu_);
  return static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
    return std::holds_alternative<CudaMemoryRegion>(entry.second.region);
  }));
}

absl::StatusOr<std::shared_ptr<const RegionMemory>> SharedMemoryRegistry::Open(
    const CudaMemoryRegion& region, absl::string_view handle) const {
  absl::StatusOr<std::shared_ptr<const IpcRegion>> opened =
      devices_.OpenRegion(region.device_id, handle);
  if (absl::IsInvalidArgument(opened.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("failed to register shared memory region: invalid args for '", region.name,
                     "': ", opened.status().message()));
  }
  RETURN_IF_ERROR(opened.status());
  if (region.byte_size == 0 || region.byte_size > (*opened)->byte_size()) {
    return InvalidArgs(region.name,
                       absl::StrCat("it must have 1 to ", (*opened)->byte_size(),
                                    " bytes, as its allocation has, not ", region.byte_size));
  }
  auto memory = std::make_shared<RegionMemory>();
  memory->data = (*opened)->base();
  memory->byte_size = region.byte_size;
  memory->place = {MemoryType::kGpu, region.device_id};
  memory->on_gpu = *std::move(opened);
  handle.copy(memory->ipc_handle.data(), memory->ipc_handle.size());
  return memory;
}

absl::Status SharedMemoryRegistry::RegisterCuda(const CudaMemoryRegion& region,
                                                absl::string_view handle) {
  RETURN_IF_ERROR(CheckAllowed());
  RETURN_IF_ERROR(CheckCuda(region.name));
  RETURN_IF_ERROR(CheckName(region.name));
  if (IsRegistered(region.name)) return TakenError(region.name);
  if (CudaCount() >= kMaxCudaRegions) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are ", kMaxCudaRegions, " regions of CUDA memory already"));
  }
  // What has been opened in vain is closed before the client learns of it and frees its memory.
  const Devices::ClosingHere closing;
  ASSIGN_OR_RETURN(std::shared_ptr<const RegionMemory> memory, Open(region, handle));
  return Add(region.name, Entry{region, std::move(memory), {}});
}

absl::Status SharedMemoryRegistry::UnregisterCuda(const std::string& name) {
  RETURN_IF_ERROR(CheckAllowed());
  const Devices::ClosingHere closing;
  Forget<CudaMemoryRegion>(name);
  return absl::OkStatus();
}

absl::Status UnknownSharedMemory(absl::string_view name) {
  return absl::NotFoundError(absl::StrCat("Unable to find shared memory region: '", name, "'"));
}

}  // namespace nereid
