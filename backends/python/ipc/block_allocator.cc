// SPDX-License-Identifier: Apache-2.0
#include "backends/python/ipc/block_allocator.h"

#include <algorithm>

#include "backends/python/ipc/control.h"
#include "backends/sdk/ipc/memory_file.h"

namespace nereid_python {
namespace {

constexpr uint64_t kGrain = uint64_t{64} << 10;  // unit in which pages are allocated
// Smaller amounts are never freed.
constexpr uint64_t kKept = uint64_t{256} << 10;
// Number of allocations from which the need is estimated.
constexpr uint32_t kWindow = 256;

uint64_t RoundUp(uint64_t size, uint64_t to) { return (size + to - 1) / to * to; }

}  // namespace

std::optional<uint64_t> BlockAllocator::Allocate(uint64_t size) {
  if (size > limit_) return std::nullopt;
  size = RoundUp(std::max<uint64_t>(size, 1), kBlockAlignment);
  std::optional<uint64_t> offset = TakeFree(size);
  if (!offset.has_value()) offset = Grow(size);
  if (!offset.has_value()) return std::nullopt;
  used_[*offset] = size;
  used_bytes_ += size;
  highest_ = std::max(highest_, *offset + size);
  if (++allocations_ >= kWindow) Trim();
  return offset;
}

// Takes the first free block that is large enough, so that blocks gather at the file's beginning.
std::optional<uint64_t> BlockAllocator::TakeFree(uint64_t size) {
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [offset, room] = *it;
    if (room < size) continue;
    free_.erase(it);
    if (room > size) free_[offset + size] = room - size;
    return offset;
  }
  return std::nullopt;
}

std::optional<uint64_t> BlockAllocator::Grow(uint64_t size) {
  // A free stretch at the end is the beginning of the new block.
  uint64_t offset = end_;
  const auto last = free_.empty() ? free_.end() : std::prev(free_.end());
  const bool joins = last != free_.end() && last->first + last->second == end_;
  if (joins) offset = last->first;
  if (size > limit_ - offset) return std::nullopt;
  const uint64_t needed = RoundUp(offset + size, kGrain);
  if (needed > paged_) {
    if (!nereid_ipc::AllocatePages(fd_, paged_, needed - paged_)) return std::nullopt;
    paged_ = needed;
  }
  if (joins) free_.erase(last);
  end_ = offset + size;
  return offset;
}

bool BlockAllocator::Free(uint64_t offset) {
  const auto used = used_.find(offset);
  if (used == used_.end()) return false;
  uint64_t size = used->second;
  used_bytes_ -= size;
  used_.erase(used);
  const auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + size) {
    size += next->second;
    free_.erase(next);
  }
  const auto after = free_.lower_bound(offset);
  if (after != free_.begin()) {
    const auto previous = std::prev(after);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return true;
    }
  }
  free_[offset] = size;
  return true;
}

uint64_t BlockAllocator::SizeOf(uint64_t offset) const {
  const auto used = used_.find(offset);
  return used == used_.end() ? 0 : used->second;
}

void BlockAllocator::Trim() {
  allocations_ = 0;
  uint64_t needed = std::max(highest_, kKept);
  for (const auto& [offset, size] : used_) needed = std::max(needed, offset + size);
  needed = RoundUp(needed, kGrain);
  highest_ = 0;
  if (needed >= paged_ / 2) return;
  if (!nereid_ipc::ReleasePages(fd_, needed, paged_ - needed)) return;
  paged_ = needed;
  end_ = std::min(end_, needed);
  while (!free_.empty() && std::prev(free_.end())->first >= end_)
    free_.erase(std::prev(free_.end()));
  if (!free_.empty()) {
    auto& [offset, size] = *std::prev(free_.end());
    size = std::min(size, end_ - offset);
  }
}

}  // namespace nereid_python
